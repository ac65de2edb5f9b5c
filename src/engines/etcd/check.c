/*
 * What `elector doctor` wants to know of etcd. First each server is asked for its status; then one of those that know a leader is asked
 * the rest, a question at a time. A question that is not answered ends the check, because those after it would not be, either.
 *
 * Nothing is changed: the right to write is seen from a transaction whose condition never holds, which etcd examines all the same,
 * and the lease of the question for the TTL has no key and is revoked at once.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/clock.h"
#include "engines/etcd/internal.h"
#include "engines/fetch/certificate.h"

enum { PATIENT_MS = 2000, REVISIONS_MANY = 100000 };

struct status_of {
    struct etcd_check *check;
    struct fetch *fetch;
    json_t *object; /* its answer; NULL: none, and `trouble` says why */
    uint64_t member, leader;
    int64_t certificate_end_s;
    char trouble[400];
};

struct etcd_check {
    struct etcd *etcd;
    struct status_of servers[URL_HOSTS_MAX];
    uint32_t waits; /* servers that have not answered yet */
    uint32_t server;
    unsigned step;
    struct fetch *fetch;
    uint64_t began;
    uint64_t revision, lease;
    char token[1024];
};

/* ---- Questions ---- */

static struct fetch *ask(struct etcd_check *c, uint32_t server, const char *path, json_t *body, void *context,
                         void (*done)(void *, const struct fetch_answer *))
{
    char name[300], url[512], authorization[1100];
    const char *headers[3] = {"Content-Type: application/json", c->token[0] ? authorization : NULL, NULL};
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    const bool is_tls = strcmp(c->etcd->url.scheme, "etcds") == 0;
    json_decref(body);
    snprintf(url, sizeof url, "http%s://%s%s", is_tls ? "s" : "", etcd_name_server(c->etcd, server, name),
             path);
    snprintf(authorization, sizeof authorization, "Authorization: %s", c->token);
    const struct fetch_request request = {.url = url,
                                          .body = text,
                                          .size = text ? strlen(text) : 0,
                                          .headers = headers,
                                          .timeout_ms = c->etcd->timeout_ms > PATIENT_MS ? c->etcd->timeout_ms
                                                                                         : PATIENT_MS,
                                          .asks_certificate = is_tls && context != c,
                                          .context = context,
                                          .done = done};
    struct fetch *fetch = text ? fetch_begin(c->etcd->fetcher, &request) : NULL;
    explicit_bzero(authorization, sizeof authorization);
    free(text);
    return fetch;
}

void etcd_check_end(struct etcd *etcd)
{
    struct etcd_check *c = etcd->check;
    if (!c) return;
    etcd->check = NULL;
    fetch_cancel(c->fetch);
    for (uint32_t i = 0; i < etcd->url.host_count; i++) {
        fetch_cancel(c->servers[i].fetch);
        json_decref(c->servers[i].object);
    }
    explicit_bzero(c->token, sizeof c->token);
    free(c);
}

static void finish(struct etcd_check *c)
{
    struct etcd *etcd = c->etcd;
    etcd_check_end(etcd);
    engine_has_checked(etcd->engine);
}

static bool says(const char *message, const char *part)
{
    return strstr(message, part) != NULL;
}

/* ---- One after the other, of one server ---- */

struct reply {
    const json_t *object; /* NULL: etcd refused, and `message` says why */
    const char *message;
};

/* A refusal that has to do with who we are. */
static void found_refusal(struct etcd_check *c, const char *what, const char *message)
{
    const struct etcd *etcd = c->etcd;
    struct engine *engine = etcd->engine;
    if (says(message, "user name is empty"))
        engine_found(engine, ENGINE_WRONG, "user", "this etcd wants a user: give user= and password-file=");
    else if (says(message, "authentication is not enabled"))
        engine_found(engine, ENGINE_WRONG, "user", "this etcd knows no users: leave user= out");
    else if (says(message, "authentication failed"))
        engine_found(engine, ENGINE_WRONG, "user", "%.60s: wrong user or password; mend user=, or %s",
                     etcd->user,
                     url_option(&etcd->url, "password-file") ? "the file that password-file= names"
                                                             : "ELECTOR_ETCD_PASSWORD");
    else if (says(message, "permission denied"))
        engine_found(engine, ENGINE_WRONG, "rights",
                     "user %.60s may not read and write keys below '%.100s': grant a role with readwrite",
                     etcd->user[0] ? etcd->user : "(none)", etcd->prefix);
    else
        engine_found(engine, ENGINE_WRONG, what, "etcd refuses: %.200s", message);
}

