/*
 * etcd's election, as the Go client's concurrency package has it (Campaign, Observe, Resign). A candidate has a
 * lease, and a key that ends with the lease. The key with the lowest create_revision leads, and its revision is
 * the fencing token. Each other candidate waits until the key just before its own is deleted.
 *
 * Reference: etcd, client/v3/concurrency, election.go and session.go. Deviations:
 * - The leader's claim has a deadline: the sending of the last keep-alive that was answered, plus the lease. The
 *   client of etcd has none: its leader leads until it is told.
 * - A win is believed only while the lease is alive by that deadline (etcd#19597: a win without a lease).
 * - After its deadline a leader revokes its lease and queues again. It never leads twice with one revision.
 * - A restarted candidate revokes the lease that its earlier incarnation left; else the office stays empty until
 *   that lease expires.
 */
#include "algorithms/store/candidate.h"

static const struct recipe recipe = {
    .store = {sizeof(struct candidate), CANDIDATE_OPTION_LEASE, CANDIDATE_OPTION_OBSERVE, CANDIDATE_OPTION_HERD,
              .creates_once = true},
    .looks_before_retry = false, /* the transaction creates the key only if there is none */
};

RECIPE_HANDLERS(recipe)

/* ---- Descriptor ---- */

static const char *const kinds[] = {NULL,      "Grant",  "Granted",  "Txn",       "Created",   "Range",
                                    "Keys",    "Watch",  "Watching", "KeepAlive", "KeptAlive", "Delete",
                                    "Deleted", "Revoke", "Revoked",  "Event"};
static const char *const timers[] = {CANDIDATE_TIMER_ROWS};
static const char *const facts[] = {"wall-clock"};
static const struct el_note_text notes[] = {CANDIDATE_NOTE_ROWS};
static const struct el_option options[] = {CANDIDATE_OPTION_ROWS("lease")};
static const struct el_inequality inequalities[] = {CANDIDATE_INEQUALITY_ROWS({0, 0})};
static const struct el_weakness breaks[] = {RECIPE_BREAK_ROWS};

const struct el_algorithm el_etcd_election = {
    .name = "etcd-election",
    .summary = "keys with leases in a store; the lowest create_revision leads, the next waits for its deletion",
    .idea = "The last member is the store. Every candidate gets a lease from it, and creates one key that ends "
            "with the lease. Keys stand in the order of their revisions. The owner of the first key leads, and "
            "the revision is its token. Each other candidate watches only the key before its own, so one "
            "deletion wakes one candidate. The leader stops at the deadline that follows from its last "
            "answered keep-alive, before the store can give its place to another.",
    .reference = "etcd: client/v3/concurrency (Election: Campaign, Observe, Resign)",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    EL_FACTS(facts),
    EL_INEQUALITIES(inequalities),
    RECIPE_DESCRIPTOR,
};
