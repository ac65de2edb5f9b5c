/* See leadership_past.h. */
#include "agent/serve/leadership_past.h"

static void record(const struct office *o, enum chronicle_what what, el_node who, const char *reason)
{
    chronicle_office(o->all->chronicle, host_stopwatch(o->all->host), chronicle_group(host_name(o->group)),
                     what, who, reason);
}

void office_record(const struct office *o, enum chronicle_what what)
{
    record(o, what, EL_NOBODY, NULL);
}

void office_record_event(const struct office *o, const struct office_event *event)
{
    if (event->type == OFFICE_ELECTED) record(o, CHRONICLE_TOLD_ELECTED, EL_NOBODY, NULL);
    if (event->type == OFFICE_LOST) record(o, CHRONICLE_TOLD_LOST, EL_NOBODY, event->reason);
}

void office_record_way(const struct office *o, enum office_way way)
{
    static const enum chronicle_what ways[] = {[OFFICE_RESIGNS] = CHRONICLE_RESIGNED,
                                               [OFFICE_DIES] = CHRONICLE_GONE,
                                               [OFFICE_EXPELLED] = CHRONICLE_EXPELLED};
    record(o, ways[way], EL_NOBODY, NULL);
}

void office_record_stop(const struct office *o, enum office_ending how, el_node to)
{
    if (o->all->is_leaving)
        record(o, CHRONICLE_ASKED_TO_LEAVE, EL_NOBODY, NULL);
    else if (how == OFFICE_TRANSFERS)
        record(o, CHRONICLE_ASKED_TO_TRANSFER, to, NULL);
    else
        record(o, CHRONICLE_ASKED_TO_RESIGN, EL_NOBODY, NULL);
}
