/*
 * What `elector doctor` wants to know of the API server: a question at a time. Rights are asked with SelfSubjectAccessReview, which every
 * account may do, one for each verb. Whether the namespace exists is seen from the creation of a Lease as a dry run, which writes
 * nothing: few accounts may read namespaces.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engines/fetch/certificate.h"
#include "engines/kubernetes/internal.h"

enum { PATIENT_MS = 2500, CLOCK_APART_S = 10, TEXT_MAX = 220 };

static const char *const verbs[] = {"get", "create", "update", "list", "watch"};
enum { VERBS = sizeof verbs / sizeof *verbs, NEEDED = 3 /* the first ones */ };

enum step { STEP_VERSION, STEP_API, STEP_RIGHTS, STEP_NAMESPACE = STEP_RIGHTS + VERBS, STEP_END };

struct kubernetes_check {
    struct kubernetes *k;
    struct fetch *fetch;
    unsigned step;
    bool is_denied[VERBS];
    bool has_answered, is_unsure; /* unsure: a review was not answered */
    char room[CREDENTIALS_TOKEN_MAX + 32];
};

void kubernetes_check_end(struct kubernetes *k)
{
    struct kubernetes_check *c = k->check;
    if (!c) return;
    k->check = NULL;
    fetch_cancel(c->fetch);
    explicit_bzero(c->room, sizeof c->room);
    free(c);
}

static void finish(struct kubernetes_check *c)
{
    struct kubernetes *k = c->k;
    kubernetes_check_end(k);
    engine_has_checked(k->engine);
}

/* ---- Questions ---- */

static json_t *review_of(const struct kubernetes *k, const char *verb)
{
    return json_pack("{ss ss s{s{ss ss ss ss}}}", "apiVersion", "authorization.k8s.io/v1", "kind",
                     "SelfSubjectAccessReview", "spec", "resourceAttributes", "namespace", k->namespace, "verb",
                     verb, "group", "coordination.k8s.io", "resource", "leases");
}

static json_t *lease_for_dry_run(const struct kubernetes *k)
{
    return json_pack("{ss ss s{ss ss} s{}}", "apiVersion", "coordination.k8s.io/v1", "kind", "Lease",
                     "metadata", "name", "elector-doctor", "namespace", k->namespace, "spec");
}

static void ask(struct kubernetes_check *c);
static void on_answer(void *context, const struct fetch_answer *answer);

static void question(const struct kubernetes_check *c, char url[KUBERNETES_URL], json_t **body)
{
    const struct kubernetes *k = c->k;
    const char *server = k->credentials.config.server;
    *body = NULL;
    if (c->step == STEP_VERSION) {
        snprintf(url, KUBERNETES_URL, "%s/version", server);
    } else if (c->step == STEP_API) {
        snprintf(url, KUBERNETES_URL, "%s/apis/coordination.k8s.io/v1", server);
    } else if (c->step < STEP_NAMESPACE) {
        snprintf(url, KUBERNETES_URL, "%s/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", server);
        *body = review_of(k, verbs[c->step - STEP_RIGHTS]);
    } else {
        kubernetes_url(k, "", "?dryRun=All", url);
        *body = lease_for_dry_run(k);
    }
}

static void ask(struct kubernetes_check *c)
{
    char url[KUBERNETES_URL];
    const char *headers[KUBERNETES_HEADERS];
    json_t *body;
    struct kubernetes *k = c->k;
    question(c, url, &body);
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    const bool has_body = body != NULL;
    json_decref(body);
    kubernetes_headers(k, has_body, c->room, headers);
    const struct fetch_request request = {.url = url,
                                          .body = text,
                                          .size = text ? strlen(text) : 0,
                                          .headers = headers,
                                          .timeout_ms = PATIENT_MS,
                                          .asks_certificate = c->step == STEP_VERSION,
                                          .context = c,
                                          .done = on_answer};
    c->fetch = has_body && !text ? NULL : fetch_begin(k->fetcher, &request);
    explicit_bzero(c->room, sizeof c->room);
    free(text);
    if (!c->fetch) finish(c);
}

/* ---- Answers ---- */

