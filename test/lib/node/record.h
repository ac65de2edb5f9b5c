/* For nodes with a record: the record saved in the last step, and restarting with one. */
#ifndef ELECTOR_TEST_LIB_NODE_RECORD_H
#define ELECTOR_TEST_LIB_NODE_RECORD_H

#include "lib/node/node.h"

static inline void restarts(enum el_start_how how, uint64_t epoch, uint64_t a, uint64_t b, uint64_t c)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = how, .durable = {epoch, {a, b, c}}};
    seat_step(&event);
}

static inline void comes_back_with(uint64_t epoch, uint64_t a, uint64_t b, uint64_t c)
{
    restarts(EL_RESTORED, epoch, a, b, c);
}

static inline void comes_back_without_its_record(void)
{
    restarts(EL_LOST, 0, 0, 0, 0);
}

/* The last record saved, which must come before every message that follows from it: before all of them. */
static inline void record_saved(const char *file, int line, uint64_t epoch, uint64_t a, uint64_t b, uint64_t c)
{
    const struct el_durable *last = NULL;
    bool sent = false;
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        if (action->type == EL_SEND) sent = true;
        if (action->type != EL_SAVE) continue;
        if (sent) seat_fail(file, line, "it sent before it saved");
        last = &action->durable;
    }
    if (!last) seat_fail(file, line, "it saved nothing");
    const struct el_durable expected = {epoch, {a, b, c}};
    if (memcmp(last, &expected, sizeof expected) != 0)
        seat_fail(file, line,
                  "expected the record %llu {%llu, %llu, %llu}, but it saved %llu {%llu, %llu, %llu}",
                  (unsigned long long)epoch, (unsigned long long)a, (unsigned long long)b,
                  (unsigned long long)c, (unsigned long long)last->epoch, (unsigned long long)last->word[0],
                  (unsigned long long)last->word[1], (unsigned long long)last->word[2]);
}

static inline void record_term(const char *file, int line, uint64_t term)
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    if (view.term != term)
        seat_fail(file, line, "expected term %llu, got %llu", (unsigned long long)term,
                  (unsigned long long)view.term);
}

#define saved(epoch, a, b, c) record_saved(__FILE__, __LINE__, epoch, a, b, c)
#define in_term(term) record_term(__FILE__, __LINE__, term)

#endif
