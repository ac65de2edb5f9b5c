/*
 * The phi accrual detector measures the intervals between beats. Their mean and deviation tell how unlikely
 * the current silence is: phi is -log10 of that probability. At phi 8, a live member causes one such silence
 * in 10^8.
 *
 * Nobody polls phi. It depends only on time since the last beat, so the time until the threshold is known
 * when a beat arrives: mean + pause + deviation * y(threshold). A timer runs for exactly that long.
 *
 * Reference: Hayashibara, Defago, Yared, Katayama, The phi accrual failure detector, SRDS 2004; minimum
 * deviation, acceptable pause and first estimate as in Akka. Deviations: the tail is exact, while Akka
 * approximates it. After a pause of our own an overdue timer comes before the beats that wait to be read. So
 * we wait once more, for as long as reading a message may take, before we accuse. Three kinds of interval are
 * not recorded: one that ended a suspicion or nearly did; the time from START to the first beat; and one
 * below a quarter of the configured interval, which is a duplicate or part of a backlog. Otherwise a pause of
 * ours would lengthen the timeout.
 */
#include "detectors/phi.h"

#include "detectors/detector.h"

enum { WINDOW_MAX = 100 };
/* Intervals are kept in microseconds and cut at this maximum (268 s), so that the squares of a window fit into
 * one word. */
#define SAMPLE_MAX (UINT64_C(1) << 28)
#define INTERVAL_MAX (UINT64_C(120000000000)) /* 2 minutes: well below that */

struct phi {
    uint64_t deviations; /* y(threshold), computed once */
    /* two sets follow, suspects and measured members, then a window for each member */
};

/* The last intervals, and their sums. */
struct window {
    uint64_t sum, squares;
    uint32_t used, next;
    uint32_t samples[WINDOW_MAX];
};

/* Mean and deviation of one member's intervals, in microseconds. */
struct habit {
    uint64_t mean, deviation;
};

enum { HEARTBEAT = 1 };
enum { BEAT, SILENCE, CONFIRM };
enum { THRESHOLD, INTERVAL, WINDOW, MIN_DEVIATION, PAUSE, FIRST_ESTIMATE };
enum { MISSES, ACCUSES, RETURNS };

static const struct el_note_text notes[] = {
    [MISSES] = {"misses", "misses @1, and looks once more at what has arrived"},
    [ACCUSES] = {"accuses", "suspects @1: phi has passed #2"},
    [RETURNS] = {"returns", "hears from @1 again, when phi had risen to #2 thousandths"},
};

static uint64_t *suspected(struct phi *me)
{
    return (uint64_t *)(me + 1);
}

/* Members whose next beat ends an interval that counts. */
static uint64_t *measured(struct phi *me, const struct el_config *cfg)
{
    return suspected(me) + el_set_words(cfg->cluster->count);
}

static struct window *window_of(struct phi *me, const struct el_config *cfg, el_node peer)
{
    return (struct window *)(measured(me, cfg) + el_set_words(cfg->cluster->count)) + (peer - 1);
}

/* ---- Options ---- */

static uint64_t threshold(const struct el_config *cfg)
{
    return detector_within(el_number(cfg, THRESHOLD), 1, PHI_THRESHOLD_MAX);
}

static el_duration interval(const struct el_config *cfg)
{
    return detector_within(el_number(cfg, INTERVAL), 0, INTERVAL_MAX);
}

static uint64_t microseconds(const struct el_config *cfg, uint32_t option)
{
    return detector_within(el_number(cfg, option) / 1000, 0, SAMPLE_MAX);
}

static uint64_t first_estimate(const struct el_config *cfg)
{
    return el_number(cfg, FIRST_ESTIMATE) ? microseconds(cfg, FIRST_ESTIMATE) : interval(cfg) / 1000;
}

/* ---- The window ---- */

static void keep(struct window *w, const struct el_config *cfg, uint64_t sample)
{
    const uint32_t size = (uint32_t)detector_within(el_number(cfg, WINDOW), 1, WINDOW_MAX);
    sample = detector_within(sample, 0, SAMPLE_MAX);
    if (w->used == size) {
        const uint64_t oldest = w->samples[w->next];
        w->sum -= oldest;
        w->squares -= oldest * oldest;
    } else {
        w->used++;
    }
    w->samples[w->next] = (uint32_t)sample;
    w->sum += sample;
    w->squares += sample * sample;
    w->next = w->next + 1 < size ? w->next + 1 : 0;
}

static uint64_t root(uint64_t square)
{
    uint64_t found = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((found | bit) * (found | bit) <= square) found |= bit;
    return found;
}

/*
 * With sum = mean * used + rest, the squares of the distances to the whole mean are squares - mean (sum +
 * rest): exact, and never larger than `squares`, while used * squares would overflow.
 */
static struct habit habit_of(const struct window *w, const struct el_config *cfg)
{
    const uint64_t mean = w->sum / w->used, rest = w->sum % w->used;
    const uint64_t apart = w->squares - mean * (w->sum + rest) - rest * rest / w->used;
    const uint64_t deviation = root(apart / w->used), least = microseconds(cfg, MIN_DEVIATION);
    return (struct habit){mean + microseconds(cfg, PAUSE), deviation < least ? least : deviation};
}

