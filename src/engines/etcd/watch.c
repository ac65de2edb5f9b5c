/*
 * The first look, and the watch. With a prefix both are about all groups below it. Without one, each group is read when
 * somebody asks for it, and is one of many watches on one stream.
 *
 * An idle watch says nothing, even if its server is cut off from the others. So a read asks the same server now and then, and the
 * stream begins anew after a while, and whenever the server in use is left; nothing is missed, since it goes on from the last
 * revision that was seen.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log/log.h"
#include "engines/etcd/internal.h"

enum { LINE_MAX_BYTES = 16 << 20 };
static const uint64_t renew_after = 20 * NS_PER_S;

/* ---- The first look ---- */

static void own_folder(const struct etcd *etcd, char folder[ETCD_KEY_MAX])
{
    snprintf(folder, ETCD_KEY_MAX, "%selector/", etcd->prefix);
}

static void on_looked(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                      int code, const char *message)
{
    (void)context;
    etcd->looks = false;
    if (outcome == ETCD_REFUSED) (void)etcd_refused(etcd, etcd->at, code, message);
    if (outcome == ETCD_DONE) {
        etcd->has_looked = etcd->watch_is_old = true;
        etcd_take_all(etcd, json_object_get(answer, "kvs"),
                      etcd_number(json_object_get(answer, "header"), "revision"));
        engine_trouble_is_over(etcd->engine);
        engine_is_ready(etcd->engine);
    }
    etcd_go_on(etcd);
}

static void look(struct etcd *etcd)
{
    char folder[ETCD_KEY_MAX];
    own_folder(etcd, folder);
    etcd->looks =
        etcd_call(etcd, "/v3/kv/range", etcd_range(etcd->prefix[0] ? etcd->prefix : folder), NULL, on_looked);
}

/* ---- The watch ---- */

void etcd_stop_watch(struct etcd *etcd)
{
    fetch_cancel(etcd->watch);
    etcd->watch = NULL;
    etcd->line_size = 0;
    etcd->watch_is_old = true;
}

/* All is read again: the store forgot what was between, or told more at once than there is room for. */
static void look_anew(struct etcd *etcd)
{
    etcd_stop_watch(etcd);
    etcd->has_looked = false;
    etcd_go_on(etcd);
}

static void take_line(struct etcd *etcd, const char *line, size_t size)
{
    json_t *object = json_loadb(line, size, 0, NULL);
    etcd->watch_spoke = true;
    const json_t *result = json_object_get(object, "result"), *event;
    size_t i;
    const json_t *error = json_object_get(object, "error");
    if (json_is_true(json_object_get(result, "canceled")) || error) {
        const bool is_compacted = etcd_number(result, "compact_revision") != 0;
        const json_t *reason = json_object_get(result, "cancel_reason");
        const char *why = json_is_string(reason) ? json_string_value(reason) : "";
        if (*why && !is_compacted)
            (void)etcd_refused(etcd, etcd->at, strstr(why, "PermissionDenied") ? 7 : 0, why);
        etcd_stop_watch(etcd);
        etcd->watch_not_before = clock_boottime_ns() + NS_PER_S / 10;
        if (is_compacted) {
            log_event(LOG_INFO_LEVEL, NULL,
                      "etcd has compacted what the watch has not seen: reading all keys again");
            look_anew(etcd);
        }
    } else if (result) {
        json_array_foreach(json_object_get(result, "events"), i, event)
        {
            etcd_take_event(etcd, event);
        }
    }
    json_decref(object);
    etcd_go_on(etcd);
}

static bool keep(struct etcd *etcd, const char *bytes, size_t size)
{
    const size_t needed = etcd->line_size + size;
    if (needed > LINE_MAX_BYTES) return false;
    if (needed > etcd->line_room) {
        char *line = realloc(etcd->line, 2 * needed);
        if (!line) return false;
        etcd->line = line;
        etcd->line_room = 2 * needed;
    }
    memcpy(etcd->line + etcd->line_size, bytes, size);
    etcd->line_size = needed;
    return true;
}

static void on_bytes(void *context, int status, const char *bytes, size_t size)
{
    struct etcd *etcd = context;
    (void)status;
    while (size) {
        const char *newline = memchr(bytes, '\n', size);
        const size_t part = newline ? (size_t)(newline - bytes) : size;
        if (!keep(etcd, bytes, part)) {
            look_anew(etcd);
            return;
        }
        if (!newline) return;
        const size_t line_size = etcd->line_size;
        etcd->line_size = 0;
        take_line(etcd, etcd->line, line_size);
        if (!etcd->watch) return; /* it was stopped */
        bytes += part + 1;
        size -= part + 1;
    }
}

