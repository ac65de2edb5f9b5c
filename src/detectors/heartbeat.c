/*
 * Heartbeats and a threshold: every member sends "I am alive" to all others every interval I, and suspects a
 * peer that was silent for `threshold` intervals. Any arrival clears the suspicion.
 *
 * Detection of a crash takes (threshold - 1) I .. threshold I plus the delay of the last beat: that beat left
 * up to I before the crash, and the silence is counted from its arrival.
 *
 * Reference: Coulouris et al., Distributed Systems, 15.1; Petrov, Database Internals, ch. 9. Deviations:
 * none. Limit: after a pause of its own it accuses every peer whose beats still wait to be read (phi checks
 * once more before it accuses).
 */
#include "detectors/detector.h"

/* The state is the set of suspects. */

enum { HEARTBEAT = 1 };
enum { BEAT, SILENCE };
enum { INTERVAL, THRESHOLD };
enum { ACCUSES, RETURNS };

static const struct el_note_text notes[] = {
    [ACCUSES] = {"accuses", "has not heard from @1 for #2 intervals, and suspects it"},
    [RETURNS] = {"returns", "hears from @1 again"},
};

static uint64_t threshold(const struct el_config *cfg)
{
    return detector_within(el_number(cfg, THRESHOLD), 1, UINT32_MAX);
}

/* The timer SILENCE of slot `peer` is armed exactly while the peer is not suspected. */
static void listen(const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    const el_duration wait = detector_times(el_number(cfg, INTERVAL), threshold(cfg));
    el_arm(out, SILENCE, peer, wait, wait);
}

static void beat(const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration interval = detector_times(el_number(cfg, INTERVAL), 1);
    el_arm(out, BEAT, 0, interval, interval);
    detector_send_all(cfg, (struct el_msg){.kind = HEARTBEAT, .subject = cfg->self}, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    (void)state, (void)start;
    beat(cfg, out);
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self) listen(cfg, peer, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    listen(cfg, m->from, out);
    if (!el_set_has(state, m->from)) return;
    el_set_remove(state, m->from);
    el_note(out, RETURNS, m->from, 0);
    el_verdict(out, m->from, false);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    if (timer == BEAT) {
        beat(cfg, out);
        return;
    }
    el_set_add(state, slot);
    el_note(out, ACCUSES, slot, threshold(cfg));
    el_verdict(out, slot, true);
}

static const char *const kinds[] = {NULL, "Heartbeat"};
static const char *const timers[] = {"beat", "silence"};
static const struct el_option options[] = {
    [INTERVAL] = {"interval", EL_DURATION, 0, NULL, "1s", "how often each member sends a heartbeat"},
    [THRESHOLD] = {"threshold", EL_NUMBER, 0, NULL, "3",
                   "after how many silent intervals a member is suspected"},
};

const struct el_algorithm el_heartbeat = {
    .name = "heartbeat",
    .summary = "suspects a member that is silent for a fixed number of intervals",
    .idea = "Every member sends a heartbeat to all others every interval. A member that is silent for"
            " `threshold` intervals is suspected until it is heard again. Detecting a crash takes at "
            "most threshold intervals and one delay. Several heartbeats lost or late in a row look "
            "like a crash.",
    .reference = "Coulouris et al.: Distributed Systems, 15.1; Petrov: Database Internals, ch. 9",
    EL_KINDS(kinds),
    .routine_kinds = 1 << HEARTBEAT,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    .needs = EL_NEEDS_TIMELY,
    .beats = true,
    .state_sets = 1,
    .outbox_fixed = 3,
    .outbox_per_member = 2,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
};
