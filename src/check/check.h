/*
 * The checker: every world that a bounded cluster can get into, breadth first. It calls the same el_step as the simulator; the agent
 * calls it, too, and for quorum's many groups the driver below it (algorithms/quorum/driver.h). A world is what each node is, what its disk holds, which timers run, and what is under way.
 */
#ifndef ELECTOR_CHECK_H
#define ELECTOR_CHECK_H

#include "elector/core.h"

enum { CHECK_NODES_MAX = 16, CHECK_FLIGHT_MAX = 250 };
/* A budget without end. */
enum { CHECK_ANY = UINT8_MAX };

/* How much trouble there may be in all. What is not in the budget does not happen. */
enum check_budget {
    CHECK_CRASH,     /* a process dies, between two steps or after any prefix of an outbox */
    CHECK_RESTART,   /* a dead one comes back, with its record */
    CHECK_WIPE,      /* a dead one comes back, and its record is lost */
    CHECK_LOSE,      /* a message never arrives */
    CHECK_DUPLICATE, /* a message arrives, and is still under way */
    CHECK_SUSPECT,   /* a detector accuses a live process */
    CHECK_PAUSE,     /* a process stands still while time goes on */
    CHECK_RESIGN,    /* a leader is asked to give up */
    CHECK_TRANSFER,  /* a leader is asked to hand over, to anybody */
    CHECK_DELAY,     /* rounds: a message takes a tick longer */
    CHECK_REORDER,   /* rounds: a message is heard before another that arrived with it */
    CHECK_CUT,       /* rounds: a link breaks, one way; all mend together, at any later instant */
    CHECK_PART,      /* rounds: a node is cut off from all others, both ways */
    CHECK_BUDGETS
};
const char *check_budget_name(enum check_budget budget);

enum check_time {
    CHECK_FREE,  /* any armed timer may run out at any moment: every interleaving */
    CHECK_TICKS, /* time passes in ticks, and a timer runs out when it is due */
};

/* What may be asked of the worlds. The first are always, the last eventually. */
enum check_property {
    CHECK_ONE_LEADER,   /* never two leaders at one instant */
    CHECK_ONE_PER_TERM, /* never two nodes, or two lives of one, that led in one term */
    CHECK_TOKENS_RISE,  /* whoever takes office does so with a higher term than all before */
    CHECK_AGREEMENT,    /* at rest, every live node names the same live leader */
    CHECK_BEST,         /* ... which is the best-ranked live candidate */
    CHECK_GROUPS,       /* at rest, whoever a node follows leads it */
    CHECK_RESTS,        /* from every world, one can be reached in which nothing is under way */
    CHECK_ELECTS,       /* from every world, one can be reached in which all the living follow one leader */
    CHECK_PROPERTIES
};
const char *check_property_name(enum check_property property);
const char *check_property_text(enum check_property property);
/* Whether the algorithm promises it: the simulator judges nothing else. */
bool check_is_claimed(const struct el_algorithm *algorithm, enum check_property property);
/* Those that the algorithm claims, as bits. */
uint32_t check_claimed(const struct el_algorithm *algorithm);

struct check_result;

struct check_config {
    const struct el_algorithm *algorithm;
    const struct el_cluster *cluster; /* borrowed */
    el_node incumbent;
    uint64_t initiators; /* el_bit of each who calls an election, once, at any moment */
    uint8_t budget[CHECK_BUDGETS];
    uint64_t terms;  /* worlds with a higher term are not explored further; 0: no bound */
    uint32_t depth;  /* nor are those after so many moves; 0: no bound */
    uint32_t flight; /* at most so many messages under way: beyond that, any one of them is lost; 0: no bound */
    uint32_t horizon; /* ticks; 0: no bound */
    enum check_time time;
    el_duration tick;
    bool
        rounds; /* with ticks: a message arrives a tick after it was sent, and what happens at one instant happens
                    in one order, except for what the budgets allow */
    uint32_t late; /* ticks after which a message is lost; 0: never. Where the algorithm needs timely links
                       it arrives within transmit_max instead */
    bool
        detect; /* whoever dies is suspected by all the living, at any moment after, and trusted when it is back */
    bool rates;          /* each clock runs slow, true or fast, within the drift bound: all combinations ... */
    const uint8_t *rate; /* ... or this one, by position - 1: 0 slow, 1 true, 2 fast; NULL: all. Borrowed */
    bool symmetry;       /* worlds that differ by a renaming of the nodes are one */
    bool reduce;         /* leave out orders that make no difference */
    uint32_t properties; /* bits of enum check_property */
    uint64_t memory;     /* bytes */
    unsigned threads;
    /* Told about twice a second, and at the end of each level; NULL: nobody is. */
    void (*progress)(void *whose, const struct check_result *so_far);
    void *whose;
};

