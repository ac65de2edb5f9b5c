/* See leadership.h. */
#include "agent/serve/leadership/candidates.h"
#include "agent/serve/leadership/endings.h"
#include "agent/serve/leadership/lease.h"
#include "agent/serve/leadership/past.h"
#include "agent/serve/leadership/places.h"
#include "base/clock.h"

enum {
    HEARD_WITHIN_S = 2,
    HAND_OVER_S = 2,
    STOP_WITHIN_S = 10 /* for a `stop` without a lease */
};

/* Tells the host, and so the peers, whether there is a candidate here. While a tenure runs, it stays a
 * candidate. */
static void stand(struct leadership *o)
{
    const bool stands = o->candidates && !o->all->is_leaving && !o->all->has_failed;
    const struct leadership_candidate *first = candidate_at(o, o->candidates);
    const uint64_t priority = stands ? candidate_priority(o, first) : 0;
    if (!stands && o->tenure->is_held) return;
    uint64_t told;
    if (host_stands(o->group, o->all->config->self, &told) == stands && told == priority) return;
    host_be_patient(o->group, stands ? candidate_preempt_after(o, first) : 0);
    host_stand(o->group, stands, priority);
}

/* ---- A tenure ---- */

static void tell_with(struct leadership *o, const struct leadership_candidate *c,
                      enum leadership_event_type type, const char *reason, const char *cause)
{
    const struct leadership_event event = {.type = type,
                                           .token = o->tenure->token,
                                           .deadline_ns = o->tenure->deadline_ns,
                                           .reason = reason,
                                           .cause = o->tenure->is_unrenewed ? "no-quorum" : cause};
    if (c) leadership_record_event(o, &event);
    if (c) o->all->tell(o->all->context, c->client, o, &event);
}

static void tell(struct leadership *o, const struct leadership_candidate *c, enum leadership_event_type type,
                 const char *reason)
{
    tell_with(o, c, type, reason, NULL);
}

static const char *why(const struct leadership *o, const char **cause)
{
    if (o->tenure->reason) return o->tenure->reason;
    if (o->all->has_failed || host_has_failed(o->all->host)) return "disk";
    /* A claim that ends before its deadline was given up by the machine itself. */
    return host_clock(o->all->host) < o->tenure->deadline_ns ? host_early_end(o->group, cause) : "no-quorum";
}

static void end(struct leadership *o)
{
    const struct leadership_candidate *was = o->tenure->holder;
    leadership_catch_up(o);
    const char *cause = NULL, *reason = why(o, &cause);
    leadership_take_back(o);
    o->tenure->is_held = false;
    o->tenure->holder = NULL;
    o->tenure->ending = LEADERSHIP_STAYS;
    o->tenure->reason = NULL;
    if (o->all->tenure) o->all->tenure(o->all->context, NULL, o);
    tell_with(o, was, LEADERSHIP_LOST, reason, cause);
    stand(o);
}

static void begin(struct leadership *o, const struct host_view *view)
{
    struct leadership_candidate *c = candidate_at(o, o->candidates);
    o->tenure->is_held = true;
    o->tenure->holder = c;
    o->tenure->token = view->token;
    o->tenure->deadline_ns = view->deadline_ns;
    o->tenure->ending = LEADERSHIP_STAYS;
    o->tenure->is_frozen = o->tenure->is_unrenewed = false;
    o->tenure->reason = NULL;
    if (o->all->tenure) o->all->tenure(o->all->context, c->client, o);
    o->tenure->cell = HOST_NO_CELL;
    leadership_publish(o);
    if (!o->tenure->is_published || !o->all->reads_page || !o->all->reads_page(o->all->context, c->client))
        leadership_tell_leases(o);
    tell(o, c, LEADERSHIP_ELECTED, NULL);
    if (candidate_value(o, c)[0] || view->value[0]) host_proclaim(o->group, candidate_value(o, c));
}

/* Keeps the group without a holder until stop_by, or until the claim ends. Then this member resigns. */
static void close_until(struct leadership *o, uint64_t stop_by)
{
    o->tenure->is_held = true;
    o->tenure->holder = NULL;
    o->tenure->ending = LEADERSHIP_ENDS;
    o->tenure->is_frozen = true;
    leadership_look_at_ending(o);
    o->tenure->to = EL_NOBODY;
    o->tenure->stop_by = stop_by;
}

