/* The calls that dispatch and wait. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/group_state.h"

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

static uint64_t next_deadline(const elector *e)
{
    if (e->events.first) return 0;
    if (elector_reconnects(e)) return e->retry_ns;
    if (!e->engine) return ENGINE_NEVER;
    const uint64_t theirs = e->engine->kind->deadline(e->engine), ours = group_state_next_deadline(e);
    return theirs < ours ? theirs : ours;
}

int elector_timeout_ms(const elector *e)
{
    return engine_left_ms(next_deadline(e));
}

/* ---- Waking up ---- */

void elector_wakeup(const elector *e)
{
    const uint64_t one = 1;
    const int error = errno; /* of what this signal has interrupted */
    if (e->wake_fd >= 0 && write(e->wake_fd, &one, sizeof one) < 0) errno = error; /* full: it is readable */
    errno = error;
}

bool elector_was_woken(const elector *e)
{
    uint64_t count;
    return e->wake_fd >= 0 && read(e->wake_fd, &count, sizeof count) == sizeof count;
}

bool elector_sleep(elector *e, uint64_t until_ns)
{
    const uint64_t next = next_deadline(e);
    struct pollfd wanted = {.fd = e->poll_fd, .events = POLLIN};
    const int ready = poll(&wanted, 1, engine_left_ms(next < until_ns ? next : until_ns));
    return ready < 0 ? errno != EINTR : !(ready > 0 && elector_was_woken(e));
}

/* ---- Dispatching ---- */

/* Reads before it expires terms: the input may hold a renewal of a deadline that seems to have passed. */
elector_status elector_hear(elector *e)
{
    elector_retry(e);
    if (elector_reconnects(e)) return ELECTOR_OK;
    if (!e->engine) return e->gone ? e->gone_status : ELECTOR_UNAVAILABLE;
    e->engine->kind->dispatch(e->engine);
    if (!e->gone) group_state_expire(e);
    const elector_status status = elector_settle(e, ELECTOR_OK);
    return elector_reconnects(e) ? ELECTOR_OK : status;
}

static elector_status busy(elector *e, const char *call)
{
    return engine_fail(e, ELECTOR_BUSY, "%s() cannot be called from a callback: it would call callbacks", call);
}

/* Ends a call that may have run callbacks: one of them may have closed the elector. */
static elector_status leave(elector *e, elector_status status)
{
    if (!e->closing) return status;
    elector_destroy(e);
    return ELECTOR_CLOSED;
}

elector_status elector_dispatch(elector *e)
{
    if (e->delivering) return busy(e, "elector_dispatch");
    (void)elector_was_woken(e);
    const elector_status status = elector_hear(e);
    elector_deliver(e);
    return leave(e, status);
}

elector_status elector_wait(elector *e, int timeout_ms)
{
    if (e->delivering) return busy(e, "elector_wait");
    const uint64_t until_ns = engine_until(timeout_ms);
    for (;;) {
        const elector_status status = elector_hear(e);
        const size_t delivered = elector_deliver(e);
        if (e->closing || status != ELECTOR_OK || delivered > 0) return leave(e, status);
        if (elector_was_woken(e)) return ELECTOR_INTERRUPTED;
        if (clock_boottime_ns() >= until_ns) return ELECTOR_TIMEOUT;
        if (!elector_sleep(e, until_ns)) return ELECTOR_INTERRUPTED;
    }
}

elector_status elector_await(elector *e, struct queued **ticket, uint64_t until_ns)
{
    struct queued *t = *ticket;
    elector_status ended = ELECTOR_OK;
    while (!t->done.is_complete && ended == ELECTOR_OK) {
        (void)elector_hear(e); /* if the connection ends, so does the ticket */
        if (t->done.is_complete) break;
        if (elector_was_woken(e))
            ended = ELECTOR_INTERRUPTED; /* NOLINT(bugprone-branch-clone): the order of questions counts */
        else if (clock_boottime_ns() >= until_ns)
            ended = ELECTOR_TIMEOUT;
        else if (!elector_sleep(e, until_ns))
            ended = ELECTOR_INTERRUPTED;
    }
    if (ended == ELECTOR_OK) return t->done.status;
    t->done.is_abandoned = true;
    *ticket = NULL;
    return ended == ELECTOR_TIMEOUT ? engine_fail(e, ended, "the agent has not answered in time")
                                    : engine_fail(e, ended, "interrupted before the agent has answered");
}