static json_t *ask_token(struct etcd_check *c)
{
    return json_pack("{ss ss}", "name", c->etcd->user, "password", c->etcd->password);
}

static bool hear_token(struct etcd_check *c, const struct reply *reply)
{
    const char *token = json_string_value(json_object_get(reply->object, "token"));
    if (!token) {
        found_refusal(c, "user", reply->message);
        return false;
    }
    snprintf(c->token, sizeof c->token, "%s", token);
    engine_found(c->etcd->engine, ENGINE_FINE, "user", "etcd knows %.60s and the password", c->etcd->user);
    return true;
}

/* Below the prefix; without one, the keys that are the engine's own. */
static json_t *folder_of(const struct etcd_check *c)
{
    char folder[ETCD_KEY_MAX];
    snprintf(folder, sizeof folder, "%s%s", c->etcd->prefix, c->etcd->prefix[0] ? "" : "elector/");
    json_t *range = etcd_range(folder);
    if (range) json_object_set_new(range, "limit", json_string("1"));
    return range;
}

static json_t *ask_majority(struct etcd_check *c)
{
    return folder_of(c);
}

static bool hear_majority(struct etcd_check *c, const struct reply *reply)
{
    if (!reply->object) {
        found_refusal(c, "majority", reply->message);
        return false;
    }
    c->revision = etcd_number(json_object_get(reply->object, "header"), "revision");
    engine_found(c->etcd->engine, ENGINE_FINE, "majority",
                 "answers: a read that it has to confirm took %.1f ms",
                 (double)(clock_boottime_ns() - c->began) / NS_PER_MS);
    return true;
}

/* Its condition, that a key was created before revision 0, never holds. */
static json_t *ask_right(struct etcd_check *c)
{
    char key[ETCD_KEY_MAX];
    snprintf(key, sizeof key, "%selector/doctor", c->etcd->prefix);
    json_t *name = etcd_bytes(key, strlen(key));
    return json_pack("{s[{sO ss ss ss}] s[{s{so ss}}]}", "compare", "key", name, "target", "CREATE", "result",
                     "LESS", "create_revision", "0", "success", "request_put", "key", name, "value", "");
}

static bool hear_right(struct etcd_check *c, const struct reply *reply)
{
    const struct etcd *etcd = c->etcd;
    if (!reply->object) {
        found_refusal(c, "rights", reply->message);
        return says(reply->message, "permission denied");
    }
    engine_found(etcd->engine, ENGINE_FINE, "rights", "%.60s may read and write keys below '%.100s'",
                 etcd->user[0] ? etcd->user : "everybody", etcd->prefix);
    return true;
}

static json_t *ask_compaction(struct etcd_check *c)
{
    json_t *range = folder_of(c);
    if (range) json_object_set_new(range, "revision", json_string("1"));
    return range;
}

static bool hear_compaction(struct etcd_check *c, const struct reply *reply)
{
    struct engine *engine = c->etcd->engine;
    if (!reply->object && says(reply->message, "compacted"))
        engine_found(engine, ENGINE_FINE, "compaction", "revision %" PRIu64 ", and old ones are compacted",
                     c->revision);
    else if (!reply->object)
        found_refusal(c, "compaction", reply->message);
    else
        engine_found(engine, c->revision > REVISIONS_MANY ? ENGINE_WARN : ENGINE_FINE, "compaction",
                     "revision %" PRIu64 ", and none was ever compacted%s", c->revision,
                     c->revision > REVISIONS_MANY
                         ? ": the space will end; start etcd with --auto-compaction-retention=1h"
                         : "");
    return true;
}

static json_t *ask_lease(struct etcd_check *c)
{
    char ttl[24], id[24];
    uint64_t number;
    randombytes_buf(&number, sizeof number);
    c->lease = number >> 1 | 1;
    snprintf(ttl, sizeof ttl, "%" PRIu64, (uint64_t)(engine_ttl(c->etcd->engine) / NS_PER_S));
    snprintf(id, sizeof id, "%" PRIu64, c->lease);
    return json_pack("{ss ss}", "TTL", ttl, "ID", id);
}

