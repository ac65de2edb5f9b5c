/*
 * Recordings of several members, or of several lives of one, as one story: what was heard in each (listen.c), on one
 * clock (merge.c), judged (judge.c), and told to the simulator's writers (trace.c).
 */
#ifndef ELECTOR_CLI_REPLAY_RECORDINGS_H
#define ELECTOR_CLI_REPLAY_RECORDINGS_H

#include "agent/recorder/replay.h"
#include "sim/world/world.h"

enum { RECORDER_RUNS_MAX = 64, RECORDER_OBITUARIES_MAX = 4096 };

enum recordings_what {
    RECORDER_BEGAN,
    RECORDER_ENDED,
    RECORDER_SENDS, /* a payload to peer; number: its digest. Its messages follow */
    RECORDER_HEARS, /* one from peer, likewise */
    RECORDER_SENDS_MESSAGE,
    RECORDER_HEARS_MESSAGE,
    RECORDER_NOTES,
    RECORDER_VIEWS,  /* peer: the leader; number: the token */
    RECORDER_WRITES, /* the record is on disk */
    RECORDER_ASKED,  /* to resign, or to hand over to peer */
    RECORDER_CALLED, /* an election */
};

struct recordings_event {
    uint64_t at; /* by the clock of its recording, and by the common one when that is known */
    uint64_t number;
    uint64_t values[2];
    size_t
        pair; /* SENDS, HEARS: the other end's place, and 1; 0: it is not known. Messages: the payload's place */
    uint32_t run, note;
    el_node peer, subject;
    uint8_t what, kind, role;
};

/* A time in leadership, by one member's own view. */
struct recordings_claim {
    uint64_t group; /* its key */
    uint64_t token, began, ended;
    uint64_t deadline; /* open: as last told */
    uint32_t run, cell;
    bool is_open;
    char name[CONFIG_NAME_MAX + 1];
};

/* One that others name as leader. */
struct recordings_name {
    uint64_t group, token, at;
    uint32_t run;
    el_node leader;
};

struct recordings_run {
    const char *path;
    struct recorder_reader *tape;
    struct recorder_report report;
    el_node self;
    int64_t offset; /* what is added to come to the common clock ... */
    uint64_t doubt; /* ... give or take */
    bool is_placed;
    uint64_t cells[HOST_CELLS_MAX]; /* deadlines */
    uint64_t incarnation;           /* the incarnation in which it led; 0: it never did */
};

/* The work of that life is over. */
struct recordings_obituary {
    el_node who;
    uint64_t incarnation;
    uint64_t group, term; /* in that group up to that term; 0: all of it */
};

enum recordings_wrong { RECORDER_SAME_TOKEN, RECORDER_TOKEN_FELL, RECORDER_OVERLAP };

struct recordings_violation {
    enum recordings_wrong wrong;
    struct recordings_claim one, other; /* of these; `other` came later */
};

struct recordings_story {
    struct recordings_run runs[RECORDER_RUNS_MAX];
    uint32_t run_count;
    uint64_t group; /* the one whose messages, notes and views are told; 0: none */
    bool beats;     /* also what is said between members, of no group */
    bool is_out_of_memory;
    struct recordings_obituary
        obituaries[RECORDER_OBITUARIES_MAX]; /* that were heard; what is beyond them ends nothing */
    uint32_t obituary_count;
    struct recordings_event *events;
    size_t event_count, event_room;
    struct recordings_claim *claims;
    size_t claim_count, claim_room;
    struct recordings_name *names;
    size_t name_count, name_room;
    struct recordings_violation violations[16]; /* the first */
    uint32_t violation_count;
};

/* Replays a run, and adds what happens to the story. */
void recordings_listen(struct recordings_story *, uint32_t run, uint32_t how);
/* Puts all runs on the first one's clock, as far as they can be, and events in order. */
void recordings_merge(struct recordings_story *);
/* Quorum's promises: one leader to a token, tokens that rise, nobody in leadership before the last one's time is over. */
void recordings_judge(struct recordings_story *);
/* A world that was told the story; `plan` is filled in, and must outlive it. NULL: no memory. */
struct sim_world *recordings_tell(struct recordings_story *, const char *group, struct sim_plan *plan);
void recordings_story_free(struct recordings_story *);

#endif
