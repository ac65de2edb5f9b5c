/*
 * The modified bully: processes above only answer that they are alive; the initiator picks the highest of them
 * and tells it to take over. So one election runs; in the bully every process above holds its own.
 *
 * Reference: M. S. Kordafshari et al., Modified bully election algorithm in distributed systems, WSEAS 2005,
 * as told by Petrov, Database Internals, chapter 10, figure 10-1. The paper itself was not at hand; counts
 * are derived. Deviations: if a grant leads to no announcement within T, the next best gets it; a process that
 * answered and hears of no leader within 3 T calls its own election.
 */
#include "algorithms/mesh/mesh.h"

struct bully_modified {
    struct mesh mesh;
    el_node granted; /* the process we told to take over */
    uint32_t spare;
    /* the set of suspects follows, then the set of processes that answered */
};

enum { IDLE, POLLING, GRANTING, WAITING };
enum { ELECTION = 1, ALIVE, GRANT, ELECTED };
enum { WAIT, TIMERS };
enum { EXCLUDE_SUSPECTS };
#define NOTE_LIST(NOTE)                                                      \
    NOTE(POLLS, "polls", "polls those above it (#1)")                        \
    NOTE(WINS, "wins", "wins: nobody above it is left")                      \
    NOTE(SAYS_ALIVE, "says-alive", "tells @1 that it is alive")              \
    NOTE(GRANTS, "grants", "picks @1, the highest that answered")            \
    NOTE(GRANT_FAILED, "grant-failed", "heard nothing from @1 and drops it") \
    NOTE(TAKES_OVER, "takes-over", "takes over as @1 asked")                 \
    NOTE(NO_LEADER, "no-leader", "heard of no leader in time")               \
    NOTE(LEARNS, "learns", "learns that @1 leads")                           \
    NOTE(DISTRUSTS, "distrusts", "is told that @1 leads, but suspects it")   \
    NOTE(OBJECTS, "objects", "outranks the elected @1, and objects")         \
    NOTE(NOTICES, "notices", "notices that the leader @1 is gone")           \
    NOTE(STALE, "stale", "ignores a late reply from @1")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static uint64_t *suspects(struct bully_modified *me)
{
    return (uint64_t *)(me + 1);
}

static uint64_t *alive(struct bully_modified *me, const struct el_config *cfg)
{
    return suspects(me) + el_set_words(cfg->cluster->count);
}

static void enter(struct bully_modified *me, const struct el_config *cfg, uint32_t mode, uint32_t round_trips,
                  struct el_outbox *out)
{
    me->mesh.mode = mode;
    el_arm(out, WAIT, 0, round_trips * el_round_trip(cfg), round_trips * el_round_trip(cfg));
}

static void win(struct bully_modified *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_rest(&me->mesh, cfg->self, TIMERS, out);
    mesh_send_below(cfg, (struct el_msg){.kind = ELECTED, .subject = cfg->self, .epoch = me->mesh.run}, out);
}

static void stand(struct bully_modified *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_rest(&me->mesh, EL_NOBODY, TIMERS, out);
    me->mesh.run++;
    el_set_clear(alive(me, cfg), cfg->cluster->count);
    const uint64_t *without = el_number(cfg, EXCLUDE_SUSPECTS) ? suspects(me) : NULL;
    const struct el_msg poll = {.kind = ELECTION, .subject = cfg->self, .epoch = me->mesh.run};
    const uint32_t above = mesh_send_above(cfg, poll, without, out);
    if (above == 0) {
        el_note(out, WINS, 0, 0);
        win(me, cfg, out);
    } else {
        el_note(out, POLLS, above, 0);
        enter(me, cfg, POLLING, 1, out);
    }
}

static el_node highest_alive(struct bully_modified *me, const struct el_config *cfg)
{
    el_node best = EL_NOBODY;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (el_set_has(alive(me, cfg), peer) && el_outranks(cfg->cluster, peer, best)) best = peer;
    return best;
}