void leadership_changed(struct leadership *o)
{
    const struct host_view view = host_view_of(o->group);
    const el_node handover_target = host_handover_target(o->group);
    const bool leads = view.role == EL_LEADER && !o->all->has_failed;
    if (o->tenure->is_held && (!leads || view.token != o->tenure->token)) end(o);
    if (!leads) return;
    if (o->tenure->is_held) {
        if (!o->tenure->is_frozen &&
            (o->tenure->cell == HOST_NO_CELL || host_cell(o->group) != o->tenure->cell))
            leadership_move_on(o, view.deadline_ns);
        if (handover_target)
            (void)leadership_transfer(o, handover_target); /* a better member is back; if declined, lead on */
    } else if (!o->candidates || o->all->is_leaving || !leadership_has_room(o)) {
        (void)host_resign(o->group); /* elected, but no candidate is left */
    } else if (view.token == o->tenure->token && view.deadline_ns != UINT64_MAX) {
        /* The tenure's deadline had passed before the lease was renewed, so it has ended for good: a token is
         * not used twice. Wait for the old deadline and its margin, then resign. */
        close_until(o, o->tenure->deadline_ns + (view.lease_end_ns - view.deadline_ns));
    } else {
        begin(o, &view);
    }
}

/* ---- Ending one ---- */

/* A candidate knows no other candidate: voters decide whether it is there. */
static bool talks_to(const struct leadership *o, el_node peer)
{
    return config_talks(o->all->config, o->all->config->self, peer);
}

static bool is_in_touch(const struct leadership *o, el_node peer)
{
    return !talks_to(o, peer) || host_heard(o->all->host, peer) < HEARD_WITHIN_S * NS_PER_S;
}

static bool may_lead(const struct leadership *o, el_node peer)
{
    return peer != o->all->config->self && config_may_lead(o->all->config, peer);
}

/* The member to hand over to: the highest priority among reachable voters with a candidate; or nobody. */
static el_node best_peer(const struct leadership *o)
{
    el_node best = EL_NOBODY;
    uint64_t most = 0, priority;
    if (config_is_candidate(o->all->config, o->all->config->self))
        return EL_NOBODY; /* the heir that voters suggested */
    for (el_node peer = 1; peer <= o->all->config->member_count; peer++) {
        if (!may_lead(o, peer) || !host_stands(o->group, peer, &priority) || !is_in_touch(o, peer)) continue;
        if (best && priority < most) continue;
        best = peer; /* of equal priorities the higher id, as in el_rank */
        most = priority;
    }
    return best;
}

/* The work has stopped, or stop_by has passed: hands over or resigns. The host calls leadership_changed() from
 * within. */
static void finish(struct leadership *o, const char *reason)
{
    const struct leadership_candidate *was = o->tenure->holder;
    leadership_take_back(o); /* before anybody else can learn it */
    const el_node to = o->all->is_leaving                          ? best_peer(o)
                       : o->tenure->ending == LEADERSHIP_TRANSFERS ? o->tenure->to
                                                                   : EL_NOBODY;
    const uint32_t piece = was ? candidate_take_out(o, was) : 0;
    if (piece) candidate_insert(o, piece); /* after others of its priority */
    o->tenure->reason = reason;
    const bool hands_over = to != EL_NOBODY && host_transfer(o->group, to) == EL_PERFORMED;
    if (!hands_over) {
        if (to && !o->all->is_leaving) o->tenure->reason = "not-transferred";
        (void)host_resign(o->group);
    }
    if (o->tenure->is_held &&
        o->tenure->reason) { /* the algorithm cannot resign, or leads until the other does */
        end(o);
        if (hands_over && !o->all->is_leaving)
            close_until(o, host_clock(o->all->host) + HAND_OVER_S * NS_PER_S);
    }
    o->tenure->reason = NULL;
    stand(o);
    const bool is_wanted =
        !o->tenure->is_held && host_stands(o->group, o->all->config->self, NULL) && to == EL_NOBODY;
    if (is_wanted && best_peer(o) == EL_NOBODY) host_campaign(o->group); /* for the other candidates here */
    leadership_changed(o);
}

static const char *reason_of(const struct leadership *o)
{
    if (o->all->is_leaving) return "leaving";
    if (o->tenure->ending == LEADERSHIP_ABANDONED) return "watchdog";
    return o->tenure->ending == LEADERSHIP_TRANSFERS ? "transferred" : "forced";
}

/* From now on the holder's deadline does not move on. The tenure ends there. */
static void freeze(struct leadership *o)
{
    const uint64_t without_lease = host_clock(o->all->host) + STOP_WITHIN_S * NS_PER_S;
    leadership_catch_up(o);
    leadership_tell_no_leases(o);
    o->tenure->is_frozen = true;
    o->tenure->stop_by = o->tenure->deadline_ns == UINT64_MAX ? without_lease : o->tenure->deadline_ns;
    if (o->tenure->is_published) deadline_page_freeze(o->all->page, o->number, o->tenure->deadline_ns);
}

