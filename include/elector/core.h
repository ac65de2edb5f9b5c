/*
 * The core contract: an election is a pure function from (state, event) to (state, outbox).
 *
 * A machine never reads a clock, draws a random number, allocates or calls libc. It receives one event at a
 * time and answers with an ordered list of actions. The caller of el_step() is the host: the simulator, the
 * checker, the agent, a web page or a fuzzer. All hosts run the same object code. Where many groups share
 * sessions, the agent calls the functions below quorum's el_step(): algorithms/quorum/driver.h.
 *
 * src/core implements the calls below and may include nothing but this file, parts.h and its own headers.
 * Start reading with el_event, el_action and the rules for hosts between them; then step.c. Algorithms are
 * written with the helpers of src/core/machine.h.
 */
#ifndef ELECTOR_CORE_H
#define ELECTOR_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Words ------------------------------------------------------------------------------------ */

/* A position, 1..count, which is also the ring order. 0 is nobody, so zeroed memory is never a vote. */
typedef uint32_t el_node;
#define EL_NOBODY 0u

/* Runs, epochs and terms stay below 2^53, so that a JSON reader keeps them exact. */
#define EL_EPOCH_MAX (UINT64_C(1) << 53)

/* Nanoseconds on the clock of the node that measures them. */
typedef uint64_t el_duration;

/* Greater is better; the id makes ties impossible. */
struct el_rank {
    uint64_t attribute;
    uint64_t id;
};

/* ---- Messages and durable records ------------------------------------------------------------- */

/*
 * One flat message for every algorithm, with no hidden padding: one codec, one fuzzer. `subject` is the
 * node the message is about (the sender, where it is about nobody else); `rank` is that node's attribute,
 * where it travels; the other words belong to the algorithm, which names them in its own file.
 */
struct el_msg {
    el_node from;
    el_node to;
    el_node subject;
    uint8_t kind; /* 1..kind_count; 0 is no message */
    uint8_t flags;
    uint16_t spare; /* always 0 */
    uint64_t epoch;
    uint64_t rank;
    uint64_t aux;
    uint64_t more;
    uint64_t extra[4]; /* a vote with its proof fills them; most messages leave them 0 */
};

/* The record that survives a crash, once the host has carried out a SAVE. */
struct el_durable {
    uint64_t epoch;
    uint64_t word[3];
};

/* ---- Configuration: shared by all nodes, and apart from any state ------------------------------ */

enum el_role_kind {
    EL_CANDIDATE = 0, /* may lead */
    EL_ORDINARY = 1,  /* takes part, never leads */
    EL_OBSERVER = 2,  /* learns who leads, has no vote; needs an option of kind EL_OBSERVERS */
    EL_STORE = 3,     /* the last member, if the algorithm needs a store; never leads */
    EL_VOTELESS = 4,  /* may lead, has no vote; needs an option of kind EL_VOTELESS_LIST */
    EL_WITHDRAWN = 5, /* a voteless member that does not want to lead now, but may let go of what it led */
};

/* The value of one algorithm option; which field counts follows from the option's kind. */
struct el_value {
    uint64_t number;
    const el_node *members;
    uint32_t member_count;
};

/*
 * A later record of the members: who votes and who may lead from then on, as sets (el_bit). The roles of struct
 * el_cluster are the first record. Members decide the next one among themselves; a machine that knows records
 * is told by a fact which ones it has on disk.
 */
struct el_record {
    uint64_t voters, leaders;
};

/* What a machine knows of the records. */
struct el_membership {
    uint32_t record; /* that it has installed, counted from 0: the roles of struct el_cluster */
    bool is_sole;    /* nobody counts by the voters before it: it may take part in deciding the next */
    uint64_t floor;  /* the next record carries this, as one that knows it to be sole knew it */
};
/* A record that was decided, as a fact: its floor << EL_RECORD_SHIFT | its number, counted from 1. */
enum { EL_RECORD_SHIFT = 10, EL_RECORDS_MAX = 15 };

