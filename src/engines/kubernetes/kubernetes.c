/* See internal.h. Opens, closes, and takes what the frame asks for; the work is done from the pump. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "algorithms/registry.h"
#include "base/clock.h"
#include "engines/kubernetes/internal.h"

enum { PUMP_EVERY_MS = 1000, TIMEOUT_LEAST_MS = 400, UUID_BYTES = 16 };

/* ---- Groups ---- */

struct object *kubernetes_object_of(struct kubernetes *k, struct host_group *group)
{
    struct object *p = engine_group_data(group);
    if (p) return p;
    if (!lease_is_name(engine_group_name(group))) {
        engine_trouble(
            k->engine,
            "the group '%.100s' cannot be elected on Kubernetes: the name of a Lease has lower-case letters, digits, "
            "and between them '-' and '.'",
            engine_group_name(group));
        return NULL;
    }
    p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->k = k;
    p->group = group;
    p->next = k->objects;
    p->is_wanted = true;
    k->objects = p;
    engine_group_set_data(group, p);
    return p;
}

/* ---- The pump ---- */

static bool has_left(const struct kubernetes *k)
{
    for (const struct object *p = k->objects; p; p = p->next)
        if (p->withdraws || p->call) return false;
    return true;
}

static void on_pump(uv_timer_t *timer)
{
    struct kubernetes *k = timer->data;
    const uint64_t now = clock_boottime_ns();
    uv_timer_start(timer, on_pump, PUMP_EVERY_MS, 0);
    if (k->is_leaving && has_left(k)) {
        engine_has_left(k->engine);
        return;
    }
    const bool may_call = kubernetes_may_call(k, now);
    if (may_call && !k->is_leaving) kubernetes_pump_watch(k, now);
    if (may_call && k->stands && !k->has_reviewed) kubernetes_review(k);
    for (struct object *p = k->objects; p; p = p->next) {
        object_settle_age(p, now);
        object_work(p, now, may_call);
    }
}

void kubernetes_go_on(struct kubernetes *k)
{
    if (!k->is_closing) uv_timer_start(&k->pump, on_pump, 0, 0);
}

void kubernetes_go_on_in(struct kubernetes *k, uint64_t ms)
{
    if (k->is_closing || uv_timer_get_due_in(&k->pump) <= ms) return;
    uv_timer_start(&k->pump, on_pump, ms, 0);
}

/* ---- What the frame asks for ---- */

static void observe(void *opened, struct host_group *group)
{
    if (kubernetes_object_of(opened, group)) kubernetes_go_on(opened);
}

/* Whether a write that nobody waits for any more took place, a look will say. */
static void ask(void *opened, struct host_group *group, const struct el_msg *msg)
{
    struct object *p = kubernetes_object_of(opened, group);
    if (!p) return; /* the machine asks again */
    if (p->call && (p->call->is_request || p->call->verb == VERB_GET)) {
        p->is_stale = p->is_stale || p->call->verb == VERB_UPDATE;
        kubernetes_cancel(p->call);
    }
    p->request = *msg;
    p->k->stands = true;
    kubernetes_go_on(opened);
}

static void withdraw(void *opened, struct host_group *group)
{
    struct object *p = engine_group_data(group);
    if (!p) return;
    p->request.kind = 0;
    free(p->value);
    p->value = NULL;
    p->withdraws = p->may_hold;
    kubernetes_go_on(opened);
}

static void proclaim(void *opened, struct host_group *group, uint64_t token, const char *value)
{
    struct object *p = engine_group_data(group);
    char *copy = p ? strdup(value) : NULL;
    if (!copy) return;
    free(p->value);
    p->value = copy;
    p->value_of = token;
    kubernetes_go_on(opened);
}

static bool forget(void *opened, struct host_group *group)
{
    struct kubernetes *k = opened;
    struct object *p = engine_group_data(group), **at = &k->objects;
    if (!p) return true;
    if (p->call || p->withdraws || p->request.kind || p->value || p->is_news) return false;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    if (k->failed_of == p) k->has_failed = false;
    object_free(p);
    engine_group_set_data(group, NULL);
    return true;
}

