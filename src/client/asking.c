/* For the commands of elector itself, which may wait for a single answer: see engine.h. */
#include "base/clock.h"
#include "client/group_state.h"
#include "client/json_lines.h"

/* Waits for the ticket of a request, whose status is given. */
static elector_status finish(elector *e, elector_status status, struct queued **ticket)
{
    status = elector_settle(e, status);
    return status == ELECTOR_OK ? elector_await(e, ticket, engine_until(LINES_ANSWER_MS)) : status;
}

static elector_status begin(elector *e, elector_call call, const char *group, struct queued **ticket)
{
    const elector_status status = elector_connect(e);
    if (status != ELECTOR_OK) return status;
    *ticket = ticket_make(call, group);
    if (!*ticket) return engine_fail(e, ELECTOR_NO_MEMORY, "out of memory");
    (*ticket)->done.is_awaited = true;
    return ELECTOR_OK;
}

elector_status engine_try_connection(elector *e)
{
    elector_status status = elector_connect(e);
    if (status == ELECTOR_OK && !e->connected) status = elector_hear(e);
    return status == ELECTOR_OK && !e->connected ? ELECTOR_TIMEOUT : status;
}

elector_status engine_work(elector *e, int line)
{
    struct queued *ticket = NULL;
    elector_status status = elector_connect(e);
    if (status == ELECTOR_OK && !e->engine->kind->work)
        return engine_fail(e, ELECTOR_REFUSED, "a file: lock has no guardian to watch over work");
    if (status == ELECTOR_OK) status = begin(e, ELECTOR_CALL_NONE, NULL, &ticket);
    if (status == ELECTOR_OK) status = finish(e, e->engine->kind->work(e->engine, line, ticket), &ticket);
    event_free(ticket);
    return status;
}

elector_status engine_transfer(elector *e, const char *group, const char *member)
{
    struct queued *ticket = NULL;
    elector_status status = elector_check_group(e, group);
    if (status == ELECTOR_OK) status = elector_check_member(e, member);
    if (status == ELECTOR_OK) status = begin(e, ELECTOR_CALL_TRANSFER, group, &ticket);
    if (status == ELECTOR_OK)
        status = finish(e, e->engine->kind->transfer(e->engine, group, member, 0, ticket), &ticket);
    event_free(ticket);
    return status;
}