/* All arrays are borrowed and must outlive every step taken with them. */
struct el_cluster {
    uint32_t count;
    const uint64_t *ids;             /* [count], distinct; NULL: the id is the position */
    const uint64_t *attributes;      /* [count]; NULL: all equal */
    const uint8_t *roles;            /* [count] of el_role_kind; NULL: all candidates */
    el_duration transmit_max;        /* Ttrans: the assumed upper bound on a message's delay */
    el_duration process_max;         /* Tprocess: the assumed upper bound on handling one message */
    uint32_t drift;                  /* every clock runs at a rate within 1 ± this many millionths */
    const struct el_value *options;  /* one for each of the algorithm's options */
    const struct el_record *records; /* [record_count] records that may follow the first; NULL: none does */
    uint32_t record_count;
};

struct el_config {
    const struct el_cluster *cluster;
    el_node self;
};

/* ---- Events: what a machine is told ------------------------------------------------------------ */

enum el_event_type {
    EL_START,   /* exactly once, first, after every (re)start */
    EL_MESSAGE, /* a message arrived */
    EL_UNSENT,  /* a hop failed: this message of ours did not arrive (only where EL_NEEDS_HOP_ACKS) */
    EL_TIMER,   /* a timer we armed ran out */
    EL_SUSPECT, /* the failure detector believes that a peer is down */
    EL_TRUST,   /* the failure detector withdraws its suspicion */
    EL_CHOSEN,  /* the answer to CHOOSE; comes before any other event of this node */
    EL_FACT,    /* something the host knows: an attribute, a log position, a wall-clock hint */
    EL_REQUEST, /* the application asks */
};

enum el_start_how {
    EL_FRESH, /* first start of this member; `durable` is zero, or made with the cluster: nothing was promised */
    EL_RESTORED, /* started again; `durable` is the last record saved (zero if none ever was) */
    /* Started again, but the record is missing or unreadable. Every start is LOST until one is saved. If the
     * algorithm has a fact `wall-clock`, it comes next: milliseconds, different for each incarnation. */
    EL_LOST,
};

enum el_request_what {
    EL_CAMPAIGN, /* call an election */
    EL_RESIGN,
    EL_TRANSFER, /* hand leadership to `peer` */
};

/* A request is performed, or declined for one of these reasons. */
enum el_answer {
    EL_PERFORMED,
    EL_UNKNOWN_HERE, /* this algorithm has no such operation */
    EL_NOT_LEADING,  /* only the leader can do this */
    EL_NOT_ELIGIBLE, /* the named member may not lead, or is the leader itself */
    EL_OUT_OF_TOUCH, /* the named member has been silent for longer than the algorithm's timeout */
    EL_UNDER_WAY,    /* another hand-over is not finished */
};

struct el_start {
    enum el_start_how how;
    el_node incumbent; /* FRESH only: the initial leader, the same for all members; usually nobody */
    /* RESTORED: the record. LOST, of a machine that decides: epoch is a number that no earlier start of it had. */
    struct el_durable durable;
};

struct el_event {
    enum el_event_type type;
    el_node peer; /* SUSPECT, TRUST, REQUEST(TRANSFER) */
    union {
        struct el_start start;
        struct {
            struct el_msg msg;   /* MESSAGE, UNSENT */
            el_duration elapsed; /* MESSAGE: since the stopwatch for msg.from was armed (on_arrival) */
        };
        struct {
            uint32_t timer;
            uint32_t slot;
        };
        uint32_t chosen; /* 0..n-1 */
        struct {
            uint32_t fact;
            uint64_t value;
        };
        enum el_request_what request;
    };
};

/* ---- Actions: what a machine asks for ----------------------------------------------------------- */