/* ---- Campaigning ---- */

/* Reads, delivers, and says whether the wait is over. */
static bool is_decided(elector *e, struct group_state *o, elector_status *status, uint64_t *token)
{
    char why[sizeof e->message];
    *status = elector_hear(e);
    *token = elector_token(e, o->name); /* a slow callback may outlast the term */
    if (e->declined != ELECTOR_OK) *status = e->declined;
    memcpy(why, e->message, sizeof why);
    elector_deliver(e);
    if (e->closing) {
        *status = ELECTOR_CLOSED;
    } else if (*status != ELECTOR_OK) {
        engine_fail(e, *status, "%s", why);
    } else if (*token == 0) {
        *token = elector_token(e, o->name);
        if (*token == 0 && !o->candidacy)
            *status = engine_fail(e, ELECTOR_REFUSED, "%s: resigned while campaigning", o->name);
    }
    return *status != ELECTOR_OK || *token != 0;
}

static elector_status unelected(elector *e, const char *group, elector_status status)
{
    return engine_fail(e, status, "%s: not elected yet; the campaign goes on", group);
}

/* The candidacy has begun. */
static elector_status await_election(elector *e, struct group_state *o, uint64_t until_ns, uint64_t *token)
{
    elector_status status = ELECTOR_OK;
    *token = elector_token(e, o->name);
    e->campaigner = o;
    e->declined = ELECTOR_OK;
    while (*token == 0 && !is_decided(e, o, &status, token)) {
        if (elector_was_woken(e))
            status = unelected(e, o->name, ELECTOR_INTERRUPTED); /* NOLINT(bugprone-branch-clone): as above */
        else if (clock_boottime_ns() >= until_ns)
            status = unelected(e, o->name, ELECTOR_TIMEOUT);
        else if (!elector_sleep(e, until_ns))
            status = unelected(e, o->name, ELECTOR_INTERRUPTED);
        if (status != ELECTOR_OK) break;
    }
    e->campaigner = NULL;
    return leave(e, status);
}

elector_status elector_campaign(elector *e, const char *group, const elector_options *options, int timeout_ms,
                                uint64_t *token)
{
    uint64_t found = 0;
    if (e->delivering && timeout_ms != 0) return busy(e, "elector_campaign");
    elector_status status = elector_begin_campaign(e, group, options);
    if (status != ELECTOR_OK) return status;
    if (timeout_ms != 0) {
        status = await_election(e, group_state_find(e, group), engine_until(timeout_ms), &found);
    } else {
        found = elector_token(e, group);
        if (found == 0) status = unelected(e, group, ELECTOR_TIMEOUT);
    }
    if (status == ELECTOR_OK && token) *token = found;
    return status;
}

/* ---- Asking who leads ---- */

elector_status elector_leader_of(elector *e, const char *group, int timeout_ms, const elector_leader **leader)
{
    struct queued *ticket = NULL;
    *leader = NULL;
    if (e->delivering) return busy(e, "elector_leader_of");
    elector_status status = elector_begin_look(e, ELECTOR_CALL_NONE, group, &ticket);
    if (status != ELECTOR_OK) return status;
    status = elector_await(e, &ticket, engine_until(timeout_ms));
    if (status == ELECTOR_OK) {
        const struct group_state *o = group_state_find(e, group);
        free(e->answer);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): elector_begin_look() made a ticket */
        e->answer = ticket->done.leader;
        ticket->done.leader = NULL;
        elector_leader *told = &e->answer->told;
        told->is_me = o && o->leading && told->name[0] && told->token == o->term_token;
        *leader = told;
    }
    event_free(ticket);
    return status;
}
