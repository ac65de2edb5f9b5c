/*
 * The exchange room has what agents tell each other beside elections: which settings and members they are configured
 * with, which members they hear, how tenures began and ended, and requests of clients for the agent of a group's leader.
 * It knows configuration and payloads. It knows neither sockets nor clocks nor the host: callers pass in the time, and hooks do the rest. So
 * nothing here enters a recording, and no election depends on it. Start here; exchange.c spreads statements,
 * settings.c compares settings, requests.c passes requests on.
 *
 * Statements are numbered. A peer copies them in order and acknowledges the last one. What is not acknowledged is sent
 * again, ever more seldom, to peers that are heard. The settings come first, and are kept; of the others the last 1024
 * are kept. An agent of an earlier version answers nothing, and then nothing is known of it.
 *
 * Two agents that read no version of payloads in common count neither each other's votes nor what the other says. Each
 * knows it from what the other sends, or from its statements, and says so instead of taking the other for silent.
 *
 * A change of leaders makes every agent state something to every other one, at the moment at which the successor's
 * datagrams and clients need the processors. So the first statement after a rest waits EXCHANGE_AFTER_MS.
 */
#ifndef ELECTOR_AGENT_EXCHANGE_EXCHANGE_H
#define ELECTOR_AGENT_EXCHANGE_EXCHANGE_H

#include "agent/config/config.h"
#include "agent/peer/payload.h"

enum {
    EXCHANGE_LATEST = 1024,       /* statements about tenures that are kept for peers; a power of two */
    EXCHANGE_AFTER_MS = 20,       /* the election comes first; other statements share the datagram */
    EXCHANGE_PENDING_MAX = 64,    /* requests to one peer that wait for an answer */
    EXCHANGE_REQUESTS_A_S = 64,   /* of one peer, that are looked at */
    EXCHANGE_ANSWER_WITHIN_S = 2, /* then there is no answer */
    EXCHANGE_DIFFERENCE_TEXT = 96
};

/* `flags` of a STATEMENT. Others are ignored: later versions may have more. */
enum exchange_statement {
    EXCHANGE_MEMBER = 1, /* text: its name; value: id and role */
    EXCHANGE_SECTION,    /* text: the pattern of its groups; value: KEY=VALUE ... */
    EXCHANGE_COMPLETE,   /* these were all settings and members */
    EXCHANGE_BEGAN, /* a tenure of the sender. text: the group; value: how, and after "; " its age when it was sent, as
                       "for N us", unless it is not known; span: nobody led before, plus 1 */
    EXCHANGE_ENDED, /* a tenure of the sender. value: why, and after "; " the details; span: how long it led */
    EXCHANGE_GAP,   /* after a tenure of the sender. term: of the next; span: nobody led for so long */
    EXCHANGE_VERSION, /* value: of the sender's program; told with the settings, though it may differ. term, span: the
                         lowest and the highest version of payloads that it reads; 0: it does not tell, and reads 2 */
    EXCHANGE_HEARS, /* term: whom the sender hears; bit i stands for the member at position i + 1 */
    EXCHANGE_SILENT /* span: for how many ns more the sender grants nothing, as it has just started, when this is sent; term:
                       1 if it lost its record, and grants nothing until it has learned what it may have promised */
};

/* `flags` of a REQUEST. */
enum exchange_request { EXCHANGE_RESIGN = 1, EXCHANGE_TRANSFER };

/* `flags` of an ANSWER. Never renumber. */
enum exchange_outcome {
    EXCHANGE_NO_ANSWER, /* never sent */
    EXCHANGE_GRANTED,
    EXCHANGE_NOT_LEADING,
    EXCHANGE_UNDER_WAY,
    EXCHANGE_CANNOT,
    EXCHANGE_NOT_ELIGIBLE,
    EXCHANGE_NOT_STANDING,
    EXCHANGE_OUT_OF_TOUCH,
    EXCHANGE_LEAVING,
    EXCHANGE_FAILED,
    EXCHANGE_NOT_ENTITLED, /* the asking member has no vote */
    EXCHANGE_TOO_MANY,
    EXCHANGE_OUTCOMES
};

struct exchange;

