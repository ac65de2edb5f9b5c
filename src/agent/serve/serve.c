/* See serve.h. Listens, and passes the host's changes on to leaderships and connections. */
#define _GNU_SOURCE
#include "agent/serve/serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/history/history.h"
#include "agent/serve/internal.h"
#include "agent/serve/leadership/past.h"

enum { CHORES_MS = 10 };

/* ---- Changes ---- */

struct leadership *serve_leadership(struct serve *serve, struct host_group *group)
{
    struct leaderships *all = &serve->leaderships;
    struct leadership *o = leadership_known(all, group);
    if (o || leaderships_used(all) == SERVE_GROUPS_MAX) return o;
    o = leadership_of(all, group);
    if (!o) return NULL;
    change_list_change(&serve->change_list, o->number);
    (void)serve_meet(serve, o);
    serve_count_groups(serve);
    return o;
}

struct leadership *serve_find_leadership(const struct serve *serve, const char *group)
{
    struct host_group *known = host_known(serve->host, group);
    return known ? leadership_known(&serve->leaderships, known) : NULL;
}

/* A client that reads the page needs no lease events. */
static bool is_published_to(const struct connection *c, const struct leadership *o)
{
    return c->has_page && o->tenure->is_published;
}

static bool counts_in(void *context, const struct host_group *group, el_node member)
{
    return serve_counts(context, member, group);
}

static uint64_t stood_still(void *context, uint64_t since_ns)
{
    const struct serve *serve = context;
    return serve->metrics ? metrics_stood_still_ns(&serve->metrics->lateness, host_clock(serve->host), since_ns)
                          : 0;
}

static bool has_page(void *context, const void *client)
{
    (void)context;
    return ((const struct connection *)client)->has_page;
}

static void on_leadership_event(void *context, void *client, struct leadership *o,
                                const struct leadership_event *event)
{
    struct connection *c = client;
    struct serve *serve = context;
    if (event->type == LEADERSHIP_STOP) serve_do_chores_soon(serve); /* which end the tenure at its deadline */
    if (event->type == LEADERSHIP_LEASE && is_published_to(c, o) && !event->was_late) return;
    if (event->type == LEADERSHIP_LEASE) {
        connection_coalesce(c, &c->lease_waits, o);
        return;
    }
    number_set_remove(&c->lease_waits, o->number);
    connection_say_event(c, o, event);
    serve_count_tenures(c, event);
    if (event->type == LEADERSHIP_ELECTED && !c->has_changes) connection_push(c);
    connection_wake(c);
}

void serve_renewed(struct serve *serve, uint32_t cell)
{
    const uint64_t before_ns = cell < HOST_CELLS_MAX ? serve->leaderships.cells[cell] : 0;
    if (serve->metrics && before_ns)
        metrics_renewed(&serve->metrics->renewals, host_clock(serve->host),
                        host_cell_late_ns(serve->host, cell, before_ns));
    leaderships_renewed(&serve->leaderships, cell);
}

/* Once for all groups of a cell: their leases are one. The last place is for those whose cell is gone already. */
static void on_lapse(void *context, const struct leadership *o, uint64_t late_ns)
{
    struct serve *serve = context;
    const uint32_t cell = o->tenure->cell < HOST_CELLS_MAX ? o->tenure->cell : HOST_CELLS_MAX;
    const uint64_t deadline_ns = leadership_told_until(o);
    if (!serve->metrics || serve->lapsed[cell] == deadline_ns) return;
    serve->lapsed[cell] = deadline_ns;
    metrics_lost(&serve->metrics->renewals, host_clock(serve->host), late_ns);
}

void serve_set_history(struct serve *serve, struct history *history)
{
    serve->leaderships.history = history;
}

void serve_set_listener(struct serve *serve,
                        void (*listener)(void *context, enum serve_step, const char *group,
                                         const struct history_entry *),
                        void *context)
{
    serve->on_step = listener;
    serve->on_step_context = context;
}

static void on_noted(void *context, const struct leadership *o, const struct history_entry *lost)
{
    serve_tell_later(context, host_name(o->group), SERVE_LEASE_LOST, lost);
}

/* Adds a change of leaders to the history before the leadership acts on it, so that they stand in this
 * order. */
