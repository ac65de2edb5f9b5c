/*
 * A bench for one node. A test creates a node, feeds it events, and states the actions it expects:
 *
 *     sit("bully", 5, 3);                 of five nodes, the third
 *     starts_under(5);
 *     suspects(5);
 *     did("note notices 5; disarm all; send 4,5 Election 3 e1; note polls 2; arm answers 21");
 *     sees("elects");
 *
 * Messages are written the same way in both directions: the kind and the subject, then the non-zero ones of
 * the set {1,2}, e(poch), r(ank), a(ux), m(ore), f(lags). A message to many is one action, and so is
 * disarming all timers; a timer's slot follows an @. Nodes are positions. Times are small, so that formulas
 * are visible: Ttrans is 10 and Tprocess 1, hence T is 21.
 *
 * Every step is taken twice, on two copies of the state and with outboxes of exactly the promised size. Both
 * must give the same result.
 */
#ifndef ELECTOR_TEST_LIB_NODE_NODE_H
#define ELECTOR_TEST_LIB_NODE_NODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elector/core.h"

enum { SEAT_TEXT = 8192, SEAT_OPTIONS = 8, SEAT_TRANSMIT = 10, SEAT_PROCESS = 1, SEAT_T = 21 };

static struct {
    const struct el_algorithm *algorithm;
    struct el_cluster cluster;
    struct el_config cfg;
    struct el_value options[SEAT_OPTIONS];
    size_t state_size;
    unsigned char *state, *twin;
    struct el_outbox out, echo;
    char text[SEAT_TEXT]; /* the last outbox, once rendered */
} seat;

/* ---- Failing ---- */

