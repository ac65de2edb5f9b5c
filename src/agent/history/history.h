/*
 * The history room remembers who led each group, and why that changed (`elector history`, `elector why`). It
 * knows the host's notes and views, and no clock: callers pass in the time. Start here; history.c stores events
 * and judges each change of leaders, statements.c has what the leaders' own agents say, cause.c selects the steps that
 * explain the last change, sentences.c puts them into words.
 *
 * All agents tell the same of one change, because each believes the agent that knows best: a leader's own agent says how
 * its tenure began and ended, and how long nobody led after it. Until that is heard, an agent tells what it saw itself.
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
    HISTORY_STATEMENTS = 2048,
    HISTORY_STORY_MAX = 64, /* most steps of a story */
    HISTORY_TEXT = 256,
    HISTORY_DETAIL = 160
};

/* Events, as machines, host and leadership (agent/serve) report them. */
enum history_what {
    HISTORY_LEADER = 1, /* another leader is seen, or none */
    HISTORY_NOTE,       /* of a machine */
    HISTORY_HEARD,      /* a vote, or its refusal */
    HISTORY_WRITTEN,    /* the state file */
    HISTORY_LAST_HEARD, /* when a leader, or a voter of ours, that fell silent was last heard; of this member: since when
                            its agent stood still, for `more` ns */
    HISTORY_NO_MAJORITY, /* no majority renews the lease of this member any more */
    HISTORY_ENTERED,     /* a client campaigns; from here on: events of the leadership */
    HISTORY_GONE,        /* the holder's connection ended */
    HISTORY_RESIGNED,    /* the holder resigned */
    HISTORY_EXPELLED,    /* we closed the holder's connection */
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
    HISTORY_NO_QUORUM, /* no majority renewed its lease: the work stopped, or the lease ran out */
    HISTORY_WORKER_GONE,
    HISTORY_TRANSFERS,
    HISTORY_DEPOSED,
    HISTORY_AGENT_ENDED /* this agent was killed, or its host failed; it says so when it is back. Not for statements */
};

enum history_beginning { HISTORY_SEEN, HISTORY_ELECTED, HISTORY_PUSHED, HISTORY_HANDED_OVER };

/* Of a change to a leader. RETURN: the leader before, in the same term, was silent and is back. FAILOVER: another candidate
 * waited meanwhile. */
enum history_kind { HISTORY_PLAIN, HISTORY_FAILOVER, HISTORY_RETURN };