static void judge_clock(const struct kubernetes_check *c, int64_t theirs_s)
{
    const int64_t apart = theirs_s - (int64_t)(clock_wall_ns() / NS_PER_S);
    const int64_t far = apart < 0 ? -apart : apart;
    if (theirs_s == 0) return;
    if (far > CLOCK_APART_S)
        engine_found(c->k->engine, ENGINE_WARN, "clock",
                     "the API server's is %" PRId64
                     " s %s ours; leases do not mind, tokens and certificates do: set them",
                     far, apart < 0 ? "behind" : "ahead of");
    else
        engine_found(c->k->engine, ENGINE_FINE, "clock", "the API server's and ours differ by %" PRId64 " s",
                     far);
}

static void judge_server(struct kubernetes_check *c, const struct fetch_answer *answer, const json_t *body)
{
    const struct kubernetes *k = c->k;
    const char *server = k->credentials.config.server;
    const char *version = json_string_value(json_object_get(body, "gitVersion"));
    char whose[300];
    engine_found(k->engine, ENGINE_FINE, "server", "%.150s answers, Kubernetes %.40s (from %.150s)", server,
                 version ? version : "of a version that it does not tell us", k->credentials.source);
    judge_clock(c, answer->date_s);
    snprintf(whose, sizeof whose, "that of %.250s", server);
    engine_found_certificate(k->engine, whose, answer->certificate_end_s);
}

static bool is_unauthorized(const struct kubernetes_check *c, const struct fetch_answer *answer)
{
    if (answer->status != 401) return false;
    engine_found(c->k->engine, ENGINE_WRONG, "credentials", "not accepted (401): renew those that %.200s names",
                 c->k->credentials.source);
    return true;
}

static bool judge_api(const struct kubernetes_check *c, const struct fetch_answer *answer, const json_t *body)
{
    const json_t *resource;
    size_t i;
    bool has_leases = false;
    json_array_foreach(json_object_get(body, "resources"), i, resource)
    {
        const char *name = json_string_value(json_object_get(resource, "name"));
        has_leases = has_leases || (name && strcmp(name, "leases") == 0);
    }
    if (is_unauthorized(c, answer)) return false;
    if (has_leases)
        engine_found(c->k->engine, ENGINE_FINE, "api", "coordination.k8s.io/v1 has leases");
    else if (answer->status == 200 || answer->status == 404)
        engine_found(c->k->engine, ENGINE_WRONG, "api",
                     "no leases of coordination.k8s.io/v1: it is no Kubernetes of version 1.14 or later");
    else
        engine_found(c->k->engine, ENGINE_UNKNOWN, "api", "it answers %d when asked what it serves",
                     answer->status);
    return has_leases || (answer->status != 200 && answer->status != 404);
}

/* "create and update". */
static void list_denied(const struct kubernetes_check *c, unsigned from, unsigned to, char text[80])
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = from; i < to; i++)
        if (c->is_denied[i] && used < 80)
            used += (size_t)snprintf(text + used, 80 - used, "%s%s", used ? " and " : "", verbs[i]);
}

static void judge_rights(const struct kubernetes_check *c)
{
    const struct kubernetes *k = c->k;
    char needed[80], wanted[80];
    list_denied(c, 0, NEEDED, needed);
    list_denied(c, NEEDED, VERBS, wanted);
    if (c->is_unsure)
        engine_found(k->engine, ENGINE_UNKNOWN, "rights",
                     "the API server does not answer SelfSubjectAccessReview");
    if (needed[0])
        engine_found(
            k->engine, ENGINE_WRONG, "rights",
            "no right to %s leases in namespace %s: a candidate here cannot lead. Bind a Role with get, list, watch, "
            "create and update of leases in coordination.k8s.io",
            needed, k->namespace);
    if (wanted[0])
        engine_found(k->engine, ENGINE_WARN, "rights",
                     "no right to %s leases in namespace %s: candidates poll instead, and hear later", wanted,
                     k->namespace);
    if (!c->is_unsure && !needed[0] && !wanted[0])
        engine_found(k->engine, ENGINE_FINE, "rights",
                     "may get, create, update, list and watch leases in namespace %s", k->namespace);
}

