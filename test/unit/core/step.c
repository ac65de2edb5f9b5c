/* One step: what hostile bytes, a careless host and a missing handler come to. */
#include "lib/node/trap.h"

#include "core/machine.h"
#include "lib/node/node.h"

/* ---- Hostile messages ---- */

/* One that any algorithm of the build finds well-formed, to node 2 of three. */
static struct el_msg honest(void)
{
    return (struct el_msg){.from = 1, .to = 2, .subject = 1, .kind = 1, .epoch = EL_EPOCH_MAX - 1, .more = 1};
}

static void dropped(struct el_msg msg)
{
    unsigned char before[1024];
    assert_in_range(seat.state_size, 0, sizeof before);
    memcpy(before, seat.state, seat.state_size);
    struct el_event event = {.type = EL_MESSAGE};
    event.msg = msg;
    seat_step(&event);
    assert_int_equal(seat.out.count, 1);
    assert_int_equal(seat.out.actions[0].type, EL_NOTE);
    assert_int_equal(seat.out.actions[0].note, EL_NOTE_MALFORMED);
    assert_int_equal(seat.out.actions[0].values[0], msg.kind);
    assert_int_equal(seat.out.actions[0].values[1], msg.from);
    assert_memory_equal(seat.state, before, seat.state_size);
}

static void what_nobody_honest_could_send_is_dropped(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        static const el_node no_members[] = {0, 4, UINT32_MAX};
        sit_down(all[i], 3, 2);
        starts_under(3);
        for (size_t k = 0; k < 3; k++) {
            struct el_msg msg = honest();
            msg.from = no_members[k];
            dropped(msg);
            msg = honest();
            msg.to = no_members[k];
            dropped(msg);
            msg = honest();
            msg.subject = no_members[k];
            dropped(msg);
        }
        struct el_msg msg = honest();
        msg.from = 2; /* ourselves */
        dropped(msg);
        msg = honest();
        msg.to = 3; /* a member, but not us */
        dropped(msg);
        for (uint32_t kind = 0; kind < 256; kind++) {
            msg = honest();
            msg.kind = (uint8_t)kind;
            if (kind == 0 || kind > all[i]->kind_count) dropped(msg);
        }
        for (unsigned bit = 0; bit < 16; bit++) {
            msg = honest();
            msg.spare = (uint16_t)(1u << bit);
            dropped(msg);
        }
        for (unsigned bit = 53; bit < 64; bit++) {
            msg = honest();
            msg.epoch = UINT64_C(1) << bit;
            dropped(msg);
        }
    }
}

static void an_honest_message_is_not_dropped(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        sit_down(all[i], 3, 2);
        starts_under(3);
        struct el_event event = {.type = EL_MESSAGE};
        event.msg = honest();
        seat_step(&event);
        for (uint32_t k = 0; k < seat.out.count; k++)
            assert_false(seat.out.actions[k].type == EL_NOTE && seat.out.actions[k].note == EL_NOTE_MALFORMED);
    }
}

/* ---- Requests ---- */

static void an_unknown_request_is_declined(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i]->on_request) continue;
        sit_down(all[i], 3, 2);
        starts_under(3);
        requests(EL_RESIGN, EL_NOBODY);
        did("note declined");
        requests(EL_TRANSFER, 3);
        did("note declined");
        assert_int_equal(seat.out.actions[0].values[0], EL_TRANSFER);
        assert_int_equal(seat.out.actions[0].values[1], EL_UNKNOWN_HERE);
        requests((enum el_request_what)77, EL_NOBODY);
        did("note declined");
        sees("follows 3");
    }
}

/* ---- Handlers ---- */

static const char *const toy_kinds[] = {NULL, "Hello"};
static const char *const toy_timers[] = {"first", "second"};

static const struct el_algorithm deaf = {
    .name = "deaf", EL_KINDS(toy_kinds), EL_TIMERS(toy_timers), .outbox_fixed = 1};