static void end_soon(struct leadership *o, enum leadership_ending how, el_node to)
{
    o->tenure->ending = (uint8_t)how;
    leadership_look_at_ending(o);
    o->tenure->to = (uint8_t)to;
    freeze(o);
}

/* How long the holder's deadline moves on after `stop`. */
static uint64_t stop_within(const struct leadership *o)
{
    const struct leadership_options *options =
        o->tenure->holder ? candidate_options(o, o->tenure->holder) : NULL;
    const uint64_t wanted = options ? options->stop_within_ms * NS_PER_MS : 0,
                   most = o->all->config->stop_timeout;
    return wanted < most ? wanted : most;
}

static void ask_to_stop(struct leadership *o, enum leadership_ending how, el_node to)
{
    const uint64_t within = stop_within(o);
    leadership_record_stop(o, how, to);
    if (within) {
        leadership_catch_up(o);
        o->tenure->ending = (uint8_t)how;
        leadership_look_at_ending(o);
        o->tenure->to = (uint8_t)to;
        o->tenure->stop_by = host_clock(o->all->host) + within;
    } else {
        end_soon(o, how, to);
    }
    tell(o, o->tenure->holder, LEADERSHIP_STOP, reason_of(o));
}

/* ---- Requests of clients ---- */

enum leadership_answer leadership_enter(struct leadership *o, void *client, uint64_t priority,
                                        const char *value)
{
    if (o->all->is_leaving) return LEADERSHIP_LEAVING;
    if (o->all->has_failed) return LEADERSHIP_FAILED;
    if (candidate_find(o, client)) return LEADERSHIP_ALREADY;
    const uint32_t piece = candidate_new(o, client, priority, value);
    if (!piece) return LEADERSHIP_NO_MEMORY;
    candidate_insert(o, piece);
    leadership_record(o, HISTORY_ENTERED);
    stand(o);
    leadership_changed(o);
    return LEADERSHIP_DONE;
}

enum leadership_answer leadership_change(struct leadership *o, const void *client, uint64_t priority,
                                         const char *value)
{
    struct leadership_candidate *c = candidate_find(o, client);
    if (!c) return LEADERSHIP_NO_CANDIDATE;
    if (!candidate_change(o, c, priority, value)) return LEADERSHIP_NO_MEMORY;
    stand(o);
    if (leadership_is_held_by(o, client)) host_proclaim(o->group, value);
    return LEADERSHIP_DONE;
}

/*
 * A holder whose connection has ended is taken for dead, and its work for stopped. This assumes that the
 * process that held the connection does the work; otherwise the token must fence it (docs/socket-protocol.md).
 * A holder that we have disconnected may still work: nobody else gets the group until the deadline that it
 * knows.
 */
enum leadership_answer leadership_withdraw(struct leadership *o, void *client, enum leadership_way way)
{
    struct leadership_candidate *c = candidate_find(o, client);
    if (!c) return LEADERSHIP_NO_CANDIDATE;
    const uint32_t piece = candidate_take_out(o, c);
    const bool holds = o->tenure->is_held && o->tenure->holder == c;
    /* A worker that sees its lease run out stops and resigns. The cause is the majority, not the worker. */
    const bool resigns = way == LEADERSHIP_RESIGNS || way == LEADERSHIP_RUNS_OUT;
    if (holds && resigns && leadership_record_silence(o, way == LEADERSHIP_RUNS_OUT))
        o->tenure->is_unrenewed = true;
    if (holds) leadership_record_way(o, way);
    if (o->tenure->is_held && o->tenure->holder == c && way == LEADERSHIP_EXPELLED) {
        o->tenure->holder = NULL;
        leadership_take_back(o);
        if (o->tenure->ending == LEADERSHIP_STAYS)
            end_soon(o, LEADERSHIP_ENDS, EL_NOBODY);
        else if (!o->tenure->is_frozen)
            freeze(o);
    } else if (o->tenure->is_held && o->tenure->holder == c) {
        if (way == LEADERSHIP_DIES) o->tenure->holder = NULL; /* there is no client to tell */
        finish(o, way == LEADERSHIP_HANGS ? reason_of(o) : "resigned");
    }
    candidate_free(o, piece);
    stand(o);
    return LEADERSHIP_DONE;
}

