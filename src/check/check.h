/*
 * The checker visits every world that a bounded cluster can reach, breadth first. It calls the same el_step as
 * the simulator and the agent; for quorum's many groups the agent calls the driver below it
 * (algorithms/quorum/driver.h). A world is the state of each node, its saved record, its armed timers, and the
 * messages in flight.
 *
 * src/check may know the core, the algorithms' descriptors and base, never the simulator or the agent. It has
 * three rooms: world/ (a world and its successors), tables/ (worlds seen and worlds to visit), reduce/ (fewer
 * worlds for the same answer). Start reading with check_run in explore.c, then world/moves.c.
 */
#ifndef ELECTOR_CHECK_H
#define ELECTOR_CHECK_H

#include <signal.h>

#include "elector/core.h"

enum { CHECK_NODES_MAX = 16, CHECK_FLIGHT_MAX = 250 };
/* An unlimited budget. */
enum { CHECK_ANY = UINT8_MAX };

/* The number of faults of each kind in one run. A fault with budget 0 does not happen. */
enum check_budget {
    CHECK_CRASH,     /* a process dies, between two steps or after any prefix of an outbox */
    CHECK_RESTART,   /* a dead process restarts with its record */
    CHECK_WIPE,      /* a dead process restarts, and its record is lost */
    CHECK_LOSE,      /* a message never arrives */
    CHECK_DUPLICATE, /* a message arrives and stays in flight */
    CHECK_SUSPECT,   /* a detector accuses a live process */
    CHECK_PAUSE,     /* a process makes no progress while time passes */
    CHECK_RESIGN,    /* a leader is asked to resign */
    CHECK_TRANSFER,  /* a leader is asked to hand over, to any member */
    CHECK_DELAY,     /* rounds: a message takes one tick longer */
    CHECK_REORDER,   /* rounds: a message is handled before another that arrives at the same instant */
    CHECK_CUT,       /* rounds: a link breaks, one way; all broken links heal together, at any later instant */
    CHECK_PART,      /* rounds: a node is cut off from all others, both ways */
    CHECK_BUDGETS
};
const char *check_budget_name(enum check_budget budget);

enum check_time {
    CHECK_FREE,  /* any armed timer may fire at any moment: every interleaving */
    CHECK_TICKS, /* time passes in ticks, and a timer fires when it is due */
};

/* The properties. RESTS and ELECTS are liveness properties, all others are invariants. */
enum check_property {
    CHECK_ONE_LEADER,   /* never two leaders at one instant */
    CHECK_ONE_PER_TERM, /* never two nodes, or two incarnations of one, that led in one term */
    CHECK_TOKENS_RISE,  /* each new leader's term is higher than all before */
    CHECK_AGREEMENT,    /* at rest, every live node names the same live leader */
    CHECK_BEST,         /* ... which is the best-ranked live candidate */
    CHECK_GROUPS,       /* at rest, the leader that a node follows does lead */
    CHECK_ONE_DECISION, /* never two decisions under one number */
    CHECK_IN_ORDER,     /* nobody leads while the store has an earlier candidate */
    CHECK_LED,          /* ticks: never longer than `within` without a leader, while nothing is broken */
    CHECK_RESTS,        /* from every world, a world at rest can be reached */
    CHECK_ELECTS,       /* from every world, one can be reached in which all live nodes follow one leader */
    CHECK_PROPERTIES
};
const char *check_property_name(enum check_property property);
const char *check_property_text(enum check_property property);
/* All properties that the algorithm claims, as bits. One that never rests, and claims agreement at rest, must be able to
 * elect. */
uint32_t check_claimed(const struct el_algorithm *algorithm);

struct check_result;

