/* Shared by the two tests of ZooKeeper's election: its times, its facts, and its saved records. */
#ifndef ELECTOR_TEST_LIB_NODE_ZOOKEEPER_H
#define ELECTOR_TEST_LIB_NODE_ZOOKEEPER_H

#include "lib/node/node.h"

/* Modes as they travel in flags. */
#define LOOKING ""
#define FOLLOWING " f1"
#define LEADING " f2"

static inline void sit_in(uint32_t count, el_node self)
{
    sit("zookeeper-fle", count, self);
    option("finalize", 200);
    option("resend", 300);
    option("tick", 100);
    option("init-limit", 1000);
    option("sync-limit", 500);
}

static inline void comes_back_with(uint64_t accepted, el_node from, uint64_t current)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = EL_RESTORED, .durable = {accepted, {from, current, 0}}};
    seat_step(&event);
}

enum { EPOCH, ZXID };
/* The last step's last record. */
static inline void saved(uint64_t accepted, el_node from, uint64_t current)
{
    struct el_durable record = {0};
    bool any = false;
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (seat.out.actions[i].type == EL_SAVE) {
            record = seat.out.actions[i].durable;
            any = true;
        }
    assert_true(any);
    assert_int_equal(record.epoch, accepted);
    assert_int_equal(record.word[0], from);
    assert_int_equal(record.word[1], current);
    assert_int_equal(record.word[2], 0);
}

#endif
