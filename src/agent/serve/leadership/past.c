/* See past.h. */
#include "agent/serve/leadership/past.h"

static void record(const struct leadership *o, enum history_what what, el_node who, const char *reason)
{
    history_leadership(o->all->history, host_stopwatch(o->all->host), history_group(host_name(o->group)), what,
                       who, reason);
}

void leadership_record(const struct leadership *o, enum history_what what)
{
    record(o, what, EL_NOBODY, NULL);
}

void leadership_record_event(const struct leadership *o, const struct leadership_event *event)
{
    if (event->type == LEADERSHIP_ELECTED) record(o, HISTORY_TOLD_ELECTED, EL_NOBODY, NULL);
    if (event->type != LEADERSHIP_LOST) return;
    const char *reason = event->cause ? event->cause : event->reason;
    const struct history_entry lost = {.what = HISTORY_TOLD_LOST, .reason = reason};
    record(o, HISTORY_TOLD_LOST, EL_NOBODY, reason);
    if (o->all->noted) o->all->noted(o->all->context, o, &lost);
}

void leadership_record_way(const struct leadership *o, enum leadership_way way)
{
    static const enum history_what ways[] = {[LEADERSHIP_RESIGNS] = HISTORY_RESIGNED,
                                             [LEADERSHIP_RUNS_OUT] = HISTORY_RESIGNED,
                                             [LEADERSHIP_DIES] = HISTORY_GONE,
                                             [LEADERSHIP_EXPELLED] = HISTORY_EXPELLED,
                                             [LEADERSHIP_HANGS] = HISTORY_EXPELLED};
    record(o, ways[way], EL_NOBODY, NULL);
}

void leadership_record_stop(const struct leadership *o, enum leadership_ending how, el_node to)
{
    if (o->all->is_leaving)
        record(o, HISTORY_ASKED_TO_LEAVE, EL_NOBODY, NULL);
    else if (how == LEADERSHIP_TRANSFERS)
        record(o, HISTORY_ASKED_TO_TRANSFER, to, NULL);
    else
        record(o, HISTORY_ASKED_TO_RESIGN, EL_NOBODY, NULL);
}

bool leadership_record_silence(const struct leadership *o, bool is_said)
{
    const struct config *config = o->all->config;
    const uint64_t now = host_clock(o->all->host), deadline = leadership_told_until(o);
    uint64_t late, differing = 0, heard[CONFIG_MEMBERS_MAX], unrenewed = host_unrenewed_ns(o->group, &late);
    if (!o->tenure->is_held || deadline == UINT64_MAX) return false;
    if (unrenewed == 0 && now >= deadline) unrenewed = host_lease_less_margin_ns(o->group) + now - deadline;
    const bool is_unrenewed = late > 0 && unrenewed >= late;
    /* A renewal may come between the worker's decision and its request. A tenure that was asked to stop ends for that. */
    if (!is_unrenewed && !(is_said && o->tenure->ending == LEADERSHIP_STAYS)) return false;
    for (el_node peer = 1; peer <= config->member_count; peer++) {
        heard[peer - 1] = host_heard(o->all->host, peer);
        if (peer != config->self && o->all->counts && !o->all->counts(o->all->context, o->group, peer))
            differing |= UINT64_C(1) << (peer - 1);
    }
    const uint64_t still = is_unrenewed && o->all->stood_still && unrenewed < now
                               ? o->all->stood_still(o->all->context, now - unrenewed)
                               : 0;
    history_lose_majority(o->all->history, host_stopwatch(o->all->host), history_group(host_name(o->group)),
                          is_unrenewed ? unrenewed : 0, heard, is_unrenewed ? late : UINT64_MAX, still,
                          differing);
    const uint64_t lease = host_lease_ns(o->group);
    if (o->all->lapsed) o->all->lapsed(o->all->context, o, unrenewed > lease ? unrenewed : lease);
    return true;
}
