/* See internal.h. Opens, closes, and takes what the frame asks for; the work is done from the pump. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/registry.h"
#include "base/clock.h"
#include "engines/etcd/internal.h"

enum { PUMP_EVERY_MS = 1000, TIMEOUT_LEAST_MS = 200 };

/* ---- The pump ---- */

static void on_pump(uv_timer_t *timer)
{
    struct etcd *etcd = timer->data;
    const uint64_t now = clock_boottime_ns();
    uv_timer_start(timer, on_pump, PUMP_EVERY_MS, 0);
    if (etcd->is_leaving) {
        if (etcd_may_call(etcd)) etcd_revoke(etcd);
        return;
    }
    etcd_pump_queues(etcd);
    if (!etcd_may_call(etcd)) return;
    etcd_pump_watch(etcd, now);
    etcd_pump_lease(etcd, now);
    etcd_pump_txns(etcd);
}

void etcd_go_on(struct etcd *etcd)
{
    if (!etcd->is_closing) uv_timer_start(&etcd->pump, on_pump, 0, 0);
}

void etcd_go_on_in(struct etcd *etcd, uint64_t ms)
{
    if (etcd->is_closing || uv_timer_get_due_in(&etcd->pump) <= ms) return;
    uv_timer_start(&etcd->pump, on_pump, ms, 0);
}

/* ---- What the frame asks for ---- */

static void observe(void *opened, struct host_group *group)
{
    struct etcd *etcd = opened;
    if (!engine_group_data(group)) (void)etcd_make_group(etcd, group);
    etcd_go_on(etcd);
}

static void ask(void *opened, struct host_group *group, const struct el_msg *msg)
{
    struct etcd *etcd = opened;
    struct etcd_group *g = etcd_group_of(group);
    if (!g && !(g = etcd_make_group(etcd, group))) return; /* the machine asks again */
    g->incarnation = msg->extra[0];
    if (msg->kind == STORE_RENEW) {
        g->renewal = *msg;
        g->renewal_joined = false;
    } else {
        g->request = *msg;
        g->request_joined = false;
    }
    etcd_go_on(etcd);
}

static void withdraw(void *opened, struct host_group *group)
{
    struct etcd *etcd = opened;
    struct etcd_group *g = etcd_group_of(group);
    if (!g) return;
    g->request = g->renewal = (struct el_msg){0};
    g->watched = g->mine = g->session = 0;
    free(g->value);
    g->value = NULL;
    g->withdraws = g->has_key;
    etcd_go_on(etcd);
}

static void proclaim(void *opened, struct host_group *group, uint64_t token, const char *value)
{
    struct etcd_group *g = etcd_group_of(group);
    char *copy = g ? strdup(value) : NULL;
    if (!copy) return;
    free(g->value);
    g->value = copy;
    g->value_of = token;
    etcd_go_on(opened);
}

static bool forget(void *opened, struct host_group *group)
{
    const struct etcd_group *g = etcd_group_of(group);
    (void)opened;
    if (!g) return true;
    if (g->in_flight || g->withdraws || g->has_key || g->count || g->request.kind || g->renewal.kind ||
        g->is_news)
        return false;
    etcd_free_group(engine_group_data(group));
    engine_group_set_data(group, NULL);
    return true; /* its watch, if it has one of its own, ends with the stream: within 20 s */
}

