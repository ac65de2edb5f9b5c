/*
 * What the candidates of etcd's election and of ZooKeeper's recipe have in common: a session, a key in the queue,
 * a watch on the key just before it, and a deadline. The candidate whose key is first leads; its term is the
 * revision of that key, which the store never gives twice.
 *
 * The deadline counts from the sending of the last renewal that was answered: PROBE starts at the sending and
 * becomes LEASE when the answer arrives. The store counts from the arrival, which is never earlier. So a claim is
 * over before the store gives the office to another, whatever was lost. A claim that expired is never renewed: the
 * candidate closes its session and queues again, behind all others, for a higher term.
 *
 * "Cannot renew now" is not "lost": an unanswered request changes nothing until LEASE expires.
 */
#ifndef ELECTOR_ALGORITHMS_STORE_CANDIDATE_H
#define ELECTOR_ALGORITHMS_STORE_CANDIDATE_H

#include "algorithms/store/session_store.h"

enum {
    CANDIDATE_OPTION_LEASE,
    CANDIDATE_OPTION_HEARTBEAT,
    CANDIDATE_OPTION_TIMEOUT,
    CANDIDATE_OPTION_OBSERVE,
    CANDIDATE_OPTION_HERD,
    CANDIDATE_OPTION_TIDY,
    CANDIDATE_OPTIONS,
};
#define CANDIDATE_OPTION_ROWS(session)                                                                         \
    {"lease",                                                                                                  \
     EL_DURATION,                                                                                              \
     0,                                                                                                        \
     NULL,                                                                                                     \
     "1s",                                                                                                     \
     "how long a leader leads after its last renewal; the " session                                            \
     " lasts longer, by the drift of the clocks"},                                                             \
        {"heartbeat", EL_DURATION, 0, NULL, "250ms", "how often a candidate renews its " session},             \
        {"timeout",                                                                                            \
         EL_DURATION,                                                                                          \
         0,                                                                                                    \
         NULL,                                                                                                 \
         "100ms",                                                                                              \
         "how long a candidate waits for an answer before it asks "                                            \
         "again on a new connection"},                                                                         \
        {"observe", EL_FLAG, 0, NULL, "on", "the store tells all candidates when the leader changes"},         \
        {"herd", EL_FLAG, 0, NULL, "off", "each candidate watches all keys, not only the one before its own"}, \
        {"tidy", EL_FLAG, 0,                                                                                   \
         NULL,   "on",    "a restarted candidate closes the " session " of its earlier incarnation"},

/* `...`: what a renewal takes besides a round trip. */
#define CANDIDATE_INEQUALITY_ROWS(...)                                                               \
    {{{1, CANDIDATE_OPTION_HEARTBEAT}, {2, EL_OF_ROUND_TRIP}, __VA_ARGS__},                          \
     {{1, CANDIDATE_OPTION_LEASE}},                                                                  \
     "the lease would expire before it can be renewed, and every leader would lose it"},             \
        {{{1, EL_OF_ROUND_TRIP}, __VA_ARGS__},                                                       \
         {{1, CANDIDATE_OPTION_HEARTBEAT}},                                                          \
         "the next renewal would begin before the last one is answered, and none would ever count"}, \
        {{{1, EL_OF_ROUND_TRIP}},                                                                    \
         {{1, CANDIDATE_OPTION_TIMEOUT}},                                                            \
         "every request would be given up before its answer can arrive"},

enum { CANDIDATE_BEAT = STORE_TIMERS, CANDIDATE_PROBE, CANDIDATE_LEASE, CANDIDATE_CALL, CANDIDATE_TIMERS };
#define CANDIDATE_TIMER_ROWS STORE_TIMER_ROWS, "beat", "probe", "lease", "call"