static void a_machine_without_handlers_ignores_everything(void **state)
{
    sit_down(&deaf, 3, 2);
    starts();
    did("");
    hears(1, "Hello 1");
    did("");
    fails_to_reach(1, "Hello 1");
    did("");
    times_out("second");
    did("");
    suspects(1);
    did("");
    trusts(1);
    did("");
    seat_step(&(struct el_event){.type = EL_CHOSEN, .chosen = 3});
    did("");
    campaigns();
    did("note declined");
    hears(1, "Hello 4");
    did("note malformed 1 1");
}

/* Answers every event with an action that says which it was. */
static void toy_on_start(void *s, const struct el_config *cfg, const struct el_start *start,
                         struct el_outbox *out)
{
    el_save(out, (struct el_durable){.epoch = start->durable.epoch + 1});
    el_choose(out, start->how + 1);
}

static void toy_on_arrival(void *s, const struct el_config *cfg, const struct el_msg *m, el_duration elapsed,
                           struct el_outbox *out)
{
    el_arm(out, 0, 0, elapsed, elapsed + 1);
    el_send_with_left(out, cfg, m->from, *m, 1, 0);
}

static void toy_on_unsent(void *s, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    el_verdict(out, m->to, true);
}

static void toy_on_timer(void *s, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                         struct el_outbox *out)
{
    el_move(out, timer, 1 - timer, slot);
    el_disarm(out, timer, slot);
}

static void toy_on_trust(void *s, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    el_verdict(out, peer, false);
}

static void toy_on_chosen(void *s, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out)
{
    el_choose(out, chosen + 10);
}

static void toy_on_fact(void *s, const struct el_config *cfg, uint32_t fact, uint64_t value,
                        struct el_outbox *out)
{
    el_save(out, (struct el_durable){.epoch = UINT64_C(100) * fact + value});
}

static void toy_on_campaign(void *s, const struct el_config *cfg, struct el_outbox *out)
{
    el_choose(out, 77);
}

/* It resigns, and hands over to nobody. */
static enum el_answer toy_on_request(void *s, const struct el_config *cfg, enum el_request_what what,
                                     el_node to, struct el_outbox *out)
{
    if (what == EL_RESIGN) el_choose(out, 88);
    return what == EL_RESIGN ? EL_PERFORMED : EL_NOT_LEADING;
}

static const struct el_algorithm chatty = {.name = "chatty",
                                           EL_KINDS(toy_kinds),
                                           EL_TIMERS(toy_timers),
                                           .outbox_fixed = 2,
                                           .fact_count = 8,
                                           .on_start = toy_on_start,
                                           .on_arrival = toy_on_arrival,
                                           .on_unsent = toy_on_unsent,
                                           .on_timer = toy_on_timer,
                                           .on_trust = toy_on_trust,
                                           .on_chosen = toy_on_chosen,
                                           .on_fact = toy_on_fact,
                                           .on_campaign = toy_on_campaign,
                                           .on_request = toy_on_request};

static void every_event_reaches_its_handler(void **state)
{
    sit_down(&chatty, 3, 2);
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = EL_LOST, .durable = {.epoch = 41}};
    seat_step(&event);
    did("save e42; choose below 3");
    event = (struct el_event){.type = EL_MESSAGE};
    event.msg = message("Hello 1 a5");
    event.msg.from = 1;
    event.msg.to = 2;
    event.elapsed = 30;
    seat_step(&event);
    did("arm first 30..31; send 1 Hello 1 a5 with what is left of second");
    fails_to_reach(3, "Hello 1");
    did("accuse 3");
    times_out("second");
    did("move second to first; disarm second");
    suspects(1);
    did("");
    trusts(1);
    did("clear 1");
    seat_step(&(struct el_event){.type = EL_CHOSEN, .chosen = 3});
    did("choose below 13");
    seat_step(&(struct el_event){.type = EL_FACT, .fact = 7, .value = 8});
    did("save e708");
    campaigns();
    did("choose below 77");
    requests(EL_RESIGN, EL_NOBODY);
    did("choose below 88");
    requests(EL_TRANSFER, 3);
    did("note declined");
}

