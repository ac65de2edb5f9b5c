/* See subsumption.h. */
#define _DEFAULT_SOURCE
#include "check/reduce/subsumption.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check/reduce/symmetry.h"

enum { BUCKETS = 1 << 22, LOCKS = 1 << 10, LETTERS_MAX = UINT16_MAX };

/* The head of a kept world; its letters follow in ascending order. */
struct kept {
    struct el_hash key;
    uint32_t next; /* number + 1 */
    uint16_t ticks, count;
    uint64_t spent[CHECK_SPENT_WORDS];
    uint8_t called;
    uint8_t spare[7];
};

static void *reserve(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void give_back(void *at, uint64_t bytes)
{
    if (at) munmap(at, bytes);
}

static uint64_t renamed_bytes(const struct check_cover *cover)
{
    return (uint64_t)cover->model->permutation_count * (LETTERS_MAX + 1) * sizeof *cover->renamed;
}

bool check_cover_init(struct check_cover *cover, const struct check_model *model, uint64_t memory)
{
    *cover = (struct check_cover){.model = model, .arena_size = memory, .place_max = memory / 64};
    cover->heads = reserve(BUCKETS * sizeof *cover->heads);
    cover->arena = reserve(cover->arena_size);
    cover->places = reserve(cover->place_max * sizeof *cover->places);
    cover->locks = calloc(LOCKS, sizeof(pthread_mutex_t));
    cover->renamed = reserve(renamed_bytes(cover));
    for (int i = 0; cover->locks && i < LOCKS; i++) pthread_mutex_init(&cover->locks[i], NULL);
    return cover->heads && cover->arena && cover->places && cover->locks && cover->renamed;
}

void check_cover_free(struct check_cover *cover)
{
    if (!cover->model) return;
    for (int i = 0; cover->locks && i < LOCKS; i++) pthread_mutex_destroy(&cover->locks[i]);
    give_back(cover->heads, BUCKETS * sizeof *cover->heads);
    give_back(cover->arena, cover->arena_size);
    give_back(cover->places, cover->place_max * sizeof *cover->places);
    give_back(cover->renamed, renamed_bytes(cover));
    free(cover->locks);
}

uint64_t check_cover_memory(const struct check_cover *cover, uint64_t worlds)
{
    return atomic_load(&cover->arena_used) + worlds * (sizeof *cover->places + sizeof(struct check_origin));
}

bool check_cover_is_full(const struct check_cover *cover, const struct check_visited *visited)
{
    enum { SLACK = 1 << 20 };
    const uint64_t worlds = atomic_load_explicit(&visited->count, memory_order_relaxed);
    return atomic_load_explicit(&cover->arena_used, memory_order_relaxed) + SLACK > cover->arena_size ||
           worlds + SLACK / 64 > cover->place_max || worlds + SLACK / 64 > visited->origin_max;
}

static struct kept *kept_at(const struct check_cover *cover, uint32_t number)
{
    return (struct kept *)(void *)(cover->arena + cover->places[number]);
}

static uint16_t *letters_of(struct kept *kept)
{
    return (uint16_t *)(void *)(kept + 1);
}

/* ---- One world, as it is kept ---- */

struct candidate {
    struct kept head;
    uint16_t letters[CHECK_FLIGHT_MAX];
};

static uint16_t rename_letter(struct check_cover *cover, uint32_t letter, uint32_t permutation)
{
    struct check_model *model = (struct check_model *)(uintptr_t)cover->model;
    if (letter > LETTERS_MAX) {
        check_give_up(model, "there are more than 65,536 different messages: bound them with --terms");
        return 0;
    }
    if (permutation == 0) return (uint16_t)letter;
    _Atomic uint32_t *known = &cover->renamed[(size_t)permutation * (LETTERS_MAX + 1) + letter];
    uint32_t renamed = atomic_load_explicit(known, memory_order_relaxed);
    if (renamed == 0) {
        struct el_msg msg = check_letter_at(model, letter)->msg;
        check_rename_msg(model, &msg, model->permutations[permutation]);
        renamed = check_add_letter(model, &msg, LEFT_NONE, false) + 1;
        atomic_store_explicit(known, renamed, memory_order_relaxed);
    }
    return rename_letter(cover, renamed - 1, 0);
}

static void describe(struct check_cover *cover, const struct check_world *world, struct candidate *candidate)
{
    const struct check_model *model = cover->model;
    uint32_t permutation = 0;
    candidate->head =
        (struct kept){.ticks = world->ticks, .count = world->flight_count, .called = world->called};
    candidate->head.key = check_key(model, world, &permutation);
    memcpy(candidate->head.spent, world->spent, sizeof world->spent);
    for (uint32_t i = 0; i < world->flight_count; i++) {
        const uint16_t letter = rename_letter(cover, world->flight[i], permutation);
        uint32_t at = i;
        while (at > 0 && candidate->letters[at - 1] > letter) {
            candidate->letters[at] = candidate->letters[at - 1];
            at--;
        }
        candidate->letters[at] = letter;
    }
}

/* ---- Covering ---- */

static bool has_all(const uint16_t *letters, uint32_t count, const uint16_t *wanted, uint32_t wanted_count)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < wanted_count; i++, at++) {
        while (at < count && letters[at] < wanted[i]) at++;
        if (at == count || letters[at] != wanted[i]) return false;
    }
    return true;
}