static bool hear_lease(struct etcd_check *c, const struct reply *reply)
{
    struct engine *engine = c->etcd->engine;
    const uint64_t asked = engine_ttl(engine) / NS_PER_S, granted = etcd_number(reply->object, "TTL");
    if (!reply->object) {
        const bool is_full = says(reply->message, "space exceeded");
        if (is_full) engine_found(engine, ENGINE_WRONG, "ttl", "no lease is granted: etcd has no space left");
        if (!is_full) found_refusal(c, "ttl", reply->message);
        return false;
    }
    if (granted == asked)
        engine_found(engine, ENGINE_FINE, "ttl", "asked for %" PRIu64 " s, and granted", asked);
    else if (granted > asked)
        engine_found(engine, ENGINE_WARN, "ttl",
                     "asked for %" PRIu64 " s, granted %" PRIu64
                     " s: a lost host costs that long; etcd's --election-timeout "
                     "sets the least",
                     asked, granted);
    else
        engine_found(engine, ENGINE_WRONG, "ttl",
                     "asked for %" PRIu64 " s, granted only %" PRIu64 " s: give ttl=%" PRIu64 "s", asked,
                     granted, granted);
    return true;
}

static json_t *ask_end_of_lease(struct etcd_check *c)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRIu64, c->lease);
    return json_pack("{ss}", "ID", id);
}

static bool hear_end_of_lease(struct etcd_check *c, const struct reply *reply)
{
    (void)c, (void)reply; /* else it ends by itself */
    return true;
}

static const struct step {
    const char *what, *path;
    json_t *(*ask)(struct etcd_check *);
    bool (*hear)(struct etcd_check *, const struct reply *); /* whether to go on */
} steps[] = {
    {"user", "/v3/auth/authenticate", ask_token, hear_token},
    {"majority", "/v3/kv/range", ask_majority, hear_majority},
    {"rights", "/v3/kv/txn", ask_right, hear_right},
    {"compaction", "/v3/kv/range", ask_compaction, hear_compaction},
    {"ttl", "/v3/lease/grant", ask_lease, hear_lease},
    {"ttl", "/v3/lease/revoke", ask_end_of_lease, hear_end_of_lease},
};
enum { STEPS = sizeof steps / sizeof *steps };

static void next_step(struct etcd_check *c);

static void on_step(void *context, const struct fetch_answer *answer)
{
    struct etcd_check *c = context;
    const struct step *step = &steps[c->step];
    json_t *object = answer->trouble == FETCH_ANSWERED ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    const char *message = json_string_value(json_object_get(object, "error"));
    const struct reply reply = {answer->status == 200 ? object : NULL, message ? message : ""};
    c->fetch = NULL;
    bool goes_on = object != NULL;
    if (!object)
        engine_found(c->etcd->engine, ENGINE_WRONG, step->what, "not answered: %.250s",
                     answer->trouble == FETCH_LATE ? "no answer in time; has etcd lost its majority?"
                                                   : answer->text);
    else
        goes_on = step->hear(c, &reply);
    json_decref(object);
    c->step++;
    if (goes_on && c->step < STEPS)
        next_step(c);
    else
        finish(c);
}

static void next_step(struct etcd_check *c)
{
    c->began = clock_boottime_ns();
    c->fetch = ask(c, c->server, steps[c->step].path, steps[c->step].ask(c), c, on_step);
    if (!c->fetch) finish(c);
}

/* ---- The servers ---- */

static void judge_status(const struct status_of *s, const char *what)
{
    struct engine *engine = s->check->etcd->engine;
    const char *version = json_string_value(json_object_get(s->object, "version"));
    const uint64_t size = etcd_number(s->object, "dbSize"), used = etcd_number(s->object, "dbSizeInUse");
    const char *does = !s->leader ? "knows no leader: it is cut off from the others, or they are down"
                       : s->leader == s->member ? "leads"
                                                : "follows";
    const json_t *alarm;
    size_t i;
    engine_found(engine, s->leader ? ENGINE_FINE : ENGINE_WRONG, what,
                 "etcd %.30s %s; database of %" PRIu64 " kB, %" PRIu64 " kB of it used",
                 version ? version : "?", does, size / 1024, used / 1024);
    json_array_foreach(json_object_get(s->object, "errors"), i, alarm)
    {
        const char *text = json_string_value(alarm);
        if (!text || says(text, "no leader")) continue;
        engine_found(engine, ENGINE_WRONG, "alarm", "%.200s%s", text,
                     says(text, "NOSPACE") ? ": compact and defragment etcd, then `etcdctl alarm disarm`" : "");
    }
}

