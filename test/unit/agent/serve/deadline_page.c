/*
 * The page of deadlines: who may write to it, what a slot says, and that no reader is misled, however it is overtaken. A
 * deadline here is made of the token it belongs to and a count, so that one look says whose it is.
 */
#define _GNU_SOURCE /* seals */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agent/serve/deadline_page.h"
#include "base/clock.h"
#include "client/deadline_view.h"

enum { SLOT = 4711, SHARED = DEADLINE_SLOTS + 5, TENURES = 200000, READINGS = 200000, LONG_S = 60 };
#define FROZEN_UNTIL UINT64_C(0x80000000) /* counts from here on came after the slot had left */

static struct deadline_page *page;
static struct deadline_view view;

static int start(void **state)
{
    page = deadline_page_new();
    view = (struct deadline_view){0};
    return page && deadline_view_map(&view, deadline_page_fd(page)) ? 0 : -1;
}

static int stop(void **state)
{
    deadline_view_free(&view);
    deadline_page_free(page);
    return 0;
}

/* ---- Who may write ---- */

static void nobody_but_its_maker_can_write_to_it(void **state)
{
    const int fd = deadline_page_fd(page);
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    assert_int_equal(mprotect(view.map, 4096, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
    assert_int_equal(ftruncate(fd, 4096), -1);
    assert_int_equal(ftruncate(fd, 2 * sizeof(struct deadline_map)), -1);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
}

/* ---- What it says ---- */

static void a_slot_leads_by_its_token_until_it_is_vacated(void **state)
{
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
    deadline_page_set_deadline(page, SLOT, 100);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
    deadline_page_occupy(page, SLOT, 7, SLOT);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 100);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 6), 0);
    assert_int_equal(deadline_view_deadline(&view, SLOT + 1, 7), 0);
    deadline_page_set_deadline(page, SLOT, 200);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 200);
    deadline_page_vacate(page, SLOT);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
}

static void one_word_renews_all_that_share_it_but_the_frozen(void **state)
{
    deadline_page_set_deadline(page, SHARED, 100);
    for (uint32_t slot = 0; slot < 3; slot++) deadline_page_occupy(page, slot, 7, SHARED);
    deadline_page_occupy(page, DEADLINE_SLOTS - 1, 9, SHARED);
    deadline_page_freeze(page, 1, 100);
    deadline_page_set_deadline(page, SHARED, 200);
    assert_int_equal(deadline_view_deadline(&view, 0, 7), 200);
    assert_int_equal(deadline_view_deadline(&view, 1, 7), 100);
    assert_int_equal(deadline_view_deadline(&view, 2, 7), 200);
    assert_int_equal(deadline_view_deadline(&view, DEADLINE_SLOTS - 1, 9), 200);
}

static void a_view_that_is_cleared_finds_nobody(void **state)
{
    struct deadline_page *other = deadline_page_new();
    const struct deadline_map *at = view.map;
    deadline_page_set_deadline(page, SLOT, 100);
    deadline_page_occupy(page, SLOT, 7, SLOT);
    deadline_view_clear(&view);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
    deadline_page_set_deadline(other, SLOT, 300);
    deadline_page_occupy(other, SLOT, 8, SLOT);
    assert_true(deadline_view_map(&view, deadline_page_fd(other)));
    assert_ptr_equal(view.map, at); /* a reader may be on its way there */
    assert_int_equal(deadline_view_deadline(&view, SLOT, 8), 300);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
    deadline_page_free(other); /* what was said last stands */
    assert_int_equal(deadline_view_deadline(&view, SLOT, 8), 300);
}

static void without_a_page_nothing_happens(void **state)
{
    deadline_page_set_deadline(NULL, SLOT, 1);
    deadline_page_occupy(NULL, SLOT, 7, SLOT);
    deadline_page_freeze(NULL, SLOT, 1);
    deadline_page_vacate(NULL, SLOT);
    deadline_page_free(NULL);
}

/* ---- A reader against the writer ---- */

static _Atomic uint64_t held, vacated; /* tokens: the last that was announced, the last that was taken back */
static _Atomic uint64_t readings;      /* in which somebody led */
static atomic_bool over;
static atomic_int misled; /* 1 of another tenure, 2 moved on though frozen, 3 led though taken back */