struct history_entry {
    uint64_t number; /* 1, 2, ... across both rings */
    uint64_t at_ns;
    uint64_t group; /* 0: concerns the whole member */
    uint64_t
        token; /* LEADER; HEARD: the term; WRITTEN: duration in ns; NO_MAJORITY: silent voters, a bit for each */
    uint64_t
        more; /* LEADER: how long ago the last leader was heard, see history_change; NO_MAJORITY: the lease unrenewed */
    union {
        const struct el_algorithm *by; /* NOTE, with its number and values in `note`, `token` and `more` */
        const char *reason;            /* TOLD_LOST; static text, or NULL */
        uint64_t nobody_ns; /* LEADER: since the last leader was lost, as seen here; UINT64_MAX: not known */
    };
    uint16_t times; /* in a story: repetitions */
    uint8_t what;
    uint8_t note; /* HEARD: the kind of message; LEADER: enum history_kind */
    uint8_t who;  /* the leader, voter or hand-over target */
    uint8_t whom; /* LEADER: the leader before; HEARD: the member that the voter has promised the group to */
    union {
        uint8_t
            flags; /* HEARD: of the message; LAST_HEARD: 1: it is heard, but does not count; NO_MAJORITY: 1: this agent stood still */
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
    bool is_led_at_most; /* it ended before this agent started, and nobody has told when */
    const char *detail;  /* of its end, by the leader's agent; NULL: none. Borrowed until the next event */
};

/* What a leader's own agent says about its tenure; the text is a word of the lists above, and perhaps "; DETAIL". */
enum history_states { HISTORY_STATES_BEGINNING = 1, HISTORY_STATES_END, HISTORY_STATES_GAP };
struct history_statement {
    enum history_states what;
    uint64_t token;   /* of the tenure; GAP: of the next one, of any member */
    uint64_t span_ns; /* BEGINNING: nobody led before, plus 1 (0: not known); END: it led; GAP: nobody led */
    uint64_t at_ns;   /* BEGINNING: when it was, by our clock; 0: not known */
    char text[HISTORY_DETAIL];
};
enum { HISTORY_STATEMENTS_MAX = 3 }; /* about one change */

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
/* A change of leaders, as seen here. */
struct history_change {
    uint64_t group;
    el_node before, leader;
    uint64_t token;
    uint64_t
        heard_ns; /* how long ago the leader before was last heard; of this member: how long ago the lease ended that its
                           worker was told of; UINT64_MAX: it has not ended */
    uint64_t nobody_ns; /* since a leader was lost, for a new one; UINT64_MAX: not known */
    bool is_failover;   /* another candidate waited */
};
/* Fills in what this member alone knows, for the peers, and *count. Returns the change as it was judged, borrowed until the
 * next event; NULL: there is no history. */
const struct history_entry *history_lead(struct history *, uint64_t now_ns, const struct history_change *,
                                         struct history_statement list[HISTORY_STATEMENTS_MAX],
                                         uint32_t *count);
/* After a restart: what this member stated of its last tenures of the group, for peers that have not heard it; at most
 * HISTORY_STATEMENTS_MAX. Only of the first 4,096 groups that are asked for, so that many groups cost no time. */
uint32_t history_restate(struct history *, uint64_t group,
                         struct history_statement list[HISTORY_STATEMENTS_MAX]);
/* A peer says it about its own tenure. */
void history_hear_statement(struct history *, el_node from, uint64_t group, const struct history_statement *);
/* No majority has renewed our lease for so long; 0: it was renewed, but too late for its holder. `heard_ns`, by position - 1: how long ago each voter was heard;
 * those above `late_ns` are silent. `still_ns`: for how long this agent stood still meanwhile; it is told from `late_ns` on, and
 * then no voter counts as silent for that time. `differing`: a bit for each member that does not count, for the lowest the first. */
void history_lose_majority(struct history *, uint64_t now_ns, uint64_t group, uint64_t unrenewed_ns,
                           const uint64_t *heard_ns, uint64_t late_ns, uint64_t still_ns, uint64_t differing);
void history_write(struct history *, uint64_t now_ns, uint64_t took_ns);
/* An event of the leadership. `who`: the hand-over target; `reason`: static text, or NULL. */
void history_leadership(struct history *, uint64_t now_ns, uint64_t group, enum history_what, el_node who,
                        const char *reason);

/* ---- Asking ---- */

/* The last `most` tenures, the oldest first. None ends after the next one begins. Returns their number. */
uint32_t history_tenures(const struct history *, uint64_t group, struct history_tenure *, uint32_t most);
/* The steps are in the order of their times, and the first is at first_ns. Without a leader after it, a story ends 10 s after the
 * last one was lost. False: no change since the agent started. */
bool history_tell(const struct history *, uint64_t group, struct history_story *);

/* The last loss of the majority: "no majority has renewed the lease for 640 ms: b silent for 812 ms". "": none. */
void history_write_silence(const struct history *, uint64_t group, char text[HISTORY_TEXT]);
/* A change of leaders is settled when it is so old: by then the leaders' agents have been heard, if they live. */
enum { HISTORY_SETTLED_S = 3 };
/* Replaces what was seen of a change to a leader, as history_lead() returned it, by what all agents tell of it: how it began,
 * how the tenure before ended (`whom` led then, if anybody did), and for how long nobody led. */
void history_complete(const struct history *, struct history_entry *change);
/* Tells how long nobody led, for each failover that is 3 s old: by then its leader's agent has been heard, if it lives.
 * At most 64 at a time. So history and metrics have one source. */
void history_settle(struct history *, uint64_t now_ns, void (*tell)(void *context, uint64_t nobody_ns),
                    void *context);

/* sentences.c: one plain sentence. */
void history_sentence(const struct config *, const struct history_entry *, char text[HISTORY_TEXT]);
const char *history_end_word(enum history_end);
const char *history_beginning_word(enum history_beginning);
/* The source of an event, for JSON: "leader", "machine", "vote", "disk", "link", "office". */
const char *history_kind_word(enum history_what);

#endif