#define CANDIDATE_NOTE_LIST(NOTE)                                                                            \
    NOTE(CANDIDATE_OPENS, "opens", "asks the store for a session")                                           \
    NOTE(CANDIDATE_TIDIES, "tidies", "closes the session that its earlier incarnation left")                 \
    NOTE(CANDIDATE_QUEUES, "stands", "asks for a key at the end of the queue")                               \
    NOTE(CANDIDATE_WAITS, "waits", "watches the key before its own, revision #1")                            \
    NOTE(CANDIDATE_FINDS_GONE, "finds-gone", "is too late to watch a key, and looks again")                  \
    NOTE(CANDIDATE_HEARS, "hears", "hears that key #1 is gone, and looks again")                             \
    NOTE(CANDIDATE_LEADS, "leads", "has the first key, and leads with token #1")                             \
    NOTE(CANDIDATE_OBSERVES, "observes", "learns that @1 leads, with token #2")                              \
    NOTE(CANDIDATE_ASKS_AGAIN, "asks-again", "gets no answer in time, and asks again on a new connection")   \
    NOTE(CANDIDATE_MISSED, "missed", "has missed an event while the connection was broken, and looks again") \
    NOTE(CANDIDATE_LAPSES, "lapses", "could not renew in time, and leads no more")                           \
    NOTE(CANDIDATE_IS_ALONE, "is-alone", "could not renew in time, and knows no leader")                     \
    NOTE(CANDIDATE_EXPIRED, "expired", "is told that its session has ended")                                 \
    NOTE(CANDIDATE_LOST_KEY, "lost-key", "finds that its key is gone")                                       \
    NOTE(CANDIDATE_IGNORES, "ignores", "ignores an answer that it does not wait for")                        \
    NOTE(CANDIDATE_RESIGNS, "resigns", "deletes its key")                                                    \
    NOTE(CANDIDATE_IS_QUEUED, "is-queued", "is called, but stands already")                                  \
    NOTE(CANDIDATE_IS_STORE, "is-store", "is called, but is the store")
enum { CANDIDATE_LAST_OF_STORE = STORE_NOTES - 1, CANDIDATE_NOTE_LIST(EL_NOTE_NAME) CANDIDATE_NOTES };
#define CANDIDATE_NOTE_ROWS STORE_NOTE_LIST(EL_NOTE_TEXT) CANDIDATE_NOTE_LIST(EL_NOTE_TEXT)

struct candidate {
    uint64_t incarnation; /* 0: not known yet */
    uint64_t call;        /* the number of the last request */
    uint64_t pending;     /* the request that waits for an answer; 0: none */
    uint64_t renewal;     /* the renewal that waits for an answer; 0: none */
    uint64_t session;     /* 0: none */
    uint64_t key;         /* our key; 0: none */
    uint64_t before;      /* the key just before ours; 0: none */
    uint64_t first;       /* the leader's key */
    uint64_t heard;       /* events */
    uint64_t leftover;    /* a session of an earlier incarnation, to be closed */
    el_node leader;       /* the owner of the first key */
    uint8_t asked;        /* the kind of the pending request */
    uint8_t leading;
    uint8_t lapsed; /* no renewal was answered in time: the session may have ended */
    uint8_t spare;
};

/* How a recipe differs from another. */
struct recipe {
    struct store_rules store;
    /* Creating twice makes two keys, so a candidate that got no answer first looks whether it has one. */
    bool looks_before_retry;
};

void recipe_start(const struct recipe *recipe, void *state, const struct el_config *cfg,
                  const struct el_start *start, struct el_outbox *out);
void recipe_message(const struct recipe *recipe, void *state, const struct el_config *cfg,
                    const struct el_msg *m, struct el_outbox *out);
void recipe_timer(const struct recipe *recipe, void *state, const struct el_config *cfg, uint32_t timer,
                  uint32_t slot, struct el_outbox *out);
void recipe_chosen(const struct recipe *recipe, void *state, const struct el_config *cfg, uint32_t chosen,
                   struct el_outbox *out);
void recipe_fact(const struct recipe *recipe, void *state, const struct el_config *cfg, uint64_t value,
                 struct el_outbox *out);
