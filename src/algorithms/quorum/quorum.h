/*
 * The quorum protocol: a majority of voters promises a group to one member, and refuses all others until the
 * promise ends. Rules Q1 to Q24 are in docs/quorum-protocol.md. This header has what all its files share:
 * timers, notes, options, terms, and struct quorum, the argument of every call.
 *
 * A *session* is what one member knows of another: its incarnation, whether the link works, what was promised.
 * All groups share the sessions. A *group* is what a leader is elected for. A host has one set of sessions and
 * any number of groups; the agent has one set for each set of times. It fills a struct quorum for each call. A beat renews the sessions and touches no
 * group.
 *
 * The holder's lease counts from the time when it *sent* what a voter answered by a promise. No send time is
 * stored, since a machine has no clock. Sending starts the voter's timer QUORUM_PROBE, unless one younger than two
 * beats runs (quorum_open_probe() in session.c). The promise turns it into QUORUM_LEASE without arming it again
 * (quorum_credit()). The holder has one such lease from each voter. Its own lease ends with that of
 * quorum_bounding_voter() (leader.c).
 *
 * This room may know core, parts and the registry: no clock, no heap, no libc. Start reading at driver.h, then:
 *   message.h              the messages, field by field
 *   electorate.h           who votes by a record of the members, and what a majority is
 *   speakers.h             who may send which of them, about whom; which terms are believed
 *   session.h, session.c   incarnations, beats and promises
 *   floor.c                start, silence, lost record
 *   era.h, era.c           records of the members that are installed while groups are led
 *   group.h                a group, and its parts: voter.c, candidate.c, leader.c, news.c
 *   bounds.h               the worst failover time
 *   algorithm.c            sessions and one group as an el_algorithm, for the simulator and the checker
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_QUORUM_H
#define ELECTOR_ALGORITHMS_QUORUM_QUORUM_H

#include "algorithms/quorum/electorate.h"
#include "algorithms/quorum/message.h"
#include "algorithms/registry.h"
#include "core/machine.h"

/* Timers. The first seven have a slot for each member. */
enum {
    QUORUM_HEARD,    /* we got a message from it, addressed to our incarnation, within one lease */
    QUORUM_RECENT,   /* we got a message from it within three beats */
    QUORUM_LINKED,   /* it has acknowledged a beat within one lease */
    QUORUM_PROBE,    /* one lease from the oldest message to it that a promise may still answer */
    QUORUM_LEASE,    /* the lease by its last promise */
    QUORUM_PROMISED, /* our promise to its incarnation */
    QUORUM_OWED,     /* our promise to its earlier incarnations */
    QUORUM_SILENCE,
    QUORUM_PULSE,
    QUORUM_ASKED, /* timers of a group, from here on */
    QUORUM_STAND,
    QUORUM_REASK,
    QUORUM_DEADLINE,
    QUORUM_FORMER, /* of members that change (era.h): the lease by its last promise before a record was installed */
    QUORUM_SETTLING,
    QUORUM_TIMERS
};

enum {
    QUORUM_OPTION_LEASE,
    QUORUM_OPTION_BEAT,
    QUORUM_OPTION_MARGIN,
    QUORUM_OPTION_REASK,
    QUORUM_OPTION_STAGGER,
    QUORUM_OPTION_BLOCK,
    QUORUM_OPTION_PREEMPT,
    QUORUM_OPTION_OBSERVERS,
    QUORUM_OPTION_CANDIDATES,
    QUORUM_OPTIONS
};

enum { QUORUM_FACT_WALL_CLOCK, QUORUM_FACT_OBITUARY, QUORUM_FACT_RECORD, QUORUM_FACTS };
/* An obituary as a fact: position << 48 | incarnation. */
enum { QUORUM_OBITUARY_SHIFT = 48 };

