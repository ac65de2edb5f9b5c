/*
 * Next in line: a leader publishes an ordered list of alternatives. A process that notices its crash asks them
 * in order; the first live one leads, without an election. If the list is exhausted, a bully election follows.
 *
 * Reference: M. Gholipour et al., A new approach for election algorithm in distributed systems, 2009, as
 * told by Petrov, Database Internals, chapter 10, figure 10-2. The paper itself was not at hand; counts are
 * derived. Deviations: lists have versions and the newest wins (at equal versions, the better-ranked leader's);
 * a list is one word of a message, so it names at most four alternatives.
 */
#include "algorithms/mesh/bully.h"

enum { LIST_MAX = 4, PLACE_BITS = 16 };

struct next_in_line {
    uint64_t version;   /* of the list */
    uint64_t list;      /* four places of 16 bits, the first in line lowest; 0 ends it */
    el_node failed;     /* the leader we are replacing */
    uint32_t place;     /* how many alternatives we have asked; LIST_MAX + 1: not asking */
    struct bully bully; /* last: its set of suspects follows */
};

enum { ASK = BULLY_KINDS + 1, ALIVE, ELECTED, KINDS = ELECTED };
enum { T_ALTERNATIVE = BULLY_TIMERS, TIMERS };
enum { ALTERNATIVES = BULLY_OPTIONS, OPTIONS };
enum { ASKS = BULLY_NOTES, NO_REPLY, LIST_EXHAUSTED, STEPS_UP, SAYS_ALIVE, OLD_LIST, KNOWS_BETTER, BAD_LIST };
enum { NOT_ASKING = LIST_MAX + 1 };

static const struct el_note_text notes[] = {
    BULLY_NOTE_LIST(EL_NOTE_TEXT)[ASKS] = {"asks", "asks the alternative @1"},
    [NO_REPLY] = {"no-reply", "heard nothing from the alternative"},
    [LIST_EXHAUSTED] = {"list-exhausted", "has no alternative left and bullies"},
    [STEPS_UP] = {"steps-up", "is next in line after @1 and leads"},
    [SAYS_ALIVE] = {"says-alive", "tells @1 to look no further"},
    [OLD_LIST] = {"old-list", "ignores @1, elected from an older list"},
    [KNOWS_BETTER] = {"knows-better", "tells @1 that @2 leads already"},
    [BAD_LIST] = {"bad-list", "drops a list that names a member who does not exist"},
};

static el_node list_at(uint64_t list, uint32_t place)
{
    return (el_node)(list >> (PLACE_BITS * place) & 0xFFFF);
}

/* The best-ranked members that are neither the leader, nor the failed one, nor suspected. */
static uint64_t make_list(struct next_in_line *me, const struct el_config *cfg, el_node leader, el_node failed)
{
    el_node best[LIST_MAX] = {EL_NOBODY};
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (peer == leader || peer == failed || el_set_has(bully_suspects(&me->bully), peer)) continue;
        el_node moving = peer; /* insert it by rank; the last one drops out */
        for (uint32_t place = 0; place < LIST_MAX; place++) {
            if (!el_outranks(cfg->cluster, moving, best[place])) continue;
            const el_node displaced = best[place];
            best[place] = moving;
            moving = displaced;
        }
    }
    uint64_t list = 0;
    for (uint32_t place = 0; place < LIST_MAX; place++) list |= (uint64_t)best[place] << (PLACE_BITS * place);
    return list;
}

/* The list that the first leader would publish, for use before any leader has. */
static uint64_t first_list(struct next_in_line *me, const struct el_config *cfg, el_node leader)
{
    const struct el_value *given = &cfg->cluster->options[ALTERNATIVES];
    if (given->member_count == 0) return make_list(me, cfg, leader, EL_NOBODY);
    uint64_t list = 0;
    for (uint32_t place = 0; place < given->member_count && place < LIST_MAX; place++)
        list |= (uint64_t)given->members[place] << (PLACE_BITS * place);
    return list;
}

static bool well_formed(const struct el_config *cfg, uint64_t list)
{
    for (uint32_t place = 0; place < LIST_MAX; place++)
        if (list_at(list, place) > cfg->cluster->count) return false;
    return true;
}