static bool note_leader(struct serve *serve, struct leadership *o)
{
    const struct host_view view = host_view_of(o->group);
    const el_node before = o->seen_leader;
    struct history_statement statements[HISTORY_STATEMENTS_MAX];
    struct history_change change;
    uint32_t count;
    if (view.leader == before && view.token == o->seen_token) return false;
    if (before == serve->config->self && !o->tenure->reason &&
        host_clock(serve->host) >= leadership_told_until(o))
        (void)leadership_record_silence(o, false);
    const uint64_t now = host_stopwatch(serve->host);
    serve_count_change(serve, o, &view, now, &change);
    (void)serve_is_forgotten(serve, o); /* notes since when it is not used */
    count = o->seen_token ? 0 : history_restate(serve->leaderships.history, change.group, statements);
    for (uint32_t i = 0; i < count; i++) serve_state_later(serve, host_name(o->group), &statements[i]);
    const bool did_wait = leadership_waits(o);
    o->seen_leader = (uint8_t)view.leader;
    leadership_count_waiting(o, did_wait);
    o->seen_token = view.token;
    const struct history_entry *entry =
        history_lead(serve->leaderships.history, now, &change, statements, &count);
    for (uint32_t i = 0; i < count; i++) serve_state_later(serve, host_name(o->group), &statements[i]);
    if (entry) serve_tell_later(serve, host_name(o->group), SERVE_LEADER_CHANGED, entry);
    if (entry && entry->who && entry->note != HISTORY_RETURN)
        serve_settle_later(serve, host_name(o->group), entry);
    return true;
}

static void on_tenure(void *context, void *client, struct leadership *o)
{
    struct serve *serve = context;
    const struct connection *c = client;
    guardian_client_let_go(serve->guardian, o->tenure->work, o->group);
    o->tenure->work = c ? c->work : CLIENT_NONE;
    guardian_client_hold(serve->guardian, o->tenure->work, o->group, o->tenure->token);
}

void serve_changed(struct serve *serve, struct host_group *group)
{
    struct leadership *o = serve_leadership(serve, group);
    if (!o) return;
    const bool is_another = note_leader(serve, o);
    leadership_changed(o);
    if (o->tenure->is_held && o->tenure->ending != LEADERSHIP_STAYS) serve_do_chores_soon(serve);
    const struct host_view view = host_view_of(group);
    /* Observers are not told if only the deadline has moved. */
    if (!is_another && view.leader == o->seen_leader && view.token == o->seen_token &&
        view.value_number == o->seen_value)
        return;
    (void)note_leader(serve, o);
    o->seen_value = view.value_number;
    change_list_change(&serve->change_list, o->number);
    serve_tell_observers(serve, o);
}

/* ---- Chores: what must not be done from within a call of the host ---- */

/* Reads on from those whose user's descriptors are closed by now. */
static void wake_held_up(struct serve *serve)
{
    if (!serve->some_are_held_up) return;
    serve->some_are_held_up = false;
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        if (serve->connections[i]) connection_wake(serve->connections[i]);
}

static void on_chores(uv_timer_t *timer)
{
    struct serve *serve = timer->data;
    (void)host_tick(serve->host);
    uv_timer_stop(timer);
    wake_held_up(serve);
    const enum leaderships_wait wait = leaderships_tick(&serve->leaderships);
    /* A timer of 0 ms, which the tick may have started, would run in this turn of the loop once more. */
    if (wait == LEADERSHIPS_SOME_ARE_DUE)
        uv_timer_start(timer, on_chores, 1, 0);
    else if (wait == LEADERSHIPS_SOME_END && !uv_is_active((uv_handle_t *)timer))
        uv_timer_start(timer, on_chores, CHORES_MS, 0);
}

void serve_look_later(struct serve *serve)
{
    if (!serve->is_freed && !uv_is_active((uv_handle_t *)&serve->chores))
        uv_timer_start(&serve->chores, on_chores, CHORES_MS, 0);
}

void serve_do_chores_soon(struct serve *serve)
{
    if (!serve->is_freed) uv_timer_start(&serve->chores, on_chores, 0, 0);
}

/* ---- Creating and freeing ---- */

void serve_release(struct serve *serve)
{
    serve->handles--;
    if (serve->is_freed && serve->handles == 0) free(serve);
}

static void on_closed(uv_handle_t *handle)
{
    serve_release(handle->data);
}

