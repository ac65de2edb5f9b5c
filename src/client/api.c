/*
 * The calls of elector.h that ask something of the engine that the URL names. Each checks its arguments, makes a ticket,
 * and calls the engine. If the engine has failed (engine_gone), the call closes it; the next call that needs one opens
 * it again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/group_state.h"

/* ---- Tickets ---- */

static elector_status make_ticket(elector *e, elector_call call, const char *group, struct queued **ticket)
{
    *ticket = ticket_make(call, group);
    return *ticket ? ELECTOR_OK : engine_fail(e, ELECTOR_NO_MEMORY, "out of memory");
}

/* Ends a call into the engine: it owns the ticket if it returned ELECTOR_OK. */
static elector_status finish(elector *e, elector_status status, struct queued *ticket)
{
    const elector_status settled = elector_settle(e, status);
    if (status == ELECTOR_OK) return ELECTOR_OK;
    event_free(ticket);
    return settled;
}

static elector_status not_leading(elector *e, const char *group)
{
    return engine_fail(e, ELECTOR_NOT_LEADING, "%s is not led through this elector", group);
}

static elector_status not_campaigning(elector *e, const char *group)
{
    return engine_fail(e, ELECTOR_NOT_LEADING, "%s was not campaigned for through this elector", group);
}

/* ---- Campaigning ---- */

static struct candidacy *make_candidacy(const elector_options *options)
{
    const size_t length = strlen(options->value);
    struct candidacy *c = malloc(sizeof *c + length + 1);
    if (!c) return NULL;
    *c = (struct candidacy){.priority = options->priority,
                            .preempt_after_ms = options->preempt_after_ms == ELECTOR_NEVER
                                                    ? UINT32_MAX
                                                    : (uint32_t)options->preempt_after_ms,
                            .stop_within_ms = (uint32_t)options->stop_within_ms,
                            .watchdog_ms = (uint32_t)options->watchdog_ms};
    memcpy(c->value, options->value, length + 1);
    return c;
}

static void keep_watchdog(elector *e, const elector_options *options)
{
    const uint64_t watchdog_ns = options->watchdog_ms * NS_PER_MS;
    if (watchdog_ns && (!e->watchdog_ns || watchdog_ns < e->watchdog_ns)) e->watchdog_ns = watchdog_ns;
}

/* The candidacy comes before the request: the engine may elect within the call. */
static elector_status stand(elector *e, struct group_state *o, const elector_options *options)
{
    struct queued *ticket;
    elector_status status = make_ticket(e, ELECTOR_CALL_CAMPAIGN, o->name, &ticket);
    if (status != ELECTOR_OK) return status;
    o->candidacy = make_candidacy(options);
    if (!o->candidacy) {
        event_free(ticket);
        return engine_fail(e, ELECTOR_NO_MEMORY, "%s: out of memory", o->name);
    }
    keep_watchdog(e, options);
    o->campaigns++;
    status = e->engine->kind->campaign(e->engine, o->name, options, ticket);
    if (status != ELECTOR_OK) {
        if (o->campaigns) o->campaigns--;
        if (!e->gone || !e->longest_delay_ns) group_state_withdraw(o);
    }
    return finish(e, status, ticket);
}

/* There is no connection: stand_again() asks after the reconnection. */
static elector_status stand_later(elector *e, struct group_state *o, const elector_options *options)
{
    o->candidacy = make_candidacy(options);
    if (!o->candidacy) return engine_fail(e, ELECTOR_NO_MEMORY, "%s: out of memory", o->name);
    keep_watchdog(e, options);
    o->owes_campaign = true;
    return ELECTOR_OK;
}

elector_status elector_begin_campaign(elector *e, const char *group, const elector_options *given)
{
    elector_options options;
    elector_status status = elector_read_options(e, given, &options);
    if (status == ELECTOR_OK) status = elector_check_group(e, group);
    if (status == ELECTOR_OK && !elector_reconnects(e)) status = elector_connect(e);
    struct group_state *o = status == ELECTOR_OK ? group_state_make(e, group, &status) : NULL;
    if (!o || o->candidacy) return status;
    return e->engine ? stand(e, o, &options) : stand_later(e, o, &options);
}

