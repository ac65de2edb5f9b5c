/*
 * The list of the namespace's Leases, and the watch that goes on from it: one stream for all groups. The server ends the stream
 * after WATCH_S, and the next one goes on from the last resourceVersion that was seen, which bookmarks keep young. If that is
 * forgotten by then (410), all is listed again. An account that may not list or watch polls.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log/log.h"
#include "engines/kubernetes/internal.h"

enum { LINE_MAX_BYTES = 4 << 20, WATCH_S = 20, WATCH_SLACK_S = 5, GONE = 410 };
static const uint64_t poll_every = 2 * NS_PER_S, list_again = 60 * NS_PER_S, pause_ns = NS_PER_S / 10;

/* ---- One Lease ---- */

static uint64_t version_of(const json_t *object)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(object, "metadata"), "resourceVersion"));
    return text ? strtoull(text, NULL, 10) : 0;
}

/* Groups are those that somebody here asked for, and Leases that are held and an Elector has held: others are none of ours, and Leases
 * of jobs that are over stay for ever. */
static struct object *object_named(struct kubernetes *k, const json_t *object)
{
    struct lease lease;
    const char *wrong;
    const char *name = json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
    struct host_group *group = name ? engine_known(k->engine, name) : NULL;
    if (!group && name && lease_read(object, &lease, &wrong) && lease.token && lease.holder[0])
        group = engine_meet(k->engine, name);
    return group ? kubernetes_object_of(k, group) : NULL;
}

/* ---- The list ---- */

static void take_list(struct kubernetes *k, const json_t *object)
{
    const json_t *item;
    size_t i;
    for (struct object *p = k->objects; p; p = p->next) p->is_listed = false;
    json_array_foreach(json_object_get(object, "items"), i, item)
    {
        struct object *p = object_named(k, item);
        if (!p) continue;
        p->is_listed = true;
        object_take(p, item, UINT64_MAX);
    }
    for (struct object *p = k->objects; p; p = p->next)
        if (!p->is_listed && p->exists) p->is_stale = true;
    k->watched_version = version_of(object);
    k->has_listed = true;
    k->may_not_watch = false;
    kubernetes_answered(k, NULL, VERB_LIST);
    for (struct object *p = k->objects; p; p = p->next)
        object_work(p, clock_boottime_ns(), false); /* to be seen first */
    engine_is_ready(k->engine);
}

/* Without the right to list or watch, candidates and those who look ask again and again instead. */
static void do_without_watch(struct kubernetes *k, const char *what)
{
    if (!k->has_said_so)
        log_event(LOG_WARN_LEVEL, NULL,
                  "no right to %s leases in namespace %s: polling instead. Bind a Role with list and watch",
                  what, k->namespace);
    k->may_not_watch = k->has_said_so = true;
    k->has_listed = false;
    k->list_not_before = clock_boottime_ns() + list_again;
    engine_hears_store(k->engine);
    engine_is_ready(k->engine);
}

void kubernetes_listed(struct kubernetes *k, const struct fetch_answer *answer, const json_t *object)
{
    const bool is_answered = answer->trouble == FETCH_ANSWERED;
    if (is_answered && answer->status == 200 && json_is_array(json_object_get(object, "items")))
        take_list(k, object);
    else if (is_answered && answer->status == 403)
        do_without_watch(k, "list");
    else if (is_answered && answer->status == 200)
        kubernetes_failed(k, NULL, &(struct fetch_answer){.trouble = FETCH_ANSWERED, .status = 404}, VERB_LIST,
                          NULL);
    else
        kubernetes_failed(k, NULL, answer, VERB_LIST, object);
}

/* ---- The watch ---- */

void kubernetes_stop_watch(struct kubernetes *k)
{
    fetch_cancel(k->watch);
    k->watch = NULL;
    k->line_size = 0;
    k->watch_not_before = clock_boottime_ns() + pause_ns;
}

static void list_anew(struct kubernetes *k)
{
    kubernetes_stop_watch(k);
    k->has_listed = false;
    k->list_not_before = clock_boottime_ns() + pause_ns;
    kubernetes_go_on(k);
}

static void take_change(struct kubernetes *k, const char *type, const json_t *object)
{
    struct object *p = strcmp(type, "BOOKMARK") == 0 ? NULL : object_named(k, object);
    const char *uid = json_string_value(json_object_get(json_object_get(object, "metadata"), "uid"));
    const uint64_t version = version_of(object);
    if (version > k->watched_version) k->watched_version = version;
    if (p && strcmp(type, "DELETED") == 0)
        p->is_stale = p->is_stale ||
                      (p->exists && uid && strcmp(uid, p->lease.uid) == 0); /* another may be there by now */
    else if (p)
        object_take(p, object, UINT64_MAX);
}

