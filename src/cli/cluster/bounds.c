/* See bounds.h. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cluster/bounds.h"

#include "algorithms/quorum/bounds.h"
#include "algorithms/quorum/group.h"
#include "base/clock.h"
#include "supervise/stop_times.h"

static const uint64_t MILLION = 1000000;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The greatest k with (k + 1) h + round trip ≤ time: how many exchanges in a row may be lost. */
static uint32_t losses_in(const struct bounds_settings *s, uint64_t time)
{
    const uint64_t trip = 2 * s->transmit + s->process;
    const uint64_t beats = time > trip ? (time - trip) / s->beat : 0;
    return beats ? (uint32_t)(beats - 1) : 0;
}

/* The last renewal may be one beat old when the stall begins, and the next one must still return. */
static uint64_t stall_in(const struct bounds_settings *s, uint64_t time)
{
    const uint64_t needed = s->beat + 2 * s->transmit + s->process;
    return time > needed ? time - needed : 0;
}

/* ---- The parts ---- */

/* A candidate that fails takes no vote with it. */
struct bounds_votes bounds_count(uint32_t voters, uint32_t witnesses, uint32_t candidates)
{
    struct bounds_votes count = {.votes = voters + witnesses};
    count.majority = count.votes / 2 + 1;
    count.failures = count.votes - count.majority;
    const uint64_t leaders = voters + candidates;
    count.candidate_failures =
        leaders ? (uint32_t)least(least(count.failures, voters) + candidates, leaders - 1) : 0;
    return count;
}

static void bound_failovers(const struct bounds_settings *s, struct bounds *p)
{
    const struct quorum_failover f = {.lease = s->lease,
                                      .stagger = s->stagger,
                                      .reask = s->reask,
                                      .transmit = s->transmit,
                                      .drift = s->drift,
                                      .members = p->count.votes + s->observers +
                                                 (uint32_t)least(s->candidates, QUORUM_FIRST_IN_LINE)};
    const uint64_t hop = s->transmit + s->process;
    const uint64_t slow = quorum_silence_ns(&f), election = quorum_election_ns(&f);
    p->promise = quorum_promise_ns(&f);
    p->detection = 3 * s->beat + quorum_leniency_ns(s->lease, 3 * s->beat) + hop;
    p->bounds[BOUNDS_WORKER_CRASH] = 2 * hop;
    p->bounds[BOUNDS_TRANSFER] = 2 * hop;
    p->bounds[BOUNDS_RESIGN] = 2 * hop;
    p->bounds[BOUNDS_AGENT_CRASH_GUARDED] = 3 * hop;
    p->bounds[BOUNDS_AGENT_CRASH] = slow + election;
    p->bounds[BOUNDS_HOST_SILENT] = quorum_worst_ns(&f);
    p->bounds[BOUNDS_MAJORITY_BACK] = slow + s->beat + election;
    p->bounds[BOUNDS_ALL_RESTART] = slow + election;
    p->bounds[BOUNDS_FOLLOWER_RESTARTS] = 0;
    p->support_back = slow + s->beat + 2 * hop;
}

/* When `elector run` stops its command, counted from the renewal, with the default --stop-timeout. */
static void bound_work(const struct bounds_settings *s, struct bounds *p)
{
    p->deadline = s->lease - s->margin;
    const struct stop_times stop = supervise_stop_times(p->deadline, p->deadline, 5 * NS_PER_S);
    p->kill_at = stop.kill_at_ns;
    p->term_at = stop.term_at_ns;
    p->losses = losses_in(s, p->deadline);
    p->run_losses = losses_in(s, p->term_at);
    p->stall = stall_in(s, p->deadline);
    p->run_stall = stall_in(s, p->term_at);
}

/* The work ends at (D - g) / (1 - x) in true time at the latest, the promise at P / (1 + x) at the earliest. */
static uint32_t work_drift(const struct bounds *p)
{
    const uint64_t more = p->promise - p->deadline, sum = p->promise + p->deadline;
    return (uint32_t)(more / 1000 * MILLION / (sum / 1000));
}

