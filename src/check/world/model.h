/*
 * A world of the checker and its parts. A local state is everything about one node; a letter is a message in
 * flight; a history is the leaders of past terms. Stores keep each of them once, and a world refers to them
 * by number. Included only within src/check. Start with struct check_world, then moves.c for its successors.
 */
#ifndef ELECTOR_CHECK_WORLD_MODEL_H
#define ELECTOR_CHECK_WORLD_MODEL_H

#include <string.h>

#include "check/check.h"
#include "check/tables/store.h"

/* ---- Local states: everything about one node, each kept once ---- */

enum {
    LOCAL_STARTED = 1, /* it has been started once */
    LOCAL_ALIVE = 2,
    LOCAL_PAUSED = 4,
    LOCAL_CALLS = 8,  /* it will be asked to call an election */
    LOCAL_SAVED = 16, /* it has a record */
    LOCAL_LOST = 32,  /* its record is lost, and no other has been saved since */
};

/* The time left on a timer, in parts of a tick on the node's own clock. */
enum { LEFT_NONE = UINT16_MAX, LEFT_OVERDUE = UINT16_MAX - 1, LEFT_MOST = UINT16_MAX - 2 };

/* The head of a local state; its machine's state follows, then the time left on each timer. */
struct check_head {
    uint8_t self, flags, rate, lives; /* of a machine that decides: how often its disk was lost */
    uint32_t suspects;                /* bit k: its detector suspects position k + 1 */
    struct el_durable durable;
};
_Static_assert(sizeof(struct check_head) == 40, "no hidden padding");

/* A record of the store: often needed properties of a local state, then its bytes. */
struct check_local {
    struct el_hash hash; /* of the bytes, under each renaming */
    uint64_t term;       /* in its view */
    struct el_decision decision;
    uint8_t leader, role;
    bool leading;    /* leads, and its claim has not expired */
    bool is_due;     /* some timer must fire before time passes */
    bool is_overdue; /* some timer must fire before anything else */
    uint8_t spare;
    uint16_t ends_first; /* the timer of its expired claim, which comes before all else: place + 1; 0: none */
    struct el_membership members; /* as it knows them */
};

/* A message in flight, or one that returns to its sender. */
struct check_letter {
    struct el_hash hash;
    struct el_msg msg;
    uint16_t left;   /* true time until it arrives or is lost; LEFT_NONE: unlimited */
    uint8_t returns; /* it returns to its sender: the hop failed */
    uint8_t spare;
    _Atomic uint32_t aged; /* the same letter one tick later, number + 1; 0: not known yet */
};

/* Of a letter, from the message on: what its fingerprint is made of. */
enum { CHECK_LETTER_BYTES = offsetof(struct check_letter, aged) - offsetof(struct check_letter, msg) };

static inline void check_add_hash(struct el_hash *sum, struct el_hash more)
{
    sum->high += more.high;
    sum->low += more.low;
}

/* The leaders of past terms, as far as the properties need them. */
enum { HISTORY_TERMS_MAX = 14, HISTORY_DECISIONS_MAX = 7 };
struct check_history {
    struct el_hash hash;
    uint64_t highest;
    uint64_t fell;    /* a leader took office in a term not above the highest: keeps such a world distinct */
    uint64_t decided; /* how many records of the members after the first */
    uint64_t floors[EL_RECORDS_MAX + 1]; /* that each of them carries, by number */
    struct check_tenure {
        uint64_t term;
        el_node node;
        uint32_t past; /* led in an earlier incarnation */
    } tenures[HISTORY_TERMS_MAX];
    struct el_decision decisions[HISTORY_DECISIONS_MAX]; /* of a machine that decides: by rising number */
};

/* ---- Worlds ---- */

enum { CHECK_SPENT_WORDS = 2 };
_Static_assert((uint32_t)CHECK_BUDGETS <= 8u * CHECK_SPENT_WORDS, "eight to a word");

struct check_world {
    uint32_t local[CHECK_NODES_MAX];
    uint32_t history;
    uint8_t called; /* an election was called, or a leader's crash noticed: somebody should lead */
    uint64_t spent[CHECK_SPENT_WORDS]; /* a byte for each budget: check_spent() */
    uint32_t broken;                   /* rounds: links that lose everything, see check_link */
    uint8_t dawn;                      /* rounds: nothing has happened since the last tick */
    uint8_t leaderless;                /* LED: ticks in a row without a leader, and without trouble */
    uint16_t ticks;                    /* counted only towards a horizon */
    uint16_t flight_count;
    uint32_t
        flight[CHECK_FLIGHT_MAX]; /* letters: by link in order of sending if links are FIFO, else by number */
};