static bool judge_right(struct kubernetes_check *c, const struct fetch_answer *answer, const json_t *body)
{
    const unsigned which = c->step - STEP_RIGHTS;
    const json_t *allowed = json_object_get(json_object_get(body, "status"), "allowed");
    if (is_unauthorized(c, answer)) return false;
    c->is_unsure = c->is_unsure || answer->status != 201 || !json_is_boolean(allowed);
    c->is_denied[which] = answer->status == 201 && json_is_false(allowed);
    if (which + 1 == VERBS) judge_rights(c);
    return true;
}

static void judge_namespace(const struct kubernetes_check *c, const struct fetch_answer *answer,
                            const json_t *body)
{
    struct engine *engine = c->k->engine;
    const char *namespace = c->k->namespace, *message = json_string_value(json_object_get(body, "message"));
    if (answer->status == 201 || answer->status == 409)
        engine_found(engine, ENGINE_FINE, "namespace", "%s takes Leases (asked as a dry run)", namespace);
    else if (answer->status == 404)
        engine_found(engine, ENGINE_WRONG, "namespace",
                     "%s does not exist: `kubectl create namespace %s`, or another in the URL", namespace,
                     namespace);
    else if (answer->status == 403 && c->is_denied[1])
        engine_found(engine, ENGINE_UNKNOWN, "namespace",
                     "%s: whether it exists is told only to those who may create", namespace);
    else
        engine_found(engine, ENGINE_WRONG, "namespace", "%s takes no Lease (%d): %.*s", namespace,
                     answer->status, TEXT_MAX, message ? message : "it says no more");
}

static bool judge(struct kubernetes_check *c, const struct fetch_answer *answer, const json_t *body)
{
    if (c->step == STEP_VERSION) judge_server(c, answer, body);
    if (c->step == STEP_API) return judge_api(c, answer, body);
    if (c->step >= STEP_RIGHTS && c->step < STEP_NAMESPACE) return judge_right(c, answer, body);
    if (c->step == STEP_NAMESPACE) judge_namespace(c, answer, body);
    return true;
}

static bool judge_silence(const struct kubernetes_check *c, const struct fetch_answer *answer)
{
    const char *hint = answer->trouble == FETCH_UNREACHABLE
                           ? "; is it running, and does the address come from the right context?"
                       : answer->trouble == FETCH_UNTRUSTED ? "; mend the certificates that it and we use"
                                                            : "";
    engine_found(c->k->engine, ENGINE_WRONG, "server", "%.150s: %.250s%s", c->k->credentials.config.server,
                 answer->trouble == FETCH_LATE ? "no answer in time; is it overloaded, frozen, or cut off?"
                                               : answer->text,
                 hint);
    return false;
}

static void on_answer(void *context, const struct fetch_answer *answer)
{
    struct kubernetes_check *c = context;
    const bool is_answered = answer->trouble == FETCH_ANSWERED;
    json_t *body = is_answered ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    c->fetch = NULL;
    const bool goes_on = is_answered ? judge(c, answer, body) : judge_silence(c, answer);
    json_decref(body);
    if (!goes_on || ++c->step == STEP_END)
        finish(c);
    else
        ask(c);
}

/* ---- Beginning ---- */

static void judge_own_certificate(const struct kubernetes *k)
{
    const struct kubeconfig *config = &k->credentials.config;
    const char *file = config->certificate_file, *pem = config->certificate_pem;
    char whose[300];
    if (!file && !pem) return;
    const int64_t end = pem ? certificate_end(pem) : certificate_file_end(file);
    snprintf(whose, sizeof whose, "our own, from %.200s,", k->credentials.source);
    if (end == 0)
        engine_found(k->engine, ENGINE_UNKNOWN, "certificate", "%.200s names none that can be read",
                     k->credentials.source);
    engine_found_certificate(k->engine, whose, end);
}

void kubernetes_check(void *opened)
{
    struct kubernetes *k = opened;
    if (k->check) return;
    struct kubernetes_check *c = k->check = calloc(1, sizeof *c);
    if (!c) {
        engine_has_checked(k->engine);
        return;
    }
    c->k = k;
    (void)credentials_refresh(&k->credentials, 0);
    judge_own_certificate(k);
    ask(c);
}