struct exchange_hooks {
    void *context;
    void (*send)(void *context, el_node to, const uint8_t *payload, size_t size);
    /* A statement about a tenure of `from`: once, and in order. */
    void (*stated)(void *context, el_node from, const struct payload_entry *);
    /* A peer tells that its settings or members differ from ours, or that they no longer do. */
    void (*compared)(void *context, el_node from, bool differs);
    /* We read no version of its payloads, or it reads none of ours; or that is over. Again when it sends another one. */
    void (*understood)(void *context, el_node from, bool is_understood);
    /* A request of a client of `from`. Not called twice for one request. */
    enum exchange_outcome (*asked)(void *context, el_node from, const struct payload_entry *);
    /* The answer to our request; EXCHANGE_NO_ANSWER: none came in time. */
    void (*answered)(void *context, uint32_t request, enum exchange_outcome);
};

/* `members`: the digest in the head of every payload. `incarnation`: a random number. The configuration is borrowed.
 * NULL: out of memory. */
struct exchange *exchange_new(const struct config *, uint64_t members, uint64_t incarnation,
                              struct exchange_hooks);
void exchange_free(struct exchange *);
/* The configuration was read again. If its settings differ from what peers were told, tells them all anew. */
void exchange_renew(struct exchange *, uint64_t incarnation);

/* An authentic datagram came from this peer, whatever it says. `version`: of its payload; 0: it has none. */
void exchange_hear(struct exchange *, uint64_t now, el_node from, uint8_t version);
/* A payload of which payload_is_exchange() is true. */
void exchange_receive(struct exchange *, uint64_t now, el_node from, const uint8_t *payload, size_t size);
/* Sends what is due, and returns when to call it again; UINT64_MAX: after the next call of another function. */
uint64_t exchange_tick(struct exchange *, uint64_t now);

/* States how a tenure of this member began or ended, to all peers. `type` and numbering are filled in. `at`: when it began, by
 * the clock of exchange_tick(); 0: its age is not told. */
void exchange_state(struct exchange *, const struct payload_entry *, uint64_t at);

/* This member has a vote and grants nothing before `until`, by the clock of exchange_tick(), nor while its record is lost. Call it
 * when that may have changed; 0 and false: it grants. Peers are told, except that the time is over, which they know. */
void exchange_keep_silent(struct exchange *, uint64_t until, bool is_lost);
/* The same as the peer has told it: for how many ns more. */
uint64_t exchange_silence(const struct exchange *, uint64_t now, el_node peer, bool *is_lost);

/* ---- Settings ---- */

struct exchange_difference {
    char what[EXCHANGE_DIFFERENCE_TEXT]; /* "lease of [group work]", "member d" */
    char ours[EXCHANGE_DIFFERENCE_TEXT], theirs[EXCHANGE_DIFFERENCE_TEXT]; /* "none": there is no such thing */
};

/* How long ago any authentic datagram of the peer came, in ns; UINT64_MAX: never. */
uint64_t exchange_heard(const struct exchange *, uint64_t now, el_node peer);
/* Whom the peer said last that it hears, as in EXCHANGE_HEARS. False: it has not said. */
bool exchange_hears(const struct exchange *, el_node peer, uint64_t *members);
/* Whether the peer has told all of its settings. An agent of an earlier version never does. */
bool exchange_knows(const struct exchange *, el_node peer);
/* The version of its program; NULL: not known, as of an agent of an earlier version. Borrowed until the next call. */
const char *exchange_version(const struct exchange *, el_node peer);
/* Whether both read some version of payloads in common, as far as is known. Otherwise `theirs` says which the peer has: "3",
 * "3 to 4". `theirs` may be NULL. */
enum { EXCHANGE_VERSIONS_TEXT = 48 };
bool exchange_understands(const struct exchange *, el_node peer, char theirs[EXCHANGE_VERSIONS_TEXT]);
/* Whether the peer does not count in the group: it has other settings for it, or another list of members. Group NULL:
 * in any group. False if nothing is known. */
bool exchange_differs(const struct exchange *, el_node peer, const char *group);
/* Whether it differs in more than some sections: in the list of members. */
bool exchange_differs_everywhere(const struct exchange *, el_node peer);
/* The patterns of up to `most` sections that differ, each once. Borrowed until the next call. Returns their number. */
uint32_t exchange_differing_sections(const struct exchange *, el_node peer, const char **patterns,
                                     uint32_t most);
/* The first `most` differences. Returns their number. */
uint32_t exchange_differences(const struct exchange *, el_node peer, struct exchange_difference *,
                              uint32_t most);

/* ---- Requests ---- */

/* Asks the agent of `to`. False: EXCHANGE_PENDING_MAX requests to it wait already. */
bool exchange_ask(struct exchange *, uint64_t now, el_node to, const struct payload_entry *, uint32_t *request);
/* The client is gone: its answer is dropped. */
void exchange_forget(struct exchange *, uint32_t request);

#endif