elector_status elector_change(elector *e, const char *group, const elector_options *given)
{
    elector_options options;
    struct queued *ticket;
    elector_status status = elector_read_options(e, given, &options);
    if (status == ELECTOR_OK) status = elector_check_group(e, group);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->candidacy || !e->engine) return not_campaigning(e, group);
    struct candidacy *c = make_candidacy(&options);
    if (!c) return engine_fail(e, ELECTOR_NO_MEMORY, "%s: out of memory", group);
    status = make_ticket(e, ELECTOR_CALL_CHANGE, group, &ticket);
    if (status != ELECTOR_OK) {
        free(c);
        return status;
    }
    group_state_withdraw(o);
    o->candidacy = c;
    keep_watchdog(e, &options);
    return finish(e, e->engine->kind->change(e->engine, group, &options, ticket), ticket);
}

static elector_status resign(elector *e, const char *group, bool is_unrenewed)
{
    struct queued *ticket;
    elector_status status = elector_check_group(e, group);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->candidacy) return not_campaigning(e, group);
    status = make_ticket(e, ELECTOR_CALL_RESIGN, group, &ticket);
    if (status != ELECTOR_OK) return status;
    is_unrenewed = is_unrenewed || group_state_ran_out(e, o);
    group_state_end_work(o);
    group_state_withdraw(o);
    o->owes_campaign = false;
    if (!e->engine) { /* it was to stand again after the reconnection */
        engine_done(e, ticket, ELECTOR_OK, "");
        return ELECTOR_OK;
    }
    o->resigns++;
    return finish(e, e->engine->kind->resign(e->engine, group, is_unrenewed, ticket), ticket);
}

elector_status elector_resign(elector *e, const char *group)
{
    return resign(e, group, false);
}

elector_status engine_resign_unrenewed(elector *e, const char *group)
{
    return resign(e, group, true);
}

/* ---- Handing over ---- */

elector_status elector_transfer(elector *e, const char *group, const char *member)
{
    struct queued *ticket;
    elector_status status = elector_check_group(e, group);
    if (status == ELECTOR_OK) status = elector_check_member(e, member);
    if (status == ELECTOR_OK) status = elector_connect(e);
    if (status == ELECTOR_OK) status = make_ticket(e, ELECTOR_CALL_TRANSFER, group, &ticket);
    if (status != ELECTOR_OK) return status;
    return finish(e, e->engine->kind->transfer(e->engine, group, member, 0, ticket), ticket);
}

/* The work ends before the request is sent: another may lead before the answer arrives. */
elector_status elector_hand_over(elector *e, const char *group, const char *member)
{
    struct queued *ticket;
    elector_status status = elector_check_group(e, group);
    if (status == ELECTOR_OK) status = elector_check_member(e, member);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->leading || o->over || !e->engine) return not_leading(e, group);
    status = make_ticket(e, ELECTOR_CALL_HAND_OVER, group, &ticket);
    if (status != ELECTOR_OK) return status;
    const uint64_t token = ticket->done.token = o->term_token;
    group_state_end_work(o);
    status = finish(e, e->engine->kind->transfer(e->engine, group, member, token, ticket), ticket);
    if (status != ELECTOR_OK) group_state_resume_work(o, token);
    return status;
}

elector_status elector_proclaim(elector *e, const char *group, const char *value)
{
    struct queued *ticket;
    elector_status status = elector_check_group(e, group);
    if (status == ELECTOR_OK) status = elector_check_value(e, value);
    if (status != ELECTOR_OK) return status;
    if (!elector_is_leader(e, group) || !e->engine) return not_leading(e, group);
    status = make_ticket(e, ELECTOR_CALL_PROCLAIM, group, &ticket);
    if (status != ELECTOR_OK) return status;
    return finish(e, e->engine->kind->proclaim(e->engine, group, value, ticket), ticket);
}

elector_status elector_stopped(elector *e, const char *group)
{
    const elector_status status = elector_check_group(e, group);
    if (status != ELECTOR_OK) return status;
    struct group_state *o = group_state_find(e, group);
    if (!o || !o->leading || !e->engine) return not_leading(e, group);
    if (!o->stopping)
        return engine_fail(e, ELECTOR_NOT_LEADING,
                           "%s: no stop was requested; elector_resign() ends leadership", group);
    group_state_end_work(o);
    return elector_settle(e, e->engine->kind->stopped(e->engine, group, o->term_token));
}