/* Every voter that may lead sends beats to all others. Members that send beats piggyback their answers on
 * them, except answers to further leaders. A candidate at rest says to each voter once a lease that it is there, at most
 * once a second, and is answered. */
static void count_packets(const struct bounds_settings *s, struct bounds *p)
{
    const uint64_t others = p->count.votes + s->observers - 1, span = 1000 * NS_PER_S;
    const uint64_t answers = s->voters * (others + 1 - s->voters);
    const uint64_t rest = s->lease > NS_PER_S ? s->lease : NS_PER_S;
    p->packets_sent = others * span / s->beat + s->candidates * span / rest;
    p->packets_of_candidate = s->candidates ? p->count.votes * span / rest : 0;
    p->packets_all = (s->voters * others + answers) * span / s->beat +
                     2 * (uint64_t)s->candidates * p->count.votes * span / rest;
}

static void warn(const struct bounds_settings *s, struct bounds *p)
{
    p->warnings[BOUNDS_ONE_VOTE] = p->count.votes == 1;
    p->warnings[BOUNDS_TWO_VOTES] = p->count.votes == 2;
    p->warnings[BOUNDS_EVEN] = p->count.votes > 2 && p->count.votes % 2 == 0;
    p->warnings[BOUNDS_ONE_CANDIDATE] = s->voters + s->candidates == 1 && p->count.votes > 1;
    p->warnings[BOUNDS_MANY_WITNESSES] = s->candidates == 0 && s->voters > 1 && s->voters <= p->count.failures;
    p->warnings[BOUNDS_SHORT_LEASE] = p->run_stall < (s->is_realtime ? 5 : 200) * NS_PER_MS;
    p->warnings[BOUNDS_FEW_LOSSES] = p->run_losses < 2;
    p->warnings[BOUNDS_SHORT_STOP] = p->kill_at - p->term_at < 100 * NS_PER_MS;
    p->warnings[BOUNDS_SMALL_MARGIN] = s->margin < (s->is_realtime ? 3 : 10) * NS_PER_MS;
    p->warnings[BOUNDS_SMALL_DRIFT] = s->drift < 1000;
    p->warnings[BOUNDS_LARGE_BLOCK] = (uint64_t)p->count.votes * s->block * NS_PER_MS > p->promise;
}

struct bounds bounds_of(const struct bounds_settings *s)
{
    struct bounds p = {.count = bounds_count(s->voters, s->witnesses, s->candidates)};
    bound_failovers(s, &p);
    bound_work(s, &p);
    p.work_drift = work_drift(&p);
    count_packets(s, &p);
    warn(s, &p);
    return p;
}

/* ---- Inequalities ---- */

/* In true time a lease lasts at most D / (1 - ρ), and a promise at least P / (1 + ρ). */
bool bounds_inequality(const struct bounds_settings *s, const struct bounds *p, uint32_t number,
                       struct config_inequality *one)
{
    const double rate = (double)s->drift / (double)MILLION, ms = (double)NS_PER_MS;
    const double needed = (double)s->lease * (1 + rate) / (1 - rate);
    const uint64_t blocks = (uint64_t)p->count.votes * s->block;
    *one = (struct config_inequality){.algorithm = "quorum"};
    if (number == 0) {
        one->holds = needed < (double)p->promise;
        snprintf(one->names, sizeof one->names, "lease (1 + drift) / (1 - drift) < promise");
        snprintf(one->values, sizeof one->values, "%gms × %g / %g = %.6fms < %.6fms", (double)s->lease / ms,
                 1 + rate, 1 - rate, needed / ms, (double)p->promise / ms);
    } else if (number == 1 && !p->warnings[BOUNDS_LARGE_BLOCK]) {
        one->holds = true;
        snprintf(one->names, sizeof one->names, "votes × block × 1ms <= promise");
        snprintf(one->values, sizeof one->values, "%u × %u × 1ms = %" PRIu64 "ms <= %gms", p->count.votes,
                 s->block, blocks, (double)p->promise / ms);
    }
    return one->names[0];
}