static void leave(void *opened)
{
    struct kubernetes *k = opened;
    k->is_leaving = true;
    k->not_before = 0;
    kubernetes_stop_watch(k);
    kubernetes_check_end(k);
    kubernetes_cancel(k->list);
    for (const struct object *p = k->objects; p; p = p->next)
        if (!p->withdraws) kubernetes_cancel(p->call);
    kubernetes_go_on(k);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void free_all(struct kubernetes *k)
{
    k->is_closing = true;
    kubernetes_cancel(k->list);
    fetch_cancel(k->watch);
    fetch_cancel(k->review);
    kubernetes_check_end(k);
    for (struct object *p = k->objects, *next; p; p = next) {
        next = p->next;
        engine_group_set_data(p->group, NULL);
        object_free(p);
    }
    fetcher_free(k->fetcher);
    credentials_close(&k->credentials);
    free(k->line);
}

static void close_kubernetes(void *opened)
{
    struct kubernetes *k = opened;
    free_all(k);
    uv_close((uv_handle_t *)&k->pump, on_closed);
}

/* ---- Opening ---- */

/* As client-go's programs do: a name for people, and what nobody else has. Ours begin with "elec", in hexadecimal digits. */
static void choose_identity(struct kubernetes *k)
{
    static const char mark[] = "elec";
    unsigned char bytes[UUID_BYTES];
    char hex[2 * UUID_BYTES + 1];
    randombytes_buf(bytes, sizeof bytes);
    for (size_t i = 0; mark[i]; i++) bytes[i] = (unsigned char)mark[i];
    sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
    snprintf(k->identity, sizeof k->identity, "%s_%.8s-%.4s-%.4s-%.4s-%s", engine_member(k->engine), hex,
             hex + 8, hex + 12, hex + 16, hex + 20);
}

static bool choose_namespace(struct kubernetes *k, const struct engine_url *url, char text[ENGINE_TEXT])
{
    const char *namespace = url->path;
    if (!*namespace) namespace = k->credentials.config.namespace;
    if (!namespace) namespace = "default";
    const size_t size = strlen(namespace);
    if (size <= KUBERNETES_NAMESPACE_MAX && !strchr(namespace, '.') && lease_is_name(namespace)) {
        snprintf(k->namespace, sizeof k->namespace, "%s", namespace);
        return true;
    }
    snprintf(text, ENGINE_TEXT,
             "%.160s: '%.100s' is no namespace: kubernetes:///NAMESPACE, of lower-case letters, digits and '-'",
             url->text, namespace);
    return false;
}

/* The machine's own options: how it waits for others is set with each answer, see object.c. */
static void set_times(struct kubernetes *k)
{
    const el_duration ttl = engine_ttl(k->engine);
    k->ttl_s = ttl / NS_PER_S;
    k->timeout_ms = ttl / NS_PER_MS / 5 > TIMEOUT_LEAST_MS ? ttl / NS_PER_MS / 5 : TIMEOUT_LEAST_MS;
    engine_set_time(k->engine, "lease", ttl);
    engine_set_time(k->engine, "deadline", engine_lease_within(k->engine, ttl));
    engine_set_time(k->engine, "retry", ttl / 5);
    engine_set_time(k->engine, "timeout", ttl / 4);
}

static bool set_up(struct kubernetes *k, const struct engine_url *url, char text[ENGINE_TEXT])
{
    if (url->host_count) {
        snprintf(
            text, ENGINE_TEXT,
            "%.160s: the API server comes from the pod or from a kubeconfig: kubernetes:///NAMESPACE, with three slashes",
            url->text);
        return false;
    }
    if (!credentials_open(&k->credentials, url, text) || !choose_namespace(k, url, text)) return false;
    const struct fetch_tls tls = credentials_tls(&k->credentials);
    set_times(k);
    choose_identity(k);
    k->fetcher = fetcher_new(engine_loop(k->engine), &tls);
    if (!k->fetcher) snprintf(text, ENGINE_TEXT, "out of memory");
    return k->fetcher != NULL;
}

static bool open_kubernetes(struct engine *engine, const struct engine_url *url, void **opened,
                            char text[ENGINE_TEXT])
{
    struct kubernetes *k = calloc(1, sizeof *k);
    snprintf(text, ENGINE_TEXT, "out of memory");
    if (!k) return false;
    k->engine = engine;
    if (!set_up(k, url, text)) {
        credentials_close(&k->credentials);
        free(k);
        return false;
    }
    uv_timer_init(engine_loop(engine), &k->pump);
    k->pump.data = k;
    *opened = k;
    kubernetes_go_on(k);
    return true;
}

static const char *const options[] = {"kubeconfig", "context", "serviceaccount", NULL};
static const char *const lacks[][2] = {
    {"transfer", "a Lease has no transfer to a named candidate: resign, and the first to write leads"},
    {"priority", "a Lease has no priorities: the first to write leads; leave the priority out"},
    {"members",
     "Kubernetes keeps no members of this kind: `elector status` names the candidates of each group"},
    {"history",
     "Kubernetes keeps no history of who led; `kubectl get lease --watch` shows changes as they come"},
    {"why", "Kubernetes keeps no history of who led, and why that changed"},
    {"forget", "a group is a Lease, which stays: `kubectl delete lease GROUP` when nobody stands for it"},
    {NULL, NULL}};

const struct store_kind store_kubernetes = {
    .name = "kubernetes",
    .schemes = {"kubernetes", ""},
    .usual_ttl = 15 * NS_PER_S,
    .options = options,
    .algorithm = &el_kubernetes_lease,
    .removed = "removed: our Lease is gone: somebody deleted it, or wrote another holder into it",
    .lacks = lacks,
    .open = open_kubernetes,
    .leave = leave,
    .close = close_kubernetes,
    .observe = observe,
    .ask = ask,
    .withdraw = withdraw,
    .proclaim = proclaim,
    .forget = forget,
    .check = kubernetes_check};