void recipe_campaign(void *state, const struct el_config *cfg, struct el_outbox *out);
enum el_answer recipe_request(void *state, const struct el_config *cfg, enum el_request_what what, el_node to,
                              struct el_outbox *out);
void recipe_numbers(const struct recipe *recipe, void *state, const struct el_config *cfg,
                    el_number_visit *visit, void *context);
void recipe_view(const struct recipe *recipe, const void *state, const struct el_config *cfg,
                 struct el_view *view);

/* ---- For a descriptor ---- */

/* The handlers of a recipe: they pass its rules on. */
#define RECIPE_HANDLERS(recipe)                                                                             \
    static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,            \
                         struct el_outbox *out)                                                             \
    {                                                                                                       \
        recipe_start(&(recipe), state, cfg, start, out);                                                    \
    }                                                                                                       \
    static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m,                \
                           struct el_outbox *out)                                                           \
    {                                                                                                       \
        recipe_message(&(recipe), state, cfg, m, out);                                                      \
    }                                                                                                       \
    static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,           \
                         struct el_outbox *out)                                                             \
    {                                                                                                       \
        recipe_timer(&(recipe), state, cfg, timer, slot, out);                                              \
    }                                                                                                       \
    static void on_chosen(void *state, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out) \
    {                                                                                                       \
        recipe_chosen(&(recipe), state, cfg, chosen, out);                                                  \
    }                                                                                                       \
    static void on_fact(void *state, const struct el_config *cfg, uint32_t fact, uint64_t value,            \
                        struct el_outbox *out)                                                              \
    {                                                                                                       \
        (void)fact; /* the wall clock is the only one */                                                    \
        recipe_fact(&(recipe), state, cfg, value, out);                                                     \
    }                                                                                                       \
    static void numbers(void *state, const struct el_config *cfg, el_number_visit *visit, void *context)    \
    {                                                                                                       \
        recipe_numbers(&(recipe), state, cfg, visit, context);                                              \
    }                                                                                                       \
    static void view(const void *state, const struct el_config *cfg, struct el_view *v)                     \
    {                                                                                                       \
        recipe_view(&(recipe), state, cfg, v);                                                              \
    }

#define RECIPE_BREAK_ROWS                                                                                      \
    {EL_DRIFTS, EL_TWO_LEADERS,                                                                                \
     "a store whose clock runs too fast ends the session while its owner still relies on it"},                 \
        {EL_RESTARTS, EL_DEMOTED,                                                                              \
         "while the store is down nobody can renew, and the leader's deadline passes"},                        \
        {EL_LOSSES | EL_LATENESS | EL_REORDERS, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,                   \
         "a connection that keeps failing delays renewals and events: the lease expires, or the view is old"}, \
        {EL_UNGUARDED, EL_DISAGREEMENT | EL_DEAD_LEADER | EL_NO_LEADER | EL_ENDLESS,                           \
         "without observe, a candidate names the leader of the time when it last looked"},

#define RECIPE_DESCRIPTOR                                                                                      \
    .routine_kinds = 1u << STORE_RENEW | 1u << STORE_RENEWED,                                                  \
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_ONE_PER_TERM | EL_CLAIMS_RISING | EL_CLAIMS_AGREEMENT |         \
              EL_CLAIMS_STABLE | EL_CLAIMS_IN_ORDER,                                                           \
    .roleless = true, .beats = true, .majority = true, .store = true, .state_bytes = sizeof(struct candidate), \
    .state_per_member = STORE_PER_MEMBER, .outbox_fixed = 20, .outbox_per_member = 8, .on_start = on_start,    \
    .on_message = on_message, .on_timer = on_timer, .on_chosen = on_chosen, .on_fact = on_fact,                \
    .on_campaign = recipe_campaign, .on_request = recipe_request, .view = view, .numbers = numbers,            \
    .numbers_sent = session_store_numbers_sent

#endif