/*
 * Rules for hosts:
 *  - A timer that fires is no longer armed. None fires after DISARM, or at its old time after a new ARM.
 *    Slots are 0..count.
 *  - Order at one instant: messages come before timers, since an answer may arrive exactly at the timeout.
 *    A timer that is already overdue, for example after a pause, comes before everything else.
 *  - The timer that bounds a claim to lead (el_view) comes first from the instant it is due, even before timers
 *    that have been overdue for longer: the claim has expired, and no other event may renew it.
 *  - The time left on a timer is 0 if the timer is not armed. The host reads it when the message leaves.
 *  - `elapsed` counts from the last ARM of the stopwatch, even past its firing; 0 if it was never armed.
 *  - SAVE is a barrier. SENDs that follow it, also those of later steps, wait until the record is on disk, and
 *    so does the publication of a new leadership. Timers do not wait, above all the one that ends a claim.
 *  - A step contains at most one CHOOSE.
 */

enum el_action_type {
    EL_SEND,    /* hand `msg` to the network */
    EL_ARM,     /* wake me with TIMER(timer, slot) after a time in min..max; replaces an armed one */
    EL_DISARM,  /* forget that timer; one that is not armed is no error */
    EL_MOVE,    /* timer `to` takes over the time left on `timer`, same slot; no effect if not armed */
    EL_SAVE,    /* a barrier: SENDs and claims after it wait until `durable` is on disk; timers do not */
    EL_CHOOSE,  /* draw a number below n */
    EL_NOTE,    /* a numbered fact: log line, transcript, caption and coverage mark in one */
    EL_VERDICT, /* detectors only: peer is (not) suspected */
};

#define EL_NO_TIMER UINT32_MAX

struct el_action {
    enum el_action_type type;
    uint32_t timer; /* ARM, DISARM; SEND: unless EL_NO_TIMER, the host writes the time left on it to msg.aux */
    uint32_t slot;
    uint32_t note; /* NOTE */
    union {
        struct el_msg msg;
        struct {
            el_duration min, max;
        };
        struct el_durable durable;
        uint32_t to;        /* MOVE */
        uint64_t values[2]; /* NOTE */
        uint32_t n;         /* CHOOSE */
        struct {
            el_node peer; /* VERDICT */
            bool suspected;
        };
    };
};

/* The host owns the array; el_step empties it first. It cannot overflow: see el_outbox_bound. */
struct el_outbox {
    struct el_action *actions;
    uint32_t capacity;
    uint32_t count;
};

/* ---- Views: leadership is read, not announced ---------------------------------------------------- */

enum el_role {
    EL_IDLE,     /* no election under way here, and no leader known */
    EL_ELECTING, /* taking part in an election */
    EL_FOLLOWER, /* follows `leader` */
    EL_LEADER,   /* is `leader` */
};

struct el_view {
    enum el_role role;
    el_node leader; /* EL_NOBODY while none is known */
    uint64_t term;  /* run, epoch or term where the algorithm has one */
    uint32_t timer; /* the timer that bounds the claim; EL_NO_TIMER: nothing does */
    uint32_t slot;
};

/* The latest decision that a machine knows, by its number. */
struct el_decision {
    uint64_t number; /* 0: nothing yet */
    uint64_t value;
};

/* ---- An algorithm's description of itself -------------------------------------------------------- */

/* Conditions on links and timing without which the algorithm does not work at all. */
enum el_needs {
    EL_NEEDS_FIFO = 1 << 0,     /* links keep order */
    EL_NEEDS_RELIABLE = 1 << 1, /* links lose nothing */
    EL_NEEDS_TIMELY = 1 << 2,   /* delays stay below transmit_max, steps below process_max */
    EL_NEEDS_HOP_ACKS = 1 << 3, /* the sender learns of a hop that failed (UNSENT) */
};

