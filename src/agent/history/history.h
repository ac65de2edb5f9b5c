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
    CHRONICLE_STEPS = 32768, /* powers of two, both */
    CHRONICLE_CHANGES = 8192,
    CHRONICLE_STORY_MAX = 64, /* steps of a story */
    CHRONICLE_TEXT = 256
};

/* What happened, as the machines, the office and the host know it. */
enum chronicle_what {
    CHRONICLE_LEADER = 1, /* another one is seen to lead, or nobody */
    CHRONICLE_NOTE,       /* a machine's */
    CHRONICLE_HEARD,      /* a vote, or that there is none */
    CHRONICLE_WRITTEN,    /* the record */
    CHRONICLE_LAST_HEARD, /* only in a story: when a leader that was lost from sight was heard last */
    CHRONICLE_ENTERED,    /* a client stands; of the office, from here on */
    CHRONICLE_GONE,       /* who held it: its connection ended */
    CHRONICLE_RESIGNED,   /* who held it says so */
    CHRONICLE_EXPELLED,   /* we hung up on who held it */
    CHRONICLE_ASKED_TO_TRANSFER,
    CHRONICLE_ASKED_TO_RESIGN,
    CHRONICLE_ASKED_TO_LEAVE, /* all of it: the agent is to end */
    CHRONICLE_STOPPED,        /* who was asked to stop has */
    CHRONICLE_OVERDUE,        /* or its time is over */
    CHRONICLE_TOLD_ELECTED,
    CHRONICLE_TOLD_LOST,
};

/* Of two that seem to hold, the later one in this list says more. */
enum chronicle_end {
    CHRONICLE_GOES_ON,
    CHRONICLE_FOLLOWED, /* by another, and that is all that is known */
    CHRONICLE_LOST_SIGHT,
    CHRONICLE_LET_GO, /* it was heard, and claims nothing any more */
    CHRONICLE_RAN_OUT,
    CHRONICLE_RELEASED,
    CHRONICLE_OBITUARY,
    CHRONICLE_RESIGNS,
    CHRONICLE_WORKER_GONE,
    CHRONICLE_TRANSFERS,
    CHRONICLE_DEPOSED
};

enum chronicle_beginning { CHRONICLE_SEEN, CHRONICLE_ELECTED, CHRONICLE_PUSHED, CHRONICLE_HANDED_OVER };

struct chronicle_entry {
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
_Static_assert(sizeof(struct chronicle_entry) <= 56, "there are many");

struct chronicle_tenure {
    el_node leader;
    uint64_t token, began_ns;
    uint64_t ended_ns;  /* 0: it goes on */
    uint64_t nobody_ns; /* how long nobody led before it; UINT64_MAX: not known */
    enum chronicle_beginning began;
    enum chronicle_end ended;
};

/* The last change: what led to it, and what came of it. */
struct chronicle_story {
    struct chronicle_tenure before; /* leader nobody: none is known */
    struct chronicle_tenure after;  /* leader nobody: nobody leads yet */
    uint64_t first_ns;              /* the first cause */
    struct chronicle_entry steps[CHRONICLE_STORY_MAX];
    uint32_t count;
    uint32_t left_out; /* of the middle */
};

struct chronicle;

struct chronicle *chronicle_new(const struct config *, uint64_t now_ns); /* NULL: no memory */
void chronicle_free(struct chronicle *);
uint64_t chronicle_since(const struct chronicle *); /* nothing is known of what was before */
/* Groups are told apart by a word made of the name. Never 0. */
uint64_t chronicle_group(const char *name);

/* ---- Adding. NULL keeps nothing. ---- */

void chronicle_note(struct chronicle *, uint64_t now_ns, uint64_t group, const struct host_note *);
void chronicle_hear(struct chronicle *, uint64_t now_ns, uint64_t group, const struct el_algorithm *,
                    const struct el_msg *);
/* `heard_ns`: how long ago who led before was heard. */
void chronicle_lead(struct chronicle *, uint64_t now_ns, uint64_t group, el_node before, el_node leader,
                    uint64_t token, uint64_t heard_ns);
void chronicle_write(struct chronicle *, uint64_t now_ns, uint64_t took_ns);
/* Of the office. `who`: who is to have it; `reason`: static text, or NULL. */
void chronicle_office(struct chronicle *, uint64_t now_ns, uint64_t group, enum chronicle_what, el_node who,
                      const char *reason);

/* ---- Asking ---- */

/* The last ones, at most `most`, in their order. Returns how many. */
uint32_t chronicle_tenures(const struct chronicle *, uint64_t group, struct chronicle_tenure *, uint32_t most);
/* False: nothing has changed since the agent began. */
bool chronicle_tell(const struct chronicle *, uint64_t group, struct chronicle_story *);

/* sentences.c: one plain sentence. */
void chronicle_sentence(const struct config *, const struct chronicle_entry *, char text[CHRONICLE_TEXT]);
const char *chronicle_end_word(enum chronicle_end);
const char *chronicle_beginning_word(enum chronicle_beginning);
const char *chronicle_kind_word(
    enum chronicle_what); /* who saw it: "leader", "office", "machine", "vote", "disk" */

#endif
