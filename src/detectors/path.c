/*
 * The timeout-free heartbeat: a beat carries the path it has taken. A receiver increments the counter of
 * every member on the path, adds itself, and passes the beat to those of its neighbours that are not on the
 * path. The output is a counter for each member. It grows for ever if the member lives and is connected by
 * some path, and stops if it has crashed. No clock is involved, so no delay is too long; and beats get around
 * a broken link.
 *
 * An election needs verdicts, so counters are compared. A round is over when some neighbour's own beat is
 * heard for the second time in it. A member is suspected if its counter has not grown for `lag` rounds, and
 * until it grows. Hence two members cannot suspect each other, and the last live member suspects nobody: they
 * have nothing to compare with. If every hop slows down by more than `lag` intervals at once, distant
 * members, whose beats take more hops, are suspected until the counters catch up.
 *
 * Every beat goes along every path that visits no member twice. A ring has 2 (N - 1) such paths. With one
 * more neighbour on either side their number grows by the factor 1.84 a member, and on a full mesh faster
 * than (N - 1)!.
 *
 * Reference: Aguilera, Chen, Toueg, Heartbeat: a timeout-free failure detector for quiescent reliable
 * communication, WDAG 1997. Deviations: the path is a set, since only membership counts; neighbours are the
 * nearest positions; and the verdicts, which the paper does not have.
 */
#include "detectors/detector.h"

struct path {
    uint64_t round;
    uint64_t ahead;     /* the set of members whose own beats were heard in this round, see el_bit */
    uint64_t suspected; /* the set of suspects */
    /* a counter for each member follows */
};

struct counter {
    uint64_t beats;
    uint64_t grown; /* the round in which the counter last grew */
};

enum { HEARTBEAT = 1 };
enum { BEAT };
enum { INTERVAL, NEIGHBOURS, LAG };
enum { ACCUSES, RETURNS, CAME_BACK };

static const struct el_note_text notes[] = {
    [ACCUSES] = {"accuses", "sees @1's counter stand at #2 while others grow, and suspects it"},
    [RETURNS] = {"returns", "sees @1's counter grow again"},
    [CAME_BACK] = {"came-back", "drops a beat from @1 that has been here before"},
};

static struct counter *counter_of(struct path *me, el_node peer)
{
    return (struct counter *)(me + 1) + (peer - 1);
}

static uint64_t everybody(const struct el_config *cfg)
{
    return UINT64_MAX >> (64 - cfg->cluster->count);
}

static uint64_t neighbours(const struct el_config *cfg)
{
    const uint32_t count = cfg->cluster->count, self = cfg->self - 1;
    const uint64_t asked = el_number(cfg, NEIGHBOURS), either_side = asked ? asked : count <= 8 ? 2 : 1;
    uint64_t set = 0;
    for (uint32_t apart = 1; apart < count && apart <= either_side; apart++)
        set |= el_bit((self + apart) % count + 1) | el_bit((self + count - apart) % count + 1);
    return set;
}

/* Passes a beat of `origin` to all neighbours that are not on its path; the path includes us. */
static void pass_on(const struct el_config *cfg, el_node origin, uint64_t path, struct el_outbox *out)
{
    const uint64_t to = neighbours(cfg) & ~path;
    const struct el_msg msg = {.kind = HEARTBEAT, .subject = origin, .aux = path | el_bit(cfg->self)};
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (to & el_bit(peer)) el_send(out, cfg, peer, msg);
}

static void beat(const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration interval = detector_times(el_number(cfg, INTERVAL), 1);
    el_arm(out, BEAT, 0, interval, interval);
    pass_on(cfg, cfg->self, 0, out);
}

static void grow(struct path *me, el_node peer, struct el_outbox *out)
{
    struct counter *counter = counter_of(me, peer);
    counter->beats++;
    counter->grown = me->round;
    if (!(me->suspected & el_bit(peer))) return;
    me->suspected &= ~el_bit(peer);
    el_note(out, RETURNS, peer, 0);
    el_verdict(out, peer, false);
}

/* At the beginning of a round every member may be one beat behind, so that does not count as lag. */
static void compare(struct path *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t lag = detector_within(el_number(cfg, LAG), 2, UINT32_MAX);
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        const struct counter *counter = counter_of(me, peer);
        if (peer == cfg->self || me->suspected & el_bit(peer) || me->round - counter->grown < lag) continue;
        me->suspected |= el_bit(peer);
        el_note(out, ACCUSES, peer, counter->beats);
        el_verdict(out, peer, true);
    }
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    (void)state, (void)start;
    beat(cfg, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct path *me = state;
    const uint64_t path = (m->aux & everybody(cfg)) | el_bit(m->from);
    if (path & el_bit(cfg->self)) {
        el_note(out, CAME_BACK, m->from, 0);
        return;
    }
    const bool fresh = path == el_bit(m->from); /* received directly, not through others */
    const bool again = fresh && me->ahead & path;
    if (again) me->round++, me->ahead = 0;
    if (fresh) me->ahead |= path;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (path & el_bit(peer)) grow(me, peer, out);
    if (again) compare(me, cfg, out);
    pass_on(cfg, m->subject, path, out);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)state, (void)timer, (void)slot;
    beat(cfg, out);
}

static const char *const kinds[] = {NULL, "Heartbeat"};
static const char *const timers[] = {"beat"};
static const struct el_option options[] = {
    [INTERVAL] = {"interval", EL_DURATION, 0, NULL, "1s", "how often each member sends a heartbeat"},
    [NEIGHBOURS] = {"neighbours", EL_NUMBER, 0, NULL, NULL,
                    "how many nearest positions on either side (otherwise 2 in clusters of up to 8, else 1)"},
    [LAG] = {"lag", EL_NUMBER, 0, NULL, "5",
             "how many beats behind the fastest a member is suspected, at least 2"},
};

const struct el_algorithm el_path = {
    .name = "path",
    .summary = "counts beats that travel along every path, and suspects a member whose counter stops",
    .idea = "A heartbeat carries the path it has taken. Its receiver increments the counter of every "
            "member on the path and forwards it to the neighbours that are not on it. The counter of a "
            "live member grows for ever, even if no direct link to it works; that of a dead one stops. "
            "There is no timeout: a member is suspected when its counter stops while the fastest grows. "
            "The cost is traffic, which grows exponentially unless neighbours are few.",
    .reference = "Aguilera, Chen, Toueg: Heartbeat: a timeout-free failure detector for quiescent reliable "
                 "communication, WDAG 1997",
    EL_KINDS(kinds),
    .routine_kinds = 1 << HEARTBEAT,
    .set_kinds = 1 << HEARTBEAT,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    .count_max = 64,
    .beats = true,
    .state_bytes = sizeof(struct path),
    .state_per_member = sizeof(struct counter),
    .outbox_fixed = 1,
    .outbox_per_member = 3,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
};