enum check_verdict {
    CHECK_HOLDS,   /* in every world within the bounds */
    CHECK_BROKEN,  /* there is a counterexample */
    CHECK_STOPPED, /* the memory is used up, and the frontier is not empty */
    CHECK_REFUSED, /* the question makes no sense: see text */
};

enum check_move_type {
    CHECK_START,
    CHECK_CALL,
    CHECK_DELIVER,
    CHECK_RETURN, /* the hop failed, and the sender hears of it */
    CHECK_DROP,   /* a message is lost */
    CHECK_FIRE,
    CHECK_TELL_SUSPECT,
    CHECK_TELL_TRUST,
    CHECK_DIE,
    CHECK_REVIVE,
    CHECK_STOP,
    CHECK_GO_ON,
    CHECK_ASK_RESIGN,
    CHECK_ASK_TRANSFER,
    CHECK_TICK,
    CHECK_BREAK,   /* links break, or mend */
    CHECK_PUT_OFF, /* a message takes a tick longer */
};

/* One move of a counterexample. */
enum { CHECK_CHOICES_MAX = 4 };
struct check_move {
    enum check_move_type type;
    el_node node, peer;
    struct el_msg msg;    /* DELIVER, RETURN, DROP: as sent */
    uint32_t timer, slot; /* FIRE */
    bool kept;            /* DELIVER: and it is still under way; DROP: and its sender will hear of it */
    bool wiped;           /* REVIVE */
    bool is_fault;
    int dying; /* it dies after so many of its sends and saves; -1: it does not */
    uint8_t choices[CHECK_CHOICES_MAX];
    uint8_t choice_count;
    struct el_msg *shed; /* lost because too many were under way; owned by the path */
    uint32_t shed_count;
    struct el_msg *sent; /* by the node that took the step; owned by the path */
    uint32_t sent_count;
};

struct check_path {
    struct check_move *moves;
    uint32_t count;
    uint32_t loop; /* the moves from here on lead back to where they began; UINT32_MAX: no loop */
    uint8_t rates[CHECK_NODES_MAX]; /* 0 slow, 1 true, 2 fast */
};

struct check_result {
    enum check_verdict verdict;
    char text[200]; /* REFUSED, STOPPED: why */
    enum check_property broken;
    uint64_t states, moves, frontier; /* distinct worlds; successors looked at; worlds not yet expanded */
    uint64_t cut;                     /* worlds at a bound of terms, depth, horizon, which were not expanded */
    uint64_t locals, messages;        /* distinct states of one node; distinct messages */
    uint64_t covered;                 /* successors that a kept world covers, see check/reduce/subsumption.h */
    uint64_t resting;                 /* worlds in which nothing is under way */
    uint32_t depth;                   /* moves after which the last new world was found */
    uint64_t memory;                  /* bytes in use at the end */
    double seconds;
    uint32_t permutations;       /* that symmetry used; 1: none */
    struct check_path path;      /* BROKEN: the shortest */
    enum el_violation violation; /* BROKEN: as the simulator would call it */
};

/* Runs to the end; the result owns its path. */
void check_run(const struct check_config *config, struct check_result *result);
void check_result_free(struct check_result *result);

#endif
