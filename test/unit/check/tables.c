/*
 * What the search stands on, alone: the table of worlds that two threads fill at once, records of which there
 * is one each, and a frontier that goes to disk. A world lost here is lost without a word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/tables/frontier.h"
#include "check/tables/visited.h"

enum { MANY = 60000, MEMORY = 64 << 20 };

static struct el_hash hash_of(uint64_t number)
{
    return el_fingerprint(&number, sizeof number);
}

/* ---- The table ---- */

struct adder {
    struct check_visited *visited;
    uint64_t from, to, step;
    uint32_t news;
};

static void *add_all(void *context)
{
    struct adder *adder = context;
    for (uint64_t i = adder->from; i != adder->to; i += adder->step) {
        uint32_t number = 0;
        adder->news +=
            check_visited_add(adder->visited, hash_of(i), (struct check_origin){0, (uint32_t)i}, &number);
    }
    return NULL;
}

static void grow_for(struct check_visited *visited, uint64_t worlds)
{
    while (visited->mask / 2 < worlds) assert_true(check_visited_grow(visited, MEMORY));
}

static void two_threads_find_each_world_once(void **state)
{
    struct check_visited visited;
    assert_true(check_visited_init(&visited, MEMORY, true));
    grow_for(&visited, MANY);
    struct adder up = {&visited, 0, MANY, 1, 0}, down = {&visited, MANY - 1, UINT64_MAX, UINT64_MAX, 0};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, add_all, &up), 0);
    add_all(&down);
    pthread_join(other, NULL);
    assert_int_equal(up.news + down.news, MANY);
    assert_int_equal(atomic_load(&visited.count), MANY);
    check_visited_free(&visited);
}

static void a_table_that_grows_forgets_nothing(void **state)
{
    struct check_visited visited;
    uint32_t number = 0;
    assert_true(check_visited_init(&visited, MEMORY, true));
    const uint64_t before = visited.mask;
    for (uint64_t i = 0; i < MANY; i++) {
        assert_true(check_visited_add(&visited, hash_of(i), (struct check_origin){7, (uint32_t)i}, &number));
        assert_int_equal(number, i);
        if (check_visited_is_full(&visited)) assert_true(check_visited_grow(&visited, MEMORY));
    }
    assert_true(visited.mask > before);
    for (uint64_t i = 0; i < MANY; i++) {
        assert_int_equal(check_visited_find(&visited, hash_of(i)), i);
        assert_int_equal(visited.origins[i].move, i);
        assert_false(check_visited_add(&visited, hash_of(i), (struct check_origin){0}, &number));
        assert_int_equal(number, i);
    }
    assert_int_equal(check_visited_find(&visited, hash_of(MANY)), UINT32_MAX);
    check_visited_free(&visited);
}

static void half_a_fingerprint_is_not_enough(void **state)
{
    struct check_visited visited;
    uint32_t number = 0;
    assert_true(check_visited_init(&visited, MEMORY, false));
    assert_true(check_visited_add(&visited, (struct el_hash){5, 1}, (struct check_origin){0}, &number));
    assert_true(check_visited_add(&visited, (struct el_hash){5, 2}, (struct check_origin){0}, &number));
    assert_true(check_visited_add(&visited, (struct el_hash){0, 0}, (struct check_origin){0}, &number));
    assert_false(check_visited_add(&visited, (struct el_hash){0, 0}, (struct check_origin){0}, &number));
    assert_int_equal(atomic_load(&visited.count), 3);
    check_visited_free(&visited);
}

static void a_table_without_memory_does_not_grow(void **state)
{
    struct check_visited visited;
    assert_true(check_visited_init(&visited, MEMORY, false));
    const uint64_t before = visited.mask;
    assert_false(check_visited_grow(&visited, check_visited_memory(&visited)));
    assert_int_equal(visited.mask, before);
    check_visited_free(&visited);
}

/* ---- Records ---- */

struct record {
    struct el_hash hash;
    uint64_t what;
};

static void *store_all(void *context)
{
    for (uint64_t i = 0; i < MANY; i++) (void)check_store_add(context, &(struct record){hash_of(i), i});
    return NULL;
}

