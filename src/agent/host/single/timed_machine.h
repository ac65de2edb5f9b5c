/*
 * One machine of the core with the timers it has armed. It carries out what concerns itself; what concerns the world
 * (messages, records, verdicts, notes) it hands to its owner, in the order of the outbox.
 */
#ifndef ELECTOR_AGENT_HOST_SINGLE_TIMED_MACHINE_H
#define ELECTOR_AGENT_HOST_SINGLE_TIMED_MACHINE_H

#include "elector/core.h"

struct machine_timer {
    uint64_t deadline; /* UINT64_MAX: not armed */
    uint64_t armed_at; /* 0: never */
};

struct machine;

struct machine_owner {
    void *whose;
    uint64_t (*now)(void *whose);
    uint64_t (*random)(void *whose);
    /* SEND, SAVE, NOTE and VERDICT. */
    void (*act)(void *whose, struct machine *, const struct el_action *);
};

struct machine {
    const struct el_algorithm *algorithm;
    struct el_config cfg;
    void *state;
    struct machine_timer *timers; /* [timer_count][count + 1] */
    struct el_outbox out;
    struct machine_owner owner;
    uint64_t next_due; /* UINT64_MAX: nothing is armed */
};

/* The cluster is borrowed. False: no memory. */
bool machine_init(struct machine *, const struct el_algorithm *, const struct el_cluster *, el_node self,
                  struct machine_owner);
void machine_free(struct machine *);
/* As it was after machine_init(): EL_START comes next. */
void machine_reset(struct machine *);

void machine_step(struct machine *, const struct el_event *);
/* Fires one timer that is due: what bounds a claim first, then the earliest. False: none is. */
bool machine_fire(struct machine *, uint64_t now);
/* What is left of a timer; 0 if it is not armed. */
uint64_t machine_left(const struct machine *, uint32_t timer, uint32_t slot, uint64_t now);
/* Its view; *bound gets when the claim ends, UINT64_MAX if nothing bounds it. */
struct el_view machine_view(const struct machine *, uint64_t *bound);

#endif
