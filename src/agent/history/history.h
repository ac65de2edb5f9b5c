/*
 * What an agent has seen of its groups, for whoever asks later: numbers when it happens, words when somebody asks. Two
 * rings of a fixed size serve all groups: one of changes of leaders, which are few and stay for long, and one of everything
 * else. A group that nothing happens to costs nothing. No clock in here: whoever adds says when.
 */
#ifndef ELECTOR_AGENT_HISTORY_HISTORY_H
#define ELECTOR_AGENT_HISTORY_HISTORY_H

#include "agent/config/config.h"
#include "agent/host/host.h"

enum {
    HISTORY_STEPS = 32768, /* powers of two, both */
    HISTORY_CHANGES = 8192,
    HISTORY_STORY_MAX = 64, /* steps of a story */
    HISTORY_TEXT = 256
};

/* What happened, as the machines, the leadership and the host know it. */
enum history_what {
    HISTORY_LEADER = 1, /* another one is seen to lead, or nobody */
    HISTORY_NOTE,       /* a machine's */
    HISTORY_HEARD,      /* a vote, or that there is none */
    HISTORY_WRITTEN,    /* the record */
    HISTORY_LAST_HEARD, /* only in a story: when a leader that was lost from sight was heard last */
    HISTORY_ENTERED,    /* a client stands; of the leadership, from here on */
    HISTORY_GONE,       /* who held it: its connection ended */
    HISTORY_RESIGNED,   /* who held it says so */
    HISTORY_EXPELLED,   /* we hung up on who held it */
    HISTORY_ASKED_TO_TRANSFER,
    HISTORY_ASKED_TO_RESIGN,
    HISTORY_ASKED_TO_LEAVE, /* all of it: the agent is to end */
    HISTORY_STOPPED,        /* who was asked to stop has */
    HISTORY_OVERDUE,        /* or its time is over */
    HISTORY_TOLD_ELECTED,
    HISTORY_TOLD_LOST,
};

/* Of two that seem to hold, the later one in this list says more. */
enum history_end {
    HISTORY_GOES_ON,
    HISTORY_FOLLOWED, /* by another, and that is all that is known */
    HISTORY_LOST_SIGHT,
    HISTORY_LET_GO, /* it was heard, and claims nothing any more */
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
    uint64_t number; /* 1, 2, ... over both rings */
    uint64_t at_ns;
    uint64_t group; /* 0: of the member as a whole */
    uint64_t token; /* LEADER; the term of what was HEARD; WRITTEN: how long it took, in ns */
    uint64_t more;  /* LEADER nobody: for how long who led had not been heard, in ns */
    union {
        const struct el_algorithm *by; /* NOTE, with its number and values in `note`, `token` and `more` */
        const char *reason;            /* TOLD_LOST; static text, or NULL */
    };
    uint16_t times; /* in a story: how often */
    uint8_t what;
    uint8_t note; /* HEARD: the kind of message */
    uint8_t who;  /* leads, votes, is to have it */
    uint8_t whom; /* LEADER: who led before; HEARD: whom it had promised the group to */
    union {
        uint8_t flags; /* of what was HEARD */
        uint8_t began; /* LEADER: how this one did */
    };
    uint8_t ended; /* LEADER: how the one before did */
};
_Static_assert(sizeof(struct history_entry) <= 56, "there are many");

struct history_tenure {
    el_node leader;
    uint64_t token, began_ns;
    uint64_t ended_ns;  /* 0: it goes on */
    uint64_t nobody_ns; /* how long nobody led before it; UINT64_MAX: not known */
    enum history_beginning began;
    enum history_end ended;
};

/* The last change: what led to it, and what came of it. */
struct history_story {
    struct history_tenure before; /* leader nobody: none is known */
    struct history_tenure after;  /* leader nobody: nobody leads yet */
    uint64_t first_ns;            /* the first cause */
    struct history_entry steps[HISTORY_STORY_MAX];
    uint32_t count;
    uint32_t left_out; /* of the middle */
};

struct history;

struct history *history_new(const struct config *, uint64_t now_ns); /* NULL: no memory */
void history_free(struct history *);
uint64_t history_since(const struct history *); /* nothing is known of what was before */
/* Groups are told apart by a word made of the name. Never 0. */
uint64_t history_group(const char *name);

/* ---- Adding. NULL keeps nothing. ---- */

void history_note(struct history *, uint64_t now_ns, uint64_t group, const struct host_note *);
void history_hear(struct history *, uint64_t now_ns, uint64_t group, const struct el_algorithm *,
                  const struct el_msg *);
/* `heard_ns`: how long ago who led before was heard. */
void history_lead(struct history *, uint64_t now_ns, uint64_t group, el_node before, el_node leader,
                  uint64_t token, uint64_t heard_ns);
void history_write(struct history *, uint64_t now_ns, uint64_t took_ns);
/* Of the leadership. `who`: who is to have it; `reason`: static text, or NULL. */
void history_office(struct history *, uint64_t now_ns, uint64_t group, enum history_what, el_node who,
                    const char *reason);

/* ---- Asking ---- */

/* The last ones, at most `most`, in their order. Returns how many. */
uint32_t history_tenures(const struct history *, uint64_t group, struct history_tenure *, uint32_t most);
/* False: nothing has changed since the agent began. */
bool history_tell(const struct history *, uint64_t group, struct history_story *);

/* sentences.c: one plain sentence. */
void history_sentence(const struct config *, const struct history_entry *, char text[HISTORY_TEXT]);
const char *history_end_word(enum history_end);
const char *history_beginning_word(enum history_beginning);
const char *history_kind_word(
    enum history_what); /* who saw it: "leader", "leadership", "machine", "vote", "disk" */

#endif
