/*
 * One machine of the core and its timers. It handles timer actions itself, and passes messages, records,
 * verdicts and notes to its owner, in the order of the outbox.
 */
#ifndef ELECTOR_AGENT_HOST_SINGLE_TIMED_MACHINE_H
#define ELECTOR_AGENT_HOST_SINGLE_TIMED_MACHINE_H

#include "elector/core.h"

struct timed_machine_timer {
    uint64_t deadline; /* UINT64_MAX: not armed */
    uint64_t armed_at; /* 0: never */
};

struct timed_machine;

struct timed_machine_owner {
    void *context;
    uint64_t (*now)(void *context);
    uint64_t (*random)(void *context);
    /* SEND, SAVE, NOTE and VERDICT. */
    void (*act)(void *context, struct timed_machine *, const struct el_action *);
};

struct timed_machine {
    const struct el_algorithm *algorithm;
    struct el_config cfg;
    void *state;
    struct timed_machine_timer *timers; /* [timer_count][count + 1] */
    struct el_outbox out;
    struct timed_machine_owner owner;
    uint64_t next_due; /* UINT64_MAX: nothing is armed */
};

/* The cluster is borrowed. False: no memory. */
bool timed_machine_init(struct timed_machine *, const struct el_algorithm *, const struct el_cluster *,
                        el_node self, struct timed_machine_owner);
void timed_machine_free(struct timed_machine *);
/* Back to the state after timed_machine_init(): EL_START comes next. */
void timed_machine_reset(struct timed_machine *);

void timed_machine_step(struct timed_machine *, const struct el_event *);
/* Fires one timer that is due: first the one that bounds a claim, then the earliest. False: none is due. */
bool timed_machine_fire(struct timed_machine *, uint64_t now);
/* The time left of a timer; 0: not armed. */
uint64_t timed_machine_left(const struct timed_machine *, uint32_t timer, uint32_t slot, uint64_t now);
/* The machine's view. *bound: when its claim ends; UINT64_MAX: never. */
struct el_view timed_machine_view(const struct timed_machine *, uint64_t *bound);

#endif
