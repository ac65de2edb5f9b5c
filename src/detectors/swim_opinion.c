/*
 * SWIM's opinion on each member, and how opinions spread. An opinion about a higher incarnation always wins;
 * within one incarnation, suspect beats alive and dead beats both. Only the accused member raises its
 * incarnation, when it hears of the accusation.
 *
 * A suspicion turns into death, sooner if more members accuse independently: with c of K = 2 confirmations it
 * lasts longest - (longest - shortest) ln(c + 1) / ln(K + 1). A machine has no clock to shorten a running
 * timer. So a timer for each c starts at once, and the member counts as dead when the timer for the present
 * number of confirmations has expired.
 */
#include "detectors/fixed.h"
#include "detectors/swim.h"

struct rumour {
    el_node about;
    el_node accuser;
    uint64_t incarnation;
    uint32_t kind; /* 0: none */
};

/* ---- Health ---- */

void swim_recover(struct swim *me)
{
    if (me->health > 0) me->health--;
}

void swim_doubt(struct swim *me, uint32_t points, struct el_outbox *out)
{
    if (points == 0) return;
    me->health = (uint32_t)detector_within(me->health + points, 0, SWIM_HEALTH_MAX);
    el_note(out, SWIM_DOUBTS, me->health, 0);
}

/* ---- Opinions ---- */

/* Gossip reaches everybody if each member repeats it to a small multiple of log n others. */
static uint8_t tellings(const struct el_config *cfg)
{
    const uint64_t digits = (fixed_log10(cfg->cluster->count) >> FIXED_BITS) + 1;
    return (uint8_t)(4 * digits);
}

static void judge(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    const uint8_t opinion = swim_member(me, cfg, peer)->opinion;
    const bool guilty = opinion == SWIM_DEAD || (opinion == SWIM_SUSPECT && el_number(cfg, SWIM_HASTY));
    if (guilty == el_set_has(swim_accused(me), peer)) return;
    if (guilty) {
        el_set_add(swim_accused(me), peer);
    } else {
        el_set_remove(swim_accused(me), peer);
    }
    el_verdict(out, peer, guilty);
}

static void settle(struct swim *me, const struct el_config *cfg, el_node peer, uint8_t opinion,
                   uint64_t incarnation, struct el_outbox *out)
{
    struct swim_member *member = swim_member(me, cfg, peer);
    for (uint32_t c = 0; c <= SWIM_CONFIRMATIONS; c++) el_disarm(out, SWIM_SUSPICION + c, peer);
    if (member->opinion != opinion) el_note(out, opinion == SWIM_DEAD ? SWIM_BURIES : SWIM_CLEARS, peer, 0);
    member->opinion = opinion;
    member->incarnation = incarnation;
    member->accuser_count = 0;
    member->left = tellings(cfg);
    judge(me, cfg, peer, out);
}

void swim_clear(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct swim_member *member = swim_member(me, cfg, peer);
    if (member->opinion == SWIM_ALIVE) return;
    settle(me, cfg, peer, SWIM_ALIVE, member->incarnation, out);
    member->left = 0; /* an opinion about the old incarnation is obsolete */
}

static void bury_if_due(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    const struct swim_member *member = swim_member(me, cfg, peer);
    if (member->accuser_count > member->ripe) settle(me, cfg, peer, SWIM_DEAD, member->incarnation, out);
}

void swim_ripen(struct swim *me, const struct el_config *cfg, el_node peer, uint32_t confirmations,
                struct el_outbox *out)
{
    swim_member(me, cfg, peer)->ripe = (uint8_t)confirmations;
    bury_if_due(me, cfg, peer, out);
}

/* Four periods, and longer the more members a refutation has to reach. */
static el_duration shortest_suspicion(const struct el_config *cfg)
{
    const uint64_t periods = detector_within(el_number(cfg, SWIM_SHORTEST), 1, 1000);
    const el_duration plain = detector_times(el_number(cfg, SWIM_OF_PERIOD), periods);
    const uint64_t one = UINT64_C(1) << FIXED_BITS, log = fixed_log10(cfg->cluster->count);
    if (log <= one) return plain;
    return detector_times((plain >> FIXED_BITS) * log + ((plain & (one - 1)) * log >> FIXED_BITS), 1);
}

static void arm_suspicion(const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    static const uint32_t gained[] = {0, 630930, 1000000}; /* ln(c + 1) / ln(K + 1), in millionths */
    const el_duration shortest = shortest_suspicion(cfg);
    const el_duration longest =
        detector_times(shortest, detector_within(el_number(cfg, SWIM_LONGEST), 1, 1000));
    const el_duration millionth = (longest - shortest) / 1000000, rest = (longest - shortest) % 1000000;
    if (cfg->cluster->count < SWIM_CONFIRMATIONS + 2) { /* too few members for confirmations */
        el_arm(out, SWIM_SUSPICION, peer, shortest, shortest);
        return;
    }
    for (uint32_t c = 0; c <= SWIM_CONFIRMATIONS; c++) {
        const el_duration wait = longest - millionth * gained[c] - rest * gained[c] / 1000000;
        el_arm(out, SWIM_SUSPICION + c, peer, wait, wait);
    }
}