static struct serve *make(uv_loop_t *loop, const struct config *config, struct host *host, bool listens,
                          char *text, size_t size)
{
    struct serve *serve = calloc(1, sizeof *serve);
    if (!serve) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    serve->loop = loop;
    serve->config = config;
    serve->host = host;
    serve->fd = -1;
    serve->leaderships.host = host;
    serve->leaderships.config = config;
    serve->leaderships.context = serve;
    serve->leaderships.tell = on_leadership_event;
    serve->leaderships.reads_page = has_page;
    serve->leaderships.hangs = serve_hangs;
    serve->leaderships.counts = counts_in;
    serve->leaderships.stood_still = stood_still;
    serve->leaderships.page = serve->page = deadline_page_new();
    serve->leaderships.tenure = on_tenure;
    serve->leaderships.noted = on_noted;
    serve->leaderships.lapsed = on_lapse;
    if (listens && !serve_listen(serve, text, size)) {
        if (serve->fd >= 0) close(serve->fd);
        deadline_page_free(serve->page);
        free(serve);
        return NULL;
    }
    serve->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    serve->listener.data = serve->chores.data = serve->watchdog.data = serve;
    serve->audit_timer.data = serve;
    (void)uv_timer_init(loop, &serve->chores); /* these cannot fail */
    (void)uv_timer_init(loop, &serve->audit_timer);
    (void)uv_timer_init(loop, &serve->watchdog);
    (void)uv_check_init(loop, &serve->after_polling);
    (void)uv_idle_init(loop, &serve->go_on);
    serve->after_polling.data = serve->go_on.data = serve;
    (void)uv_check_start(&serve->after_polling, serve_on_turn);
    serve->has_listener = listens && uv_poll_init(loop, &serve->listener, serve->fd) == 0;
    serve->handles = 5 + serve->has_listener;
    if (listens &&
        (!serve->has_listener || uv_poll_start(&serve->listener, UV_READABLE, serve_on_connect) != 0)) {
        snprintf(text, size, "cannot wait for clients at %s", config->socket);
        serve_free(serve);
        return NULL;
    }
    for (struct host_group *group = host_next(host, NULL); group; group = host_next(host, group))
        (void)serve_leadership(serve, group);
    return serve;
}

struct serve *serve_new(uv_loop_t *loop, const struct config *config, struct host *host, char *text,
                        size_t size)
{
    return make(loop, config, host, true, text, size);
}

struct serve *serve_new_for(uv_loop_t *loop, const struct config *config, struct host *host, int fd, char *text,
                            size_t size)
{
    struct serve *serve = make(loop, config, host, false, text, size);
    if (!serve) {
        close(fd);
    } else if (!serve_accept(serve, fd)) {
        snprintf(text, size, "cannot serve the client: out of memory");
        serve_free(serve);
        return NULL;
    }
    return serve;
}

uint32_t serve_client_count(const struct serve *serve)
{
    return serve->connection_count;
}

void serve_set_guardian(struct serve *serve, struct guardian_client *guardian)
{
    serve->guardian = guardian;
}

bool serve_leave(struct serve *serve)
{
    const enum leaderships_wait wait = leaderships_leave(&serve->leaderships);
    if (wait == LEADERSHIPS_SOME_ARE_DUE || !uv_is_active((const uv_handle_t *)&serve->chores))
        serve_do_chores_soon(serve);
    return wait == LEADERSHIPS_NONE_END;
}

void serve_failed(struct serve *serve, const char *why)
{
    snprintf(serve->failed, sizeof serve->failed, "%s", why);
    leaderships_fail(&serve->leaderships);
}

void serve_free(struct serve *serve)
{
    struct stat file;
    if (!serve) return;
    serve->is_freed = true;
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++) {
        struct connection *c = serve->connections[i];
        if (c) number_set_clear(&c->entered);
        if (c) connection_close(c, LEADERSHIP_EXPELLED);
    }
    serve_part_with_all(serve);
    serve_tell_now(serve);
    leaderships_free(&serve->leaderships);
    free(serve->idle_since_s);
    change_list_free(&serve->change_list);
    deadline_page_free(serve->page);
    serve->page = NULL;
    if (serve->fd >= 0 && lstat(serve->config->socket, &file) == 0 && file.st_dev == serve->device &&
        file.st_ino == serve->inode)
        (void)unlink(serve->config->socket);
    if (serve->has_listener) uv_close((uv_handle_t *)&serve->listener, on_closed);
    serve_end_audit(serve);
    uv_close((uv_handle_t *)&serve->chores, on_closed);
    uv_close((uv_handle_t *)&serve->audit_timer, on_closed);
    uv_close((uv_handle_t *)&serve->watchdog, on_closed);
    uv_close((uv_handle_t *)&serve->after_polling, on_closed);
    uv_close((uv_handle_t *)&serve->go_on, on_closed);
    free(serve->observers);
    serve->observers = NULL;
    users_free(&serve->users);
    if (serve->fd >= 0) close(serve->fd);
    if (serve->spare_fd >= 0) close(serve->spare_fd);
}
