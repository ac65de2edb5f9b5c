/* Shared by the unit tests of chubby and paxos-lease: times, records, views and declined requests. */
#ifndef ELECTOR_TEST_LIB_NODE_LEASE_H
#define ELECTOR_TEST_LIB_NODE_LEASE_H

#include "lib/node/node.h"

/* The lease is 100, a heartbeat 25, and who stands waits for up to 30 more. */
static inline void sit_to_lease(const char *algorithm, uint32_t count, el_node self)
{
    sit(algorithm, count, self);
    option("lease", 100);
    option("heartbeat", 25);
    option("retry", 30);
}

static inline void starts_again_from(struct el_durable record)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = EL_RESTORED, .durable = record};
    seat_step(&event);
}

/* The last step saved exactly this, once, and before it sent anything. */
static inline void saved_record(struct el_durable record)
{
    uint32_t saves = 0, sends = 0;
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        sends += action->type == EL_SEND;
        if (action->type != EL_SAVE) continue;
        saves++;
        assert_int_equal(sends, 0);
        assert_int_equal(action->durable.epoch, record.epoch);
        assert_int_equal(action->durable.word[0], record.word[0]);
        assert_int_equal(action->durable.word[1], record.word[1]);
        assert_int_equal(action->durable.word[2], record.word[2]);
    }
    assert_int_equal(saves, 1);
}

/* What it says in public, and until which timer. */
static inline void shows(uint64_t term, const char *timer)
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    assert_int_equal(view.term, term);
    assert_string_equal(view.timer == EL_NO_TIMER ? "none" : seat_timer(view.timer), timer);
}

/* It does not hand over to that member, and says why. */
static inline void declines_to_hand_over(el_node to, enum el_answer why)
{
    requests(EL_TRANSFER, to);
    did("note declined");
    assert_int_equal(seat.out.actions[0].values[1], why);
}

#endif
