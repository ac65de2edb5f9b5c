/* What completes, and what the callback is told. */
#define _GNU_SOURCE /* strdup */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/group_state.h"

elector_status engine_fail(elector *e, elector_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun in the line above
    vsnprintf(e->message, sizeof e->message, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- Completion ---- */

static void on_campaign_done(elector *e, struct group_state *o, elector_status status, const char *message)
{
    if (o->campaigns) o->campaigns--;
    if (status == ELECTOR_OK || o->campaigns) return; /* a later campaign of ours may still succeed */
    group_state_withdraw(o);
    if (e->campaigner == o) e->declined = engine_fail(e, status, "%s", message);
}

/* What the end of a call changes in the state of its group. */
static void conclude(elector *e, const struct queued *ticket, elector_status status, const char *message)
{
    struct group_state *o = group_state_find(e, ticket->group);
    if (!o || e->gone) return; /* lose_all() has changed it already */
    if (ticket->done.call == ELECTOR_CALL_CAMPAIGN) on_campaign_done(e, o, status, message);
    if (ticket->done.call == ELECTOR_CALL_RESIGN && o->resigns) o->resigns--;
    if (ticket->done.call == ELECTOR_CALL_OBSERVE && status != ELECTOR_OK) o->observed = false;
    if (ticket->done.call == ELECTOR_CALL_HAND_OVER && status != ELECTOR_OK)
        group_state_resume_work(o, ticket->done.token);
}

/* With elector_set_reconnect() these are asked again, and complete then. */
static bool is_postponed(elector *e, const struct queued *ticket)
{
    if (!e->gone || !e->longest_delay_ns || ticket->done.is_awaited) return false;
    struct group_state *o = group_state_find(e, ticket->group);
    if (ticket->done.call == ELECTOR_CALL_CAMPAIGN && o && o->candidacy)
        o->owes_campaign = o->owes_campaign || !ticket->done.is_quiet;
    else if (ticket->done.call == ELECTOR_CALL_OBSERVE && o && o->observed)
        o->owes_observe = o->owes_observe || !ticket->done.is_quiet;
    else if (ticket->done.call == ELECTOR_CALL_OBSERVE && !o && e->observes_all)
        e->owes_observe_all = e->owes_observe_all || !ticket->done.is_quiet;
    else
        return false;
    return true;
}

void engine_done(elector *e, struct queued *ticket, elector_status status, const char *message)
{
    conclude(e, ticket, status, message);
    if (ticket->done.is_awaited && !ticket->done.is_abandoned) { /* elector_await() frees it */
        ticket->done.is_complete = true;
        ticket->done.status = status;
        if (status != ELECTOR_OK) engine_fail(e, status, "%s", message);
        return;
    }
    if (ticket->done.is_abandoned || (ticket->done.is_quiet && status == ELECTOR_OK) ||
        is_postponed(e, ticket)) {
        event_free(ticket);
        return;
    }
    ticket->done.status = status;
    if (status != ELECTOR_OK) ticket->done.message = strdup(message); /* NULL is told as "out of memory" */
    event_queue_add(&e->events, ticket);
}

void engine_declare_lack(elector *e, const char *what)
{
    const size_t used = strlen(e->lacks);
    if (!what)
        e->lacks[0] = '\0';
    else if (used + strlen(what) + 3 <= sizeof e->lacks)
        snprintf(e->lacks + used, sizeof e->lacks - used, " %s ", what);
}

bool engine_lacks(const elector *e, const char *what)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, " %s ", what);
    return strstr(e->lacks, wanted) != NULL;
}

void engine_declare_realtime(elector *e, bool is_realtime)
{
    e->is_realtime = is_realtime;
}

bool engine_is_realtime(const elector *e)
{
    return e->is_realtime;
}

void engine_declare_store(elector *e, bool has_store)
{
    e->has_store = has_store;
}

bool engine_has_store(const elector *e)
{
    return e->has_store;
}

void engine_connected(elector *e, const char *member, const char *cluster)
{
    snprintf(e->member, sizeof e->member, "%s", member);
    snprintf(e->cluster, sizeof e->cluster, "%s", cluster);
    if (e->connected) return;
    struct queued *q = event_make(ELECTOR_CONNECTED, "", 0);
    if (!q) {
        engine_gone(e, "out of memory", "out of memory");
        return;
    }
    e->connected = true;
    e->delay_ns = 0;
    event_queue_add(&e->events, q);
}

/* ---- Delivery ---- */

static void describe_done(const struct queued *q, elector_event *event)
{
    event->call = q->done.call;
    event->status = q->done.status;
    if (q->done.status != ELECTOR_OK) event->text = q->done.message ? q->done.message : "out of memory";
    if (q->done.candidates) {
        event->candidates = q->done.candidates->list;
        event->candidate_count = q->done.candidates->count;
    }
}

static void deliver(const elector *e, const struct queued *q)
{
    const struct group_state *o = group_state_find(e, q->group);
    elector_event event = {
        .size = sizeof event, .type = q->type, .reason = q->reason, .group = q->group, .text = ""};
    if (o) event.data = o->data;
    switch (q->type) {
    case ELECTOR_ELECTED:
    case ELECTOR_STOP:
    case ELECTOR_LOST_OFFICE:
        event.token = q->own.token;
        event.deadline_ns = q->own.deadline_ns;
        event.text = q->text;
        break;
    case ELECTOR_NEW_LEADER: event.leader = &q->leader->told; break;
    case ELECTOR_DONE: describe_done(q, &event); break;
    case ELECTOR_DISCONNECTED:
        event.status = q->status;
        event.text = q->text;
        break;
    case ELECTOR_CONNECTED: break;
    }
    e->callback(e->context, &event);
}

size_t elector_deliver(elector *e)
{
    const uint64_t last = e->events.numbers; /* later ones, which callbacks cause, wait for the next call */
    size_t count = 0;
    e->delivering = true;
    for (struct queued *q; !e->closing && (q = event_queue_take(&e->events, last)); count++) {
        if (e->callback) deliver(e, q);
        event_free(q);
    }
    e->delivering = false;
    return count;
}
