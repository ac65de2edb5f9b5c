/*
 * A barrage: one node of each algorithm and each detector is fed whatever a network full of liars could deliver, between honest
 * timers, suspicions and requests. It must not trap, overflow its box, differ between two runs, or send what
 * no member could receive. The seat takes every step twice.
 */
#include "lib/node/node.h"
#include "sim/world/random.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 30, STEPS = 400 };
#else
enum { RUNS = 60, STEPS = 600 };
#endif
enum { TIMERS_MAX = 16, REMEMBERED = 4, NOTES_MAX = 64 };

static struct {
    struct sim_random dice;
    bool armed[TIMERS_MAX][65]; /* by slot */
    bool suspected[65];
    bool accused[65];               /* by a detector */
    struct el_msg sent[REMEMBERED]; /* the last so many */
    uint64_t sent_count;
    struct el_msg heard; /* the last one; liars repeat themselves */
    uint64_t notes;      /* bit k: note k was made */
    uint64_t malformed;
    struct el_durable saved; /* the last record */
    uint32_t choose;         /* a number below this is to be drawn before anything else; 0: none */
    struct el_hash print;
} host;

static uint64_t below(uint64_t n)
{
    return sim_random_below(&host.dice, n);
}

static el_node some_peer(void)
{
    const el_node peer = 1 + (el_node)below(seat.cluster.count - 1);
    return peer + (peer >= seat.cfg.self);
}

/* ---- What liars say ---- */

/* Small numbers and limits are where mistakes are. */
static uint64_t some_word(void)
{
    switch (below(8)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return EL_EPOCH_MAX - below(2);
    case 3: return sim_random_next(&host.dice);
    case 4: return UINT64_C(1) << below(64);
    case 5: return seat.cluster.count + below(3);
    default: return below(2 * (uint64_t)seat.cluster.count);
    }
}

static uint64_t some_epoch(void)
{
    const struct el_msg *own = &host.sent[below(REMEMBERED)];
    if (below(100) == 0) return EL_EPOCH_MAX - 1 - below(2 * (uint64_t)seat.cluster.count);
    switch (below(6)) {
    case 0: return own->epoch;
    case 1: return own->epoch + below(3);
    case 2: return own->epoch ? own->epoch - 1 : 0;
    case 3: return below(UINT64_C(1) << 40);
    default: return below(4);
    }
}

static uint64_t some_list(void)
{
    uint64_t list = 0;
    for (unsigned place = 0; place < 4; place++) list |= below(seat.cluster.count + 1) << (16 * place);
    return list;
}

static uint64_t some_set(void)
{
    const uint64_t all = seat.cluster.count == 64 ? UINT64_MAX : el_bit(seat.cluster.count + 1) - 1;
    const uint64_t half = sim_random_next(&host.dice), quarter = half & sim_random_next(&host.dice);
    return quarter & all;
}

/* The node's own words come back to it, one of them changed. */
static struct el_msg some_echo(void)
{
    struct el_msg msg = host.sent[(host.sent_count - 1) % REMEMBERED];
    msg.from = some_peer();
    msg.to = seat.cfg.self;
    switch (below(4)) {
    case 0: msg.kind = (uint8_t)(1 + below(seat.algorithm->kind_count)); break;
    case 1: msg.aux = 1 + below(seat.cluster.count); break;
    case 2: msg.subject = msg.from; break;
    default: msg.more = 1 + below(seat.cluster.count); break;
    }
    if (below(2)) msg.flags = (uint8_t)below(3);
    return msg;
}

static struct el_msg some_message(void)
{
    const uint32_t count = seat.cluster.count;
    if (host.heard.kind && below(6) == 0) return host.heard;
    if (host.sent_count && below(8) == 0) return some_echo();
    struct el_msg msg = {.from = some_peer(),
                         .to = seat.cfg.self,
                         .subject = 1 + (el_node)below(count),
                         .kind = (uint8_t)(1 + below(seat.algorithm->kind_count)),
                         .flags = (uint8_t)below(below(2) ? 3 : 9),
                         .epoch = some_epoch()};
    msg.rank = below(2) ? 0 : below(2) ? below(4) : some_word();
    msg.aux = below(3) == 0 ? some_word() : below(2) ? some_set() : below(4);
    msg.more = below(4) == 0 ? some_word() : below(3) == 0 ? some_list() : 1 + below(count);
    if (below(4) == 0) msg.aux = host.sent[below(REMEMBERED)].aux; /* as if it answered */
    if (below(3) == 0) msg.subject = msg.from;
    if (below(3) == 0) { /* as if it answered */
        const struct el_msg *own = &host.sent[below(REMEMBERED)];
        msg.epoch = below(2) ? own->epoch : below(4);
        msg.more = below(2) ? own->more : own->epoch;
    }
    for (int i = 0; i < 4; i++) msg.extra[i] = below(3) ? below(2 * (uint64_t)count) : some_word();
    host.heard = msg;
    if (below(40)) return msg;
    switch (below(6)) { /* and now and then what nobody could send */
    case 0: msg.from = (el_node)some_word(); break;
    case 1: msg.to = (el_node)some_word(); break;
    case 2: msg.subject = (el_node)some_word(); break;
    case 3: msg.kind = (uint8_t)some_word(); break;
    case 4: msg.spare = (uint16_t)some_word(); break;
    default: msg.epoch = some_word(); break;
    }
    return msg;
}