static void accuse(struct swim *me, const struct el_config *cfg, const struct rumour *r, struct el_outbox *out)
{
    struct swim_member *member = swim_member(me, cfg, r->about);
    if (member->opinion != SWIM_SUSPECT || r->incarnation > member->incarnation) {
        el_note(out, SWIM_SUSPECTS, r->about, 0);
        member->opinion = SWIM_SUSPECT;
        member->incarnation = r->incarnation;
        member->accuser_count = 0;
        member->ripe = SWIM_CONFIRMATIONS + 1;
        arm_suspicion(cfg, r->about, out);
    } else {
        for (uint32_t i = 0; i < member->accuser_count; i++)
            if (member->accusers[i] == r->accuser) return;
        if (member->accuser_count > SWIM_CONFIRMATIONS) return;
        el_note(out, SWIM_CONFIRMS, r->about, r->accuser);
    }
    member->accusers[member->accuser_count++] = r->accuser;
    member->left = tellings(cfg);
    judge(me, cfg, r->about, out);
    bury_if_due(me, cfg, r->about, out);
}

void swim_suspect(struct swim *me, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    const struct swim_member *member = swim_member(me, cfg, peer);
    const bool news = member->opinion == SWIM_ALIVE;
    const struct rumour own = {peer, cfg->self, member->incarnation, SWIM_SUSPECT};
    if (member->opinion == SWIM_DEAD) return;
    accuse(me, cfg, &own, out);
    /* Tell the suspect first, so that it can refute. */
    if (news)
        el_send(out, cfg, peer,
                (struct el_msg){
                    .kind = SWIM_SUSPECT, .subject = peer, .epoch = own.incarnation, .rank = cfg->self});
}

/* We are accused. The teller may only be out of date, but then it gets our refutation too. */
static void refute(struct swim *me, const struct el_config *cfg, el_node teller, uint64_t incarnation,
                   struct el_outbox *out)
{
    struct swim_member *self = swim_member(me, cfg, cfg->self);
    if (incarnation >= self->incarnation) {
        self->incarnation = incarnation + 1;
        self->left = tellings(cfg);
        el_note(out, SWIM_REFUTES, self->incarnation, 0);
        swim_doubt(me, 1, out);
    }
    el_send(out, cfg, teller,
            (struct el_msg){.kind = SWIM_ALIVE, .subject = cfg->self, .epoch = self->incarnation});
}

/* ---- Rumours ---- */

static struct rumour rumour_in(const struct el_msg *m)
{
    if (m->kind >= SWIM_ALIVE) {
        const el_node accuser = m->rank <= UINT32_MAX ? (el_node)m->rank : UINT32_MAX;
        return (struct rumour){m->subject, accuser, m->epoch, m->kind};
    }
    return (struct rumour){(el_node)m->more, (el_node)(m->more >> 32), m->aux, m->flags};
}

static bool makes_sense(const struct el_config *cfg, const struct rumour *r)
{
    const uint32_t count = cfg->cluster->count;
    const bool accused_by_somebody = r->accuser >= 1 && r->accuser <= count && r->accuser != r->about;
    return r->kind >= SWIM_ALIVE && r->kind <= SWIM_DEAD && r->about >= 1 && r->about <= count &&
           r->incarnation < SWIM_INCARNATION_MAX && (accused_by_somebody || r->kind != SWIM_SUSPECT);
}

void swim_hear(struct swim *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    const struct rumour r = rumour_in(m);
    if (r.kind == 0) return;
    if (!makes_sense(cfg, &r)) {
        el_note(out, SWIM_NONSENSE, m->from, 0);
        return;
    }
    const struct swim_member *member = swim_member(me, cfg, r.about);
    if (r.about == cfg->self) {
        if (r.kind != SWIM_ALIVE) refute(me, cfg, m->from, r.incarnation, out);
    } else if (r.kind == SWIM_ALIVE) {
        if (r.incarnation > member->incarnation) settle(me, cfg, r.about, SWIM_ALIVE, r.incarnation, out);
    } else if (member->opinion != SWIM_DEAD && r.incarnation >= member->incarnation) {
        if (r.kind == SWIM_DEAD) {
            settle(me, cfg, r.about, SWIM_DEAD, r.incarnation, out);
        } else {
            accuse(me, cfg, &r, out);
        }
    }
}

/* The member whose rumour `to` gets: first `to` itself or the subject of the message, if accused (always, or
 * a restarted member would never learn that it counts as dead); then ourselves; then the rumour told least
 * often. */
static el_node most_urgent(struct swim *me, const struct el_config *cfg, el_node to, el_node subject)
{
    if (swim_member(me, cfg, subject)->opinion != SWIM_ALIVE) return subject;
    if (swim_member(me, cfg, to)->opinion != SWIM_ALIVE) return to;
    el_node best = cfg->self;
    if (swim_member(me, cfg, best)->left) return best;
    for (el_node about = 1; about <= cfg->cluster->count; about++)
        if (about != to && swim_member(me, cfg, about)->left > swim_member(me, cfg, best)->left) best = about;
    return best;
}

void swim_send(struct swim *me, const struct el_config *cfg, el_node to, struct el_msg msg,
               struct el_outbox *out)
{
    const el_node about = most_urgent(me, cfg, to, msg.subject);
    struct swim_member *member = swim_member(me, cfg, about);
    if (member->left > 0 || member->opinion != SWIM_ALIVE) {
        const el_node accuser = member->accuser_count ? member->accusers[member->accuser_count - 1] : EL_NOBODY;
        msg.flags = member->opinion;
        msg.more = about | (uint64_t)accuser << 32;
        msg.aux = member->incarnation;
    }
    if (member->left > 0) member->left--;
    el_send(out, cfg, to, msg);
}