static inline uint8_t check_spent(const uint64_t *spent, uint32_t budget)
{
    return (uint8_t)(spent[budget / 8] >> budget % 8 * 8);
}

/* Copies only the used part; small worlds, which are the most frequent, by a few wide moves. */
static inline void check_copy_world(struct check_world *to, const struct check_world *from)
{
    enum { SMALL = 192 };
    _Static_assert(sizeof *to >= SMALL, "there is as much to copy");
    const size_t used = offsetof(struct check_world, flight) + from->flight_count * sizeof *from->flight;
    if (used <= SMALL)
        memcpy(to, from, SMALL);
    else
        memcpy(to, from, used);
}

/* The bit of a link, in clusters of up to five. */
static inline uint32_t check_link(uint32_t count, el_node from, el_node to)
{
    return 1u << ((from - 1) * count + (to - 1));
}

struct check_model {
    const struct check_config *config;
    const struct el_algorithm *algorithm;
    const struct el_cluster *cluster;
    uint32_t count;
    size_t state_size, left_count, bytes; /* of a local state: the machine's, timers, all */
    uint32_t parts;                       /* parts of a tick; the unit of time left */
    bool fifo, hop_acks, timely, uses_moot, renumbers;
    bool soup;           /* a message may arrive any number of times or never, so none is ever removed */
    bool tells_time;     /* a node that lost its record is told the wall clock */
    bool late_is_lost;   /* messages may stay in flight for ever, unordered: not delivering one is losing it */
    uint32_t copies_max; /* of one message in flight; 0: any number */
    uint32_t permutation_count; /* at least 1: the identity */
    el_node (*permutations)[CHECK_NODES_MAX + 1];
    size_t hashes_at; /* where the fingerprints under renamings 1.. lie in a record, after all else */
    struct check_store locals, letters, histories;
    uint32_t first_history;
    _Atomic(const char *) gave_up; /* why the search must stop; NULL: it goes on */
};

/* True if some property is about worlds at rest. */
static inline bool check_looks_at_rest(const struct check_config *config)
{
    return config->properties & (1u << CHECK_AGREEMENT | 1u << CHECK_BEST | 1u << CHECK_GROUPS |
                                 1u << CHECK_RESTS | 1u << CHECK_ELECTS);
}

static inline const struct check_local *check_local_at(const struct check_model *model, uint32_t number)
{
    return check_store_at(&model->locals, number);
}

static inline const struct check_head *check_head_of(const struct check_local *local)
{
    return (const struct check_head *)(const void *)(local + 1);
}

static inline const uint16_t *check_left_of(const struct check_model *model, const struct check_local *local)
{
    return (const uint16_t *)(const void *)((const unsigned char *)(check_head_of(local) + 1) +
                                            model->state_size);
}

static inline const struct check_letter *check_letter_at(const struct check_model *model, uint32_t number)
{
    return check_store_at(&model->letters, number);
}

static inline const struct check_history *check_history_at(const struct check_model *model, uint32_t number)
{
    return check_store_at(&model->histories, number);
}

/* Stops the search for this reason. */
static inline void check_give_up(struct check_model *model, const char *why)
{
    atomic_store(&model->gave_up, why);
}

/* model.c: false, with the reason in `text`, if the question is invalid. */
bool check_model_init(struct check_model *model, const struct check_config *config, char *text, size_t size);
void check_model_free(struct check_model *model);
uint64_t check_model_memory(const struct check_model *model);
struct check_world check_first_world(struct check_model *model, const uint8_t *rates);
/* The world's fingerprint; with symmetry the least over all renamings. */
struct el_hash check_fingerprint(const struct check_model *model, const struct check_world *world);
/* The fingerprint of the world's nodes and history alone, and the renaming under which it is least. */
struct el_hash check_key(const struct check_model *model, const struct check_world *world,
                         uint32_t *permutation);
