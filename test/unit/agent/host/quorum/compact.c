/* Groups between two calls of their machines: nothing is lost, and little memory taken. */
#include "lib/host/plain_groups.h"

enum { FEW = 50, MANY = 4000 };

static uint64_t some_word(void)
{
    const uint64_t whole = (uint64_t)dice(UINT32_MAX) << 32 | dice(UINT32_MAX);
    return one_in(2) ? 0 : one_in(3) ? UINT64_C(0x123456789) << dice(4) : whole >> dice(64);
}

static void fill(uint64_t *words, size_t size)
{
    for (size_t i = 0; i < size / sizeof *words; i++) words[i] = some_word();
}

static void a_group_unfolds_as_it_was_folded(void **state)
{
    static struct session_work was[FEW];
    open_world(5);
    for (unsigned i = 0; i < FEW; i++) (void)plain_group(1, i);
    struct session *s = world.hosts[1].host->sessions;
    for (unsigned round = 0; round < 5000; round++) {
        const unsigned i = (unsigned)dice(FEW);
        struct session_group *group = session_group_at(s, i + 1);
        struct session_work *work = session_expand(group);
        if (was[i].group) assert_memory_equal(work, &was[i], offsetof(struct session_work, ballots[5]));
        work->quorum.term++;
        session_compact(group);
        work->quorum.term--; /* as it was before */
        session_compact(group);
        if (one_in(2)) continue;
        fill(work->timers, sizeof work->timers);
        work->candidates = some_word();
        fill((uint64_t *)(void *)&work->quorum, sizeof work->quorum);
        fill((uint64_t *)(void *)work->ballots, 5 * sizeof *work->ballots);
        was[i] = *work;
        session_compact(group);
        assert_int_equal(group->role, work->quorum.role);
    }
    assert_true(s->slab.block_count <= 3); /* what grew and shrank has left nothing behind */
    s->group_count = 0;                    /* nobody is to make sense of them */
    close_world();
}

/* What three members keep of each group, in bytes; whoever needs more says so here. */
static void a_group_takes_little_memory(void **state)
{
    enum { BYTES_MAX = 120 };
    open_world(3);
    pass(500);
    stand_for_plain(1, 0, MANY);
    pass(4000);
    assert_int_equal(plain_led(1, 0, MANY), MANY);
    for (el_node node = 1; node <= 3; node++) {
        const struct session *s = world.hosts[node].host->sessions;
        assert_int_equal(s->group_count, MANY);
        assert_true(s->slab.block_count * SLAB_BLOCK <= MANY * BYTES_MAX + SLAB_BLOCK);
    }
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_unfolds_as_it_was_folded),
        cmocka_unit_test(a_group_takes_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
