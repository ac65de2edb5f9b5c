/*
 * The history room remembers who led each group, and why that changed (`elector history`, `elector why`). It
 * knows the host's notes and views, and no clock: callers pass in the time. Start here; history.c stores events
 * and judges each change of leaders, cause.c selects the steps that explain the last change, sentences.c puts
 * them into words.
 *
 * Two rings of fixed size serve all groups: one for changes of leaders, which are few and stay long, and one
 * for all other events. Events are stored as numbers, and become sentences only when somebody asks.
 */
#ifndef ELECTOR_AGENT_HISTORY_HISTORY_H
#define ELECTOR_AGENT_HISTORY_HISTORY_H

#include "agent/config/config.h"
#include "agent/host/host.h"

enum {
    HISTORY_STEPS = 32768, /* both are powers of two */
    HISTORY_CHANGES = 8192,
    HISTORY_STORY_MAX = 64, /* most steps of a story */
    HISTORY_TEXT = 256
};

/* Events, as machines, host and leadership (agent/serve) report them. */
enum history_what {
    HISTORY_LEADER = 1, /* another leader is seen, or none */
    HISTORY_NOTE,       /* of a machine */
    HISTORY_HEARD,      /* a vote, or its refusal */
    HISTORY_WRITTEN,    /* the state file */
    HISTORY_LAST_HEARD, /* in stories only: when a leader that fell silent was last heard */
    HISTORY_ENTERED,    /* a client campaigns; from here on: events of the leadership */
    HISTORY_GONE,       /* the holder's connection ended */
    HISTORY_RESIGNED,   /* the holder resigned */
    HISTORY_EXPELLED,   /* we closed the holder's connection */
    HISTORY_ASKED_TO_TRANSFER,
    HISTORY_ASKED_TO_RESIGN,
    HISTORY_ASKED_TO_LEAVE, /* all groups: the agent shuts down */
    HISTORY_ABANDONED,      /* the holder gives no sign of life */
    HISTORY_STOPPED,        /* the holder has stopped, as it was asked to */
    HISTORY_OVERDUE,        /* or its deadline passed before that */
    HISTORY_TOLD_ELECTED,
    HISTORY_TOLD_LOST,
};

/* How a tenure ended. If two of them seem to apply, the later one in this list is more specific. */
enum history_end {
    HISTORY_GOES_ON,
    HISTORY_FOLLOWED, /* by another leader; nothing else is known */
    HISTORY_LOST_SIGHT,
    HISTORY_LET_GO, /* it is heard, but no longer claims to lead */
    HISTORY_RAN_OUT,
    HISTORY_RELEASED,
    HISTORY_OBITUARY,
    HISTORY_RESIGNS,
    HISTORY_WORKER_GONE,
    HISTORY_TRANSFERS,
    HISTORY_DEPOSED
};

enum history_beginning { HISTORY_SEEN, HISTORY_ELECTED, HISTORY_PUSHED, HISTORY_HANDED_OVER };

struct history_entry {
    uint64_t number; /* 1, 2, ... across both rings */
    uint64_t at_ns;
    uint64_t group; /* 0: concerns the whole member */
    uint64_t token; /* LEADER; HEARD: the term; WRITTEN: duration in ns */
    uint64_t more;  /* LEADER, none: for how long the last leader had been silent, in ns */
    union {
        const struct el_algorithm *by; /* NOTE, with its number and values in `note`, `token` and `more` */
        const char *reason;            /* TOLD_LOST; static text, or NULL */
    };
    uint16_t times; /* in a story: repetitions */
    uint8_t what;
    uint8_t note; /* HEARD: the kind of message */
    uint8_t who;  /* the leader, voter or hand-over target */
    uint8_t whom; /* LEADER: the leader before; HEARD: the member that the voter has promised the group to */
    union {
        uint8_t flags; /* HEARD: of the message */
        uint8_t began; /* LEADER: enum history_beginning */
    };
    uint8_t ended; /* LEADER: how the tenure before ended, enum history_end */
};
_Static_assert(sizeof(struct history_entry) <= 56, "there are many");

struct history_tenure {
    el_node leader;
    uint64_t token, began_ns;
    uint64_t ended_ns;  /* 0: it goes on */
    uint64_t nobody_ns; /* time without a leader before it; UINT64_MAX: unknown */
    enum history_beginning began;
    enum history_end ended;
};

/* The last change of leaders: its causes and its result. */
struct history_story {
    struct history_tenure before; /* leader 0: unknown */
    struct history_tenure after;  /* leader 0: none yet */
    uint64_t first_ns;            /* the first cause */
    struct history_entry steps[HISTORY_STORY_MAX];
    uint32_t count;
    uint32_t left_out; /* steps dropped from the middle */
};

struct history;

struct history *history_new(const struct config *, uint64_t now_ns); /* NULL: out of memory */
void history_free(struct history *);
uint64_t history_since(const struct history *); /* when it began: nothing earlier is known */
/* A hash of the group's name, by which entries name it. Never 0. */
uint64_t history_group(const char *name);

/* ---- Adding; with a NULL history these do nothing ---- */

void history_note(struct history *, uint64_t now_ns, uint64_t group, const struct host_note *);
void history_hear(struct history *, uint64_t now_ns, uint64_t group, const struct el_algorithm *,
                  const struct el_msg *);
/* `heard_ns`: how long ago the leader before was last heard. */
void history_lead(struct history *, uint64_t now_ns, uint64_t group, el_node before, el_node leader,
                  uint64_t token, uint64_t heard_ns);
void history_write(struct history *, uint64_t now_ns, uint64_t took_ns);
/* An event of the leadership. `who`: the hand-over target; `reason`: static text, or NULL. */
void history_leadership(struct history *, uint64_t now_ns, uint64_t group, enum history_what, el_node who,
                        const char *reason);

/* ---- Asking ---- */

/* The last `most` tenures, the oldest first. Returns their number. */
uint32_t history_tenures(const struct history *, uint64_t group, struct history_tenure *, uint32_t most);
/* False: no change since the agent started. */
bool history_tell(const struct history *, uint64_t group, struct history_story *);

/* sentences.c: one plain sentence. */
void history_sentence(const struct config *, const struct history_entry *, char text[HISTORY_TEXT]);
const char *history_end_word(enum history_end);
const char *history_beginning_word(enum history_beginning);
/* The source of an event, for JSON: "leader", "machine", "vote", "disk", "link", "office". */
const char *history_kind_word(enum history_what);

#endif
