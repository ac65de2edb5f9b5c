/* See bounds.h. */
#include "cli/cluster/bounds.h"

#include "algorithms/quorum/bounds.h"

static const uint64_t MILLISECOND = 1000000, SECOND = 1000000000, MILLION = 1000000;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* (k + 1) h + round trip ≤ what is left: how many of k. */
static uint32_t losses_in(const struct promises_settings *s, uint64_t time)
{
    const uint64_t trip = 2 * s->transmit + s->process;
    const uint64_t beats = time > trip ? (time - trip) / s->beat : 0;
    return beats ? (uint32_t)(beats - 1) : 0;
}

/* The last renewal may have been asked for a beat before, and the next must come back. */
static uint64_t stall_in(const struct promises_settings *s, uint64_t time)
{
    const uint64_t needed = s->beat + 2 * s->transmit + s->process;
    return time > needed ? time - needed : 0;
}

/* ---- The parts ---- */

struct promises_votes promises_count(uint32_t voters, uint32_t witnesses)
{
    struct promises_votes count = {.votes = voters + witnesses};
    count.majority = count.votes / 2 + 1;
    count.failures = count.votes - count.majority;
    count.candidate_failures = voters ? (uint32_t)least(count.failures, voters - 1) : 0;
    return count;
}

static void bound_failovers(const struct promises_settings *s, struct promises *p)
{
    const struct failover f = {.lease = s->lease,
                               .stagger = s->stagger,
                               .reask = s->reask,
                               .transmit = s->transmit,
                               .drift = s->drift,
                               .members = p->count.votes + s->observers};
    const uint64_t hop = s->transmit + s->process;
    const uint64_t slow = failover_silence_ns(&f), election = failover_election_ns(&f);
    p->promise = failover_promise_ns(&f);
    p->detection = 3 * s->beat + hop;
    p->bounds[PROMISES_WORKER_CRASH] = 2 * hop;
    p->bounds[PROMISES_TRANSFER] = 2 * hop;
    p->bounds[PROMISES_RESIGN] = 2 * hop;
    p->bounds[PROMISES_AGENT_CRASH_GUARDED] = 3 * hop;
    p->bounds[PROMISES_AGENT_CRASH] = slow + election;
    p->bounds[PROMISES_HOST_SILENT] = failover_worst_ns(&f);
    p->bounds[PROMISES_MAJORITY_BACK] = slow + s->beat + election;
    p->bounds[PROMISES_ALL_RESTART] = slow + election;
    p->bounds[PROMISES_FOLLOWER_RESTARTS] = 0;
    p->support_back = slow + s->beat + 2 * hop;
}

/* cli/run/leadership.c: by the time that is left when a lease is new. */
static void bound_work(const struct promises_settings *s, struct promises *p)
{
    const uint64_t stop_timeout = 5 * SECOND;
    p->deadline = s->lease - s->margin;
    p->kill_at = p->deadline - least(p->deadline / 10, SECOND);
    p->term_at = p->kill_at - least(stop_timeout, p->deadline / 4);
    p->losses = losses_in(s, p->deadline);
    p->run_losses = losses_in(s, p->term_at);
    p->stall = stall_in(s, p->deadline);
    p->run_stall = stall_in(s, p->term_at);
}

/* The work ends at (D - g) / (1 - x) in true time at the latest, the promise at P / (1 + x) at the earliest. */
static uint32_t work_drift(const struct promises *p)
{
    const uint64_t more = p->promise - p->deadline, sum = p->promise + p->deadline;
    return (uint32_t)(more / 1000 * MILLION / (sum / 1000));
}

/* Who may lead beats to all others; the answers of those who beat, too, go with their beats, but for those to further leaders. */
static void count_packets(const struct promises_settings *s, struct promises *p)
{
    const uint64_t others = p->count.votes + s->observers - 1, span = 1000 * SECOND;
    const uint64_t answers = s->voters * (others + 1 - s->voters);
    p->packets_sent = others * span / s->beat;
    p->packets_all = (s->voters * others + answers) * span / s->beat;
}

static void warn(const struct promises_settings *s, struct promises *p)
{
    p->warnings[PROMISES_ONE_VOTE] = p->count.votes == 1;
    p->warnings[PROMISES_TWO_VOTES] = p->count.votes == 2;
    p->warnings[PROMISES_EVEN] = p->count.votes > 2 && p->count.votes % 2 == 0;
    p->warnings[PROMISES_ONE_CANDIDATE] = s->voters == 1 && p->count.votes > 1;
    p->warnings[PROMISES_MANY_WITNESSES] = s->voters > 1 && s->voters <= p->count.failures;
    p->warnings[PROMISES_SHORT_LEASE] = p->run_stall < 200 * MILLISECOND;
    p->warnings[PROMISES_FEW_LOSSES] = p->run_losses < 2;
    p->warnings[PROMISES_SHORT_STOP] = p->kill_at - p->term_at < 100 * MILLISECOND;
    p->warnings[PROMISES_SMALL_MARGIN] = s->margin < 10 * MILLISECOND;
    p->warnings[PROMISES_SMALL_DRIFT] = s->drift < 1000;
    p->warnings[PROMISES_LARGE_BLOCK] = (uint64_t)p->count.votes * s->block * MILLISECOND > p->promise;
}