enum leadership_answer leadership_stopped(struct leadership *o, const void *client, uint64_t token)
{
    if (!leadership_is_held_by(o, client) || o->tenure->token != token) return LEADERSHIP_NOT_LEADING;
    if (o->tenure->ending == LEADERSHIP_STAYS) return LEADERSHIP_NOT_ASKED;
    leadership_record(o, HISTORY_STOPPED);
    finish(o, reason_of(o));
    return LEADERSHIP_DONE;
}

enum leadership_answer leadership_proclaim(struct leadership *o, const void *client, const char *value)
{
    if (!leadership_is_held_by(o, client)) return LEADERSHIP_NOT_LEADING;
    host_proclaim(o->group, value);
    return LEADERSHIP_DONE;
}

/* Checked before the holder is told to stop: an impossible hand-over must not end its leadership. */
static enum leadership_answer look_at_successor(const struct leadership *o, el_node to)
{
    if (!o->tenure->is_held) return LEADERSHIP_NOT_LEADING;
    if (o->tenure->ending != LEADERSHIP_STAYS) return LEADERSHIP_UNDER_WAY;
    if (!host_algorithm(o->group)->on_request) return LEADERSHIP_CANNOT;
    if (!may_lead(o, to)) return LEADERSHIP_NOT_ELIGIBLE;
    if (!is_in_touch(o, to)) return LEADERSHIP_OUT_OF_TOUCH;
    return host_stands(o->group, to, NULL) ? LEADERSHIP_DONE : LEADERSHIP_NOT_STANDING;
}

enum leadership_answer leadership_transfer(struct leadership *o, el_node to)
{
    const enum leadership_answer said = look_at_successor(o, to);
    if (said == LEADERSHIP_DONE) ask_to_stop(o, LEADERSHIP_TRANSFERS, to);
    return said;
}

enum leadership_answer leadership_hand_over(struct leadership *o, const void *client, uint64_t token,
                                            el_node to)
{
    if (!leadership_is_held_by(o, client) || o->tenure->token != token) return LEADERSHIP_NOT_LEADING;
    const enum leadership_answer said = look_at_successor(o, to);
    if (said != LEADERSHIP_DONE) return said;
    end_soon(o, LEADERSHIP_TRANSFERS, to);
    leadership_record_stop(o, LEADERSHIP_TRANSFERS, to);
    return leadership_stopped(o, client, token);
}

enum leadership_answer leadership_depose(struct leadership *o)
{
    if (!o->tenure->is_held) return LEADERSHIP_NOT_LEADING;
    if (o->tenure->ending != LEADERSHIP_STAYS) return LEADERSHIP_UNDER_WAY;
    if (!host_algorithm(o->group)->on_request) return LEADERSHIP_CANNOT;
    ask_to_stop(o, LEADERSHIP_ENDS, EL_NOBODY);
    return LEADERSHIP_DONE;
}

void leadership_abandon(struct leadership *o, const void *client)
{
    if (!leadership_is_held_by(o, client) || o->tenure->is_frozen) return;
    const bool is_new = o->tenure->ending == LEADERSHIP_STAYS;
    if (is_new) o->tenure->ending = LEADERSHIP_ABANDONED;
    leadership_look_at_ending(o);
    o->tenure->to = is_new ? EL_NOBODY : o->tenure->to;
    freeze(o);
    leadership_record(o, HISTORY_ABANDONED);
    if (is_new) tell(o, o->tenure->holder, LEADERSHIP_STOP, reason_of(o));
}

bool leadership_is_held_by(const struct leadership *o, const void *client)
{
    return o->tenure->is_held && o->tenure->holder && o->tenure->holder->client == client;
}

bool leadership_stands(const struct leadership *o, const void *client)
{
    return candidate_find(o, client) != NULL;
}

/* The holder may work until its deadline, so nobody else begins before that. */
void leadership_end_overdue(struct leadership *o)
{
    if (!o->tenure->is_frozen) {
        freeze(o);
        return;
    }
    const struct leadership_candidate *holder = o->tenure->holder;
    if (holder) leadership_record(o, HISTORY_OVERDUE);
    if (holder && o->all->hangs && o->all->hangs(o->all->context, holder->client))
        (void)leadership_withdraw(o, holder->client, LEADERSHIP_HANGS);
    else
        finish(o, reason_of(o));
}

void leadership_leave(struct leadership *o)
{
    if (o->tenure->is_held && o->tenure->ending == LEADERSHIP_STAYS) ask_to_stop(o, LEADERSHIP_ENDS, EL_NOBODY);
    if (!leadership_is_free(o)) stand(o);
}

void leaderships_fail(struct leaderships *all)
{
    all->has_failed = true;
    for (uint32_t i = 0; i < all->count; i++)
        if (leadership_at(all, i)->tenure->is_held) end(leadership_at(all, i));
}
