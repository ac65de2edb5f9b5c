/* Calls to the API server: one at a time for each group, a bounded number in all, and a pause after failures. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/clock.h"
#include "engines/kubernetes/internal.h"

enum { PAUSE_MS = 100, REFUSED_MS = 1000, PAUSE_MAX_MS = 2000, RETRY_AFTER_MAX_S = 60, TEXT_MAX = 220 };
static const char *const verbs[] = {"get", "create", "update", "list", "watch"};
static const char api[] = "/apis/coordination.k8s.io/v1/namespaces/";

/* ---- What is sent ---- */

void kubernetes_url(const struct kubernetes *k, const char *name, const char *query, char url[KUBERNETES_URL])
{
    snprintf(url, KUBERNETES_URL, "%s%s%s/leases%s%s%s", k->credentials.config.server, api, k->namespace,
             *name ? "/" : "", name, query);
}

void kubernetes_headers(const struct kubernetes *k, bool has_body, char room[CREDENTIALS_TOKEN_MAX + 32],
                        const char *headers[KUBERNETES_HEADERS])
{
    size_t count = 0;
    headers[count++] = "Accept: application/json";
    headers[count++] = "User-Agent: elector-engine";
    if (has_body) headers[count++] = "Content-Type: application/json";
    if (k->credentials.token[0]) {
        snprintf(room, CREDENTIALS_TOKEN_MAX + 32, "Authorization: Bearer %s", k->credentials.token);
        headers[count++] = room;
    }
    headers[count] = NULL;
}

/* ---- Pauses ---- */

bool kubernetes_may_call(struct kubernetes *k, uint64_t now)
{
    (void)credentials_refresh(&k->credentials, now);
    if (now >= k->not_before) return true;
    kubernetes_go_on_in(k, (k->not_before - now) / NS_PER_MS + 1);
    return false;
}

/* Many candidates meet the same outage: they do not come back in the same millisecond. */
static void pause_calls(struct kubernetes *k, uint64_t least_ms)
{
    uint64_t ms = (uint64_t)PAUSE_MS << (k->failures < 5 ? k->failures : 5);
    if (ms > PAUSE_MAX_MS) ms = PAUSE_MAX_MS;
    ms = ms / 2 + randombytes_uniform((uint32_t)ms);
    if (ms < least_ms) ms = least_ms;
    const uint64_t until = clock_boottime_ns() + ms * NS_PER_MS;
    if (until > k->not_before) k->not_before = until;
    k->failures++;
    kubernetes_go_on_in(k, ms);
}

/* A right that is missing stays missing while other calls succeed: people are told once. */
void kubernetes_answered(struct kubernetes *k, const struct object *p, enum verb verb)
{
    engine_hears_store(k->engine);
    k->failures = 0;
    if (k->has_failed && k->has_refused && (k->failed != verb || k->failed_of != p)) return;
    k->has_failed = false;
    engine_trouble_is_over(k->engine);
}

/* ---- What is said ---- */

static void say_unreached(const struct kubernetes *k, const struct fetch_answer *answer)
{
    const char *hint = "";
    const char *text = answer->text;
    switch (answer->trouble) {
    case FETCH_UNREACHABLE: hint = "; is it running, and does the address come from the right context?"; break;
    case FETCH_LATE: text = "no answer in time; is it overloaded, frozen, or cut off?"; break;
    case FETCH_UNTRUSTED: hint = "; mend the certificates that it and we use"; break;
    default: break;
    }
    engine_trouble(k->engine, "cannot use the API server %.160s: %.300s%s (from %.100s)",
                   k->credentials.config.server, text, hint, k->credentials.source);
}

static void say_refused(const struct kubernetes *k, int status, enum verb verb, const char *message)
{
    const char *server = k->credentials.config.server;
    if (status == 401)
        engine_trouble(
            k->engine,
            "the API server %.160s does not accept our credentials (401): renew those that %.160s names",
            server, k->credentials.source);
    else if (status == 403)
        engine_trouble(
            k->engine,
            "no right to %s leases in namespace %s (403): bind a Role with get, list, watch, create and update "
            "of leases in coordination.k8s.io (%.*s)",
            verbs[verb], k->namespace, TEXT_MAX, message);
    else if (status == 404 && verb == VERB_CREATE)
        engine_trouble(k->engine,
                       "namespace %s does not exist: `kubectl create namespace %s`, or another in the URL",
                       k->namespace, k->namespace);
    else if (status == 404)
        engine_trouble(
            k->engine,
            "the server %.160s has no leases of coordination.k8s.io/v1: it is no Kubernetes of version 1.14 or later",
            server);
    else if (status == 422 || status == 400)
        engine_trouble(k->engine, "the API server refuses to %s the Lease (%d): %.*s; mend or delete it",
                       verbs[verb], status, TEXT_MAX, message);
    else if (status == 429)
        engine_trouble(k->engine,
                       "the API server is busy (429), and asks us to wait: renewals may come too late");
    else if (status >= 500)
        engine_trouble(k->engine, "the API server fails to %s leases (%d): %.*s; trying again", verbs[verb],
                       status, TEXT_MAX, message);
    else
        engine_trouble(k->engine, "the API server answers %d when asked to %s leases: %.*s", status,
                       verbs[verb], TEXT_MAX, message);
}

/* Refused because of this object, or of rights that may be for single objects: others need not wait. */
static bool concerns_one(const struct fetch_answer *answer)
{
    const int status = answer->trouble == FETCH_ANSWERED ? answer->status : 0;
    return status >= 400 && status < 500 && status != 401 && status != 408 && status != 429;
}

