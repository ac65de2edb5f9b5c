/*
 * elector replay: recordings of several members, or of several incarnations of one, as one story. collect.c
 * collects the events of each, merge.c puts them on one clock, judge.c checks quorum's promises, and trace.c
 * passes them to the simulator's writers. Start with replay.c.
 */
#ifndef ELECTOR_CLI_REPLAY_RECORDINGS_H
#define ELECTOR_CLI_REPLAY_RECORDINGS_H

#include "agent/recorder/replay.h"
#include "sim/world/world.h"

enum { RECORDINGS_RUNS_MAX = 64, RECORDINGS_OBITUARIES_MAX = 4096 };

enum recordings_what {
    RECORDINGS_BEGAN,
    RECORDINGS_ENDED,
    RECORDINGS_SENDS, /* a payload to peer; number: its digest. Its messages follow */
    RECORDINGS_HEARS, /* a payload from peer, likewise */
    RECORDINGS_SENDS_MESSAGE,
    RECORDINGS_HEARS_MESSAGE,
    RECORDINGS_NOTES,
    RECORDINGS_VIEWS,  /* peer: the leader; number: the token */
    RECORDINGS_WRITES, /* the record is on disk */
    RECORDINGS_ASKED,  /* to resign, or to hand over to peer */
    RECORDINGS_CALLED, /* an election */
};

struct recordings_event {
    uint64_t at; /* on the recording's clock; after the merge on the common one */
    uint64_t number;
    uint64_t values[2];
    size_t
        pair; /* SENDS, HEARS: the other end's place, and 1; 0: it is not known. Messages: the payload's place */
    uint32_t run, note;
    el_node peer, subject;
    uint8_t what, kind, role;
};

/* A leadership, by the leader's own view. */
struct recordings_claim {
    uint64_t group; /* its key */
    uint64_t token, began, ended;
    uint64_t deadline; /* if still open: the latest one */
    uint32_t run, cell;
    bool is_open;
    char name[CONFIG_NAME_MAX + 1];
};

/* A leader that others named. */
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
    int64_t offset; /* added to its times to get the common clock ... */
    uint64_t doubt; /* ... with this uncertainty */
    bool is_placed;
    uint64_t cells[HOST_CELLS_MAX]; /* deadlines */
    uint64_t incarnation;           /* the incarnation in which it led; 0: it never did */
};

/* An obituary: the work of that incarnation is over. */
struct recordings_obituary {
    el_node who;
    uint64_t incarnation;
    uint64_t group, term; /* in that group, up to that term; 0: in all groups */
};

enum recordings_wrong { RECORDINGS_SAME_TOKEN, RECORDINGS_TOKEN_FELL, RECORDINGS_OVERLAP };

struct recordings_violation {
    enum recordings_wrong wrong;
    struct recordings_claim one, other; /* the two concerned; `other` came later */
};

struct recordings_story {
    struct recordings_run runs[RECORDINGS_RUNS_MAX];
    uint32_t run_count;
    uint64_t group; /* the group whose messages, notes and views are collected; 0: none */
    bool beats;     /* also collect messages that belong to no group */
    bool is_out_of_memory;
    const char *wanted;              /* a group whose name is looked for; NULL: none */
    bool has_wanted;                 /* some recording has it */
    char known[CONFIG_NAME_MAX + 1]; /* a group that a recording has; "": none */
    struct recordings_obituary
        obituaries[RECORDINGS_OBITUARIES_MAX]; /* that were heard; what is beyond them ends nothing */
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
void recordings_replay_run(struct recordings_story *, uint32_t run, uint32_t how);
/* Puts all runs on the first one's clock, as far as they can be, and events in order. */
void recordings_merge(struct recordings_story *);
/* Checks quorum's promises: one leader to a token, tokens that rise, and no leader before the previous one's
 * lease has expired. */
void recordings_judge(struct recordings_story *);
/* A world with the imported story; `plan` is filled in, and must outlive it. NULL if memory ran out. */
struct sim_world *recordings_tell(struct recordings_story *, const char *group, struct sim_plan *plan);
void recordings_story_free(struct recordings_story *);

#endif