/* Guarantees of the algorithm as long as no fault in its `breaks` table occurs. */
enum el_claim {
    EL_CLAIMS_ONE_LEADER = 1 << 0, /* never two leaders at one instant */
    EL_CLAIMS_AGREEMENT = 1 << 1,  /* at rest, every live node names the same live leader */
    EL_CLAIMS_BEST = 1 << 2,       /* ... which is the best-ranked live candidate */
    EL_CLAIMS_GROUPS = 1 << 3,     /* at rest, a follower's leader does lead; there may be several groups */
    /* No term is ever led by two nodes, nor by two incarnations of one node. */
    EL_CLAIMS_ONE_PER_TERM = 1 << 4,
    /* A live leader whose messages reach all members in time keeps leading, whoever restarts or campaigns. */
    EL_CLAIMS_STABLE = 1 << 5,
    /* Each new leadership has a higher term than all earlier ones, so the term is a fencing token. */
    EL_CLAIMS_RISING = 1 << 6,
    /* Of a machine that decides: never two decisions under one number (el_decision). */
    EL_CLAIMS_ONE_DECISION = 1 << 7,
    /* Of an election on a store: who leads has the first key there. Nobody is passed over who joined earlier. */
    EL_CLAIMS_IN_ORDER = 1 << 8,
};

enum el_fault {
    EL_CRASHES = 1 << 0,           /* a process stops */
    EL_UNNOTICED = 1 << 1,         /* a crash that somebody's detector never reports */
    EL_RESTARTS = 1 << 2,          /* a process comes back with an empty memory */
    EL_LOSSES = 1 << 3,            /* a message is lost */
    EL_DUPLICATES = 1 << 4,        /* a message arrives twice */
    EL_REORDERS = 1 << 5,          /* a link does not keep order */
    EL_PARTITIONS = 1 << 6,        /* a link is cut, one way or both */
    EL_PAUSES = 1 << 7,            /* a process makes no progress for some time, then continues */
    EL_CLOCKS = 1 << 8,            /* a clock runs fast or slow, though within the drift bound */
    EL_LATENESS = 1 << 9,          /* a message takes longer than transmit_max */
    EL_FALSE_SUSPICIONS = 1 << 10, /* a detector accuses a live process */
    EL_NEEDLESS_CALLS = 1 << 11,   /* an election is called although a leader lives */
    EL_DRIFTS = 1 << 12,           /* a clock leaves the drift bound, or jumps */
    EL_WIPES = 1 << 13,            /* a process comes back and its saved record is gone */
    EL_UNGUARDED = 1 << 14,        /* an option that protects is not at its default */
    EL_FAULTS_END = 1 << 15,
};

enum el_violation {
    EL_TWO_LEADERS = 1 << 0,   /* two nodes led at one instant */
    EL_DISAGREEMENT = 1 << 1,  /* at rest, live nodes name different leaders, or a group is headless */
    EL_NO_LEADER = 1 << 2,     /* at rest, some live node knows of no leader */
    EL_DEAD_LEADER = 1 << 3,   /* at rest, the leader they name is dead */
    EL_NOT_BEST = 1 << 4,      /* at rest, a better candidate than the leader is alive */
    EL_ENDLESS = 1 << 5,       /* the run did not come to rest */
    EL_SAME_TERM = 1 << 6,     /* two nodes led in one term, at whatever times */
    EL_DEMOTED = 1 << 7,       /* a live leader that all members followed stopped leading without a request */
    EL_TOKEN_FELL = 1 << 8,    /* a leader took office in a term not above every earlier one */
    EL_TWO_DECISIONS = 1 << 9, /* two things were decided under one number */
    EL_OUT_OF_TURN = 1 << 10,  /* a candidate took office while the store had one before it */
    EL_VIOLATIONS_END = 1 << 11,
};

/* Any of these faults may lead to any of these violations. Any other violation is a bug in the code. */
struct el_weakness {
    uint32_t faults;
    uint32_t violations;
    const char *why;
};