struct promises promises_of(const struct promises_settings *s)
{
    struct promises p = {.count = promises_count(s->voters, s->witnesses)};
    bound_failovers(s, &p);
    bound_work(s, &p);
    p.work_drift = work_drift(&p);
    count_packets(s, &p);
    warn(s, &p);
    return p;
}

/* ---- In words ---- */

static const struct {
    const char *name, *text, *formula, *remark;
} events[PROMISES_EVENTS] = {
    [PROMISES_WORKER_CRASH] = {"worker-crash", "a worker crashes", "2 m",
                               "and what the kernel takes to say so"},
    [PROMISES_TRANSFER] = {"transfer", "leadership is handed over", "2 m", "from when its work has stopped"},
    [PROMISES_RESIGN] = {"resign", "a leader resigns", "2 m", "from when its work has stopped"},
    [PROMISES_AGENT_CRASH_GUARDED] = {"agent-crash-guarded", "an agent crashes, its guardian lives", "3 m",
                                      "from when its work has been ended"},
    [PROMISES_AGENT_CRASH] = {"agent-crash", "an agent crashes, and no guardian", "P / (1 - ρ) + n δ + r + 4 o",
                              NULL},
    [PROMISES_HOST_SILENT] = {"host-silent", "a host dies, hangs or is cut off", "P / (1 - ρ) + n δ + r + 4 o",
                              NULL},
    [PROMISES_MAJORITY_BACK] = {"majority-back", "a majority was lost, and is back",
                                "P / (1 - ρ) + h + n δ + r + 4 o", "from when it is back"},
    [PROMISES_ALL_RESTART] = {"all-restart", "all agents restart", "P / (1 - ρ) + n δ + r + 4 o",
                              "from the last start"},
    [PROMISES_FOLLOWER_RESTARTS] = {"follower-restarts", "one restarts that does not lead", "0",
                                    "its vote is missing meanwhile"},
};

const char *promises_event_name(enum promises_event event)
{
    return events[event].name;
}

const char *promises_event_text(enum promises_event event)
{
    return events[event].text;
}

const char *promises_event_formula(enum promises_event event)
{
    return events[event].formula;
}

const char *promises_event_remark(enum promises_event event)
{
    return events[event].remark;
}

static const struct {
    const char *name, *text;
} warnings[PROMISES_WARNINGS] = {
    [PROMISES_ONE_VOTE] = {"one-vote", "a single vote: if its host fails, nobody leads; add two members"},
    [PROMISES_TWO_VOTES] = {"two-votes", "of two votes none may fail; add a third member, a witness will do"},
    [PROMISES_EVEN] = {"even-votes",
                       "an even number of votes survives no more failures than one vote less; add a witness"},
    [PROMISES_ONE_CANDIDATE] =
        {"one-candidate",
         "only one member may lead, the others are witnesses: there is nobody to fail over to"},
    [PROMISES_MANY_WITNESSES] =
        {"many-witnesses",
         "all who may lead may fail while the votes that are left still elect: make a witness a voter"},
    [PROMISES_SHORT_LEASE] =
        {"short-lease",
         "the leader's agent need only stand still for less than 200 ms, as under load it may, and the work is stopped; raise `lease`, or lower `beat`"},
    [PROMISES_FEW_LOSSES] =
        {"few-losses", "fewer than two lost exchanges in a row are survived; raise `lease`, or lower `beat`"},
    [PROMISES_SHORT_STOP] =
        {"short-stop",
         "from SIGTERM to SIGKILL the work has less than 100 ms when its lease is not renewed; raise `lease` if it needs more"},
    [PROMISES_SMALL_MARGIN] =
        {"small-margin",
         "less than 10 ms lie between the last instant of the work and the end of the lease: a late wake-up uses it up; raise `margin`"},
    [PROMISES_SMALL_DRIFT] =
        {"small-drift",
         "the kernel alone may steer a clock by 0.0005 against another that it steers the other way; set `drift` to 0.001 at least"},
    [PROMISES_LARGE_BLOCK] =
        {"large-block",
         "votes times `block` is more than P in ms: where all disks are lost, tokens could fall; lower `block`"},
};

const char *promises_warning_name(enum promises_warning warning)
{
    return warnings[warning].name;
}

const char *promises_warning_text(enum promises_warning warning)
{
    return warnings[warning].text;
}
