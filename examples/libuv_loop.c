/* The same in libuv's loop. The descriptor stays the same until elector_close(), so it is polled once. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <uv.h>

#include <elector.h>

struct worker {
    uv_loop_t loop;
    uv_poll_t input;
    uv_timer_t due, work;
    elector *elector;
    int jobs;
};

static void on_due(uv_timer_t *due);

/* Reads, calls back, and sets the timer for the next time. */
static void dispatch(struct worker *w)
{
    if (elector_dispatch(w->elector) != ELECTOR_OK) errx(1, "%s", elector_message(w->elector));
    const int timeout_ms = elector_timeout_ms(w->elector);
    uv_timer_stop(&w->due);
    if (timeout_ms >= 0) uv_timer_start(&w->due, on_due, (uint64_t)timeout_ms, 0);
}

static void on_due(uv_timer_t *due)
{
    dispatch(due->data);
}

static void on_input(uv_poll_t *input, int status, int events)
{
    (void)status, (void)events;
    dispatch(input->data);
}

static void on_event(void *context, const elector_event *event)
{
    struct worker *w = context;
    if (event->type == ELECTOR_STOP) elector_stopped(w->elector, event->group);
    if (event->type == ELECTOR_DONE && event->status != ELECTOR_OK) errx(1, "%s", event->text);
}

static void on_work(uv_timer_t *work)
{
    struct worker *w = work->data;
    const uint64_t token = elector_token(w->elector, "jobs");
    if (token) printf("job %d under token %" PRIu64 "\n", w->jobs++, token);
    if (w->jobs == 3) uv_stop(&w->loop);
}

int main(void)
{
    static struct worker w;
    if (elector_open(NULL, &w.elector) != ELECTOR_OK) errx(1, "%s", elector_message(w.elector));
    elector_on_event(w.elector, on_event, &w);
    elector_campaign(w.elector, "jobs", NULL, 0, NULL);
    uv_loop_init(&w.loop);
    uv_poll_init(&w.loop, &w.input, elector_fd(w.elector));
    uv_timer_init(&w.loop, &w.due);
    uv_timer_init(&w.loop, &w.work);
    w.input.data = w.due.data = w.work.data = &w;
    uv_poll_start(&w.input, UV_READABLE, on_input);
    uv_timer_start(&w.work, on_work, 20, 20);
    dispatch(&w); /* events may wait already */
    uv_run(&w.loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&w.input, NULL); /* before elector_close(): it closes the descriptor */
    uv_close((uv_handle_t *)&w.due, NULL);
    uv_close((uv_handle_t *)&w.work, NULL);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    uv_loop_close(&w.loop);
    elector_close(w.elector);
    return 0;
}