enum el_option_kind {
    EL_FLAG,          /* on, off */
    EL_CHOICE,        /* one of `choices`, separated by |; the value is its index */
    EL_NUMBER,        /* a whole number */
    EL_DURATION,      /* a time */
    EL_MEMBERS,       /* a list of members */
    EL_ROLES,         /* a list of members: those listed become candidates, the others ordinary */
    EL_OBSERVERS,     /* a list of members: those listed become observers */
    EL_VOTELESS_LIST, /* a list of members: those listed may lead and have no vote */
};

struct el_option {
    const char *name;
    enum el_option_kind kind;
    uint32_t most; /* how many members a list may name; 0: any number */
    const char *choices;
    const char *preset; /* the default, as a user types it; NULL: empty list, or the algorithm's own rule */
    const char *help;
};

/* One term of an inequality between durations: a multiple of an option or of a duration of the cluster. */
struct el_part {
    uint32_t times; /* the factor; 0: no part */
    uint32_t of;    /* an option's index, or one of these */
};
#define EL_OF_ROUND_TRIP UINT32_MAX     /* 2 Ttrans + Tprocess */
#define EL_OF_TRANSMIT (UINT32_MAX - 1) /* Ttrans */

/* A condition on the durations of a configuration: the sum of `less` stays below the sum of `more`. */
struct el_inequality {
    struct el_part less[3], more[3];
    const char *why; /* what breaks otherwise */
};

typedef void el_number_visit(void *context, uint32_t family, uint64_t *number);

/* In `text`, @1 and @2 stand for the note's values printed as nodes, #1 and #2 printed as numbers. */
struct el_note_text {
    const char *name;
    const char *text;
};

/*
 * One algorithm. All strings and tables are static. An event whose handler is NULL is ignored (a detector
 * has no view). No handler may retain a pointer past its return.
 */
/* Fields are grouped by meaning, not packed: there are a few dozen instances. */
struct el_algorithm { /* NOLINT(clang-analyzer-optin.performance.Padding) */
    const char *name;
    const char *summary;      /* one line */
    const char *idea;         /* a paragraph for a reader new to it */
    const char *reference;    /* the paper */
    const char *const *kinds; /* [kind_count + 1]; kinds[0] is NULL */
    uint32_t kind_count;
    uint32_t routine_kinds; /* bit k: messages of kind k are heartbeats, which transcripts leave out */
    uint32_t set_kinds;     /* bit k: messages of kind k carry a set of members in `aux`, see el_bit */
    const char *const *timers;
    uint32_t timer_count;
    const struct el_note_text *notes;
    uint32_t note_count;
    const struct el_option *options;
    uint32_t option_count;
    const struct el_weakness *breaks;
    uint32_t break_count;
    uint32_t needs;     /* el_needs */
    uint32_t claims;    /* el_claim */
    uint32_t count_max; /* the largest cluster its messages can describe; 0: no limit */
    bool ring;          /* messages travel along the ring only */
    bool roleless;      /* it has no ordinary members: everybody may lead */
    bool beats;         /* it sends heartbeats for ever and starts elections without a request */
    bool majority;      /* a leader needs working links to and from a majority; with `store`, the store */
    /* The others elect on a store, which is the last member (EL_STORE). All of its state is on its disk: the host
     * keeps it over a crash, for EL_RESTORED, and zeroes it only if the record is lost. */
    bool store;
    const char *const *facts; /* names of the facts that the host may report (EL_FACT) */
    uint32_t fact_count;
    const struct el_inequality *inequalities;
    uint32_t inequality_count;

    /* The state: plain bytes without hidden padding, so memcpy is a snapshot and memcmp is equality. */
    uint32_t state_bytes;      /* sizeof the struct, a multiple of 8 */
    uint32_t state_sets;       /* number of member sets after the struct, one bit a member */
    uint32_t state_per_member; /* bytes for each member after those sets, a multiple of 8 */
    /* Upper bound on the actions of one step. */
    uint32_t outbox_fixed;
    uint32_t outbox_per_member;