static void leave(void *opened)
{
    struct etcd *etcd = opened;
    const enum etcd_lease lease = etcd->lease_state;
    etcd->is_leaving = true;
    etcd_cancel_calls(etcd);
    etcd_stop_watch(etcd);
    etcd_check_end(etcd);
    etcd->lease_state = lease; /* also one whose grant was not answered yet */
    etcd_revoke(etcd);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_etcd(void *opened)
{
    struct etcd *etcd = opened;
    etcd->is_closing = true;
    etcd_cancel_calls(etcd);
    etcd_stop_watch(etcd);
    etcd_check_end(etcd);
    for (struct host_group *group = engine_next_group(etcd->engine, NULL); group;
         group = engine_next_group(etcd->engine, group)) {
        struct etcd_group *g = engine_group_data(group);
        if (g) etcd_free_group(g);
        engine_group_set_data(group, NULL);
    }
    fetcher_free(etcd->fetcher);
    free(etcd->names);
    free(etcd->line);
    explicit_bzero(etcd->password, sizeof etcd->password);
    uv_close((uv_handle_t *)&etcd->pump, on_closed);
}

/* ---- Opening ---- */

static bool is_readable(const char *path, const char *what, char text[ENGINE_TEXT])
{
    if (!path || access(path, R_OK) == 0) return true;
    snprintf(text, ENGINE_TEXT, "cannot read %.200s, which %s names: %s", path, what, strerror(errno));
    return false;
}

static bool read_credentials(struct etcd *etcd, char text[ENGINE_TEXT])
{
    const struct engine_url *url = &etcd->url;
    const char *user = url_setting(url, "user", "ELECTOR_ETCD_USER"), *file = url_option(url, "password-file"),
               *password = url_setting(url, "", "ELECTOR_ETCD_PASSWORD");
    etcd->tls.ca = url_setting(url, "ca", "ELECTOR_ETCD_CA");
    etcd->tls.certificate = url_setting(url, "cert", "ELECTOR_ETCD_CERT");
    etcd->tls.key = url_setting(url, "key", "ELECTOR_ETCD_KEY");
    const bool has_tls = etcd->tls.ca || etcd->tls.certificate || etcd->tls.key;
    if (has_tls && strcmp(url->scheme, "etcds") != 0) {
        snprintf(text, ENGINE_TEXT, "%.160s: ca, cert and key are for TLS: etcds://", url->text);
        return false;
    }
    if (!etcd->tls.certificate != !etcd->tls.key) {
        snprintf(text, ENGINE_TEXT, "%.160s: cert and key belong together", url->text);
        return false;
    }
    if (!is_readable(etcd->tls.ca, "ca", text) || !is_readable(etcd->tls.certificate, "cert", text) ||
        !is_readable(etcd->tls.key, "key", text))
        return false;
    if (!user) return true;
    snprintf(etcd->user, sizeof etcd->user, "%s", user);
    if (file) return url_read_secret(file, etcd->password, sizeof etcd->password, text);
    if (password) snprintf(etcd->password, sizeof etcd->password, "%s", password);
    if (password) return true;
    snprintf(
        text, ENGINE_TEXT,
        "user %.60s needs a password: password-file=FILE in the URL, or ELECTOR_ETCD_PASSWORD in the environment",
        user);
    return false;
}

static bool set_up(struct etcd *etcd, char text[ENGINE_TEXT])
{
    const struct engine_url *url = &etcd->url;
    const uint64_t ttl_ms = engine_ttl(etcd->engine) / NS_PER_MS;
    const size_t length = strlen(url->path);
    if (url->host_count == 0) {
        snprintf(text, ENGINE_TEXT, "%.160s: it names no host: %s://HOST:PORT,HOST:PORT/PREFIX", url->text,
                 url->scheme);
        return false;
    }
    if (length + 2 > sizeof etcd->prefix) {
        snprintf(text, ENGINE_TEXT, "%.160s: a prefix has at most %zu bytes", url->text,
                 sizeof etcd->prefix - 2);
        return false;
    }
    snprintf(etcd->prefix, sizeof etcd->prefix, "%s%s", url->path,
             length && url->path[length - 1] != '/' ? "/" : "");
    etcd->timeout_ms = ttl_ms / 6 > TIMEOUT_LEAST_MS ? ttl_ms / 6 : TIMEOUT_LEAST_MS;
    etcd_bound_failover(etcd, engine_ttl(etcd->engine) / NS_PER_S);
    etcd->beat_every = engine_ttl(etcd->engine) / 25;
    return read_credentials(etcd, text);
}

static bool open_etcd(struct engine *engine, const struct engine_url *url, void **opened,
                      char text[ENGINE_TEXT])
{
    struct etcd *etcd = calloc(1, sizeof *etcd);
    snprintf(text, ENGINE_TEXT, "out of memory");
    if (!etcd) return false;
    etcd->engine = engine;
    if (!url_parse(&etcd->url, url->text, store_etcd.port, text) || !set_up(etcd, text)) {
        free(etcd);
        return false;
    }
    etcd->fetcher = fetcher_new(engine_loop(engine), &etcd->tls);
    if (!etcd->fetcher) {
        free(etcd);
        return false;
    }
    uv_timer_init(engine_loop(engine), &etcd->pump);
    etcd->pump.data = etcd;
    *opened = etcd;
    etcd_go_on(etcd);
    return true;
}

static const char *const options[] = {"ca", "cert", "key", "user", "password-file", NULL};
static const char *const lacks[][2] = {
    {"transfer", "etcd has no transfer to a named candidate: resign, and the next in the queue leads"},
    {"priority", "etcd has no priorities: who stands first leads first; leave the priority out"},
    {"members", "etcd keeps no members of this kind: `elector status` names the candidates of each group"},
    {"history", "etcd keeps no history of who led; `etcdctl watch --prefix` shows changes as they come"},
    {"why", "etcd keeps no history of who led, and why that changed"},
    {"forget", "etcd lists no group that nobody stands for: there is nothing to forget"},
    {NULL, NULL}};

const struct store_kind store_etcd = {
    .name = "etcd",
    .schemes = {"etcd", "etcds"},
    .port = 2379,
    .options = options,
    .algorithm = &el_etcd_election,
    .removed = "removed: our key in etcd is gone: somebody deleted it, or revoked its lease",
    .lacks = lacks,
    .open = open_etcd,
    .leave = leave,
    .close = close_etcd,
    .observe = observe,
    .ask = ask,
    .withdraw = withdraw,
    .proclaim = proclaim,
    .forget = forget,
    .check = etcd_check};