/* ---- Texts ---- */

const struct bounds_event_texts bounds_events[BOUNDS_EVENTS] = {
    [BOUNDS_WORKER_CRASH] = {"worker-crash", "a worker crashes", "2 m", "plus the kernel's time to report it"},
    [BOUNDS_TRANSFER] = {"transfer", "leadership is handed over", "2 m", "from the end of its work"},
    [BOUNDS_RESIGN] = {"resign", "a leader resigns", "2 m", "from the end of its work"},
    [BOUNDS_AGENT_CRASH_GUARDED] = {"agent-crash-guarded", "an agent crashes, its guardian lives", "3 m",
                                    "from the end of its work"},
    [BOUNDS_AGENT_CRASH] = {"agent-crash", "an agent crashes without a guardian", "P / (1 - ρ) + n δ + r + 4 o",
                            NULL},
    [BOUNDS_HOST_SILENT] = {"host-silent", "a host dies, hangs or is cut off", "P / (1 - ρ) + n δ + r + 4 o",
                            NULL},
    [BOUNDS_MAJORITY_BACK] = {"majority-back", "a majority was lost, and is back",
                              "P / (1 - ρ) + h + n δ + r + 4 o", "from its return"},
    [BOUNDS_ALL_RESTART] = {"all-restart", "all agents restart", "P / (1 - ρ) + n δ + r + 4 o",
                            "from the last start"},
    [BOUNDS_FOLLOWER_RESTARTS] = {"follower-restarts", "a member that does not lead restarts", "0",
                                  "its vote does not count meanwhile"},
};

const struct bounds_warning_texts bounds_warnings[BOUNDS_WARNINGS] = {
    [BOUNDS_ONE_VOTE] = {"one-vote", "a single vote: if its host fails, nobody leads; add two members"},
    [BOUNDS_TWO_VOTES] = {"two-votes",
                          "with two votes no member may fail; add a third member, a witness is enough"},
    [BOUNDS_EVEN] = {"even-votes",
                     "an even number of votes survives no more failures than one vote less; add a witness"},
    [BOUNDS_ONE_CANDIDATE] = {"one-candidate",
                              "only one member may lead, the others are witnesses: no other can take over"},
    [BOUNDS_MANY_WITNESSES] =
        {"many-witnesses",
         "all members that may lead can fail while the remaining votes still form a majority; make a "
         "witness a voter"},
    [BOUNDS_SHORT_LEASE] =
        {"short-lease",
         "a stall of the leader's agent below 200 ms (profile realtime: 5 ms), as under load, already stops the work; raise "
         "`lease`, or lower `beat`"},
    [BOUNDS_FEW_LOSSES] =
        {"few-losses",
         "two lost exchanges in a row already cost the leadership; raise `lease`, or lower `beat`"},
    [BOUNDS_SHORT_STOP] =
        {"short-stop",
         "if its lease is not renewed, the work has less than 100 ms from SIGTERM to SIGKILL; raise "
         "`lease` if it needs more"},
    [BOUNDS_SMALL_MARGIN] =
        {"small-margin",
         "less than 10 ms (profile realtime: 3 ms) remain between the latest end of the work and lease expiry: a late wake-up "
         "uses them up; raise `margin`"},
    [BOUNDS_SMALL_DRIFT] =
        {"small-drift",
         "the kernel may adjust two clocks by 0.0005 in opposite directions; set `drift` to at least 0.001"},
    [BOUNDS_LARGE_BLOCK] =
        {"large-block",
         "votes times `block` is more than P in ms: if all disks are lost, tokens could fall; lower "
         "`block`"},
};