    void (*on_start)(void *state, const struct el_config *, const struct el_start *, struct el_outbox *);
    void (*on_message)(void *state, const struct el_config *, const struct el_msg *, struct el_outbox *);
    void (*on_unsent)(void *state, const struct el_config *, const struct el_msg *, struct el_outbox *);
    void (*on_timer)(void *state, const struct el_config *, uint32_t timer, uint32_t slot, struct el_outbox *);
    void (*on_suspect)(void *state, const struct el_config *, el_node peer, struct el_outbox *);
    void (*on_trust)(void *state, const struct el_config *, el_node peer, struct el_outbox *);
    void (*on_chosen)(void *state, const struct el_config *, uint32_t chosen, struct el_outbox *);
    void (*on_fact)(void *state, const struct el_config *, uint32_t fact, uint64_t value, struct el_outbox *);
    void (*on_campaign)(void *state, const struct el_config *, struct el_outbox *);
    /* RESIGN and TRANSFER. A request that it declines changes nothing. */
    enum el_answer (*on_request)(void *state, const struct el_config *, enum el_request_what, el_node to,
                                 struct el_outbox *);
    /* Replaces on_message if the algorithm needs the time since `stopwatch` was armed (slot: the sender). */
    void (*on_arrival)(void *state, const struct el_config *, const struct el_msg *, el_duration elapsed,
                       struct el_outbox *);
    uint32_t stopwatch;

    void (*view)(const void *state, const struct el_config *, struct el_view *);
    /* Of a machine that decides instead of electing: nobody leads in its views. NULL: it elects. */
    void (*decided)(const void *state, struct el_decision *);

    /* If the members may change (struct el_record): what it knows of that. NULL: they never do. */
    void (*membership)(const void *state, const struct el_config *, struct el_membership *);
    uint32_t
        record_fact; /* by which the host says that a record is decided; the machine saves and then installs it */
    uint32_t record_note; /* by which it says that member @1 has record #2 and it has not */

    /* For the checker: renames every node in a state and its record, so that worlds which differ only in names
     * count as one. Set only if the algorithm ignores ids. `to` maps 0..count, nobody to nobody. */
    void (*rename)(void *state, struct el_durable *, uint32_t count, const el_node *to);
    /* For the checker: true if neither this state nor any state reachable from it, restarts with its record
     * included, reacts to the message, so its delivery need not be explored. NULL: cannot tell. */
    bool (*moot)(const void *state, const struct el_config *, const struct el_msg *);
    /* For the checker: visit each word of a state, or of a message, that is a number of which only the order matters, and
     * for which 0 means none. Worlds that differ only in such numbers, each family by itself, then count as one.
     * Family 0 is that of the terms. A new number must be above all others of its family. Both or neither. */
    void (*numbers)(void *state, const struct el_config *, el_number_visit *, void *context);
    void (*numbers_sent)(struct el_msg *, const struct el_config *, el_number_visit *, void *context);
    uint32_t term_shift; /* low bits of a term that only tell proposers apart */
    /* 1 + the note by which a leader asks its host to stop its work and then request a TRANSFER to @1; 0: none.
     * A machine gives up leadership only after such a request, or when its claim has expired. */
    uint32_t handover_note;
};

/* For a descriptor: one of its tables, which is an array, with its length. */
#define EL_LENGTH(table) (sizeof(table) / sizeof *(table))
#define EL_KINDS(table) .kinds = (table), .kind_count = EL_LENGTH(table) - 1
#define EL_TIMERS(table) .timers = (table), .timer_count = EL_LENGTH(table)
#define EL_NOTES(table) .notes = (table), .note_count = EL_LENGTH(table)
#define EL_OPTIONS(table) .options = (table), .option_count = EL_LENGTH(table)
#define EL_BREAKS(table) .breaks = (table), .break_count = EL_LENGTH(table)
#define EL_FACTS(table) .facts = (table), .fact_count = EL_LENGTH(table)
#define EL_INEQUALITIES(table) .inequalities = (table), .inequality_count = EL_LENGTH(table)

