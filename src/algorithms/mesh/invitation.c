/*
 * Invitation: every process starts as the leader of a group of one, and leaders invite each other to merge.
 * The larger group's leader stays, so that only the smaller group must be told. Several leaders at once are
 * allowed by design: the algorithm only promises that a group agrees on its leader.
 *
 * Reference: H. Garcia-Molina, Elections in a distributed computing system, 1982, the invitation algorithm,
 * as told by Petrov, Database Internals, chapter 10, figure 10-4. Stoller (1999) shows that the original
 * specification for asynchronous systems is flawed, so no more is claimed here. Deviations: a group is one
 * word of bits, so at most 64 members; changes of leader are numbered, and late messages about one are ignored;
 * leaders do not invite periodically but on request, when a peer comes back and after each merger, the lowest
 * rank first, so that a run comes to rest.
 */
#include "algorithms/mesh/mesh.h"

struct invitation {
    uint64_t members; /* of the group we lead; only ourselves while we follow */
    uint64_t gone;    /* suspected */
    uint64_t tried;   /* invited without success since the last merger */
    uint64_t counter; /* the highest number of a change of leader that we took part in */
    el_node leader;
    el_node pending; /* the leader we invited that has not answered yet */
};

enum { INVITE = 1, REDIRECT, ACCEPT, NEW_LEADER, ARE_YOU_THERE, I_AM };
enum { T_INVITE, T_REPLY, T_THERE, TIMERS };
#define NOTE_LIST(NOTE)                                                           \
    NOTE(INVITES, "invites", "invites @1")                                        \
    NOTE(REDIRECTS, "redirects", "sends @1 on to its leader @2")                  \
    NOTE(JOINS, "joins", "brings its group of #2 to @1")                          \
    NOTE(COUNTERS, "counters", "leads the larger group and invites @1 in turn")   \
    NOTE(REFUSES, "refuses", "has invited somebody itself and lets @1 wait")      \
    NOTE(MERGES, "merges", "takes in the group of @1, now #2 in all")             \
    NOTE(RELAYS, "relays", "has joined another group meanwhile and passes @1 on") \
    NOTE(NO_REPLY, "no-reply", "hears nothing from @1")                           \
    NOTE(LEARNS, "learns", "follows @1 now")                                      \
    NOTE(OLD_NEWS, "old-news", "ignores what @1 says of a change of leader")      \
    NOTE(ASKS_LEADER, "asks-leader", "asks whether its leader @1 is there")       \
    NOTE(FOUNDS, "founds", "founds a group of its own")                           \
    NOTE(DISOWNS, "disowns", "does not count @1 among its own")                   \
    NOTE(BAD_SET, "bad-set", "drops a set that names a member who does not exist")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static uint32_t size_of(uint64_t members)
{
    uint32_t size = 0;
    for (; members; members &= members - 1) size++; /* clears the lowest bit */
    return size;
}

static uint64_t everybody(const struct el_config *cfg)
{
    return cfg->cluster->count == 64 ? UINT64_MAX : el_bit(cfg->cluster->count + 1) - 1;
}

static bool leads(const struct invitation *me, const struct el_config *cfg)
{
    return me->leader == cfg->self;
}

static void stop_inviting(struct invitation *me, struct el_outbox *out)
{
    me->pending = EL_NOBODY;
    el_disarm(out, T_INVITE, 0);
    el_disarm(out, T_REPLY, 0);
}

static void found(struct invitation *me, const struct el_config *cfg)
{
    me->leader = cfg->self;
    me->members = el_bit(cfg->self);
    me->tried = 0;
    me->counter++;
}

/* The lowest rank invites first; the others leave it time for an answer. */
static void invite_later(const struct el_config *cfg, struct el_outbox *out)
{
    const uint32_t below = cfg->cluster->count - 1 - el_place(cfg->cluster, cfg->self, EL_NOBODY);
    const el_duration wait = below * (el_round_trip(cfg) + cfg->cluster->transmit_max);
    el_arm(out, T_INVITE, 0, wait, wait);
}

static void invite(struct invitation *me, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    el_note(out, INVITES, peer, 0);
    me->pending = peer;
    const struct el_msg msg = {.kind = INVITE, .subject = cfg->self, .epoch = me->counter, .aux = me->members};
    el_send(out, cfg, peer, msg);
    el_disarm(out, T_INVITE, 0);
    el_arm(out, T_REPLY, 0, el_round_trip(cfg), el_round_trip(cfg));
}

