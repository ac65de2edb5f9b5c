/*
 * The calls of elector.h, over the engine that the URL names. Each call checks its arguments and calls the
 * engine. If the engine has failed (engine_gone), the call closes it; the next call that needs one opens it
 * again.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/group_name.h"
#include "client/group_state.h"

static const struct engine_kind *const kinds[] = {&engine_agent, &engine_file};

/* ---- Time ---- */

uint64_t engine_until(int timeout_ms)
{
    return timeout_ms < 0 ? ENGINE_NEVER : clock_boottime_ns() + (uint64_t)timeout_ms * NS_PER_MS;
}

int engine_left_ms(uint64_t until_ns)
{
    if (until_ns == ENGINE_NEVER) return -1;
    const uint64_t now = clock_boottime_ns();
    const uint64_t left = until_ns <= now ? 0 : (until_ns - now - 1) / NS_PER_MS + 1;
    return left > INT_MAX ? INT_MAX : (int)left;
}

/* ---- Opening and closing ---- */

static elector_status read_url(elector *e, const char *url)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i]->scheme);
        if (strncmp(url, kinds[i]->scheme, length) != 0 || url[length] != ':') continue;
        const char *rest = url + length + 1;
        if (!*rest || strlen(rest) > URL_MAX) break;
        e->kind = kinds[i];
        snprintf(e->rest, sizeof e->rest, "%s", rest);
        return ELECTOR_OK;
    }
    return engine_fail(e, ELECTOR_INVALID,
                       "'%.200s': expected unix:PATH (an agent's socket) or file:PATH (a lock)", url);
}

static elector_status open_engine(elector *e)
{
    if (e->engine) return ELECTOR_OK;
    if (!e->kind)
        return engine_fail(e, ELECTOR_INVALID, "this elector was opened with a bad URL; open another");
    e->gone = false;
    const elector_status status = e->kind->open(e, e->rest, &e->engine);
    if (status != ELECTOR_OK) e->engine = NULL;
    e->gone = false; /* an engine that never opened has no leadership to lose */
    return status;
}

static void close_engine(elector *e)
{
    if (e->engine) e->engine->kind->close(e->engine);
    e->engine = NULL;
    deadline_view_clear(&e->page); /* unmaps nothing: another thread may be reading it */
}

/* Every call into the engine ends with this. */
static elector_status settle(elector *e, elector_status status)
{
    if (!e->gone) return status;
    close_engine(e);
    return ELECTOR_LOST;
}

elector_status elector_open(const char *url, elector **out)
{
    *out = NULL;
    elector *e = calloc(1, sizeof *e);
    if (!e) return ELECTOR_NO_MEMORY;
    *out = e;
    const elector_status status = read_url(e, url ? url : engine_usual_url());
    return status == ELECTOR_OK ? open_engine(e) : status;
}

void elector_close(elector *e)
{
    if (!e || e->delivering) return; /* the caller of the callback still uses it */
    struct group_state *o = atomic_load(&e->group_states);
    for (struct group_state *each = o; each; each = each->next) group_state_end_work(each);
    close_engine(e);
    while (o) {
        struct group_state *next = o->next;
        free(o->loss);
        free(o);
        o = next;
    }
    deadline_view_free(&e->page);
    event_queue_clear(&e->events);
    free(e);
}

const char *elector_message(const elector *e)
{
    if (!e) return "out of memory";
    return e->message[0] ? e->message : "no error";
}

void elector_options_init(elector_options *options)
{
    *options = (elector_options){.size = sizeof *options};
}

/* ---- Arguments ---- */

static elector_status check_group(elector *e, const char *group)
{
    if (group && group_name_is_valid(group)) return ELECTOR_OK;
    return engine_fail(
        e, ELECTOR_INVALID,
        "'%.80s' is not a group name: 1 to 63 letters, digits and . _ - : /, not beginning with - or .",
        group ? group : "");
}

static elector_status check_value(elector *e, const char *value)
{
    json_t *text = value && strlen(value) <= ELECTOR_VALUE_MAX ? json_string(value) : NULL;
    if (!text)
        return engine_fail(e, ELECTOR_INVALID, "a value is at most %d bytes of UTF-8", ELECTOR_VALUE_MAX);
    json_decref(text);
    return ELECTOR_OK;
}

static elector_status check_options(elector *e, const elector_options *options)
{
    if (options->size != sizeof *options)
        return engine_fail(e, ELECTOR_INVALID, "elector_options: call elector_options_init() first");
    if (options->priority >= ENGINE_TOKEN_END)
        return engine_fail(e, ELECTOR_INVALID, "a priority is below 2^53");
    if (options->preempt_after_ms != ELECTOR_NEVER && options->preempt_after_ms >= UINT32_MAX)
        return engine_fail(e, ELECTOR_INVALID, "preempt_after_ms is below 2^32 - 1, or ELECTOR_NEVER");
    if (options->stop_within_ms >= UINT32_MAX || options->watchdog_ms >= UINT32_MAX)
        return engine_fail(e, ELECTOR_INVALID, "stop_within_ms and watchdog_ms are below 2^32 - 1");
    return options->value ? check_value(e, options->value) : ELECTOR_OK;
}