static void read_once(void)
{
    const uint64_t token = atomic_load(&held), gone = atomic_load(&vacated);
    const uint64_t deadline_ns = token ? deadline_view_deadline(&view, SLOT, token) : 0;
    if (deadline_ns == 0) return;
    if (deadline_ns >> 32 != token) atomic_store(&misled, 1);
    if ((uint32_t)deadline_ns >= FROZEN_UNTIL) atomic_store(&misled, 2);
    if (gone >= token) atomic_store(&misled, 3);
    atomic_fetch_add_explicit(&readings, 1, memory_order_relaxed);
}

static void *read_on(void *context)
{
    while (!atomic_load(&over)) read_once();
    return NULL;
}

/* A tenure as an agent writes it, now with the slot's own cell, now with one that others move on. */
static void hold_leadership(uint64_t token)
{
    const uint32_t cell = token % 2 ? SHARED : SLOT;
    const uint64_t base = token << 32;
    uint64_t count = 1;
    deadline_page_set_deadline(page, cell, base + count);
    deadline_page_occupy(page, SLOT, token, cell);
    atomic_store(&held, token);
    while (count < 4) deadline_page_set_deadline(page, cell, base + ++count);
    deadline_page_freeze(page, SLOT, base + count);
    for (uint64_t more = 0; more < 4; more++)
        deadline_page_set_deadline(page, SHARED, base + FROZEN_UNTIL + more);
    deadline_page_vacate(page, SLOT);
    atomic_store(&vacated, token);
}

static void no_reader_is_misled_however_it_is_overtaken(void **state)
{
    pthread_t readers[2];
    const uint64_t end = clock_monotonic_ns() + LONG_S * NS_PER_S;
    uint64_t token = 0;
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    while ((token < TENURES || atomic_load(&readings) < READINGS) && !atomic_load(&misled) &&
           clock_monotonic_ns() < end)
        hold_leadership(++token);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
    assert_int_equal(misled, 0);
    assert_true(atomic_load(&readings) > 0);
}

/* ---- What is no page ---- */

static int copy_of(size_t size, int seals, const struct deadline_header *header)
{
    const int fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(pwrite(fd, header, sizeof *header, 0), sizeof *header);
    if (seals) assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static bool is_believed(int fd)
{
    struct deadline_view other = {0};
    const bool is = deadline_view_map(&other, fd);
    assert_true(is == (other.map != NULL));
    deadline_view_free(&other);
    close(fd);
    return is;
}

static void what_is_no_page_is_not_mapped(void **state)
{
    const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
    const size_t size = sizeof(struct deadline_map);
    struct deadline_header good = view.map->header, bad;
    int ends[2];
    assert_true(is_believed(copy_of(size, all, &good)));
    assert_false(is_believed(copy_of(size, 0, &good)));
    assert_false(is_believed(copy_of(size, all & ~F_SEAL_SHRINK, &good)));
    assert_false(is_believed(copy_of(size, all & ~F_SEAL_GROW, &good)));
    assert_false(is_believed(copy_of(size, all & ~F_SEAL_FUTURE_WRITE, &good)));
    assert_false(is_believed(copy_of(size - 8, all, &good)));
    assert_false(is_believed(copy_of(size + 8, all, &good)));
    assert_false(is_believed(copy_of(4096, all, &good)));
    for (size_t at = 0; at < 24; at++) { /* every byte of it counts */
        bad = good;
        ((char *)&bad)[at] ^= 1;
        assert_false(is_believed(copy_of(size, all, &bad)));
    }
    assert_false(is_believed(open("/dev/zero", O_RDONLY | O_CLOEXEC)));
    assert_false(is_believed(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    assert_false(is_believed(ends[0]));
}

/* It says that it is a page, and then sends readers astray. */
static void a_cell_that_there_is_not_leads_nobody(void **state)
{
    deadline_page_set_deadline(page, SLOT, 100);
    deadline_page_occupy(page, SLOT, 7, DEADLINE_CELLS);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
    deadline_page_occupy(page, SLOT, 7, UINT32_MAX);
    assert_int_equal(deadline_view_deadline(&view, SLOT, 7), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_but_its_maker_can_write_to_it),
        TEST(a_slot_leads_by_its_token_until_it_is_vacated),
        TEST(one_word_renews_all_that_share_it_but_the_frozen),
        TEST(a_view_that_is_cleared_finds_nobody),
        TEST(without_a_page_nothing_happens),
        TEST(no_reader_is_misled_however_it_is_overtaken),
        TEST(what_is_no_page_is_not_mapped),
        TEST(a_cell_that_there_is_not_leads_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