static void stop_asking(struct next_in_line *me, struct el_outbox *out)
{
    me->place = NOT_ASKING;
    el_disarm(out, T_ALTERNATIVE, 0);
}

static void accept(struct next_in_line *me, const struct el_config *cfg, const struct el_msg *m,
                   struct el_outbox *out)
{
    el_note(out, BULLY_LEARNS, m->subject, 0);
    stop_asking(me, out);
    bully_follow(&me->bully, cfg, m->subject, out);
    me->version = m->aux;
    me->list = m->more;
}

static struct el_msg publication(const struct next_in_line *me)
{
    return (struct el_msg){.kind = ELECTED, .subject = me->bully.leader, .aux = me->version, .more = me->list};
}

static void step_up(struct next_in_line *me, const struct el_config *cfg, el_node failed, struct el_outbox *out)
{
    el_note(out, STEPS_UP, failed, 0);
    stop_asking(me, out);
    bully_follow(&me->bully, cfg, cfg->self, out);
    me->version++;
    me->list = make_list(me, cfg, cfg->self, failed);
    mesh_send_others(cfg, publication(me), failed, out);
}

/* A winner of a bully election publishes the list with its announcement. */
static void publish_with(struct next_in_line *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->bully.leader != cfg->self) return;
    bool announced = false;
    for (uint32_t i = 0; i < out->count; i++) {
        struct el_action *action = &out->actions[i];
        if (action->type != EL_SEND || action->msg.kind != BULLY_COORDINATOR) continue;
        if (!announced) {
            announced = true;
            me->version++;
            me->list = make_list(me, cfg, cfg->self, me->failed);
        }
        action->msg.aux = me->version;
        action->msg.more = me->list;
    }
}

static void fall_back(struct next_in_line *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, LIST_EXHAUSTED, 0, 0);
    stop_asking(me, out);
    bully_stand(&me->bully, cfg, out);
    publish_with(me, cfg, out);
}

static void ask_next(struct next_in_line *me, const struct el_config *cfg, struct el_outbox *out)
{
    while (me->place < LIST_MAX) {
        const el_node next = list_at(me->list, me->place++);
        if (next == EL_NOBODY) break;
        if (next == me->failed) continue;
        if (next == cfg->self) {
            step_up(me, cfg, me->failed, out);
            return;
        }
        if (el_number(cfg, BULLY_EXCLUDE_SUSPECTS) && el_set_has(bully_suspects(&me->bully), next)) continue;
        el_note(out, ASKS, next, 0);
        el_send(out, cfg, next, (struct el_msg){.kind = ASK, .subject = me->failed});
        el_arm(out, T_ALTERNATIVE, 0, el_round_trip(cfg), el_round_trip(cfg));
        return;
    }
    fall_back(me, cfg, out);
}

static bool running(const struct next_in_line *me)
{
    return me->place != NOT_ASKING || bully_electing(&me->bully);
}