void kubernetes_failed(struct kubernetes *k, struct object *p, const struct fetch_answer *answer,
                       enum verb verb, const json_t *body)
{
    const char *message = json_string_value(json_object_get(body, "message"));
    const uint32_t wait_s =
        answer->retry_after_s < RETRY_AFTER_MAX_S ? answer->retry_after_s : RETRY_AFTER_MAX_S;
    if (answer->trouble == FETCH_ANSWERED && answer->status == 401 && credentials_refresh(&k->credentials, 0)) {
        kubernetes_go_on(k); /* the token was replaced meanwhile */
        return;
    }
    if (answer->trouble != FETCH_ANSWERED)
        say_unreached(k, answer);
    else
        say_refused(k, answer->status, verb, message ? message : "it says no more");
    k->has_failed = true;
    k->has_refused = answer->trouble == FETCH_ANSWERED;
    k->failed = verb;
    k->failed_of = p;
    if (p && concerns_one(answer))
        p->not_before = clock_boottime_ns() + REFUSED_MS * NS_PER_MS;
    else
        pause_calls(k, wait_s * UINT64_C(1000));
}

/* ---- A call of a group ---- */

static void end_call(struct call *call)
{
    struct kubernetes *k = call->k;
    if (call->of) call->of->call = NULL;
    if (k->list == call) k->list = NULL;
    k->flights--;
    free(call);
}

void kubernetes_cancel(struct call *call)
{
    if (!call) return;
    fetch_cancel(call->fetch);
    end_call(call);
}

/* 409 and 404 say that the Lease is not what it was: it is read again. So it is after a write that failed and may have taken place. */
static void land(const struct call *call, const struct fetch_answer *answer, const json_t *body)
{
    struct object *p = call->of;
    struct kubernetes *k = call->k;
    const int status = answer->trouble == FETCH_ANSWERED ? answer->status : 0;
    const json_t *details = json_object_get(body, "details");
    const char *kind = json_string_value(json_object_get(details, "kind"));
    const bool is_missing = status == 404 && call->verb != VERB_CREATE && kind && strcmp(kind, "leases") == 0;
    if (status == 200 || status == 201 || is_missing || status == 409) kubernetes_answered(k, p, call->verb);
    if (is_missing) {
        object_take_missing(p, call->version);
    } else if (status == 409) {
        if (p->conflicted == p->version) p->not_before = clock_boottime_ns() + PAUSE_MS * NS_PER_MS;
        p->conflicted = p->version; /* a second refusal of the same version is no race */
        p->is_stale = true;
    } else if ((status == 200 || status == 201) && call->verb == VERB_GET) {
        object_take(p, body, call->version);
    } else if (status == 200 || status == 201) {
        object_saved(p, call, body);
    } else {
        const bool may_have_written = call->verb != VERB_GET && (status == 0 || status >= 500);
        p->is_stale = p->is_stale || may_have_written;
        kubernetes_failed(k, p, answer, call->verb, body);
    }
}

static void on_done(void *context, const struct fetch_answer *answer)
{
    struct call *call = context;
    struct kubernetes *k = call->k;
    const struct call mine = *call;
    json_t *body = answer->trouble == FETCH_ANSWERED ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    /* Of calls that were under way together, one has found the token replaced; it is asked again with the new one. */
    const bool had_earlier_token = answer->trouble == FETCH_ANSWERED && answer->status == 401 &&
                                   mine.token_number != k->credentials.token_number;
    end_call(call);
    if (had_earlier_token)
        ;
    else if (mine.of)
        land(&mine, answer, body);
    else
        kubernetes_listed(k, answer, body);
    json_decref(body);
    kubernetes_go_on(k);
}

static struct call *begin(struct kubernetes *k, const struct call *model, const char *name, json_t *body)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "GET", "GET"};
    char url[KUBERNETES_URL], room[CREDENTIALS_TOKEN_MAX + 32];
    const char *headers[KUBERNETES_HEADERS];
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    struct call *call = calloc(1, sizeof *call);
    const bool lacks_body = body && !text;
    json_decref(body);
    if (call && !lacks_body) {
        *call = *model;
        call->k = k;
        call->token_number = k->credentials.token_number;
        kubernetes_url(k, name, "", url);
        kubernetes_headers(k, text, room, headers);
        const struct fetch_request request = {.method = methods[call->verb],
                                              .url = url,
                                              .body = text,
                                              .size = text ? strlen(text) : 0,
                                              .headers = headers,
                                              .timeout_ms = k->timeout_ms,
                                              .context = call,
                                              .done = on_done};
        call->fetch = fetch_begin(k->fetcher, &request);
        explicit_bzero(room, sizeof room);
    }
    free(text);
    if (call && call->fetch) {
        k->flights++;
        return call;
    }
    free(call);
    kubernetes_go_on_in(k, PAUSE_MS); /* out of memory: later */
    return NULL;
}

bool kubernetes_call(struct object *p, const struct call *model, json_t *body)
{
    const bool needs_body = model->verb == VERB_CREATE || model->verb == VERB_UPDATE;
    struct call with = *model;
    with.of = p;
    with.version = p->version;
    if (needs_body && !body) {
        kubernetes_go_on_in(p->k, PAUSE_MS);
        return false;
    }
    p->call = begin(p->k, &with, model->verb == VERB_CREATE ? "" : engine_group_name(p->group), body);
    return p->call != NULL;
}

bool kubernetes_list(struct kubernetes *k)
{
    k->list = begin(k, &(struct call){.verb = VERB_LIST}, "", NULL);
    return k->list != NULL;
}