static void a_message_leaves_from_whoever_sends_it(void **state)
{
    sit_down(&chatty, 3, 2);
    hears(3, "Hello 1");
    assert_int_equal(seat.out.actions[1].msg.from, 2);
    assert_int_equal(seat.out.actions[1].msg.to, 3);
}

/* ---- Programmer errors ---- */

static void send_to(el_node to)
{
    el_send(&seat.out, &seat.cfg, to, (struct el_msg){.kind = 1, .subject = 1});
}

static void step_as(el_node self)
{
    seat.cfg.self = self;
    starts();
}

static void step_timer(uint32_t timer, uint32_t slot)
{
    struct el_event event = {.type = EL_TIMER};
    event.timer = timer;
    event.slot = slot;
    seat_step(&event);
}

static void step_unsent_of(el_node from)
{
    struct el_event event = {.type = EL_UNSENT};
    event.msg = (struct el_msg){.from = from, .to = 1, .subject = 1, .kind = 1};
    seat_step(&event);
}

static void overflow(void)
{
    for (uint32_t i = 0; i <= seat.out.capacity; i++) el_note(&seat.out, 0, 0, 0);
}

#define errors(row)                                                                                            \
    row(self_is_nobody, step_as(0)) row(self_is_no_member, step_as(4))                                         \
        row(the_incumbent_is_no_member, starts_under(4)) row(there_is_no_such_timer, step_timer(2, 0))         \
            row(there_is_no_such_slot, step_timer(0, 4)) row(a_suspect_is_nobody, suspects(0))                 \
                row(a_suspect_is_itself, suspects(2)) row(a_suspect_is_no_member, suspects(4))                 \
                    row(trusts_nobody, trusts(0)) row(trusts_itself, trusts(2))                                \
                        row(trusts_no_member, trusts(4)) row(transfers_to_no_member, requests(EL_TRANSFER, 4)) \
                            row(takes_back_what_another_sent, step_unsent_of(1))                               \
                                row(there_is_no_such_event, seat_peer((enum el_event_type)99, 1))              \
                                    row(sends_to_nobody, send_to(0)) row(sends_to_itself, send_to(2))          \
                                        row(sends_to_no_member, send_to(4)) row(arms_backwards,                \
                                                                                el_arm(&seat.out, 0, 0, 2, 1)) \
                                            row(chooses_from_nothing,                                          \
                                                el_choose(&seat.out, 0)) row(overfills_the_box, overflow())    \
                                                row(asks_for_the_id_of_nobody, el_id(&seat.cluster, 0))        \
                                                    row(asks_for_the_id_of_no_member, el_id(&seat.cluster, 4)) \
                                                        row(requires_what_is_not_so, el_require(false))

#define as_function(name, action) \
    static void name(void)        \
    {                             \
        (void)0, action;          \
    }
errors(as_function)
#undef as_function

#define as_row(name, action) {#name, name},
    static const struct {
    const char *name;
    void (*commit)(void);
} mistakes[] = {errors(as_row)};

/* Also in release builds. */
static void a_programmers_error_traps(void **state)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        sit_down(&chatty, 3, 2);
        if (!traps(mistakes[i].commit)) seat_fail(__FILE__, __LINE__, "%s: no trap", mistakes[i].name);
    }
}

static void campaign_without_a_box(void)
{
    seat.out.capacity = 0;
    campaigns();
}

static void a_box_too_small_traps_for_every_algorithm(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        sit_down(all[i], 3, 2);
        starts();
        assert_true(traps(campaign_without_a_box));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_honest_could_send_is_dropped),
        cmocka_unit_test(an_honest_message_is_not_dropped),
        cmocka_unit_test(an_unknown_request_is_declined),
        cmocka_unit_test(a_machine_without_handlers_ignores_everything),
        cmocka_unit_test(every_event_reaches_its_handler),
        cmocka_unit_test(a_message_leaves_from_whoever_sends_it),
        cmocka_unit_test(a_programmers_error_traps),
        cmocka_unit_test(a_box_too_small_traps_for_every_algorithm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