static void take_line(struct kubernetes *k, const char *line, size_t size)
{
    json_t *event = json_loadb(line, size, 0, NULL);
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *object = json_object_get(event, "object");
    if (type && strcmp(type, "ERROR") != 0 && json_is_object(object)) {
        take_change(k, type, object);
        kubernetes_answered(k, NULL, VERB_WATCH);
    } else {
        list_anew(k); /* 410, or nonsense: what is true now, a list says */
    }
    json_decref(event);
    kubernetes_go_on(k);
}

static bool keep(struct kubernetes *k, const char *bytes, size_t size)
{
    const size_t needed = k->line_size + size;
    if (needed > LINE_MAX_BYTES) return false;
    if (needed > k->line_room) {
        char *line = realloc(k->line, 2 * needed);
        if (!line) return false;
        k->line = line;
        k->line_room = 2 * needed;
    }
    memcpy(k->line + k->line_size, bytes, size);
    k->line_size = needed;
    return true;
}

static void on_bytes(void *context, int status, const char *bytes, size_t size)
{
    struct kubernetes *k = context;
    while (size) {
        const char *newline = status == 200 ? memchr(bytes, '\n', size) : NULL;
        const size_t part = newline ? (size_t)(newline - bytes) : size;
        if (!keep(k, bytes, part)) {
            list_anew(k);
            return;
        }
        if (!newline) return; /* of a refusal on_ended() makes something */
        const size_t line_size = k->line_size;
        k->line_size = 0;
        if (line_size) take_line(k, k->line, line_size);
        if (!k->watch) return; /* it was stopped */
        bytes += part + 1;
        size -= part + 1;
    }
}

static void on_ended(void *context, const struct fetch_answer *answer)
{
    struct kubernetes *k = context;
    const int status = answer->trouble == FETCH_ANSWERED ? answer->status : 0;
    json_t *refusal = status && status != 200 ? json_loadb(k->line, k->line_size, 0, NULL) : NULL;
    const bool was_cut = status == 0 && answer->status == 200; /* it had begun well */
    k->watch = NULL;
    kubernetes_stop_watch(k);
    if (status == GONE)
        list_anew(k);
    else if (status == 403)
        do_without_watch(k, "watch");
    else if (status != 200 && !was_cut)
        kubernetes_failed(k, NULL, answer, VERB_WATCH, refusal);
    json_decref(refusal);
    kubernetes_go_on(k);
}

static void watch(struct kubernetes *k, uint64_t now)
{
    char url[KUBERNETES_URL], query[160], room[CREDENTIALS_TOKEN_MAX + 32];
    const char *headers[KUBERNETES_HEADERS];
    snprintf(query, sizeof query,
             "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%" PRIu64, WATCH_S,
             k->watched_version);
    kubernetes_url(k, "", query, url);
    kubernetes_headers(k, false, room, headers);
    const struct fetch_request request = {.url = url,
                                          .headers = headers,
                                          .timeout_ms = (WATCH_S + WATCH_SLACK_S) * UINT64_C(1000),
                                          .connect_ms = k->timeout_ms,
                                          .context = k,
                                          .data = on_bytes,
                                          .done = on_ended};
    k->watch = fetch_begin(k->fetcher, &request);
    explicit_bzero(room, sizeof room);
    k->watch_began = now;
    k->watch_not_before = now + pause_ns;
}

/* Machines ask by themselves when they hear nothing. */
static void poll_for_those_who_look(struct kubernetes *k, uint64_t now)
{
    kubernetes_go_on_in(k, poll_every / NS_PER_MS);
    if (now - k->polled_ns < poll_every) return;
    k->polled_ns = now;
    for (struct object *p = k->objects; p; p = p->next)
        if (!engine_group_stands(p->group)) p->is_wanted = true;
}

void kubernetes_pump_watch(struct kubernetes *k, uint64_t now)
{
    if (k->may_not_watch) poll_for_those_who_look(k, now);
    if (!k->has_listed) {
        if (!k->list && now >= k->list_not_before) (void)kubernetes_list(k);
        if (!k->list)
            kubernetes_go_on_in(k, k->list_not_before > now ? (k->list_not_before - now) / NS_PER_MS + 1 : 100);
    } else if (!k->watch && now >= k->watch_not_before) {
        watch(k, now);
    } else if (!k->watch) {
        kubernetes_go_on_in(k, (k->watch_not_before - now) / NS_PER_MS + 1);
    }
}