static void grant(struct bully_modified *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->granted = highest_alive(me, cfg);
    if (me->granted == EL_NOBODY) {
        el_note(out, WINS, 0, 0);
        win(me, cfg, out);
        return;
    }
    el_note(out, GRANTS, me->granted, 0);
    el_send(out, cfg, me->granted,
            (struct el_msg){.kind = GRANT, .subject = me->granted, .epoch = me->mesh.run});
    enter(me, cfg, GRANTING, 1, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct bully_modified *me = state;
    me->mesh.leader = start->incumbent;
    if (start->how != EL_FRESH) stand(me, cfg, out);
}

static void on_election(struct bully_modified *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (el_outranks(cfg->cluster, m->from, cfg->self)) return; /* a correct process polls upwards only */
    el_note(out, SAYS_ALIVE, m->from, 0);
    el_send(out, cfg, m->from, (struct el_msg){.kind = ALIVE, .subject = cfg->self, .epoch = m->epoch});
    /* Wait long enough for one grant to fail. A leader need not wait: it will be picked, or outranked. */
    const bool bystander = me->mesh.mode == IDLE || me->mesh.mode == WAITING;
    if (bystander && me->mesh.leader != cfg->self) enter(me, cfg, WAITING, 3, out);
}

static void on_alive(struct bully_modified *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->epoch == me->mesh.run && me->mesh.mode == POLLING) {
        el_set_add(alive(me, cfg), m->from);
    } else {
        el_note(out, STALE, m->from, 0);
    }
}

static void on_elected(struct bully_modified *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    const enum mesh_news news = mesh_judge(cfg, suspects(me), m->subject);
    el_note(out, LEARNS + news, m->subject, 0);
    if (news == MESH_LEARNS) {
        mesh_rest(&me->mesh, m->subject, TIMERS, out);
    } else if (me->mesh.mode == IDLE || me->mesh.mode == WAITING) {
        stand(me, cfg, out);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case ELECTION: on_election(state, cfg, m, out); return;
    case ALIVE: on_alive(state, cfg, m, out); return;
    case ELECTED: on_elected(state, cfg, m, out); return;
    default:
        el_note(out, TAKES_OVER, m->from, 0);
        win(state, cfg, out);
        return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)timer, (void)slot;
    struct bully_modified *me = state;
    switch (me->mesh.mode) {
    case GRANTING:
        el_note(out, GRANT_FAILED, me->granted, 0);
        el_set_remove(alive(me, cfg), me->granted);
        grant(me, cfg, out);
        return;
    case WAITING:
        el_note(out, NO_LEADER, 0, 0);
        stand(me, cfg, out);
        return;
    default: grant(me, cfg, out); return;
    }
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct bully_modified *me = state;
    el_set_add(suspects(me), peer);
    if (peer != me->mesh.leader) return;
    el_note(out, NOTICES, peer, 0);
    stand(me, cfg, out);
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    (void)cfg, (void)out;
    el_set_remove(suspects(state), peer);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (((struct mesh *)state)->mode == IDLE) stand(state, cfg, out);
}

static const char *const kinds[] = {NULL, "Election", "Alive", "Grant", "Elected"};
static const char *const timers[] = {"wait"};
static const struct el_option options[] = {
    [EXCLUDE_SUSPECTS] = {"exclude-suspects", EL_FLAG, 0, NULL, "off", "do not poll suspected processes"},
};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT, "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NO_LEADER | EL_NOT_BEST,
     "a call is lost with its caller, if no live process above has heard it"},
    {EL_PARTITIONS | EL_LOSSES | EL_REORDERS | EL_LATENESS | EL_PAUSES | EL_CLOCKS, EL_ALL_WRONG,
     "a process that does not answer within T counts as dead: each side of a partition elects its own"
     " leader"},
    {EL_NEEDLESS_CALLS | EL_FALSE_SUSPICIONS, EL_ALL_WRONG,
     "a suspected live leader is replaced, or elections repeat for ever"},
    {EL_RESTARTS | EL_DUPLICATES,
     EL_TWO_LEADERS | EL_DISAGREEMENT | EL_NOT_BEST | EL_DEAD_LEADER | EL_NO_LEADER,
     "a high-ranked process that restarts deposes a healthy leader; an old grant elects again"},
};

const struct el_algorithm el_bully_modified = {
    .name = "bully-modified",
    .roleless = true,
    .summary = "the initiator asks those above and tells the highest that answered to lead",
    .idea =
        "The initiator sends Election to everybody above it. They answer Alive and do nothing else. After T "
        "the initiator tells the highest that answered to take over, and that one announces itself to all "
        "below. If nobody answered, the initiator leads.",
    .reference = "Kordafshari et al.: Modified bully election algorithm in distributed systems, 2005; Petrov: "
                 "Database Internals, ch. 10",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .state_bytes = sizeof(struct bully_modified),
    .state_sets = 2,
    .outbox_fixed = 8,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = mesh_view,
};
