/*
 * ZooKeeper's recipe for leader election: ephemeral sequential nodes. A candidate has a session, and a node that
 * ends with the session. The node with the lowest sequence number leads, and its czxid is the fencing token. Each
 * other candidate has a watch on the node just before its own, so that one deletion wakes one candidate.
 *
 * Reference: ZooKeeper Recipes and Solutions, "Leader Election"; kazoo's Election; Curator's LeaderLatch. Deviations:
 * - The leader's claim has a deadline, as in candidate.h. On a lost connection the leader leads on until then: a
 *   session that reconnects in time, perhaps to another server, keeps its node.
 * - The deadline is renewed by writes, not by a ping. A follower answers pings by itself, and tells the leader, which
 *   ends sessions, only every half tick: `report`. So a renewal is answered when it is reported, and a session whose
 *   opening was answered is not proved to live for a whole lease: its owner leads after the first renewal.
 * - A sequential create is not idempotent. After a lost answer the candidate first looks for a node of its own
 *   (Curator: protection by a uuid); otherwise it would wait for ever behind a node that it does not know.
 * - A restarted candidate closes the session that its earlier incarnation left.
 */
#include "algorithms/store/candidate.h"

enum { OPTION_REPORT = CANDIDATE_OPTIONS, OPTION_LOST_REPORTS };

static const struct recipe recipe = {
    .store = {sizeof(struct candidate), CANDIDATE_OPTION_LEASE, CANDIDATE_OPTION_OBSERVE, CANDIDATE_OPTION_HERD,
              .creates_once = false, .reports = true, .report = OPTION_REPORT, .lost = OPTION_LOST_REPORTS},
    .looks_before_retry = true,
};

RECIPE_HANDLERS(recipe)

/* ---- Descriptor ---- */

static const char *const kinds[] = {NULL,       "Connect", "Connected", "Create",    "Created", "GetChildren",
                                    "Children", "Exists",  "Stat",      "Touch",     "Touched", "Delete",
                                    "Deleted",  "Close",   "Closed",    "WatchEvent"};
static const char *const timers[] = {CANDIDATE_TIMER_ROWS};
static const char *const facts[] = {"wall-clock"};
static const struct el_note_text notes[] = {CANDIDATE_NOTE_ROWS};
static const struct el_option options[] = {
    CANDIDATE_OPTION_ROWS("session"){"report", EL_DURATION, 0, NULL, "100ms",
                                     "how long a server keeps to itself which sessions it heard: half a tick"},
    {"lost-reports", EL_NUMBER, 0, NULL, "0", "how often in a run a server fails before it reports a session"},
};
static const struct el_inequality inequalities[] = {CANDIDATE_INEQUALITY_ROWS({1, OPTION_REPORT})};
static const struct el_weakness breaks[] = {RECIPE_BREAK_ROWS};

const struct el_algorithm el_zookeeper_recipe = {
    .name = "zookeeper-recipe",
    .summary =
        "ephemeral sequential nodes in a store; the lowest leads, the next has a watch on the one before it",
    .idea =
        "The last member is the store. Every candidate opens a session, and creates a node that is "
        "ephemeral, so that it ends with the session, and sequential, so that nodes stand in order. The "
        "owner of the lowest node leads, and the czxid of the node is its token. Each other candidate "
        "watches the node before its own and looks at all nodes again when that one is gone. A candidate that "
        "got no answer to its create looks for its node before it creates another.",
    .reference =
        "Apache ZooKeeper: Recipes and Solutions, Leader Election; kazoo Election; Curator LeaderLatch",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    EL_FACTS(facts),
    EL_INEQUALITIES(inequalities),
    RECIPE_DESCRIPTOR,
};