/* ---- The host, which is honest ---- */

/* Some armed slot of it, if there is one. */
static bool rings(uint32_t timer, uint32_t *slot)
{
    const uint32_t slots = seat.cluster.count + 1, first = (uint32_t)below(slots);
    for (uint32_t i = 0; i < slots; i++) {
        *slot = (first + i) % slots;
        if (!host.armed[timer][*slot]) continue;
        host.armed[timer][*slot] = false;
        return true;
    }
    return false;
}

static bool next_event(struct el_event *event)
{
    const bool alone = seat.cluster.count == 1;
    memset(event, 0, sizeof *event);
    if (host.choose) {
        event->type = EL_CHOSEN;
        event->chosen = (uint32_t)below(host.choose);
        host.choose = 0;
        return true;
    }
    switch (alone ? 6 + below(4) : below(10)) {
    case 0: {
        event->type = EL_UNSENT;
        if (!(seat.algorithm->needs & EL_NEEDS_HOP_ACKS) || host.sent_count == 0) return false;
        const uint64_t last = host.sent_count < REMEMBERED ? host.sent_count : REMEMBERED;
        event->msg = host.sent[(host.sent_count - 1 - below(last)) % REMEMBERED];
        return true;
    }
    case 1:
        event->peer = some_peer();
        event->type = host.suspected[event->peer] ? EL_TRUST : EL_SUSPECT;
        host.suspected[event->peer] = !host.suspected[event->peer];
        return true;
    case 6:
    case 7:
        event->type = EL_TIMER;
        event->timer = (uint32_t)below(TIMERS_MAX);
        return rings(event->timer, &event->slot);
    case 8:
        event->type = EL_REQUEST;
        event->request = (enum el_request_what)(below(4) ? EL_CAMPAIGN : below(5));
        if (event->request == EL_TRANSFER) event->peer = 1 + (el_node)below(seat.cluster.count);
        return true;
    case 9:
        event->type = below(2) && seat.algorithm->fact_count ? EL_FACT : EL_CHOSEN; /* unasked, too */
        if (event->type == EL_FACT) {
            event->fact = (uint32_t)below(seat.algorithm->fact_count);
            event->value = below(5);
        }
        if (event->type == EL_CHOSEN && seat.algorithm->on_chosen) return false; /* it did not ask */
        return below(8) == 0;
    default:
        event->type = EL_MESSAGE;
        event->msg = some_message();
        event->elapsed = seat.algorithm->on_arrival ? some_word() : 0;
        return true;
    }
}

/* ---- What must hold after every step ---- */

static void check_send(const struct el_action *action)
{
    const struct el_msg *msg = &action->msg;
    const uint32_t count = seat.cluster.count;
    assert_int_equal(msg->from, seat.cfg.self);
    assert_true(msg->to >= 1 && msg->to <= count && msg->to != seat.cfg.self);
    assert_true(msg->kind >= 1 && msg->kind <= seat.algorithm->kind_count);
    assert_true(msg->subject >= 1 && msg->subject <= count);
    assert_int_equal(msg->spare, 0);
    if (seat.algorithm->majority) assert_true(msg->epoch < EL_EPOCH_MAX);
    assert_true(action->timer == EL_NO_TIMER || action->timer < seat.algorithm->timer_count);
    host.sent[host.sent_count++ % REMEMBERED] = *msg;
}

static void check_action(const struct el_action *action)
{
    switch (action->type) {
    case EL_SEND: check_send(action); break;
    case EL_ARM:
    case EL_DISARM:
        assert_true(action->timer < seat.algorithm->timer_count && action->timer < TIMERS_MAX);
        assert_in_range(action->slot, 0, seat.cluster.count);
        host.armed[action->timer][action->slot] = action->type == EL_ARM;
        break;
    case EL_NOTE:
        if (action->note == EL_NOTE_MALFORMED) host.malformed++;
        if (action->note >= EL_NOTE_MALFORMED) break;
        assert_true(action->note < seat.algorithm->note_count);
        host.notes |= UINT64_C(1) << action->note;
        break;
    case EL_CHOOSE:
        assert_int_equal(host.choose, 0);
        host.choose = action->n;
        break;
    case EL_VERDICT:
        assert_null(seat.algorithm->view);
        assert_in_range(action->peer, 1, seat.cluster.count);
        assert_int_not_equal(action->peer, seat.cfg.self);
        assert_int_not_equal(action->suspected, host.accused[action->peer]); /* once for each change */
        host.accused[action->peer] = action->suspected;
        break;
    case EL_SAVE:
        assert_non_null(seat.algorithm->view); /* a detector has nothing to keep */
        assert_true(action->durable.epoch < EL_EPOCH_MAX);
        host.saved = action->durable;
        break;
    case EL_MOVE:
        assert_true(action->timer < seat.algorithm->timer_count && action->to < seat.algorithm->timer_count);
        assert_in_range(action->slot, 0, seat.cluster.count);
        if (!host.armed[action->timer][action->slot]) break;
        host.armed[action->timer][action->slot] = false;
        host.armed[action->to][action->slot] = true;
        break;
    }
}