/* ---- Sending and receiving beats ---- */

static void listen(struct phi *me, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    const struct habit habit = habit_of(window_of(me, cfg, peer), cfg);
    const uint64_t late =
        (habit.deviation * me->deviations >> PHI_DEVIATION_BITS) + 1; /* + 1: the threshold must be passed */
    const el_duration wait = (habit.mean + late) * 1000;
    el_arm(out, SILENCE, peer, wait, wait);
}

static void beat(const struct el_config *cfg, struct el_outbox *out)
{
    el_arm(out, BEAT, 0, interval(cfg), interval(cfg));
    detector_send_all(cfg, (struct el_msg){.kind = HEARTBEAT, .subject = cfg->self}, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    (void)start;
    struct phi *me = state;
    const uint64_t estimate = first_estimate(cfg);
    me->deviations = el_phi_deviations(threshold(cfg));
    beat(cfg, out);
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (peer == cfg->self) continue;
        keep(window_of(me, cfg, peer), cfg, estimate - estimate / 4);
        keep(window_of(me, cfg, peer), cfg, estimate + estimate / 4);
        listen(me, cfg, peer, out);
    }
}

static void clear(struct phi *me, const struct el_config *cfg, el_node peer, uint64_t elapsed,
                  struct el_outbox *out)
{
    const struct habit habit = habit_of(window_of(me, cfg, peer), cfg);
    el_set_remove(suspected(me), peer);
    el_note(out, RETURNS, peer, el_phi_thousandths(elapsed, habit.mean, habit.deviation));
    el_verdict(out, peer, false);
}

static void on_arrival(void *state, const struct el_config *cfg, const struct el_msg *m, el_duration elapsed,
                       struct el_outbox *out)
{
    struct phi *me = state;
    if (el_set_has(suspected(me), m->from)) clear(me, cfg, m->from, elapsed / 1000, out);
    if (el_set_has(measured(me, cfg), m->from) && elapsed >= interval(cfg) / 4)
        keep(window_of(me, cfg, m->from), cfg, elapsed / 1000);
    el_set_add(measured(me, cfg), m->from);
    el_disarm(out, CONFIRM, m->from);
    listen(me, cfg, m->from, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    switch (timer) {
    case BEAT: beat(cfg, out); return;
    case SILENCE:
        el_set_remove(measured(state, cfg), slot);
        el_note(out, MISSES, slot, 0);
        el_arm(out, CONFIRM, slot, cfg->cluster->process_max, cfg->cluster->process_max);
        return;
    default:
        el_set_add(suspected(state), slot);
        el_note(out, ACCUSES, slot, threshold(cfg));
        el_verdict(out, slot, true);
        return;
    }
}

static const char *const kinds[] = {NULL, "Heartbeat"};
static const char *const timers[] = {"beat", "silence", "confirm"};
static const struct el_option options[] = {
    [THRESHOLD] = {"threshold", EL_NUMBER, 0, NULL, "8", "the phi at which a member is suspected, up to 300"},
    [INTERVAL] = {"interval", EL_DURATION, 0, NULL, "1s",
                  "how often each member sends a heartbeat, up to two minutes"},
    [WINDOW] = {"window", EL_NUMBER, 0, NULL, "100", "how many of the last intervals count, up to 100"},
    [MIN_DEVIATION] = {"min-deviation", EL_DURATION, 0, NULL, "100ms",
                       "lower bound for the measured deviation"},
    [PAUSE] = {"pause", EL_DURATION, 0, NULL, NULL,
               "an additional pause to tolerate at any time (otherwise none)"},
    [FIRST_ESTIMATE] = {"first-estimate", EL_DURATION, 0, NULL, NULL,
                        "the interval to expect of a member never heard (otherwise `interval`)"},
};

const struct el_algorithm el_phi = {
    .name = "phi",
    .summary = "suspects a member whose silence is improbably long for its measured intervals",
    .idea = "Every member sends a heartbeat to all others every interval, and records the last intervals "
            "between those of each other member. Their mean and deviation tell how likely a live member "
            "is to be silent this long. phi is minus the decimal logarithm of that probability: at phi 8,"
            " one accusation in 100 million would be wrong, if intervals were normally distributed. If "
            "the network becomes slow or jittery, the detector waits longer instead of accusing wrongly.",
    .reference = "Hayashibara, Defago, Yared, Katayama: The phi accrual failure detector, SRDS 2004",
    EL_KINDS(kinds),
    .routine_kinds = 1 << HEARTBEAT,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    .beats = true,
    .state_bytes = sizeof(struct phi),
    .state_sets = 2,
    .state_per_member = sizeof(struct window),
    .outbox_fixed = 4,
    .outbox_per_member = 2,
    .on_start = on_start,
    .on_arrival = on_arrival,
    .on_timer = on_timer,
    .stopwatch = SILENCE,
};
