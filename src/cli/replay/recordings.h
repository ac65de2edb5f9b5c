/*
 * Recordings of several members, or of several lives of one, as one story: what was heard in each (listen.c), on one
 * clock (merge.c), judged (judge.c), and told to the simulator's writers (trace.c).
 */
#ifndef ELECTOR_CLI_REPLAY_RECORDINGS_H
#define ELECTOR_CLI_REPLAY_RECORDINGS_H

#include "agent/recorder/replay.h"
#include "sim/world/world.h"

enum { FLIGHT_RUNS_MAX = 64, FLIGHT_OBITUARIES_MAX = 4096 };

enum flight_what {
    FLIGHT_BEGAN,
    FLIGHT_ENDED,
    FLIGHT_SENDS, /* a payload to peer; number: its digest. Its messages follow */
    FLIGHT_HEARS, /* one from peer, likewise */
    FLIGHT_SENDS_MESSAGE,
    FLIGHT_HEARS_MESSAGE,
    FLIGHT_NOTES,
    FLIGHT_VIEWS,  /* peer: the leader; number: the token */
    FLIGHT_WRITES, /* the record is on disk */
    FLIGHT_ASKED,  /* to resign, or to hand over to peer */
    FLIGHT_CALLED, /* an election */
};

struct flight_event {
    uint64_t at; /* by the clock of its recording, and by the common one when that is known */
    uint64_t number;
    uint64_t values[2];
    size_t
        pair; /* SENDS, HEARS: the other end's place, and 1; 0: it is not known. Messages: the payload's place */
    uint32_t run, note;
    el_node peer, subject;
    uint8_t what, kind, role;
};

/* A time in office, by one member's own view. */
struct flight_claim {
    uint64_t group; /* its key */
    uint64_t token, began, ended;
    uint64_t deadline; /* open: as last told */
    uint32_t run, cell;
    bool is_open;
    char name[CONFIG_NAME_MAX + 1];
};

/* One that others name as leader. */
struct flight_name {
    uint64_t group, token, at;
    uint32_t run;
    el_node leader;
};

struct flight_run {
    const char *path;
    struct flight_tape *tape;
    struct flight_report report;
    el_node self;
    int64_t offset; /* what is added to come to the common clock ... */
    uint64_t doubt; /* ... give or take */
    bool is_placed;
    uint64_t cells[HOST_CELLS_MAX]; /* deadlines */
    uint64_t life;                  /* the incarnation in which it led; 0: it never did */
};

/* The work of that life is over. */
struct flight_obituary {
    el_node who;
    uint64_t life;
    uint64_t group, term; /* in that group up to that term; 0: all of it */
};

enum flight_wrong { FLIGHT_SAME_TOKEN, FLIGHT_TOKEN_FELL, FLIGHT_OVERLAP };

struct flight_violation {
    enum flight_wrong wrong;
    struct flight_claim one, other; /* of these; `other` came later */
};

struct flight_story {
    struct flight_run runs[FLIGHT_RUNS_MAX];
    uint32_t run_count;
    uint64_t group; /* the one whose messages, notes and views are told; 0: none */
    bool beats;     /* also what is said between members, of no group */
    bool is_out_of_memory;
    struct flight_obituary
        obituaries[FLIGHT_OBITUARIES_MAX]; /* that were heard; what is beyond them ends nothing */
    uint32_t obituary_count;
    struct flight_event *events;
    size_t event_count, event_room;
    struct flight_claim *claims;
    size_t claim_count, claim_room;
    struct flight_name *names;
    size_t name_count, name_room;
    struct flight_violation violations[16]; /* the first */
    uint32_t violation_count;
};

/* Replays a run, and adds what happens to the story. */
void flight_listen(struct flight_story *, uint32_t run, uint32_t how);
/* Puts all runs on the first one's clock, as far as they can be, and events in order. */
void flight_merge(struct flight_story *);
/* Quorum's promises: one leader to a token, tokens that rise, nobody in office before the last one's time is over. */
void flight_judge(struct flight_story *);
/* A world that was told the story; `plan` is filled in, and must outlive it. NULL: no memory. */
struct sim_world *flight_tell(struct flight_story *, const char *group, struct sim_plan *plan);
void flight_story_free(struct flight_story *);

#endif
