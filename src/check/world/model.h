/* The inside of the checker: what a world is made of. Shared by its files and nobody else. */
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
    LOCAL_LOST = 32,  /* its record is lost, and none has been saved since */
};

/* What is left of a timer, in parts of a tick on the node's own clock. */
enum { LEFT_NONE = UINT16_MAX, LEFT_OVERDUE = UINT16_MAX - 1, LEFT_MOST = UINT16_MAX - 2 };

/* The head of a local state; its machine's state follows, then what is left of each timer. */
struct check_head {
    uint8_t self, flags, rate, spare;
    uint32_t suspects; /* bit k: its detector says that position k + 1 is down */
    struct el_durable durable;
};
_Static_assert(sizeof(struct check_head) == 40, "no hidden padding");

/* A record of the store: what is asked of a local state again and again, then its bytes. */
struct check_local {
    struct el_hash hash; /* of the bytes, under each renaming: check_hashes() */
    uint64_t term;       /* in its view */
    uint8_t leader, role;
    bool leading;    /* leads, and what bounds its claim has not run out */
    bool is_due;     /* some timer must fire before time goes on */
    bool is_overdue; /* some timer must fire before anything else */
    uint8_t spare;
    uint16_t
        ends_first; /* the timer that bounds its claim, which is over: before anything else; its place + 1, 0: none */
};

/* A message under way, or one that comes back to its sender. */
struct check_letter {
    struct el_hash hash;
    struct el_msg msg;
    uint16_t left;   /* true time in which it arrives or is lost; LEFT_NONE: no matter when */
    uint8_t returns; /* it comes back: the hop failed */
    uint8_t spare;
    _Atomic uint32_t aged; /* the same a tick later, number + 1; 0: not known yet */
};

/* Who led in which term, as far as the properties ask. */
enum { HISTORY_TERMS_MAX = 14 };
struct check_history {
    struct el_hash hash;
    uint64_t highest;
    uint64_t
        fell; /* somebody took office in a term no higher: else such a world could pass for an innocent one */
    struct check_tenure {
        uint64_t term;
        el_node node;
        uint32_t past; /* in an earlier life */
    } tenures[HISTORY_TERMS_MAX];
};

/* ---- Worlds ---- */

enum { CHECK_SPENT_WORDS = 2 };
_Static_assert((uint32_t)CHECK_BUDGETS <= 8u * CHECK_SPENT_WORDS, "eight to a word");

struct check_world {
    uint32_t local[CHECK_NODES_MAX];
    uint32_t history;
    uint8_t called; /* an election was called, or a leader's death noticed: somebody should lead */
    uint64_t spent[CHECK_SPENT_WORDS]; /* a byte each: check_spent() */
    uint32_t broken;                   /* rounds: links that lose all, see check_link */
    uint8_t dawn;                      /* rounds: nothing has happened since the last tick */
    uint16_t ticks;                    /* counted only towards a horizon */
    uint16_t flight_count;
    uint32_t
        flight[CHECK_FLIGHT_MAX]; /* letters: by link in order of sending if links are FIFO, else by number */
};

static inline uint8_t check_spent(const uint64_t *spent, uint32_t budget)
{
    return (uint8_t)(spent[budget / 8] >> budget % 8 * 8);
}

/* Only what is used of it; the small ones, which most are, by a few wide moves. */
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
    uint32_t parts;                       /* of a tick, in which what is left is counted */
    bool fifo, hop_acks, timely, uses_moot;
    bool soup; /* what was sent may arrive any number of times, or never: nothing is ever taken out */
    bool
        late_is_lost; /* a message may be late for ever and order does not count: never to deliver it is to lose it */
    uint32_t copies_max;        /* of one message under way; 0: any number */
    uint32_t permutation_count; /* at least 1: the identity */
    el_node (*permutations)[CHECK_NODES_MAX + 1];
    size_t hashes_at; /* where the fingerprints under renamings 1.. lie in a record, after all else */
    struct check_store locals, letters, histories;
    uint32_t first_history;
    _Atomic(const char *) gave_up; /* why the search cannot go on; NULL: it can */
};

/* Whether something is asked that only a world with nothing under way can answer. */
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