elector_status elector_alive(elector *e)
{
    const uint64_t now = clock_boottime_ns();
    if (elector_reconnects(e)) return ELECTOR_OK;
    if (!e->engine) return e->gone ? e->gone_status : ELECTOR_UNAVAILABLE;
    if (!e->watchdog_ns || !e->engine->kind->alive || now - e->alive_ns < e->watchdog_ns / 4) return ELECTOR_OK;
    e->alive_ns = now;
    return elector_settle(e, e->engine->kind->alive(e->engine));
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

/* ---- Observing ---- */

static void note_observed(elector *e, struct group_state *o, bool observed)
{
    if (o) {
        o->observed = observed;
        o->ignored = !observed;
        o->owes_observe = false;
    } else {
        e->observes_all = observed;
        e->ignores_all = !observed;
        e->owes_observe_all = false;
        for (struct group_state *each = e->group_states; each && !observed; each = each->next)
            each->observed = each->owes_observe = false;
        for (struct group_state *each = e->group_states; each && observed; each = each->next)
            each->ignored = false;
    }
}

elector_status elector_observe(elector *e, const char *group)
{
    struct queued *ticket;
    elector_status status = group ? elector_check_group(e, group) : ELECTOR_OK;
    if (status == ELECTOR_OK && !elector_reconnects(e)) status = elector_connect(e);
    struct group_state *o = status == ELECTOR_OK && group ? group_state_make(e, group, &status) : NULL;
    if (status == ELECTOR_OK) status = make_ticket(e, ELECTOR_CALL_OBSERVE, group, &ticket);
    if (status != ELECTOR_OK) return status;
    note_observed(e, o, true);
    if (e->engine) return finish(e, e->engine->kind->observe(e->engine, group, ticket), ticket);
    event_free(ticket);
    if (o)
        o->owes_observe = true;
    else
        e->owes_observe_all = true;
    return ELECTOR_OK;
}

elector_status elector_unobserve(elector *e, const char *group)
{
    struct queued *ticket;
    elector_status status = group ? elector_check_group(e, group) : ELECTOR_OK;
    struct group_state *o = status == ELECTOR_OK && group ? group_state_make(e, group, &status) : NULL;
    if (status == ELECTOR_OK) status = make_ticket(e, ELECTOR_CALL_UNOBSERVE, group, &ticket);
    if (status != ELECTOR_OK) return status;
    note_observed(e, o, false);
    event_queue_forget_leader(&e->events, group);
    if (e->engine) return finish(e, e->engine->kind->unobserve(e->engine, group, ticket), ticket);
    engine_done(e, ticket, ELECTOR_OK, "");
    return ELECTOR_OK;
}

elector_status elector_begin_look(elector *e, elector_call call, const char *group, struct queued **ticket)
{
    elector_status status = elector_check_group(e, group);
    if (status == ELECTOR_OK) status = elector_connect(e);
    if (status == ELECTOR_OK) status = make_ticket(e, call, group, ticket);
    if (status != ELECTOR_OK) return status;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): make_ticket() made one */
    (*ticket)->done.is_awaited = call == ELECTOR_CALL_NONE;
    return finish(e, e->engine->kind->look(e->engine, group, *ticket), *ticket);
}

elector_status elector_candidates(elector *e, const char *group)
{
    struct queued *ticket;
    return elector_begin_look(e, ELECTOR_CALL_CANDIDATES, group, &ticket);
}

/* ---- Callbacks ---- */

void elector_on_event(elector *e, elector_callback *callback, void *context)
{
    e->callback = callback;
    e->context = context;
}

elector_status elector_set_data(elector *e, const char *group, void *data)
{
    elector_status status = elector_check_group(e, group);
    struct group_state *o = status == ELECTOR_OK ? group_state_make(e, group, &status) : NULL;
    if (o) o->data = data;
    return status;
}

void *elector_data(const elector *e, const char *group)
{
    const struct group_state *o = group ? group_state_find(e, group) : NULL;
    return o ? o->data : NULL;
}