static void each_record_is_kept_once_and_found_by_its_number(void **state)
{
    struct check_store store;
    assert_true(check_store_init(&store, sizeof(struct record)));
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, store_all, &store), 0);
    store_all(&store);
    pthread_join(other, NULL);
    assert_int_equal(store.count, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        const uint32_t number = check_store_add(&store, &(struct record){hash_of(i), i});
        assert_int_equal(((const struct record *)check_store_at(&store, number))->what, i);
    }
    assert_int_equal(store.count, MANY);
    check_store_free(&store);
}

/* ---- The frontier ---- */

static struct check_world world_of(uint32_t number)
{
    struct check_world world;
    memset(&world, 0, sizeof world);
    for (uint32_t i = 0; i < 3; i++) world.local[i] = number + i;
    world.history = number ^ 0xABCD;
    for (uint32_t i = 0; i < CHECK_SPENT_WORDS; i++) world.spent[i] = number * UINT64_C(0x123456789) + i;
    world.called = number & 1;
    world.dawn = number >> 1 & 1;
    world.broken = number & 0x1FFFFFF;
    world.ticks = (uint16_t)(number >> 3);
    world.flight_count = (uint16_t)(number % 20);
    for (uint32_t i = 0; i < world.flight_count; i++) world.flight[i] = number * 31 + i;
    return world;
}

static void fill(struct check_frontier *frontier, const struct check_model *model)
{
    struct check_chunk *chunk = check_chunk_new();
    uint64_t held = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        const struct check_world world = world_of(i);
        if (!check_chunk_add(chunk, model, &world, i)) {
            check_frontier_put(frontier, chunk, held);
            chunk = check_chunk_new();
            held = 0;
            assert_true(check_chunk_add(chunk, model, &world, i));
        }
        held++;
    }
    check_frontier_put(frontier, chunk, held);
}

static void comes_back_whole(uint64_t in_memory_max, bool on_disk)
{
    const struct check_model model = {.count = 3};
    struct check_frontier frontier;
    check_frontier_init(&frontier, in_memory_max);
    fill(&frontier, &model);
    assert_int_equal(frontier.worlds, MANY);
    assert_int_equal(frontier.file_end > 0, on_disk);
    assert_true(frontier.in_memory <= in_memory_max);
    uint32_t next = 0;
    for (struct check_chunk *chunk; (chunk = check_frontier_take(&frontier)); check_chunk_free(chunk)) {
        struct check_world world, wanted;
        memset(&world, 0, sizeof world);
        uint32_t at = 0, number = 0;
        while (check_chunk_next(chunk, &model, &at, &world, &number)) {
            wanted = world_of(next);
            assert_int_equal(number, next++);
            assert_int_equal(world.flight_count, wanted.flight_count);
            assert_memory_equal(world.local, wanted.local, 3 * sizeof *world.local);
            assert_memory_equal(world.spent, wanted.spent, sizeof world.spent);
            assert_memory_equal(world.flight, wanted.flight, wanted.flight_count * sizeof *world.flight);
            assert_true(world.history == wanted.history && world.called == wanted.called &&
                        world.ticks == wanted.ticks);
        }
    }
    assert_int_equal(next, MANY);
    assert_false(frontier.failed);
    check_frontier_free(&frontier);
}

static void a_frontier_comes_back_as_it_went(void **state)
{
    comes_back_whole(UINT64_C(1) << 30, false);
}

static void also_from_the_disk(void **state)
{
    comes_back_whole(0, true);
}

static void and_half_from_the_disk(void **state)
{
    comes_back_whole(sizeof(uint32_t) * 3 * CHECK_CHUNK_WORDS, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_find_each_world_once),
        cmocka_unit_test(a_table_that_grows_forgets_nothing),
        cmocka_unit_test(half_a_fingerprint_is_not_enough),
        cmocka_unit_test(a_table_without_memory_does_not_grow),
        cmocka_unit_test(each_record_is_kept_once_and_found_by_its_number),
        cmocka_unit_test(a_frontier_comes_back_as_it_went),
        cmocka_unit_test(also_from_the_disk),
        cmocka_unit_test(and_half_from_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
