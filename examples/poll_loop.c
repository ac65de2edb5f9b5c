/* A program with a loop of its own: it polls the elector beside its other descriptors. Here that is a timer. */
#include <err.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <elector.h>

struct worker {
    elector *elector;
    int jobs;
};

static void on_event(void *context, const elector_event *event)
{
    struct worker *w = context;
    if (event->type == ELECTOR_ELECTED) printf("elected under token %" PRIu64 "\n", event->token);
    if (event->type == ELECTOR_STOP) elector_stopped(w->elector, event->group); /* no job is under way here */
    if (event->type == ELECTOR_LOST_OFFICE) printf("lost: %s\n", event->text);
    if (event->type == ELECTOR_DONE && event->status != ELECTOR_OK) errx(1, "%s", event->text);
}

static void do_a_job(struct worker *w)
{
    const uint64_t token = elector_token(w->elector, "jobs"); /* 0: another leads */
    if (token) printf("job %d under token %" PRIu64 "\n", w->jobs++, token);
}

int main(void)
{
    struct worker w = {0};
    const struct itimerspec often = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer < 0 || timerfd_settime(timer, 0, &often, NULL) != 0) err(1, "timer");
    if (elector_open(NULL, &w.elector) != ELECTOR_OK) errx(1, "%s", elector_message(w.elector));
    elector_on_event(w.elector, on_event, &w);
    elector_set_reconnect(w.elector, 5000);             /* the agent may be restarted */
    elector_campaign(w.elector, "jobs", NULL, 0, NULL); /* 0: do not wait */
    while (w.jobs < 3) {
        struct pollfd wanted[] = {{.fd = elector_fd(w.elector), .events = POLLIN},
                                  {.fd = timer, .events = POLLIN}};
        uint64_t times;
        poll(wanted, 2, elector_timeout_ms(w.elector));
        if (elector_dispatch(w.elector) != ELECTOR_OK) errx(1, "%s", elector_message(w.elector));
        if (read(timer, &times, sizeof times) == sizeof times) do_a_job(&w);
    }
    elector_close(w.elector);
    close(timer);
    return 0;
}