/* Notes that the core itself makes, in any algorithm's outbox. */
enum el_core_note {
    EL_NOTE_MALFORMED = 0x10000, /* dropped a message that no correct member sends */
    EL_NOTE_DECLINED,            /* a request was declined: el_request_what, el_answer */
};

/* ---- The calls ------------------------------------------------------------------------------------ */

uint64_t el_state_size(const struct el_algorithm *algorithm, uint32_t count);
uint64_t el_outbox_bound(const struct el_algorithm *algorithm, uint32_t count);

/*
 * Takes one step. `state` is el_state_size() bytes, 8-aligned, zeroed before EL_START; `out` has room
 * for el_outbox_bound() actions. Cannot fail: malformed messages are dropped with a note, and an event
 * that no correct host delivers (an unknown timer, an outbox too small) traps, also in release builds.
 */
void el_step(const struct el_algorithm *algorithm, const struct el_config *cfg, void *state,
             const struct el_event *event, struct el_outbox *out);

/* The algorithms of this build, in teaching order. */
const struct el_algorithm *const *el_algorithms(uint32_t *count);
/* NULL if there is none of that name. */
const struct el_algorithm *el_algorithm_named(const char *name);
const char *el_note_text(const struct el_algorithm *algorithm, uint32_t note);
const char *el_violation_name(enum el_violation violation);
const char *el_fault_name(enum el_fault fault);
const char *el_answer_text(enum el_answer answer);
const char *el_part_name(const struct el_algorithm *algorithm, const struct el_part *part);

/* Machines that decide something and elect nobody: `members`. NULL if there is none of that name. */
const struct el_algorithm *el_decider_named(const char *name);
const struct el_algorithm *const *el_deciders(uint32_t *count);

/* The failure detectors of this build. They are machines too: they have no view and report by VERDICT. */
const struct el_algorithm *const *el_detectors(uint32_t *count);
const struct el_algorithm *el_detector_named(const char *name);

uint64_t el_id(const struct el_cluster *cluster, el_node node);
struct el_rank el_rank_of(const struct el_cluster *cluster, el_node node);
bool el_may_lead(const struct el_cluster *cluster, el_node node);
bool el_rank_above(struct el_rank a, struct el_rank b);
/* node a outranks node b by the configuration; a real node outranks nobody */
bool el_outranks(const struct el_cluster *cluster, el_node a, el_node b);

/* A set that fits into one word of a message: bit k is position k + 1, so at most 64 members. */
static inline uint64_t el_bit(el_node node)
{
    return UINT64_C(1) << (node - 1);
}

/* A 128-bit fingerprint of plain bytes, the same on every machine. */
struct el_hash {
    uint64_t high, low;
};
struct el_hash el_fingerprint(const void *bytes, size_t size);

/*
 * The wire form of one message: EL_WIRE_SIZE bytes, little-endian, its version first. Decoding accepts
 * exactly the bytes that encoding produces, and writes `msg` only on success. It checks the form only;
 * el_step checks that the members exist.
 */
#define EL_WIRE_VERSION 2 /* 1 had no extra words */
#define EL_WIRE_SIZE 80
enum el_wire {
    EL_WIRE_OK,
    EL_WIRE_SHORT,
    EL_WIRE_LONG,
    EL_WIRE_OTHER_VERSION,
    EL_WIRE_NO_KIND,
    EL_WIRE_RESERVED
};
void el_encode(const struct el_msg *msg, uint8_t wire[EL_WIRE_SIZE]);
enum el_wire el_decode(const uint8_t *wire, size_t size, struct el_msg *msg);

#endif
