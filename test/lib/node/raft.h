/* Shared by the unit tests of raft: times that are visible in formulas, records kept across a restart, and
 * facts. */
#ifndef ELECTOR_TEST_LIB_NODE_RAFT_H
#define ELECTOR_TEST_LIB_NODE_RAFT_H

#include "lib/node/node.h"

enum { LOG_TERM, LOG_INDEX };

/* Timeouts are 100..200, beats come every 30. */
static inline void sit_in_raft(uint32_t count, el_node self)
{
    sit("raft", count, self);
    option("election", 100);
    option("heartbeat", 30);
    option("prevote", 1);
    option("check-quorum", 1);
}

/* As the paper of 2014 has it: no pre-vote, no check-quorum. */
static inline void sit_in_plain_raft(uint32_t count, el_node self)
{
    sit_in_raft(count, self);
    option("prevote", 0);
    option("check-quorum", 0);
}

/* The one record that the last step saved, before it sent anything. */
static inline struct el_durable saved(void)
{
    const struct el_action *save = NULL;
    for (uint32_t i = 0; i < seat.out.count; i++) {
        if (seat.out.actions[i].type == EL_SEND && !save)
            seat_fail(__FILE__, __LINE__, "it sent before it saved");
        if (seat.out.actions[i].type != EL_SAVE) continue;
        if (save) seat_fail(__FILE__, __LINE__, "it saved twice in one step");
        save = &seat.out.actions[i];
    }
    if (!save) seat_fail(__FILE__, __LINE__, "it saved nothing");
    return save->durable;
}

static inline void saved_vote(uint64_t term, el_node vote)
{
    const struct el_durable record = saved();
    assert_int_equal(record.epoch, term);
    assert_int_equal(record.word[0], vote);
}

/* Dies, and starts again with this record and nothing else. */
static inline void comes_back_with(struct el_durable record)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = EL_RESTORED, .durable = record};
    memset(seat.state, 0, seat.state_size);
    seat_step(&event);
}

/* Term 1 is won with the votes of 1 and 2. */
static inline void wins_term_1(void)
{
    option("prevote", 0);
    starts();
    times_out("election");
    hears(1, "Grant 1 e1");
    hears(2, "Grant 2 e1");
    sees("leads");
    option("prevote", 1);
}

static inline void follows_1_in_term_1(void)
{
    starts();
    hears(1, "Beat 1 e1");
    sees("follows 1");
}

#endif