static void check_view(void)
{
    struct el_view view;
    if (!seat.algorithm->view) return;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    assert_in_range(view.leader, 0, seat.cluster.count);
    assert_int_equal(view.role == EL_LEADER, view.leader == seat.cfg.self);
    assert_int_equal(view.role == EL_FOLLOWER, view.leader != EL_NOBODY && view.leader != seat.cfg.self);
}

static void remember_bytes(void)
{
    struct {
        struct el_hash before, now;
        uint64_t count;
    } chain = {host.print, el_fingerprint(seat.state, seat.state_size), seat.out.count};
    host.print = el_fingerprint(&chain, sizeof chain);
}

/* ---- One barrage ---- */

static void choose_options(const el_node *alternatives)
{
    for (uint32_t i = 0; i < seat.algorithm->option_count; i++) {
        const struct el_option *o = &seat.algorithm->options[i];
        if (o->kind == EL_FLAG) seat.options[i].number = below(2);
        if (o->kind == EL_CHOICE) seat.options[i].number = below(3);
        if (o->kind == EL_NUMBER) seat.options[i].number = below(4) ? below(8) : some_word();
        if (o->kind == EL_DURATION) seat.options[i].number = below(2) * 7;
        if (o->kind != EL_MEMBERS && o->kind != EL_OBSERVERS) continue;
        seat.options[i].members = alternatives;
        seat.options[i].member_count = (uint32_t)below(3);
    }
}

/* A life of its own: nothing is left of the last one but its record. */
static void start(enum el_start_how how, el_node incumbent)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = how, .incumbent = incumbent};
    if (how == EL_RESTORED) event.start.durable = host.saved;
    memset(seat.state, 0, seat.state_size);
    memset(host.armed, 0, sizeof host.armed);
    memset(host.suspected, 0, sizeof host.suspected);
    memset(host.accused, 0, sizeof host.accused);
    host.choose = 0;
    seat_step(&event);
}

static void barrage(const struct el_algorithm *algorithm, uint32_t count, el_node self, uint64_t seed)
{
    static const uint64_t attributes[64] = {3, 0, 3, 1};
    static const uint8_t roles[64] = {EL_CANDIDATE, EL_ORDINARY, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY};
    const el_node alternatives[] = {count, 1};
    const uint64_t notes = host.notes, malformed = host.malformed;
    memset(&host, 0, sizeof host);
    host.notes = notes;
    host.malformed = malformed;
    sim_random_seed(&host.dice, seed, count);
    sit_down(algorithm, count, self);
    choose_options(alternatives);
    if (below(2)) seat.cluster.attributes = attributes;
    const bool has_roles = algorithm->option_count && algorithm->options[0].kind == EL_ROLES;
    if (has_roles && below(2)) seat.cluster.roles = roles;
    const enum el_start_how how = below(4) ? EL_FRESH : below(2) ? EL_RESTORED : EL_LOST;
    start(how, below(2) ? EL_NOBODY : 1 + (el_node)below(count));
    for (unsigned step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < seat.out.count; i++) check_action(&seat.out.actions[i]);
        check_view();
        remember_bytes();
        if (below(100) == 0) {
            start(below(4) ? EL_RESTORED : EL_LOST, EL_NOBODY);
            continue;
        }
        struct el_event event;
        while (!next_event(&event)) continue;
        seat_step(&event);
    }
}

static void withstand(const struct el_algorithm *algorithm)
{
    static const uint32_t counts[] = {1, 2, 3, 5, 64};
    assert_non_null(algorithm);
    host.notes = host.malformed = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint64_t run = 0; run < RUNS; run++) {
            const el_node self = 1 + (el_node)(run * 7 % counts[i]);
            barrage(algorithm, counts[i], self, run);
            const struct el_hash once = host.print;
            barrage(algorithm, counts[i], self, run);
            assert_int_equal(host.print.high, once.high);
            assert_int_equal(host.print.low, once.low);
        }
    assert_true(host.malformed > 0);
    if (algorithm->majority)
        return; /* liars seldom make a leader, who could hand over: the swarm demands those notes */
    for (uint32_t note = 0; note < algorithm->note_count; note++)
        if (!(host.notes >> note & 1))
            seat_fail(__FILE__, __LINE__, "nothing led to the note '%s'", algorithm->notes[note].name);
}

static void every_election_withstands_a_barrage(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) withstand(all[i]);
}

static void every_detector_withstands_a_barrage(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_detectors(&count);
    for (uint32_t i = 0; i < count; i++) withstand(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_election_withstands_a_barrage),
        cmocka_unit_test(every_detector_withstands_a_barrage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