/* Add a local state given by its bytes, a letter, a history. UINT32_MAX: out of memory. */
uint32_t check_add_local(struct check_model *model, const unsigned char *bytes);
uint32_t check_add_letter(struct check_model *model, const struct el_msg *msg, uint16_t left, bool returns);
uint32_t check_add_history(struct check_model *model, const struct check_history *history);
/* The same letter a tick later. */
uint32_t check_aged_letter(struct check_model *model, uint32_t number);
/* The duration in parts of a tick, rounded up. Stops the search if the result does not fit. */
uint16_t check_parts(struct check_model *model, el_duration duration);
uint16_t check_rate_parts(const struct check_model *model, uint8_t rate);

/* ---- Steps of one node, remembered ---- */

enum { CHECK_SENT_MAX = 48 }; /* by one step */

struct check_outcome {
    uint32_t local;
    int16_t dying; /* -1: it lives */
    uint8_t choice_count;
    uint8_t choices[CHECK_CHOICES_MAX];
    uint16_t sent;
    uint32_t letters[]; /* [sent] */
};

/* The possible outcomes of one event at one local state; they lie one after another. */
struct check_outcomes {
    uint64_t event;
    uint32_t local;
    uint32_t count;
    const struct check_outcome *first;
};

struct check_memo; /* one for each thread */
struct check_memo *check_memo_new(struct check_model *model);
void check_memo_free(struct check_memo *memo);
uint64_t check_memory_of_memo(const struct check_memo *memo);

/* Forgets all if it has grown large, which ends all borrowing. */
void check_memo_trim(struct check_memo *memo);

/* An event of one node, in one word. */
static inline uint64_t check_event(enum check_move_type type, uint32_t what)
{
    return (uint64_t)type << 32 | what;
}
/* With `may_die`, also the outcomes in which the node dies after a prefix of its outbox. Borrowed until the
 * memo is trimmed. */
struct check_outcomes check_outcomes_of(struct check_memo *memo, uint32_t local, uint64_t event, bool may_die);
static inline const struct check_outcome *check_next_outcome(const struct check_outcome *outcome)
{
    const size_t bytes = sizeof *outcome + outcome->sent * sizeof *outcome->letters;
    return (const struct check_outcome *)(const void *)((const char *)outcome + (bytes + 7) / 8 * 8);
}

/* property.c: one more tick of this world. */
void check_count_leaderless(const struct check_model *model, struct check_world *world);

/* ---- Moves of the world ---- */

struct check_step { /* a move and how it came out */
    enum check_move_type type;
    el_node node, peer;
    uint32_t letter, timer, slot;
    bool kept, wiped, is_fault;
    const struct check_outcome *outcome; /* NULL: no node took a step */
    const uint32_t *shed;                /* lost because too many were in flight; borrowed */
    uint32_t shed_count;
};

/* Called for each successor; false ends the enumeration. */
typedef bool check_visitor(void *context, struct check_world *world, const struct check_step *step);
/* True if some node can act without a fault: the world is not at rest. */
bool check_successors(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_visitor *visit, void *context);
/* check/reduce/partial_order.c: if one node's next move is independent of all others, visits that one alone;
 * false if there is none. */
bool check_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                 check_visitor *visit, void *context);
/* True if check_ample can find a move in this model at all. */
bool check_may_be_ample(const struct check_model *model);
/* True if the world is at a bound and not to be expanded. */
bool check_is_cut(const struct check_model *model, const struct check_world *world);

/* check/reduce/moot.c: true if no state that was reached reacts to a message that its algorithm calls moot. */
bool check_moot_is_moot(const struct check_model *model, struct check_memo *memo);

/* property.c: the properties that this world breaks, as bits; a new leadership is checked by check_remember. */
uint32_t check_judge(const struct check_model *model, const struct check_world *world);
uint32_t check_judge_rest(const struct check_model *model, const struct check_world *world);
/* True if there must be a leader: somebody may lead, and an election was called. */
bool check_must_lead(const struct check_model *model, const struct check_world *world);
/* True if all live nodes follow one live leader. */
bool check_is_agreed(const struct check_model *model, const struct check_world *world);
/* The history that follows history `number` when `node` goes from one local state to another; *broken gets the
 * properties that this breaks. */
uint32_t check_remember(struct check_model *model, uint32_t number, el_node node, uint32_t before,
                        uint32_t after, uint32_t *broken);

#endif
