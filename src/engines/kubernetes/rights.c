/*
 * Whether we may do what a candidate must. A candidate only reads while another leads; that it may not write would come out when
 * it should lead. So the API server is asked for our rights when somebody here first stands. Who only looks needs none of this.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/log/log.h"
#include "engines/kubernetes/internal.h"

static const char *const needed[] = {"get", "create", "update"};
enum { NEEDED = sizeof needed / sizeof *needed, TEXT_SIZE = 64 };

static bool has(const json_t *list, const char *wanted)
{
    const json_t *each;
    size_t i;
    json_array_foreach(list, i, each)
    {
        const char *text = json_string_value(each);
        if (text && (strcmp(text, wanted) == 0 || strcmp(text, "*") == 0)) return true;
    }
    return false;
}

/* A rule for single names may cover our groups, or not: it is taken as if it did, since this is only a warning. */
static bool may(const json_t *rules, const char *verb)
{
    const json_t *rule;
    size_t i;
    json_array_foreach(rules, i, rule)
    {
        if (has(json_object_get(rule, "verbs"), verb) &&
            has(json_object_get(rule, "apiGroups"), "coordination.k8s.io") &&
            has(json_object_get(rule, "resources"), "leases"))
            return true;
    }
    return false;
}

void kubernetes_missing_rights(const json_t *review, char *text, size_t size)
{
    const json_t *status = json_object_get(review, "status"), *rules = json_object_get(status, "resourceRules");
    size_t used = 0;
    text[0] = '\0';
    if (!json_is_array(rules) || json_is_true(json_object_get(status, "incomplete"))) return; /* nobody knows */
    for (size_t i = 0; i < NEEDED && used < size; i++)
        if (!may(rules, needed[i]))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " and " : "", needed[i]);
}

static void on_reviewed(void *context, const struct fetch_answer *answer)
{
    struct kubernetes *k = context;
    char text[TEXT_SIZE];
    const bool is_review = answer->trouble == FETCH_ANSWERED && answer->status == 201;
    json_t *review = is_review ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    k->review = NULL;
    kubernetes_missing_rights(review, text, sizeof text);
    if (text[0])
        log_event(
            LOG_WARN_LEVEL, NULL,
            "no right to %s leases in namespace %s: a candidate here cannot lead. Bind a Role with get, list, "
            "watch, create and update of leases in coordination.k8s.io",
            text, k->namespace);
    json_decref(review);
}

void kubernetes_review(struct kubernetes *k)
{
    char url[KUBERNETES_URL], room[CREDENTIALS_TOKEN_MAX + 32], body[256];
    const char *headers[KUBERNETES_HEADERS];
    k->has_reviewed = true;
    snprintf(url, sizeof url, "%s/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
             k->credentials.config.server);
    snprintf(
        body, sizeof body,
        "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectRulesReview\",\"spec\":{\"namespace\":\"%s\"}}",
        k->namespace);
    kubernetes_headers(k, true, room, headers);
    const struct fetch_request request = {.url = url,
                                          .body = body,
                                          .size = strlen(body),
                                          .headers = headers,
                                          .timeout_ms = k->timeout_ms,
                                          .context = k,
                                          .done = on_reviewed};
    k->review = fetch_begin(k->fetcher, &request);
    explicit_bzero(room, sizeof room);
}
