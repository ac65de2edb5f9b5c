/*
 * What `elector doctor` wants to know of ZooKeeper: what each server says of itself, which timeout the session got, and whether
 * candidates may be created. The last is asked by a transaction whose end always fails: the servers look at its rights all the same, and
 * do nothing of it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/zookeeper/internal.h"

enum { SESSION_WITHIN_MS = 4000, OPERATIONS = 3, NO_VERSION = 0x7ffffff0 };

struct zookeeper_check {
    struct zookeeper *z;
    struct servers *servers;
    uv_timer_t timer;
    bool waits_for_servers, waits_for_session, is_busy;
    bool is_asking; /* the transaction is under way: its answer comes, or the client is closed */
    char path[PATH_SIZE];
    zoo_op_t operations[OPERATIONS];
    zoo_op_result_t results[OPERATIONS];
    char created[PATH_SIZE];
};

/* ---- Rights ---- */

static void finish(struct zookeeper_check *c)
{
    c->is_busy = false;
    uv_timer_stop(&c->timer);
    engine_has_checked(c->z->engine);
}

static const char *who(const struct zookeeper *z, char text[100])
{
    const int size = (int)strcspn(z->settings.digest, ":");
    snprintf(text, 100, "%s%.*s", size ? "user " : "everybody", size < 80 ? size : 80, z->settings.digest);
    return text;
}

static void ask_rights(struct zookeeper_check *c);

static void on_asked(int rc, const void *context)
{
    struct zookeeper_check *c = (struct zookeeper_check *)(uintptr_t)context;
    struct engine *engine = c->z->engine;
    char user[100];
    char *slash = strrchr(c->path, '/');
    const char *folder = slash && slash != c->path ? c->path : "/";
    c->is_asking = false;
    if (!c->is_busy) return;
    const bool is_broken = zookeeper_is_broken(rc);
    if (!is_broken && c->results[0].err == ZNONODE && slash && slash != c->path) {
        *slash = '\0'; /* the folder itself would have to be created */
        ask_rights(c);
        return;
    }
    if (slash && slash != c->path) *slash = '\0';
    who(c->z, user);
    if (is_broken)
        engine_found(engine, ENGINE_UNKNOWN, "rights", "the session broke while they were asked: try again");
    else if (c->results[0].err == ZNOAUTH)
        engine_found(engine, ENGINE_WRONG, "rights",
                     "%s may not create nodes below %s: its ACL gives no right to; %s", user, folder,
                     c->z->settings.digest[0]
                         ? "mend the password in auth-file= or ELECTOR_ZOOKEEPER_AUTH, or the ACL"
                         : "set auth-file=FILE or ELECTOR_ZOOKEEPER_AUTH, or mend the ACL");
    else if (c->results[0].err == ZOK && c->results[1].err == ZNOAUTH)
        engine_found(engine, ENGINE_WRONG, "rights",
                     "%s may create nodes below %s, and not delete them: nobody could resign; mend the ACL",
                     user, folder);
    else if (c->results[0].err == ZOK)
        engine_found(engine, ENGINE_FINE, "rights", "%s may create and delete nodes below %s", user, folder);
    else
        engine_found(engine, ENGINE_WRONG, "rights", "%s cannot create nodes below %s: %s", user, folder,
                     zerror(c->results[0].err));
    finish(c);
}

static void ask_rights(struct zookeeper_check *c)
{
    zhandle_t *zk = zookeeper_handle(c->z);
    zoo_create_op_init(&c->operations[0], c->path, "", 0, c->z->acl, 0, c->created, sizeof c->created);
    zoo_delete_op_init(&c->operations[1], c->path, -1);
    zoo_check_op_init(&c->operations[2], "/", NO_VERSION);
    memset(c->results, 0, sizeof c->results);
    if (zk && zoo_amulti(zk, OPERATIONS, c->operations, c->results, on_asked, c) == ZOK) {
        c->is_asking = true;
        zookeeper_pump(c->z);
        return;
    }
    engine_found(c->z->engine, ENGINE_UNKNOWN, "rights", "the session broke before they were asked: try again");
    finish(c);
}

/* ---- Servers and session ---- */

static void judge_session(const struct zookeeper_check *c)
{
    const struct zookeeper *z = c->z;
    const uint32_t asked = z->settings.session_ms, granted = client_granted_ms(z->client);
    if (granted == asked)
        engine_found(z->engine, ENGINE_FINE, "session", "asked for a timeout of %" PRIu32 " ms, and granted",
                     asked);
    else
        engine_found(z->engine, ENGINE_WARN, "session",
                     "asked for a timeout of %" PRIu32 " ms, granted %" PRIu32
                     " ms: the servers' %s; ttl= within it says what is",
                     asked, granted, granted < asked ? "maxSessionTimeout" : "minSessionTimeout");
}