static void invite_next(struct invitation *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!leads(me, cfg) || me->pending != EL_NOBODY) return;
    const uint64_t skip = me->members | me->tried | me->gone;
    for (uint32_t k = 1; k < cfg->cluster->count; k++) {
        const el_node peer = (cfg->self - 1 + k) % cfg->cluster->count + 1;
        if (skip & el_bit(peer)) continue;
        invite(me, cfg, peer, out);
        return;
    }
}

static void tell(const struct el_config *cfg, uint64_t members, el_node except, el_node leader,
                 uint64_t counter, struct el_outbox *out)
{
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if ((members & el_bit(peer)) && peer != cfg->self && peer != except)
            el_send(out, cfg, peer, (struct el_msg){.kind = NEW_LEADER, .subject = leader, .epoch = counter});
}

/* A change of leader gets a number above all that either side has seen, so that late messages are
 * recognised. */
static uint64_t number_above(const struct invitation *me, uint64_t seen)
{
    return (seen > me->counter ? seen : me->counter) + 1;
}

static void join(struct invitation *me, const struct el_config *cfg, const struct el_msg *m,
                 struct el_outbox *out)
{
    el_note(out, JOINS, m->from, size_of(me->members));
    me->counter = number_above(me, m->epoch);
    const struct el_msg yes = {.kind = ACCEPT, .subject = cfg->self, .epoch = me->counter, .aux = me->members};
    el_send(out, cfg, m->from, yes);
    tell(cfg, me->members, m->from, m->from, me->counter, out);
    stop_inviting(me, out);
    me->leader = m->from;
    me->members = el_bit(cfg->self);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct invitation *me = state;
    found(me, cfg);
    if (start->incumbent != EL_NOBODY) {
        me->leader = start->incumbent;
        if (leads(me, cfg)) me->members = everybody(cfg);
    }
    if (start->how != EL_FRESH) invite_later(cfg, out);
}

static void on_invite(struct invitation *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (!leads(me, cfg)) {
        el_note(out, REDIRECTS, m->from, me->leader);
        el_send(out, cfg, m->from, (struct el_msg){.kind = REDIRECT, .subject = me->leader});
        return;
    }
    const uint32_t ours = size_of(me->members), theirs = size_of(m->aux);
    const bool they_are_better = theirs != ours ? theirs > ours : el_outranks(cfg->cluster, m->from, cfg->self);
    if (me->pending != EL_NOBODY && !they_are_better) {
        el_note(out, REFUSES, m->from, 0);
    } else if (theirs >= ours) { /* on a tie the inviter stays */
        join(me, cfg, m, out);
    } else {
        el_note(out, COUNTERS, m->from, 0);
        invite(me, cfg, m->from, out);
    }
}

static void on_accept(struct invitation *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (!leads(me, cfg)) {
        el_note(out, RELAYS, m->subject, 0);
        const uint64_t number = number_above(me, m->epoch);
        const struct el_msg passed_on = {.kind = ACCEPT, .subject = m->subject, .epoch = number, .aux = m->aux};
        tell(cfg, m->aux, me->leader, me->leader, number, out);
        el_send(out, cfg, me->leader, passed_on);
        return;
    }
    if (m->epoch > me->counter) me->counter = m->epoch;
    me->members |= m->aux & ~me->gone;
    el_note(out, MERGES, m->subject, size_of(me->members));
    me->tried = 0;
    if (me->pending != EL_NOBODY && (me->members & el_bit(me->pending))) stop_inviting(me, out);
    if (me->members != everybody(cfg)) invite_later(cfg, out);
}

static void on_redirect(struct invitation *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (m->from != me->pending) return;
    stop_inviting(me, out);
    me->tried |= el_bit(m->from);
    if (m->subject == cfg->self) {
        me->members |= el_bit(m->from); /* it follows us already */
        invite_next(me, cfg, out);
    } else if ((me->tried | me->members | me->gone) & el_bit(m->subject)) {
        invite_next(me, cfg, out);
    } else {
        invite(me, cfg, m->subject, out);
    }
}

static void on_new_leader(struct invitation *me, const struct el_config *cfg, const struct el_msg *m,
                          struct el_outbox *out)
{
    if (leads(me, cfg) || m->epoch <= me->counter || m->subject == cfg->self) {
        el_note(out, OLD_NEWS, m->from, 0);
    } else if (me->gone & el_bit(m->subject)) {
        el_note(out, FOUNDS, 0, 0);
        found(me, cfg);
        invite_later(cfg, out);
    } else {
        el_note(out, LEARNS, m->subject, 0);
        el_disarm(out, T_THERE, 0);
        me->leader = m->subject;
        me->counter = m->epoch;
    }
}