static elector_status busy(elector *e, const char *call)
{
    return engine_fail(e, ELECTOR_BUSY, "%s() cannot be called from a callback: it would call callbacks", call);
}

/* Checks the name and opens the engine. */
static elector_status prepare(elector *e, const char *group)
{
    const elector_status status = check_group(e, group);
    return status == ELECTOR_OK ? open_engine(e) : status;
}

/* ---- Waiting ---- */

/* Reads before it expires terms: the input may hold a renewal of a deadline that seems to have passed. */
static elector_status hear(elector *e)
{
    if (!e->engine) return e->gone ? ELECTOR_LOST : ELECTOR_UNAVAILABLE;
    e->engine->kind->dispatch(e->engine);
    if (!e->gone) group_state_expire(e);
    return settle(e, ELECTOR_OK);
}

int elector_fd(const elector *e)
{
    return e->engine ? e->engine->kind->fd(e->engine) : -1;
}

static uint64_t next_deadline(const elector *e)
{
    if (e->events.first) return 0;
    if (!e->engine) return ENGINE_NEVER;
    const uint64_t theirs = e->engine->kind->deadline(e->engine), ours = group_state_next_deadline(e);
    return theirs < ours ? theirs : ours;
}

int elector_timeout_ms(const elector *e)
{
    return engine_left_ms(next_deadline(e));
}

elector_status elector_dispatch(elector *e)
{
    if (e->delivering) return busy(e, "elector_dispatch");
    const elector_status status = hear(e);
    group_state_deliver(e);
    return e->gone ? ELECTOR_LOST : status;
}

/* Waits for input, the next deadline or until_ns. False: a signal came. */
static bool sleep_until(const elector *e, uint64_t until_ns)
{
    const uint64_t next = next_deadline(e);
    struct pollfd wanted = {.fd = elector_fd(e), .events = POLLIN};
    return poll(&wanted, 1, engine_left_ms(next < until_ns ? next : until_ns)) >= 0 || errno != EINTR;
}

elector_status elector_wait(elector *e, int timeout_ms)
{
    if (e->delivering) return busy(e, "elector_wait");
    const uint64_t until_ns = engine_until(timeout_ms);
    for (;;) {
        const elector_status status = hear(e);
        const size_t delivered = group_state_deliver(e);
        if (e->gone) return ELECTOR_LOST;
        if (status != ELECTOR_OK || delivered > 0) return status;
        if (clock_boottime_ns() >= until_ns || !sleep_until(e, until_ns)) return ELECTOR_TIMEOUT;
    }
}

/* ---- Campaigning ---- */

static elector_status begin_campaign(elector *e, struct group_state *o, const elector_options *options)
{
    if (o->standing) return ELECTOR_OK;
    o->standing = true;
    elector_options defaults;
    elector_options_init(&defaults);
    const elector_status status = e->engine->kind->campaign(e->engine, o->group, options ? options : &defaults);
    if (status != ELECTOR_OK) o->standing = false;
    const uint64_t watchdog_ns = options ? options->watchdog_ms * NS_PER_MS : 0;
    if (watchdog_ns && (!e->watchdog_ns || watchdog_ns < e->watchdog_ns)) e->watchdog_ns = watchdog_ns;
    return settle(e, status);
}

static elector_status await_election(elector *e, struct group_state *o, uint64_t until_ns)
{
    while (!elector_is_leader(e, o->group)) {
        elector_status status = hear(e);
        const bool elected = elector_is_leader(e, o->group); /* a slow callback may outlast the term */
        group_state_deliver(e);
        if (e->gone) return ELECTOR_LOST;
        if (status != ELECTOR_OK) return status;
        if (elected || elector_is_leader(e, o->group)) break;
        if (!o->standing) return engine_fail(e, ELECTOR_REFUSED, "%s: resigned while campaigning", o->group);
        if (clock_boottime_ns() >= until_ns)
            return engine_fail(e, ELECTOR_TIMEOUT, "%s: not elected yet; the campaign goes on", o->group);
        sleep_until(e, until_ns);
    }
    return ELECTOR_OK;
}

elector_status elector_campaign(elector *e, const char *group, const elector_options *options, int timeout_ms,
                                elector_term *term)
{
    if (e->delivering && timeout_ms != 0) return busy(e, "elector_campaign");
    elector_status status = options ? check_options(e, options) : ELECTOR_OK;
    if (status == ELECTOR_OK) status = prepare(e, group);
    struct group_state *o = status == ELECTOR_OK ? group_state_make(e, group, &status) : NULL;
    if (!o) return status;
    status = begin_campaign(e, o, options);
    if (status == ELECTOR_OK && timeout_ms != 0) status = await_election(e, o, engine_until(timeout_ms));
    if (status == ELECTOR_OK && !elector_is_leader(e, group))
        status = engine_fail(e, ELECTOR_TIMEOUT, "%s: not elected yet; the campaign goes on", group);
    group_state_refresh(e, o);
    if (status == ELECTOR_OK && term) *term = o->term;
    return status;
}