#define QUORUM_NOTE_LIST(NOTE)                                                                                 \
    NOTE(KEEPS_SILENT, "keeps-silent", "may have forgotten a promise, and grants nothing until it is over")    \
    NOTE(LOST_ITS_RECORD, "lost-its-record", "has lost its record, and grants nothing until it knows a floor") \
    NOTE(SPEAKS, "speaks", "has been silent for long enough")                                                  \
    NOTE(LEARNS_FLOOR, "learns-floor", "has asked enough others, and grants no term up to #1")                 \
    NOTE(MEETS, "meets", "meets @1 in its life #2")                                                            \
    NOTE(DROPS_OLD, "drops-old", "drops a message from an earlier life #2 of @1")                              \
    NOTE(DROPS_STRAY, "drops-stray", "drops a message of @1 to another life of its own, #2")                   \
    NOTE(DROPS_ECHO, "drops-echo", "drops an answer of @1 to what was never sent, #2")                         \
    NOTE(DROPS_EPOCH, "drops-epoch", "drops an answer that @1 gave before it helped another")                  \
    NOTE(DROPS_UNENTITLED, "drops-unentitled", "drops a message of kind #2, which @1 is not entitled to send") \
    NOTE(DROPS_CLOCK, "drops-clock", "drops a message of @1 with a term, #2, that no clock has reached")       \
    NOTE(BURIES, "buries", "knows that life #2 of @1 is over, and its work with it")                           \
    NOTE(WAITS, "waits", "sees no leader, and waits for its turn behind #1")                                   \
    NOTE(STANDS, "stands", "asks for votes in term #1")                                                        \
    NOTE(IS_PUSHED, "is-pushed", "is given the vote of @1 unasked, and stands in term #2")                     \
    NOTE(GRANTS, "grants", "promises the group to @1, in term #2")                                             \
    NOTE(JOINS, "joins", "promises the group to @1, who leads it, though its term #2 is low")                  \
    NOTE(REFUSES_SILENT, "refuses-silent", "refuses @1: it may have promised the group to another")            \
    NOTE(REFUSES_HELD, "refuses-held", "has promised the group to @2, and refuses @1")                         \
    NOTE(REFUSES_LOW, "refuses-low", "refuses @1, whose term is not above #2")                                 \
    NOTE(GRANTED_AWAY, "granted-away", "no longer stands by @1, and says so by number #2")                     \
    NOTE(PUSHES, "pushes", "is free, and gives its vote to @1 in term #2")                                     \
    NOTE(IS_RELEASED, "is-released", "is released from its promise to @1, in terms up to #2")                  \
    NOTE(ANSWERS_CHECK, "answers-check", "holds nothing by term #2, and tells @1 so")                          \
    NOTE(RISES, "rises", "is refused for a floor, and asks again in term #1")                                  \
    NOTE(YIELDS, "yields", "finds @1 ahead of it, and makes way")                                              \
    NOTE(HAS_NO_CHANCE, "has-no-chance", "is refused by too many who stand by @1, and gives up")               \
    NOTE(GIVES_UP, "gives-up", "gets no majority, and gives term #1 back")                                     \
    NOTE(WINS, "wins", "is granted the group by a majority, and leads in term #1")                             \
    NOTE(NAMES_HEIR, "names-heir", "names @1 its heir, in term #2")                                            \
    NOTE(ASKS_TO_JOIN, "asks-to-join", "asks @1, who does not support it, to join")                            \
    NOTE(LAPSES, "lapses", "is promised the group by no majority any more, and ends term #1")                  \
    NOTE(IS_DEPOSED, "is-deposed", "hears that @1 leads in a later term #2, and ends its own")                 \
    NOTE(RETURNS_VOTE, "returns-vote", "has no use for the vote of @1 in term #2")                             \
    NOTE(RESIGNS, "resigns", "ends term #1 as it was asked to")                                                \
    NOTE(WOULD_HAND_OVER, "would-hand-over", "would hand over to @1, who ranks higher")                        \
    NOTE(LETS_GO, "lets-go", "has led no longer for a lease, and lets go of term #1")                          \
    NOTE(HANDS_OVER, "hands-over", "ends its term, and hands the group to @1 in term #2")                      \
    NOTE(IS_BUSY, "is-busy", "is called, but stands or leads already")                                         \
    NOTE(CANNOT_LEAD, "cannot-lead", "is called, but may not lead")                                            \
    NOTE(HOLDS_BACK, "holds-back", "is called, but knows a leader, or reaches no majority")                    \
    NOTE(LAGS, "lags", "hears from @1 of record #2, which it does not have")                                   \
    NOTE(INSTALLS, "installs", "installs record #1; its era is number #2")                                     \
    NOTE(DROPS_ERA, "drops-era", "does not count an answer of @1, given in the later era #2")                  \
    NOTE(SETTLED, "settled", "has promised nothing by an earlier record that may still run")                   \
    NOTE(IS_SOLE, "is-sole", "knows that nobody counts by the voters before; nobody wins in a term up to #1")