static bool covers(const struct kept *a, const uint16_t *a_letters, const struct kept *b,
                   const uint16_t *b_letters)
{
    if (a->count < b->count || a->ticks > b->ticks || a->called != b->called) return false;
    for (uint32_t i = 0; i < CHECK_BUDGETS; i++)
        if (check_spent(a->spent, i) > check_spent(b->spent, i)) return false;
    return has_all(a_letters, a->count, b_letters, b->count);
}

static bool same_key(const struct el_hash *a, const struct el_hash *b)
{
    return a->high == b->high && a->low == b->low;
}

static uint32_t keep(struct check_cover *cover, struct check_visited *visited,
                     const struct candidate *candidate, struct check_origin origin)
{
    const uint64_t bytes =
        (sizeof candidate->head + candidate->head.count * sizeof *candidate->letters + 7) / 8 * 8;
    const uint64_t at = atomic_fetch_add(&cover->arena_used, bytes);
    const uint32_t number = check_visited_number(visited, origin);
    cover->places[number] = at;
    struct kept *made = kept_at(cover, number);
    *made = candidate->head;
    memcpy(letters_of(made), candidate->letters, candidate->head.count * sizeof *candidate->letters);
    return number;
}

static bool add(struct check_cover *cover, struct check_visited *visited, struct candidate *candidate,
                struct check_origin origin, uint32_t *head, uint32_t *number)
{
    for (uint32_t *link = head; *link;) {
        struct kept *each = kept_at(cover, *link - 1);
        const bool is_kin = same_key(&each->key, &candidate->head.key);
        if (is_kin && covers(each, letters_of(each), &candidate->head, candidate->letters)) {
            *number = *link - 1;
            return false;
        }
        if (is_kin && covers(&candidate->head, candidate->letters, each, letters_of(each))) {
            *link = each->next; /* the new one covers everything that this one covers */
        } else {
            link = &each->next;
        }
    }
    candidate->head.next = *head;
    *number = keep(cover, visited, candidate, origin);
    *head = *number + 1;
    return true;
}

bool check_cover_add(struct check_cover *cover, struct check_visited *visited, const struct check_world *world,
                     struct check_origin origin, uint32_t *number)
{
    struct candidate candidate;
    describe(cover, world, &candidate);
    const uint32_t bucket = (uint32_t)(candidate.head.key.low ^ candidate.head.key.high >> 32) % BUCKETS;
    pthread_mutex_t *lock = &cover->locks[bucket % LOCKS];
    pthread_mutex_lock(lock);
    const bool is_new = add(cover, visited, &candidate, origin, &cover->heads[bucket], number);
    pthread_mutex_unlock(lock);
    if (!is_new) atomic_fetch_add_explicit(&cover->covered, 1, memory_order_relaxed);
    return is_new;
}