static void judge_servers(struct zookeeper_check *c, const struct server_answer *answers)
{
    static const char *const words[] = {NULL, NULL, "leads", "follows", "is alone", "observes", NULL};
    const struct zookeeper *z = c->z;
    uint32_t serve = 0, tells = 0;
    char what[80];
    for (uint32_t i = 0; i < z->settings.server_count; i++) {
        const struct server_answer *a = &answers[i];
        const bool is_v6 = strchr(z->settings.servers[i].host, ':') != NULL;
        snprintf(what, sizeof what, "server %s%.50s%s:%u", is_v6 ? "[" : "", z->settings.servers[i].host,
                 is_v6 ? "]" : "", z->settings.servers[i].port);
        tells += a->state != SERVER_SILENT && a->state != SERVER_ANSWERS;
        serve += words[a->state] != NULL;
        if (a->state == SERVER_SILENT)
            engine_found(z->engine, ENGINE_WRONG, what, "%s%s", a->text,
                         strchr(a->text, '?') ? "" : "; is it running, and is this its client port?");
        else if (a->state == SERVER_LOOKS)
            engine_found(z->engine, ENGINE_WRONG, what,
                         "is looking for a leader: it serves nobody until a majority is there");
        else if (a->state == SERVER_ANSWERS)
            engine_found(z->engine, ENGINE_UNKNOWN, what,
                         "answers, and does not tell its state: allow the word srvr");
        else
            engine_found(z->engine, ENGINE_FINE, what, "ZooKeeper %s %s", a->text, words[a->state]);
    }
    if (serve)
        engine_found(z->engine, ENGINE_FINE, "majority",
                     "there is one: %" PRIu32 " of %" PRIu32 " servers serve", serve, z->settings.server_count);
    else if (tells)
        engine_found(z->engine, ENGINE_WRONG, "majority", "none: start as many servers as make one");
}

static void go_on(struct zookeeper_check *c)
{
    struct zookeeper *z = c->z;
    if (!c->is_busy || c->waits_for_servers || c->is_asking) return;
    if (zookeeper_handle(z)) {
        c->waits_for_session = false;
        uv_timer_stop(&c->timer);
        judge_session(c);
        snprintf(c->path, sizeof c->path, "%s/elector-doctor-%016" PRIx64, z->path,
                 (uint64_t)client_session(z->client));
        ask_rights(c);
    } else if (!c->waits_for_session) {
        engine_found(z->engine, ENGINE_WRONG, "session", "none was granted within %d s: see the servers above",
                     SESSION_WITHIN_MS / 1000);
        finish(c);
    }
}

static void on_servers(void *context, const struct server_answer *answers)
{
    struct zookeeper_check *c = context;
    c->servers = NULL;
    c->waits_for_servers = false;
    judge_servers(c, answers);
    go_on(c);
}

static void on_time(uv_timer_t *timer)
{
    struct zookeeper_check *c = timer->data;
    c->waits_for_session = false;
    go_on(c);
}

void zookeeper_check_go_on(struct zookeeper *z)
{
    if (z->examination) go_on(z->examination);
}

/* ---- Beginning and ending ---- */

static struct zookeeper_check *make(struct zookeeper *z)
{
    struct zookeeper_check *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->z = z;
    uv_timer_init(engine_loop(z->engine), &c->timer);
    c->timer.data = c;
    return c;
}

void zookeeper_check(void *opened)
{
    struct zookeeper *z = opened;
    struct zookeeper_check *c = z->examination;
    if (!c) c = z->examination = make(z);
    if (c && (c->is_busy || c->is_asking)) return;
    if (c) c->servers = servers_ask(engine_loop(z->engine), &z->settings, c, on_servers);
    if (!c || !c->servers) {
        engine_has_checked(z->engine);
        return;
    }
    c->is_busy = c->waits_for_servers = c->waits_for_session = true;
    uv_timer_start(&c->timer, on_time, SESSION_WITHIN_MS, 0);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void zookeeper_check_free(struct zookeeper *z)
{
    struct zookeeper_check *c = z->examination;
    if (!c) return;
    z->examination = NULL;
    c->is_busy = false;
    servers_forget(c->servers);
    uv_close((uv_handle_t *)&c->timer, on_closed);
}