static void on_ended(void *context, const struct fetch_answer *answer)
{
    struct etcd *etcd = context;
    const uint32_t server = etcd->at;
    const bool is_failure = answer->trouble != FETCH_ANSWERED;
    etcd->watch = NULL;
    etcd_stop_watch(etcd);
    if (is_failure)
        etcd_server_failed(etcd, server, answer);
    else
        etcd->watch_not_before = clock_boottime_ns() + NS_PER_S / 10;
    if (answer->status == 401 || !etcd->watch_spoke)
        etcd->token[0] = '\0'; /* so ends a watch with an old token */
    etcd_go_on(etcd);
}

/* Appends a watch of a folder from this revision on. */
static void add(char **body, size_t *size, const char *folder, uint64_t revision)
{
    char start[24];
    snprintf(start, sizeof start, "%" PRIu64, revision + 1);
    json_t *range = etcd_range(folder);
    json_object_del(range, "sort_order");
    json_object_del(range, "sort_target");
    if (range) json_object_set_new(range, "start_revision", json_string(start));
    json_t *request = json_pack("{so}", "create_request", range);
    char *text = request ? json_dumps(request, JSON_COMPACT) : NULL, *grown;
    const size_t length = text ? strlen(text) : 0;
    if (text && (grown = realloc(*body, *size + length + 2)) != NULL) {
        *body = grown;
        memcpy(grown + *size, text, length);
        grown[*size + length] = '\n';
        grown[*size + length + 1] = '\0';
        *size += length + 1;
    }
    free(text);
    json_decref(request);
}

static void watch(struct etcd *etcd, uint64_t now)
{
    char url[512], room[1100], folder[ETCD_KEY_MAX], *body = NULL;
    const char *headers[3];
    size_t size = 0;
    own_folder(etcd, folder);
    add(&body, &size, etcd->prefix[0] ? etcd->prefix : folder, etcd->revision);
    for (struct etcd_group *g = etcd_next(etcd, NULL); g && !etcd->prefix[0]; g = etcd_next(etcd, g))
        if (g->is_known) add(&body, &size, g->folder, g->seen);
    etcd_write_url(etcd, "/v3/watch", url, sizeof url);
    etcd_headers(etcd, room, headers);
    const struct fetch_request request = {.url = url,
                                          .body = body,
                                          .size = size,
                                          .headers = headers,
                                          .connect_ms = etcd->timeout_ms,
                                          .context = etcd,
                                          .data = on_bytes,
                                          .done = on_ended};
    etcd->watch = body ? fetch_begin(etcd->fetcher, &request) : NULL;
    etcd->watch_began = now;
    etcd->watch_spoke = false;
    etcd->watch_is_old = etcd->watch == NULL;
    free(body);
}

static void on_probed(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                      int code, const char *message)
{
    (void)context, (void)answer;
    etcd->probes = false;
    if (outcome == ETCD_REFUSED) (void)etcd_refused(etcd, etcd->at, code, message);
}

/*
 * A server that cannot hear its leader may still pass keep-alives on to it, and its watch is silent for ever. A read it can
 * answer only after it has caught up with the leader; if it does not, etcd_call() leaves it, and the watch with it.
 */
static void probe(struct etcd *etcd, uint64_t now)
{
    char folder[ETCD_KEY_MAX];
    if (etcd->probes || now - etcd->probed < engine_ttl(etcd->engine) / 3) return;
    own_folder(etcd, folder);
    json_t *range = etcd_range(folder);
    if (range) json_object_set_new(range, "count_only", json_true());
    etcd->probed = now;
    etcd->probes = etcd_call(etcd, "/v3/kv/range", range, NULL, on_probed);
}

void etcd_pump_watch(struct etcd *etcd, uint64_t now)
{
    if (!etcd->has_looked) {
        if (!etcd->looks) look(etcd);
        return;
    }
    probe(etcd, now);
    if (etcd->watch && !etcd->watch_is_old && now - etcd->watch_began >= renew_after) etcd->watch_is_old = true;
    if (etcd->watch_is_old && now < etcd->watch_not_before) {
        etcd_go_on_in(etcd, (etcd->watch_not_before - now) / NS_PER_MS + 1);
    } else if (etcd->watch_is_old) {
        etcd_stop_watch(etcd);
        watch(etcd, now);
    }
}