__attribute__((format(printf, 3, 4), noreturn)) static inline void seat_fail(const char *file, int line,
                                                                             const char *format, ...)
{
    char what[2 * SEAT_TEXT + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error("%s, node %u of %u: %s\n", seat.algorithm ? seat.algorithm->name : "?", seat.cfg.self,
                seat.cluster.count, what);
    _fail(file, line);
    __builtin_unreachable();
}

/* ---- Sitting down ---- */

/* A new node, not yet started. The algorithm need not be of this build. */
static inline void sit_down(const struct el_algorithm *algorithm, uint32_t count, el_node self)
{
    free(seat.state);
    free(seat.twin);
    free(seat.out.actions);
    free(seat.echo.actions);
    memset(&seat, 0, sizeof seat);
    seat.algorithm = algorithm;
    seat.cluster = (struct el_cluster){
        .count = count, .transmit_max = SEAT_TRANSMIT, .process_max = SEAT_PROCESS, .options = seat.options};
    seat.cfg = (struct el_config){&seat.cluster, self};
    seat.state_size = el_state_size(algorithm, count);
    seat.state = calloc(1, seat.state_size + !seat.state_size);
    seat.twin = calloc(1, seat.state_size + !seat.state_size);
    const uint32_t bound = (uint32_t)el_outbox_bound(algorithm, count);
    seat.out = (struct el_outbox){calloc(bound + !bound, sizeof(struct el_action)), bound, 0};
    seat.echo = (struct el_outbox){calloc(bound + !bound, sizeof(struct el_action)), bound, 0};
    if (!seat.state || !seat.twin || !seat.out.actions || !seat.echo.actions)
        seat_fail(__FILE__, __LINE__, "out of memory");
}

static inline void sit(const char *algorithm, uint32_t count, el_node self)
{
    const struct el_algorithm *found = el_algorithm_named(algorithm);
    if (!found) found = el_decider_named(algorithm);
    if (!found) seat_fail(__FILE__, __LINE__, "there is no algorithm '%s'", algorithm);
    sit_down(found, count, self);
}

static inline struct el_value *seat_option(const char *name)
{
    for (uint32_t i = 0; i < seat.algorithm->option_count && i < SEAT_OPTIONS; i++)
        if (strcmp(seat.algorithm->options[i].name, name) == 0) return &seat.options[i];
    seat_fail(__FILE__, __LINE__, "there is no option '%s'", name);
}

static inline void option(const char *name, uint64_t number)
{
    seat_option(name)->number = number;
}

static inline void option_list(const char *name, const el_node *members, uint32_t count)
{
    seat_option(name)->members = members;
    seat_option(name)->member_count = count;
}

/* ---- What happens to it ---- */

static inline bool seat_same_action(const struct el_action *a, const struct el_action *b)
{
    if (a->type != b->type || a->timer != b->timer || a->slot != b->slot || a->note != b->note) return false;
    switch (a->type) {
    case EL_SEND: return memcmp(&a->msg, &b->msg, sizeof a->msg) == 0;
    case EL_ARM: return a->min == b->min && a->max == b->max;
    case EL_MOVE: return a->to == b->to;
    case EL_SAVE: return memcmp(&a->durable, &b->durable, sizeof a->durable) == 0;
    case EL_CHOOSE: return a->n == b->n;
    case EL_NOTE: return a->values[0] == b->values[0] && a->values[1] == b->values[1];
    case EL_VERDICT: return a->peer == b->peer && a->suspected == b->suspected;
    case EL_DISARM: return true;
    }
    return false;
}

static inline void seat_step(const struct el_event *event)
{
    if (seat.state_size) memcpy(seat.twin, seat.state, seat.state_size);
    el_step(seat.algorithm, &seat.cfg, seat.state, event, &seat.out);
    el_step(seat.algorithm, &seat.cfg, seat.twin, event, &seat.echo);
    if (seat.state_size && memcmp(seat.state, seat.twin, seat.state_size) != 0)
        seat_fail(__FILE__, __LINE__, "the same step led to two states");
    if (seat.out.count != seat.echo.count) seat_fail(__FILE__, __LINE__, "the same step led to two outboxes");
    for (uint32_t i = 0; i < seat.out.count; i++)
        if (!seat_same_action(&seat.out.actions[i], &seat.echo.actions[i]))
            seat_fail(__FILE__, __LINE__, "the same step led to two outboxes");
}

static inline void seat_start(enum el_start_how how, el_node incumbent)
{
    struct el_event event = {.type = EL_START};
    event.start = (struct el_start){.how = how, .incumbent = incumbent};
    seat_step(&event);
}

static inline void starts(void)
{
    seat_start(EL_FRESH, EL_NOBODY);
}

static inline void starts_under(el_node incumbent)
{
    seat_start(EL_FRESH, incumbent);
}

static inline void comes_back(void)
{
    seat_start(EL_RESTORED, EL_NOBODY);
}

static inline void seat_peer(enum el_event_type type, el_node peer)
{
    const struct el_event event = {.type = type, .peer = peer};
    seat_step(&event);
}

static inline void suspects(el_node peer)
{
    seat_peer(EL_SUSPECT, peer);
}

static inline void trusts(el_node peer)
{
    seat_peer(EL_TRUST, peer);
}

static inline void requests(enum el_request_what what, el_node to)
{
    const struct el_event event = {.type = EL_REQUEST, .peer = to, .request = what};
    seat_step(&event);
}

static inline void campaigns(void)
{
    requests(EL_CAMPAIGN, EL_NOBODY);
}

static inline void is_told(uint32_t fact, uint64_t value)
{
    const struct el_event event = {.type = EL_FACT, .fact = fact, .value = value};
    seat_step(&event);
}

/* A timer that there is one of for each peer. */
static inline void times_out_for(const char *timer, uint32_t slot)
{
    for (uint32_t i = 0; i < seat.algorithm->timer_count; i++) {
        if (strcmp(seat.algorithm->timers[i], timer) != 0) continue;
        struct el_event event = {.type = EL_TIMER};
        event.timer = i;
        event.slot = slot;
        seat_step(&event);
        return;
    }
    seat_fail(__FILE__, __LINE__, "there is no timer '%s'", timer);
}

static inline void times_out(const char *timer)
{
    times_out_for(timer, 0);
}

/* The answer to CHOOSE. */
static inline void draws(uint32_t chosen)
{
    struct el_event event = {.type = EL_CHOSEN};
    event.chosen = chosen;
    seat_step(&event);
}

/* ---- Messages as text ---- */

static inline uint64_t seat_read_set(const char **at)
{
    uint64_t set = 0;
    char *end = NULL;
    do {
        set |= el_bit((el_node)strtoul(*at + 1, &end, 10));
        *at = end;
    } while (**at == ',');
    ++*at;
    return set;
}

/* "Election 3 {1,2} e1 r7 a2 m5 f1"; w, x, y and z are the extra words. */
static inline struct el_msg message(const char *text)
{
    struct el_msg msg = {0};
    const char *at = text;
    for (uint32_t kind = 1; kind <= seat.algorithm->kind_count; kind++) {
        const size_t length = strlen(seat.algorithm->kinds[kind]);
        if (strncmp(text, seat.algorithm->kinds[kind], length) != 0 || text[length] != ' ') continue;
        msg.kind = (uint8_t)kind;
        at = text + length;
    }
    if (msg.kind == 0) seat_fail(__FILE__, __LINE__, "there is no kind of message in '%s'", text);
    char *end = NULL;
    msg.subject = (el_node)strtoul(at, &end, 10);
    for (at = end; *at == ' ';) {
        const char field = *++at;
        if (field == '{') {
            msg.aux = seat_read_set(&at);
            continue;
        }
        const uint64_t number = strtoull(at + 1, &end, 0);
        at = end;
        switch (field) {
        case 'e': msg.epoch = number; break;
        case 'r': msg.rank = number; break;
        case 'a': msg.aux = number; break;
        case 'm': msg.more = number; break;
        case 'w':
        case 'x':
        case 'y':
        case 'z': msg.extra[field - 'w'] = number; break;
        case 'f': msg.flags = (uint8_t)number; break;
        default: seat_fail(__FILE__, __LINE__, "cannot read the message '%s'", text);
        }
    }
    if (*at) seat_fail(__FILE__, __LINE__, "cannot read the message '%s'", text);
    return msg;
}

/* A message, so long after the stopwatch for its sender was started. */
static inline void hears_after(el_duration elapsed, el_node from, const char *text)
{
    struct el_event event = {.type = EL_MESSAGE};
    event.elapsed = elapsed;
    event.msg = message(text);
    event.msg.from = from;
    event.msg.to = seat.cfg.self;
    seat_step(&event);
}

static inline void hears(el_node from, const char *text)
{
    hears_after(0, from, text);
}

/* Its own message to that peer comes back: the hop failed. */
static inline void fails_to_reach(el_node to, const char *text)
{
    struct el_event event = {.type = EL_UNSENT};
    event.msg = message(text);
    event.msg.from = seat.cfg.self;
    event.msg.to = to;
    seat_step(&event);
}

/* ---- What it did ---- */

__attribute__((format(printf, 1, 2))) static inline void seat_say(const char *format, ...)
{
    const size_t used = strlen(seat.text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(seat.text + used, sizeof seat.text - used, format, arguments);
    va_end(arguments);
}

static inline const char *seat_timer(uint32_t timer)
{
    if (timer >= seat.algorithm->timer_count) seat_fail(__FILE__, __LINE__, "there is no timer %u", timer);
    return seat.algorithm->timers[timer];
}

/* "silence", or "silence@2" if there is one for each peer. */
static inline void seat_say_timer(const struct el_action *action)
{
    seat_say("%s", seat_timer(action->timer));
    if (action->slot) seat_say("@%u", action->slot);
}

static inline void seat_say_message(const struct el_msg *msg)
{
    if (msg->kind < 1 || msg->kind > seat.algorithm->kind_count)
        seat_fail(__FILE__, __LINE__, "there is no kind %u", msg->kind);
    seat_say(" %s %u", seat.algorithm->kinds[msg->kind], msg->subject);
    const bool set = seat.algorithm->set_kinds >> msg->kind & 1u;
    for (el_node member = 1, said = 0; set && member <= 64; member++)
        if (msg->aux & el_bit(member)) seat_say("%s%u", said++ ? "," : " {", member);
    if (set && msg->aux) seat_say("}");
    if (msg->epoch) seat_say(" e%llu", (unsigned long long)msg->epoch);
    if (msg->rank) seat_say(" r%llu", (unsigned long long)msg->rank);
    if (msg->aux && !set) seat_say(" a%llu", (unsigned long long)msg->aux);
    if (msg->more) seat_say(msg->more > 0xFFFF ? " m%#llx" : " m%llu", (unsigned long long)msg->more);
    for (int i = 0; i < 4; i++)
        if (msg->extra[i]) seat_say(" %c%llu", 'w' + i, (unsigned long long)msg->extra[i]);
    if (msg->flags) seat_say(" f%u", msg->flags);
}

/* Returns how many actions after the first say the same to somebody else. */
static inline uint32_t seat_say_send(const struct el_action *action, uint32_t left)
{
    uint32_t more = 0;
    seat_say("send %u", action->msg.to);
    for (; more + 1 < left && action[more + 1].type == EL_SEND; more++) {
        struct el_msg next = action[more + 1].msg;
        const el_node to = next.to;
        next.to = action->msg.to;
        if (memcmp(&next, &action->msg, sizeof next) != 0 || action[more + 1].timer != action->timer) break;
        seat_say(",%u", to);
    }
    seat_say_message(&action->msg);
    if (action->timer != EL_NO_TIMER) seat_say(" with what is left of %s", seat_timer(action->timer));
    return more;
}

static inline uint32_t seat_say_disarm(const struct el_action *action, uint32_t left)
{
    const uint32_t timers = seat.algorithm->timer_count;
    uint32_t all = 0;
    while (all < timers && all < left && action[all].type == EL_DISARM && action[all].timer == all) all++;
    if (timers > 1 && all == timers) {
        seat_say("disarm all");
        return timers - 1;
    }
    seat_say("disarm ");
    seat_say_timer(action);
    return 0;
}

static inline void seat_say_note(const struct el_action *action)
{
    const char *text = el_note_text(seat.algorithm, action->note);
    if (action->note == EL_NOTE_MALFORMED || action->note == EL_NOTE_DECLINED) {
        seat_say(action->note == EL_NOTE_MALFORMED ? "note malformed" : "note declined");
    } else {
        if (action->note >= seat.algorithm->note_count)
            seat_fail(__FILE__, __LINE__, "there is no note %u", action->note);
        seat_say("note %s", seat.algorithm->notes[action->note].name);
    }
    for (int i = 0; i < 2; i++) {
        const char named[2][3] = {{'@', (char)('1' + i), '\0'}, {'#', (char)('1' + i), '\0'}};
        if (strstr(text, named[0]) || strstr(text, named[1]))
            seat_say(" %llu", (unsigned long long)action->values[i]);
    }
}

static inline const char *seat_text(void)
{
    seat.text[0] = '\0';
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *action = &seat.out.actions[i];
        const uint32_t left = seat.out.count - i;
        if (i) seat_say("; ");
        switch (action->type) {
        case EL_SEND: i += seat_say_send(action, left); break;
        case EL_ARM:
            seat_say("arm ");
            seat_say_timer(action);
            seat_say(" %llu", (unsigned long long)action->min);
            if (action->max != action->min) seat_say("..%llu", (unsigned long long)action->max);
            break;
        case EL_DISARM: i += seat_say_disarm(action, left); break;
        case EL_MOVE: seat_say("move %s to %s", seat_timer(action->timer), seat_timer(action->to)); break;
        case EL_SAVE: seat_say("save e%llu", (unsigned long long)action->durable.epoch); break;
        case EL_CHOOSE: seat_say("choose below %u", action->n); break;
        case EL_NOTE: seat_say_note(action); break;
        case EL_VERDICT: seat_say("%s %u", action->suspected ? "accuse" : "clear", action->peer); break;
        }
    }
    return seat.text;
}

static inline void seat_did(const char *file, int line, const char *expected)
{
    if (strcmp(seat_text(), expected) != 0)
        seat_fail(file, line, "expected\n    %s\n  but it did\n    %s", expected, seat.text);
}

static inline const char *seat_view(char text[32])
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    switch (view.role) {
    case EL_IDLE: return "idle";
    case EL_ELECTING: return "elects";
    case EL_LEADER: return "leads";
    case EL_FOLLOWER: break;
    }
    snprintf(text, 32, "follows %u", view.leader);
    return text;
}

static inline void seat_sees(const char *file, int line, const char *expected)
{
    char text[32];
    const char *seen = seat_view(text);
    if (strcmp(seen, expected) != 0) seat_fail(file, line, "expected that it %s, but it %s", expected, seen);
}

/* Exactly this, in this order; "" is nothing. */
#define did(expected) seat_did(__FILE__, __LINE__, expected)
/* "idle", "elects", "leads", "follows 5" */
static inline uint64_t term(void)
{
    struct el_view view;
    seat.algorithm->view(seat.state, &seat.cfg, &view);
    assert_int_equal(view.timer, EL_NO_TIMER);
    return view.term;
}

#define sees(expected) seat_sees(__FILE__, __LINE__, expected)

#endif