struct check_config {
    const struct el_algorithm *algorithm;
    const struct el_cluster *cluster; /* borrowed */
    el_node incumbent;
    uint64_t initiators; /* el_bit of each node that calls an election, once, at any moment */
    uint8_t budget[CHECK_BUDGETS];
    uint64_t terms;   /* worlds with a higher term are not explored further; 0: no bound */
    uint32_t depth;   /* worlds after this many moves are not explored further; 0: no bound */
    uint32_t flight;  /* with more messages in flight than this, any one of them is lost; 0: no bound */
    uint32_t horizon; /* ticks after which a world is not explored further; 0: no bound */
    uint32_t within;  /* LED: so many ticks may pass without a leader after the last fault is over */
    enum check_time time;
    el_duration tick;
    /* With ticks: a message arrives one tick after it was sent, and the events of one instant happen in one
     * fixed order, except for what the budgets allow. */
    bool rounds;
    /* Ticks after which a message is lost; 0: never. If the algorithm needs timely links, a message arrives
     * within transmit_max instead. */
    uint32_t late;
    /* All live nodes come to suspect a dead node, at any later moment, and trust it after its restart. */
    bool detect;
    bool rates;          /* each clock runs slow, true or fast, within the drift bound: all combinations ... */
    const uint8_t *rate; /* ... or this one, by position - 1: 0 slow, 1 true, 2 fast; NULL: all. Borrowed */
    bool symmetry;       /* worlds that differ only by a renaming of the nodes count as one */
    bool reduce;         /* leave out orders that make no difference */
    uint32_t properties; /* bits of enum check_property */
    uint64_t memory;     /* bytes */
    double seconds;      /* the search stops after this time; 0: no limit */
    unsigned threads;
    const volatile sig_atomic_t *interrupt; /* the search stops when it is not 0; NULL: never. Borrowed */
    /* Called about twice a second, and at the end of each level; may be NULL. */
    void (*progress)(void *context, const struct check_result *so_far);
    void *context;
};

enum check_verdict {
    CHECK_HOLDS,   /* in every world within the bounds */
    CHECK_BROKEN,  /* there is a counterexample */
    CHECK_STOPPED, /* before the frontier was empty: by a limit, or interrupted */
    CHECK_REFUSED, /* the question is invalid: see text */
};

enum check_move_type {
    CHECK_START,
    CHECK_CALL,
    CHECK_DELIVER,
    CHECK_RETURN, /* the hop failed, and the message returns to its sender */
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
    CHECK_BREAK,   /* links break, or heal */
    CHECK_PUT_OFF, /* a message takes one tick longer */
    CHECK_INSTALL, /* a record of the members, decided now or before, is installed */
};

/* One move of a counterexample. */
enum { CHECK_CHOICES_MAX = 4 };
struct check_move {
    enum check_move_type type;
    el_node node, peer;
    struct el_msg msg;    /* DELIVER, RETURN, DROP: as sent */
    uint32_t timer, slot; /* FIRE */
    uint64_t value;       /* INSTALL: the fact */
    bool kept;            /* DELIVER: it stays in flight; DROP: it returns to its sender */
    bool wiped;           /* REVIVE */
    bool is_fault;
    int dying; /* the node dies after this many SENDs and SAVEs; -1: it survives */
    uint8_t choices[CHECK_CHOICES_MAX];
    uint8_t choice_count;
    struct el_msg *shed; /* lost because too many were in flight; owned by the path */
    uint32_t shed_count;
    struct el_msg *sent; /* by the node that took the step; owned by the path */
    uint32_t sent_count;
};

struct check_path {
    struct check_move *moves;
    uint32_t count;
    uint32_t loop;                  /* the moves from this one on lead back to it; UINT32_MAX: no loop */
    uint8_t rates[CHECK_NODES_MAX]; /* 0 slow, 1 true, 2 fast */
};

struct check_result {
    enum check_verdict verdict;
    char text[200]; /* REFUSED, STOPPED: why */
    enum check_property broken;
    uint64_t states, moves, frontier; /* distinct worlds; successors visited; worlds not yet expanded */
    uint64_t cut;                     /* worlds not expanded because of a bound (terms, depth, horizon) */
    uint64_t locals, messages;        /* distinct states of one node; distinct messages */
    uint64_t covered;                 /* successors that a kept world covers, see check/reduce/subsumption.h */
    uint64_t resting;                 /* worlds at rest */
    bool has_led;                     /* some node leads in some world */
    /* STOPPED: all worlds that so many moves reach were judged, and no property was broken. */
    uint32_t exhausted;
    double growth;  /* STOPPED: by which factor the number of worlds grew with the last move; 0: unknown */
    uint32_t depth; /* moves to the last new world */
    /* For progress: worlds of the level that is being expanded, and how many of them wait. */
    uint64_t level, level_left;
    uint64_t memory; /* bytes in use at the end */
    double seconds;
    uint32_t permutations;  /* used by symmetry; 1: none */
    struct check_path path; /* BROKEN: a shortest counterexample */
};

/* Runs to the end; the result owns its path. */
void check_run(const struct check_config *config, struct check_result *result);
void check_result_free(struct check_result *result);

#endif
