/* Calls of etcd's JSON gateway: one server at a time, the next one if it fails. Defaults are left out of its answers. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engines/etcd/internal.h"

enum { PAUSE_MS = 100, PAUSE_MAX_MS = 1000, PATIENT_MS = 2000 };
enum { GRPC_INVALID = 3, GRPC_DENIED = 7, GRPC_UNAUTHENTICATED = 16 };

/* ---- Servers ---- */

const char *etcd_name_server(const struct etcd *etcd, uint32_t server, char text[300])
{
    const char *host = etcd->url.hosts[server];
    const bool is_v6 = strchr(host, ':') != NULL;
    snprintf(text, 300, "%s%.255s%s:%u", is_v6 ? "[" : "", host, is_v6 ? "]" : "", etcd->url.ports[server]);
    return text;
}

void etcd_write_url(const struct etcd *etcd, const char *path, char *url, size_t size)
{
    char server[300];
    snprintf(url, size, "http%s://%s%s", strcmp(etcd->url.scheme, "etcds") == 0 ? "s" : "",
             etcd_name_server(etcd, etcd->at, server), path);
}

void etcd_server_answered(struct etcd *etcd, uint32_t server)
{
    if (server != etcd->at) return;
    etcd->failures = 0;
    engine_hears_store(etcd->engine);
}

/* After every server has failed once, people are told; and calls pause. */
static void leave_server(struct etcd *etcd, uint32_t server)
{
    if (server != etcd->at) return; /* it was left before */
    etcd->at = (etcd->at + 1) % etcd->url.host_count;
    etcd->failures++;
    etcd_stop_watch(etcd);
    if (etcd->failures >= etcd->url.host_count) {
        const uint32_t rounds = etcd->failures / etcd->url.host_count;
        const uint64_t pause = rounds < 4 ? rounds * PAUSE_MS : 4 * PAUSE_MS;
        etcd->not_before = clock_boottime_ns() + pause * NS_PER_MS;
    }
    etcd_go_on(etcd);
}

static void say_failure(struct etcd *etcd, uint32_t server, const struct fetch_answer *answer)
{
    char name[300];
    const char *hint = "";
    const char *text = answer->text;
    etcd_name_server(etcd, server, name);
    switch (answer->trouble) {
    case FETCH_UNREACHABLE: hint = "; is it running, and is this its client port?"; break;
    case FETCH_LATE: text = "no answer in time; is it overloaded, frozen, or cut off from the others?"; break;
    case FETCH_UNTRUSTED: hint = "; name the right files with ca=, cert= and key="; break;
    default: break;
    }
    engine_trouble(etcd->engine, "cannot use etcd at %s: %.300s%s", name, text, hint);
}

void etcd_server_failed(struct etcd *etcd, uint32_t server, const struct fetch_answer *answer)
{
    if (server == etcd->at && etcd->failures + 1 >= etcd->url.host_count) say_failure(etcd, server, answer);
    leave_server(etcd, server);
}

/* ---- Refusals ---- */

static bool says(const char *message, const char *part)
{
    return strstr(message, part) != NULL;
}

static bool is_of_token(int code, const char *message)
{
    return code == GRPC_UNAUTHENTICATED || says(message, "invalid auth token") ||
           says(message, "revision of auth store is old"); /* JWT, after any change of rights */
}

bool etcd_refused(struct etcd *etcd, uint32_t server, int code, const char *message)
{
    char name[300];
    etcd_name_server(etcd, server, name);
    const bool is_stale = is_of_token(code, message);
    const bool is_fresh = clock_boottime_ns() - etcd->token_at < NS_PER_S;
    if (is_stale && etcd->token[0] && !is_fresh) {
        etcd->token[0] = '\0'; /* it has expired: ask for another */
        etcd_go_on(etcd);
        return true;
    }
    if (is_stale) etcd->token[0] = '\0';
    if (says(message, "user name is empty") || says(message, "authentication is not enabled"))
        engine_trouble(etcd->engine, "etcd at %s: %.120s; %s", name, message,
                       etcd->user[0] ? "leave user= out" : "give user= and password-file=");
    else if (says(message, "authentication failed"))
        engine_trouble(etcd->engine, "etcd at %s refuses user %.60s: wrong user or password; mend user=, or %s",
                       name, etcd->user,
                       url_option(&etcd->url, "password-file") ? "the file that password-file= names"
                                                               : "ELECTOR_ETCD_PASSWORD");
    else if (code == GRPC_DENIED)
        engine_trouble(
            etcd->engine,
            "etcd at %s: user %.60s may not read and write keys below '%.100s': grant the user a role with readwrite",
            name, etcd->user[0] ? etcd->user : "(none)", etcd->prefix);
    else if (says(message, "database space exceeded"))
        engine_trouble(etcd->engine,
                       "etcd at %s has no space left: compact and defragment it, then `etcdctl alarm disarm`",
                       name);
    else
        engine_trouble(etcd->engine, "etcd at %s: %.200s", name, message);
    etcd->not_before = clock_boottime_ns() + PAUSE_MAX_MS * NS_PER_MS;
    etcd_go_on_in(etcd, PAUSE_MAX_MS);
    return false;
}

/* ---- A call ---- */

static void discard(struct etcd_call *call)
{
    *(call->before ? &call->before->after : &call->etcd->calls) = call->after;
    if (call->after) call->after->before = call->before;
    free(call);
}

void etcd_cancel_calls(struct etcd *etcd)
{
    struct etcd_call *call;
    while ((call = etcd->calls) != NULL) {
        etcd->calls = call->after;
        if (call->after) call->after->before = NULL;
        fetch_cancel(call->fetch);
        call->done(etcd, call->context, ETCD_FAILED, NULL, 0, "");
        free(call);
    }
}