static void on_are_you_there(struct invitation *me, const struct el_config *cfg, const struct el_msg *m,
                             struct el_outbox *out)
{
    if (leads(me, cfg) && (me->members & el_bit(m->from))) {
        el_send(out, cfg, m->from, (struct el_msg){.kind = I_AM, .subject = cfg->self});
    } else {
        el_note(out, DISOWNS, m->from, 0); /* without our answer it founds its own group */
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct invitation *me = state;
    if (m->aux & ~everybody(cfg)) {
        el_note(out, BAD_SET, 0, 0);
        return;
    }
    switch (m->kind) {
    case INVITE: on_invite(me, cfg, m, out); return;
    case REDIRECT: on_redirect(me, cfg, m, out); return;
    case ACCEPT: on_accept(me, cfg, m, out); return;
    case NEW_LEADER: on_new_leader(me, cfg, m, out); return;
    case ARE_YOU_THERE: on_are_you_there(me, cfg, m, out); return;
    default:
        if (m->from == me->leader) el_disarm(out, T_THERE, 0);
        return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    struct invitation *me = state;
    if (timer == T_REPLY) {
        el_note(out, NO_REPLY, me->pending, 0);
        me->tried |= el_bit(me->pending);
        me->pending = EL_NOBODY;
    } else if (timer == T_THERE) {
        el_note(out, FOUNDS, 0, 0);
        found(me, cfg);
    }
    invite_next(me, cfg, out);
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct invitation *me = state;
    me->gone |= el_bit(peer);
    if (peer == me->leader) {
        el_note(out, FOUNDS, 0, 0);
        el_disarm(out, T_THERE, 0);
        found(me, cfg);
        invite_later(cfg, out);
    } else if (leads(me, cfg)) {
        me->members &= ~el_bit(peer);
        if (peer == me->pending) {
            stop_inviting(me, out);
            invite_next(me, cfg, out);
        }
    }
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct invitation *me = state;
    me->gone &= ~el_bit(peer);
    me->tried &= ~el_bit(peer);
    if (leads(me, cfg) && me->pending == EL_NOBODY) invite_later(cfg, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct invitation *me = state;
    if (leads(me, cfg)) {
        me->tried = 0;
        invite_next(me, cfg, out);
    } else {
        el_note(out, ASKS_LEADER, me->leader, 0);
        el_send(out, cfg, me->leader, (struct el_msg){.kind = ARE_YOU_THERE, .subject = cfg->self});
        el_arm(out, T_THERE, 0, el_round_trip(cfg), el_round_trip(cfg));
    }
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct invitation *me = state;
    el_view_of(v, cfg, me->leader, false, me->counter);
}

static const char *const kinds[] = {NULL, "Invite", "Redirect", "Accept", "NewLeader", "AreYouThere", "IAm"};
static const char *const timers[] = {"invite", "reply", "there"};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT, "a leader that dies unnoticed keeps its group"},
    {EL_CRASHES | EL_PARTITIONS | EL_LOSSES | EL_REORDERS | EL_DUPLICATES | EL_LATENESS | EL_PAUSES |
         EL_CLOCKS | EL_RESTARTS | EL_FALSE_SUSPICIONS,
     EL_DISAGREEMENT | EL_DEAD_LEADER | EL_ENDLESS,
     "an interrupted merger leaves a member with a leader that has joined another group"},
};

const struct el_algorithm el_invitation = {
    .name = "invitation",
    .summary = "groups merge by invitation; the larger group's leader stays",
    .idea = "Each process starts as the leader of a group of one. Leaders invite others to join; a "
            "follower forwards an invitation to its leader. When two groups merge, the leader of the "
            "larger one stays, and the members of the smaller one are told. A partition splits "
            "groups, and healing it merges them.",
    .reference = "Garcia-Molina: Elections in a distributed computing system, 1982; Stoller 1999; Petrov: "
                 "Database Internals, ch. 10",
    EL_KINDS(kinds),
    .set_kinds = 1u << INVITE | 1u << ACCEPT,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_GROUPS,
    .roleless = true, /* each member begins as the leader of a group */
    .count_max = 64,
    .state_bytes = sizeof(struct invitation),
    .outbox_fixed = 10,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = view,
};