static void judge_server(const struct status_of *s, const char *name)
{
    struct engine *engine = s->check->etcd->engine;
    char what[80], whose[320];
    snprintf(what, sizeof what, "server %.60s", name);
    if (s->object)
        judge_status(s, what);
    else
        engine_found(engine, ENGINE_WRONG, what, "%s", s->trouble);
    snprintf(whose, sizeof whose, "that of %s", name);
    engine_found_certificate(engine, whose, s->certificate_end_s);
}

static const struct status_of *leader_of(const struct etcd_check *c, uint64_t leader)
{
    for (uint32_t i = 0; i < c->etcd->url.host_count; i++)
        if (c->servers[i].object && c->servers[i].member == leader) return &c->servers[i];
    return NULL;
}

/* The leader, as the first server that knows one says; that server is asked the rest. */
static void judge_servers(struct etcd_check *c)
{
    struct engine *engine = c->etcd->engine;
    const uint32_t count = c->etcd->url.host_count;
    char name[300];
    bool has_answer = false;
    for (uint32_t i = 0; i < count; i++) {
        judge_server(&c->servers[i], etcd_name_server(c->etcd, i, name));
        has_answer = has_answer || c->servers[i].object;
    }
    while (c->server < count && !c->servers[c->server].leader) c->server++;
    if (c->server == count) {
        if (has_answer)
            engine_found(engine, ENGINE_WRONG, "leader",
                         "no server knows a leader of etcd: start as many servers as make a majority");
        finish(c);
        return;
    }
    const struct status_of *knows = &c->servers[c->server], *leads = leader_of(c, knows->leader);
    engine_found(engine, ENGINE_FINE, "leader", "%s leads etcd, in term %" PRIu64,
                 leads ? etcd_name_server(c->etcd, (uint32_t)(leads - c->servers), name)
                       : "a server that did not answer or is not in the URL",
                 etcd_number(knows->object, "raftTerm"));
    if (!c->etcd->user[0]) c->step = 1;
    next_step(c);
}

static void take_trouble(struct status_of *s, const struct fetch_answer *answer)
{
    const char *text = answer->text, *hint = "";
    char status[80];
    switch (answer->trouble) {
    case FETCH_ANSWERED:
        snprintf(status, sizeof status, "HTTP status %d; it is no etcd of version 3.4 or later",
                 answer->status);
        text = strstr(answer->body, "HTTPS") ? "it speaks TLS: etcds://" : status;
        break;
    case FETCH_LATE: text = "no answer in time; is it overloaded or frozen?"; break;
    case FETCH_UNTRUSTED: hint = "; name the right files with ca=, cert= and key="; break;
    case FETCH_UNREACHABLE: hint = "; is it running, and is this its client port?"; break;
    default: break;
    }
    snprintf(s->trouble, sizeof s->trouble, "%.330s%s", text, hint);
}

static void on_status(void *context, const struct fetch_answer *answer)
{
    struct status_of *s = context;
    struct etcd_check *c = s->check;
    const bool is_status = answer->trouble == FETCH_ANSWERED && answer->status == 200;
    json_t *object = is_status ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    s->fetch = NULL;
    s->certificate_end_s = answer->certificate_end_s;
    if (json_is_object(object)) {
        s->object = json_incref(object);
        s->member = etcd_number(json_object_get(object, "header"), "member_id");
        s->leader = etcd_number(object, "leader");
    } else {
        take_trouble(s, answer);
    }
    json_decref(object);
    if (--c->waits == 0) judge_servers(c);
}

static void judge_own_certificate(const struct etcd *etcd)
{
    const char *file = etcd->tls.certificate;
    char whose[300];
    if (!file) return;
    const int64_t end = certificate_file_end(file);
    snprintf(whose, sizeof whose, "our own, %.200s,", file);
    if (end == 0)
        engine_found(etcd->engine, ENGINE_UNKNOWN, "certificate", "%.200s has none that can be read", file);
    engine_found_certificate(etcd->engine, whose, end);
}

void etcd_check(void *opened)
{
    struct etcd *etcd = opened;
    if (etcd->check) return;
    struct etcd_check *c = etcd->check = calloc(1, sizeof *c);
    if (!c) {
        engine_has_checked(etcd->engine);
        return;
    }
    c->etcd = etcd;
    judge_own_certificate(etcd);
    for (uint32_t i = 0; i < etcd->url.host_count; i++) {
        c->servers[i].check = c;
        c->servers[i].fetch = ask(c, i, "/v3/maintenance/status", json_object(), &c->servers[i], on_status);
        c->waits += c->servers[i].fetch != NULL;
    }
    if (c->waits == 0) finish(c);
}