/* The search cannot go on, for this reason. */
static inline void check_give_up(struct check_model *model, const char *why)
{
    atomic_store(&model->gave_up, why);
}

/* model.c: false with the reason in `text` if the question makes no sense. */
bool check_model_init(struct check_model *model, const struct check_config *config, char *text, size_t size);
void check_model_free(struct check_model *model);
uint64_t check_model_memory(const struct check_model *model);
struct check_world check_first_world(struct check_model *model, const uint8_t *rates);
/* Its fingerprint; under symmetry the least over all renamings. */
struct el_hash check_fingerprint(const struct check_model *model, const struct check_world *world);
/* The fingerprint of its nodes and history alone, and under which renaming it is least. */
struct el_hash check_key(const struct check_model *model, const struct check_world *world,
                         uint32_t *permutation);
/* Adds a local state given by its bytes, a letter, a history. UINT32_MAX: no memory. */
uint32_t check_add_local(struct check_model *model, const unsigned char *bytes);
uint32_t check_add_letter(struct check_model *model, const struct el_msg *msg, uint16_t left, bool returns);
uint32_t check_add_history(struct check_model *model, const struct check_history *history);
/* The same letter a tick later. */
uint32_t check_aged_letter(struct check_model *model, uint32_t number);
/* In parts of a tick, rounded up. The search cannot go on if they are too many to count. */
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

/* What may come of one event at one local state; outcomes lie one after another. */
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

/* Forgets all if it has grown large: what was borrowed before is gone then. */
void check_memo_trim(struct check_memo *memo);

/* An event of one node, in one word. */
static inline uint64_t check_event(enum check_move_type type, uint32_t what)
{
    return (uint64_t)type << 32 | what;
}
/* With `may_die`, also those in which it dies after a prefix of its outbox. Borrowed until the memo is
 * trimmed. */
struct check_outcomes check_outcomes_of(struct check_memo *memo, uint32_t local, uint64_t event, bool may_die);
static inline const struct check_outcome *check_next_outcome(const struct check_outcome *outcome)
{
    const size_t bytes = sizeof *outcome + outcome->sent * sizeof *outcome->letters;
    return (const struct check_outcome *)(const void *)((const char *)outcome + (bytes + 7) / 8 * 8);
}

/* ---- Moves of the world ---- */

struct check_step { /* a move and how it came out */
    enum check_move_type type;
    el_node node, peer;
    uint32_t letter, timer, slot;
    bool kept, wiped, is_fault;
    const struct check_outcome *outcome; /* NULL: no node took a step */
    const uint32_t *shed;                /* lost because too many were under way; borrowed like the rest */
    uint32_t shed_count;
};

/* Called for each successor; false ends the enumeration. */
typedef bool check_visitor(void *whose, struct check_world *world, const struct check_step *step);
/* True if some node can go on without a fault: the world is not at rest. */
bool check_successors(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_visitor *visit, void *whose);
/* check/reduce/partial_order.c: if one node's next move is independent of all else, that one alone; false if
 * there is none. */
bool check_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                 check_visitor *visit, void *whose);
/* Whether it could ever find one. */
bool check_may_be_ample(const struct check_model *model);
/* Not to be explored further. */
bool check_is_cut(const struct check_model *model, const struct check_world *world);

/* check/reduce/moot.c: whether no state that was reached does anything with what its algorithm calls moot
 * there. */
bool check_moot_is_moot(const struct check_model *model, struct check_memo *memo);

/* property.c: bits of what is broken in this world; a tenure that began is judged where it began. */
uint32_t check_judge(const struct check_model *model, const struct check_world *world);
uint32_t check_judge_rest(const struct check_model *model, const struct check_world *world);
/* What the simulator would call a broken property, as it shows in this world. */
enum el_violation check_violation(const struct check_model *model, const struct check_world *world,
                                  enum check_property property);
/* Somebody could lead, and was asked to. */
bool check_must_lead(const struct check_model *model, const struct check_world *world);
/* All the living follow one that lives and leads. */
bool check_is_agreed(const struct check_model *model, const struct check_world *world);
/* The history after that of this number, when `node` went from one local state to another; *broken gets what
 * that breaks. */
uint32_t check_remember(struct check_model *model, uint32_t number, el_node node, uint32_t before,
                        uint32_t after, uint32_t *broken);

#endif
