/* See trial.h. Polls the library's descriptor beside its orders; what poll says is stamped before anything is read. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "elector.h"
#include "trial.h"

enum { ASKED_AFTER_MS = 20 }; /* a report wakes the driver, which would take a processor from the failover */

struct candidate {
    uint32_t member;
    const char *group;
    elector *elector;
    int reports;
    uint64_t woken_at, asked_at;
};

static void report(const struct candidate *c, enum report_kind kind, uint64_t token, uint64_t at)
{
    const struct report line = {kind, c->member, token, at};
    if (write(c->reports, &line, sizeof line) != sizeof line) _exit(1); /* the driver is gone */
}

static void on_event(void *context, const elector_event *event)
{
    struct candidate *c = context;
    if (event->type == ELECTOR_ELECTED) report(c, REPORT_ELECTED, event->token, c->woken_at);
    if (event->type == ELECTOR_DONE && event->status != ELECTOR_OK && event->status != ELECTOR_LOST) {
        fprintf(stderr, "candidate %s: %s\n", member_names[c->member], event->text);
        report(c, REPORT_FAILED, 0, clock_boottime_ns());
    }
    if (event->type == ELECTOR_STOP) (void)elector_stopped(c->elector, c->group); /* there is no work to end */
}

static elector_status campaign(struct candidate *c)
{
    const elector_status status = elector_campaign(c->elector, c->group, NULL, 0, NULL);
    if (status != ELECTOR_OK && status != ELECTOR_TIMEOUT) return status;
    report(c, REPORT_STANDS, 0, clock_boottime_ns());
    return ELECTOR_OK;
}

static elector_status obey(struct candidate *c, const struct order *order)
{
    if (order->what == 'c') return campaign(c);
    const uint64_t asked_at = clock_boottime_ns();
    const elector_status status = order->what == 'r' ? elector_resign(c->elector, c->group)
                                                     : elector_hand_over(c->elector, c->group, order->to);
    c->asked_at = asked_at;
    return status;
}

static void take_order(struct candidate *c, int orders)
{
    struct order order;
    if (read(orders, &order, sizeof order) != sizeof order) _exit(0); /* the driver is gone */
    const elector_status status = obey(c, &order);
    if (status == ELECTOR_OK || status == ELECTOR_LOST) return;
    fprintf(stderr, "candidate %s: %c: %s\n", member_names[c->member], order.what, elector_message(c->elector));
    report(c, REPORT_FAILED, 0, clock_boottime_ns());
}

void candidate_run(uint32_t member, const char *url, const char *group, int orders, int reports)
{
    struct candidate c = {.member = member, .group = group, .reports = reports};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    elector_status status = elector_open(url, &c.elector);
    if (status == ELECTOR_OK) elector_on_event(c.elector, on_event, &c);
    if (status == ELECTOR_OK) status = campaign(&c);
    if (status != ELECTOR_OK) {
        fprintf(stderr, "candidate %s: %s\n", member_names[member], elector_message(c.elector));
        _exit(1);
    }
    for (;;) {
        int timeout_ms = elector_timeout_ms(c.elector);
        if (c.asked_at && (timeout_ms < 0 || timeout_ms > ASKED_AFTER_MS)) timeout_ms = ASKED_AFTER_MS;
        struct pollfd wanted[] = {{.fd = elector_fd(c.elector), .events = POLLIN},
                                  {.fd = orders, .events = POLLIN}};
        (void)poll(wanted, 2, timeout_ms);
        c.woken_at = clock_boottime_ns();
        if (wanted[1].revents) take_order(&c, orders);
        if (elector_dispatch(c.elector) != ELECTOR_OK) _exit(0);
        if (!c.asked_at || c.woken_at < c.asked_at + ASKED_AFTER_MS * UINT64_C(1000000)) continue;
        report(&c, REPORT_ASKED, 0, c.asked_at);
        c.asked_at = 0;
    }
}