static elector_status not_leading(elector *e, const char *group)
{
    return engine_fail(e, ELECTOR_NOT_LEADING, "%s is not led through this elector", group);
}

elector_status elector_resign(elector *e, const char *group)
{
    elector_status status = check_group(e, group);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->standing || !e->engine)
        return engine_fail(e, ELECTOR_NOT_LEADING, "%s was not campaigned for through this elector", group);
    group_state_end_work(o);
    o->standing = false;
    return settle(e, e->engine->kind->resign(e->engine, group));
}

static elector_status check_member(elector *e, const char *member)
{
    if (member && *member && strlen(member) <= ELECTOR_NAME_MAX) return ELECTOR_OK;
    return engine_fail(e, ELECTOR_INVALID, "name the member to hand over to, in 1 to %d bytes",
                       ELECTOR_NAME_MAX);
}

elector_status elector_transfer(elector *e, const char *group, const char *member)
{
    elector_status status = prepare(e, group);
    if (status == ELECTOR_OK) status = check_member(e, member);
    if (status != ELECTOR_OK) return status;
    return settle(e, e->engine->kind->transfer(e->engine, group, member, 0));
}

/* The work ends before the request is sent: another may lead before the answer arrives. */
elector_status elector_hand_over(elector *e, const char *group, const char *member)
{
    elector_status status = check_group(e, group);
    if (status == ELECTOR_OK) status = check_member(e, member);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->leading || o->over || !e->engine) return not_leading(e, group);
    const uint64_t token = o->term.token;
    group_state_end_work(o);
    status = settle(e, e->engine->kind->transfer(e->engine, group, member, token));
    if (status != ELECTOR_OK) group_state_resume_work(o, token);
    return status;
}

elector_status elector_proclaim(elector *e, const char *group, const char *value)
{
    elector_status status = check_group(e, group);
    if (status == ELECTOR_OK) status = check_value(e, value);
    if (status != ELECTOR_OK) return status;
    if (!elector_is_leader(e, group) || !e->engine) return not_leading(e, group);
    return settle(e, e->engine->kind->proclaim(e->engine, group, value));
}

elector_status elector_stopped(elector *e, const char *group)
{
    const elector_status status = check_group(e, group);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->leading || !e->engine) return not_leading(e, group);
    if (!o->stopping)
        return engine_fail(e, ELECTOR_NOT_LEADING,
                           "%s: no stop was requested; elector_resign() ends leadership", group);
    group_state_end_work(o);
    return settle(e, e->engine->kind->stopped(e->engine, group, o->term.token));
}

elector_status elector_alive(elector *e)
{
    const uint64_t now = clock_boottime_ns();
    if (!e->engine) return e->gone ? ELECTOR_LOST : ELECTOR_UNAVAILABLE;
    if (!e->watchdog_ns || !e->engine->kind->alive || now - e->alive_ns < e->watchdog_ns / 4) return ELECTOR_OK;
    e->alive_ns = now;
    return settle(e, e->engine->kind->alive(e->engine));
}

/* ---- From any thread ---- */

uint64_t elector_deadline(const elector *e, const char *group)
{
    const struct group_state *o = group ? group_state_find(e, group) : NULL;
    uint64_t token;
    return o ? group_state_deadline(e, o, &token) : 0;
}

uint64_t elector_token(const elector *e, const char *group)
{
    const struct group_state *o = group ? group_state_find(e, group) : NULL;
    uint64_t token = 0;
    const uint64_t deadline_ns = o ? group_state_deadline(e, o, &token) : 0;
    /* The clock last: a reader that is preempted in between errs on the safe side. */
    return deadline_ns != 0 && clock_boottime_ns() < deadline_ns ? token : 0;
}

bool elector_is_leader(const elector *e, const char *group)
{
    return elector_token(e, group) != 0;
}

elector_status engine_work(elector *e, int line)
{
    const elector_status status = open_engine(e);
    if (status != ELECTOR_OK) return status;
    if (!e->engine->kind->work)
        return engine_fail(e, ELECTOR_REFUSED, "a file: lock has no guardian to watch over work");
    return settle(e, e->engine->kind->work(e->engine, line));
}

/* ---- Observing ---- */

elector_status elector_observe(elector *e, const char *group)
{
    const elector_status status = group ? prepare(e, group) : open_engine(e);
    return status == ELECTOR_OK ? settle(e, e->engine->kind->observe(e->engine, group)) : status;
}

elector_status elector_leader_of(elector *e, const char *group, int timeout_ms, elector_leader *leader)
{
    *leader = (elector_leader){0};
    if (e->delivering) return busy(e, "elector_leader_of");
    elector_status status = prepare(e, group);
    if (status != ELECTOR_OK) return status;
    status = settle(e, e->engine->kind->leader_of(e->engine, group, engine_until(timeout_ms), leader));
    const struct group_state *o = group_state_find(e, group);
    leader->is_me =
        status == ELECTOR_OK && o && o->leading && leader->name[0] && leader->token == o->term.token;
    return status;
}

void elector_on_event(elector *e, elector_callback *callback, void *context)
{
    e->callback = callback;
    e->context = context;
}