#define QUORUM_NOTE_NAME(name, word, text) QUORUM_##name,
enum { QUORUM_NOTE_LIST(QUORUM_NOTE_NAME) QUORUM_NOTES };

/*
 * A term is a counter and its proposer, so no two members propose the same term; 0 means none. New counters
 * begin above QUORUM_FIRST, the counter of an incumbent: if the first record was never written, no granted term
 * is lost with it.
 */
enum { QUORUM_PROPOSER_BITS = 10, QUORUM_MEMBERS_MAX = 1000, QUORUM_FIRST = 1 };
#define QUORUM_EVER UINT64_MAX /* a dead incarnation uses no term any more */
/*
 * The highest counter that one message, or a wall clock, can set: three quarters of all counters, or the
 * milliseconds from 1970 to January 2179. Counters above it are reached in steps only (speakers.h).
 */
#define QUORUM_COUNTER_MOST ((EL_EPOCH_MAX >> QUORUM_PROPOSER_BITS) / 4 * 3)

static inline uint64_t quorum_counter(uint64_t term)
{
    return term >> QUORUM_PROPOSER_BITS;
}

static inline el_node quorum_proposer(uint64_t term)
{
    return (el_node)(term & ((1u << QUORUM_PROPOSER_BITS) - 1));
}

static inline uint64_t quorum_term(uint64_t counter, el_node proposer)
{
    return counter << QUORUM_PROPOSER_BITS | proposer;
}

/* The highest term with this counter. */
static inline uint64_t quorum_whole(uint64_t counter)
{
    return quorum_term(counter + 1, 0) - 1;
}

struct quorum_member;
struct quorum_peer;
struct quorum_group;
struct quorum_ballot;
struct quorum_era;
struct quorum_former;

/* What one call works on. `group` and `ballots` are NULL if the call concerns sessions only. */
struct quorum {
    const struct el_config *cfg;
    struct el_outbox *out;
    struct quorum_member *me;
    struct quorum_peer *peers; /* by position - 1, ourselves included */
    struct quorum_group *group;
    struct quorum_ballot *ballots; /* by position - 1 */
    struct quorum_era *era;        /* NULL: the members never change */
    struct quorum_former *formers; /* by position - 1; NULL like era */
    uint32_t *changes;             /* what groups must be told, collected here: enum quorum_changes */
    bool posts_claims; /* true: the host posts claims. False: beats carry them, and a winner beats at once */
    bool is_at_rest;   /* if posts_claims: this host leads no group and stands for none */
    bool late;         /* the event is a timer: after a pause other timers may be overdue, too */
};

/* By record 1, the configuration. By the record in force: quorum_votes() in session.h. */
static inline bool quorum_is_voter(const struct el_config *cfg, el_node node)
{
    return quorum_has_vote(cfg->cluster, node);
}

/* M22, by record 1: it may lead and has no vote. Users call this role candidate. By the record in force: quorum_is_voteless()
 * in session.h. */
static inline bool quorum_begins_voteless(const struct el_config *cfg, el_node node)
{
    const uint8_t *roles = cfg->cluster->roles;
    return roles && (roles[node - 1] == EL_VOTELESS || roles[node - 1] == EL_WITHDRAWN);
}

/* It votes, or it may lead, or both: no observer. */
static inline bool quorum_takes_part(const struct el_config *cfg, el_node node)
{
    return !cfg->cluster->roles || cfg->cluster->roles[node - 1] != EL_OBSERVER;
}

static inline uint32_t quorum_voters(const struct el_config *cfg)
{
    uint32_t voters = 0;
    for (el_node node = 1; node <= cfg->cluster->count; node++) voters += quorum_is_voter(cfg, node);
    return voters;
}

static inline uint32_t quorum_majority(const struct el_config *cfg)
{
    return quorum_majority_of(quorum_voters(cfg));
}

static inline uint64_t quorum_highest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