static void replace_leader(struct next_in_line *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->failed = me->bully.leader;
    me->bully.leader = EL_NOBODY;
    if (me->version == 0 && me->failed != EL_NOBODY) me->list = first_list(me, cfg, me->failed);
    me->place = me->failed == EL_NOBODY ? LIST_MAX : 0;
    ask_next(me, cfg, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct next_in_line *me = state;
    me->place = NOT_ASKING;
    me->bully.leader = start->incumbent;
    if (start->how != EL_FRESH) fall_back(me, cfg, out);
}

static void on_ask(struct next_in_line *me, const struct el_config *cfg, const struct el_msg *m,
                   struct el_outbox *out)
{
    const el_node leader = me->bully.leader;
    el_note(out, SAYS_ALIVE, m->from, 0);
    el_send(out, cfg, m->from, (struct el_msg){.kind = ALIVE, .subject = cfg->self});
    if (leader != EL_NOBODY && leader != m->subject && leader != m->from) {
        el_note(out, KNOWS_BETTER, m->from, leader);
        el_send(out, cfg, m->from, publication(me));
    } else {
        step_up(me, cfg, m->subject == cfg->self ? leader : m->subject, out);
    }
}

static void on_elected(struct next_in_line *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    const el_node leader = me->bully.leader;
    if (m->subject == cfg->self) return;
    if (m->aux < me->version ||
        (m->aux == me->version && leader != EL_NOBODY && el_outranks(cfg->cluster, leader, m->subject))) {
        el_note(out, OLD_LIST, m->subject, 0);
    } else {
        accept(me, cfg, m, out);
        if (el_set_has(bully_suspects(&me->bully), m->subject)) {
            el_note(out, BULLY_DISTRUSTS, m->subject, 0);
            replace_leader(me, cfg, out);
        }
    }
}

static void on_bully(struct next_in_line *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (me->place != NOT_ASKING) stop_asking(me, out);
    el_bully.on_message(&me->bully, cfg, m, out);
    if (m->kind == BULLY_COORDINATOR && me->bully.leader == m->subject) {
        me->version = m->aux;
        me->list = m->more;
    }
    publish_with(me, cfg, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct next_in_line *me = state;
    if (!well_formed(cfg, m->more) || m->aux >= EL_EPOCH_MAX) {
        el_note(out, BAD_LIST, 0, 0);
        return;
    }
    switch (m->kind) {
    case ASK: on_ask(me, cfg, m, out); return;
    case ELECTED: on_elected(me, cfg, m, out); return;
    case ALIVE: /* it will announce itself; if it dies first, we ask the next one */
        if (me->place != NOT_ASKING) el_arm(out, T_ALTERNATIVE, 0, el_round_trip(cfg), el_round_trip(cfg));
        return;
    default: on_bully(me, cfg, m, out); return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct next_in_line *me = state;
    if (timer == T_ALTERNATIVE) {
        el_note(out, NO_REPLY, 0, 0);
        ask_next(me, cfg, out);
    } else {
        el_bully.on_timer(&me->bully, cfg, timer, slot, out);
        publish_with(me, cfg, out);
    }
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct next_in_line *me = state;
    el_set_add(bully_suspects(&me->bully), peer);
    if (peer != me->bully.leader) return;
    el_note(out, BULLY_NOTICES, peer, 0);
    replace_leader(me, cfg, out);
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    (void)cfg, (void)out;
    el_set_remove(bully_suspects(&((struct next_in_line *)state)->bully), peer);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (!running(state)) replace_leader(state, cfg, out);
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct next_in_line *me = state;
    el_view_of(v, cfg, me->bully.leader, running(me), me->version);
}

static const char *const kinds[] = {NULL,
                                    BULLY_KIND_NAMES, [ASK] = "Ask", [ALIVE] = "Alive", [ELECTED] = "Elected"};
static const char *const timers[] = {BULLY_TIMER_NAMES, [T_ALTERNATIVE] = "alternative"};
static const struct el_option options[] = {
    BULLY_OPTION_ROWS,
    [ALTERNATIVES] = {"alternatives", EL_MEMBERS, LIST_MAX, NULL, NULL,
                      "the first leader's list, best first (otherwise the best-ranked)"},
};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT | EL_NOT_BEST,
     "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NOT_BEST | EL_NO_LEADER,
     "a list may leave out a better process; a call may be lost with its caller"},
    {EL_PARTITIONS | EL_LOSSES | EL_REORDERS | EL_LATENESS | EL_PAUSES | EL_CLOCKS, EL_ALL_WRONG,
     "a process that does not answer within T counts as dead: each side of a partition elects its own"
     " leader"},
    {EL_NEEDLESS_CALLS | EL_FALSE_SUSPICIONS | EL_DUPLICATES, EL_ALL_WRONG,
     "an alternative that is asked leads, even if the leader is still alive"},
    {EL_RESTARTS, EL_ALL_WRONG, "a process that restarts has no list and holds a bully election"},
};

const struct el_algorithm el_next_in_line = {
    .name = "next-in-line",
    .roleless = true,
    .summary = "the leader names its alternatives; the first live one takes over",
    .idea = "A leader publishes an ordered list of alternatives. A process that notices its crash "
            "asks the first; if that one is alive, it answers and announces itself with a new list, "
            "without an election. If it is silent for T, the next one is asked. Without a list, or "
            "when it is exhausted, a bully election follows.",
    .reference =
        "Gholipour et al.: A new approach for election algorithm in distributed systems, 2009; Petrov: "
        "Database Internals, ch. 10",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .count_max = 0xFFFF,
    .state_bytes = sizeof(struct next_in_line),
    .state_sets = 1,
    .outbox_fixed = 32,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = view,
};