/* Other servers may do better: this one is not the leader and has none, or is stopping, or is slow. */
static bool is_of_server(int status, int code, const char *message)
{
    return status >= 500 || status == 0 || says(message, "timed out") || says(message, "no leader") ||
           code == 14 || code == 4;
}

/* Of calls that were under way together, one has told already that their token has expired. */
static bool had_earlier_token(const struct etcd_call *call)
{
    return call->token_at && (!call->etcd->token[0] || call->token_at != call->etcd->token_at);
}

static void on_done(void *context, const struct fetch_answer *answer)
{
    struct etcd_call *call = context;
    struct etcd *etcd = call->etcd;
    const uint32_t server = call->server;
    json_t *object = answer->trouble == FETCH_ANSWERED ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    const json_t *words = json_object_get(object, "error");
    const char *message = json_is_string(words) ? json_string_value(words) : "";
    const int code = (int)etcd_number(object, "code");
    struct etcd_call mine = *call;
    discard(call);
    if (answer->trouble == FETCH_ANSWERED && answer->status == 200 && json_is_object(object)) {
        etcd_server_answered(etcd, server);
        mine.done(etcd, mine.context, ETCD_DONE, object, 0, "");
    } else if (answer->trouble != FETCH_ANSWERED) {
        etcd_server_failed(etcd, server, answer);
        mine.done(etcd, mine.context, ETCD_FAILED, NULL, 0, "");
    } else if (!object || is_of_server(answer->status, code, message)) {
        char text[200];
        if (object)
            snprintf(text, sizeof text, "%.150s", message);
        else if (answer->size && strstr(answer->body, "HTTPS"))
            snprintf(text, sizeof text, "it speaks TLS: etcds://");
        else
            snprintf(text, sizeof text, "HTTP status %d; it is no etcd of version 3.4 or later",
                     answer->status);
        const struct fetch_answer worded = {.trouble = FETCH_UNUSABLE, .text = text};
        etcd_server_failed(etcd, server, &worded);
        mine.done(etcd, mine.context, ETCD_FAILED, NULL, 0, "");
    } else if (is_of_token(code, message) && had_earlier_token(&mine)) {
        etcd_server_answered(etcd, server);
        mine.done(etcd, mine.context, ETCD_FAILED, NULL, 0, "");
    } else {
        etcd_server_answered(etcd, server);
        mine.done(etcd, mine.context, ETCD_REFUSED, object, code, message);
    }
    json_decref(object);
}

void etcd_headers(const struct etcd *etcd, char room[1100], const char *headers[3])
{
    snprintf(room, 1100, "Authorization: %s", etcd->token);
    headers[0] = "Content-Type: application/json";
    headers[1] = etcd->token[0] ? room : NULL;
    headers[2] = NULL;
}

/* While nothing is at stake, a slow server has more time. A password is slow to check, on purpose. */
static uint64_t timeout_of(const struct etcd *etcd, const char *path)
{
    const bool is_patient = !etcd->has_looked || strcmp(path, "/v3/auth/authenticate") == 0;
    return is_patient && etcd->timeout_ms < PATIENT_MS ? PATIENT_MS : etcd->timeout_ms;
}

bool etcd_call(struct etcd *etcd, const char *path, json_t *body, void *context,
               void (*done)(struct etcd *, void *, enum etcd_outcome, const json_t *, int, const char *))
{
    char url[512], room[1100];
    const char *headers[3];
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    struct etcd_call *call = calloc(1, sizeof *call);
    json_decref(body);
    if (!text || !call) {
        free(text);
        free(call);
        return false;
    }
    *call = (struct etcd_call){.after = etcd->calls,
                               .etcd = etcd,
                               .server = etcd->at,
                               .token_at = etcd->token[0] ? etcd->token_at : 0,
                               .context = context,
                               .done = done};
    etcd_write_url(etcd, path, url, sizeof url);
    etcd_headers(etcd, room, headers);
    const struct fetch_request request = {.url = url,
                                          .body = text,
                                          .size = strlen(text),
                                          .headers = headers,
                                          .timeout_ms = timeout_of(etcd, path),
                                          .context = call,
                                          .done = on_done};
    call->fetch = fetch_begin(etcd->fetcher, &request);
    free(text);
    if (!call->fetch) {
        free(call);
        return false;
    }
    if (call->after) call->after->before = call;
    etcd->calls = call;
    return true;
}

/* ---- User and password ---- */

static void on_authenticated(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                             int code, const char *message)
{
    const json_t *token = json_object_get(answer, "token");
    (void)context;
    etcd->authenticates = false;
    if (outcome == ETCD_REFUSED)
        (void)etcd_refused(etcd, etcd->at, code == GRPC_UNAUTHENTICATED ? GRPC_INVALID : code, message);
    if (outcome == ETCD_DONE && json_is_string(token)) {
        snprintf(etcd->token, sizeof etcd->token, "%s", json_string_value(token));
        etcd->token_at = clock_boottime_ns();
    }
    etcd_go_on(etcd);
}

bool etcd_may_call(struct etcd *etcd)
{
    const uint64_t now = clock_boottime_ns();
    if (now < etcd->not_before) {
        etcd_go_on_in(etcd, (etcd->not_before - now) / NS_PER_MS + 1);
        return false;
    }
    if (!etcd->user[0] || etcd->token[0]) return true;
    if (etcd->authenticates) return false;
    etcd->authenticates =
        etcd_call(etcd, "/v3/auth/authenticate",
                  json_pack("{ss ss}", "name", etcd->user, "password", etcd->password), NULL, on_authenticated);
    return false;
}
