/* The adapter of ZooKeeper: its settings, the life of the session, renewals. See internal.h. */
#define _GNU_SOURCE
#include "engines/zookeeper/zookeeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/registry.h"
#include "base/clock.h"
#include "base/units.h"
#include "engines/zookeeper/internal.h"

enum { RETRY_MS = 1000, PARTS = 4 };

static const el_duration usual_tick = 2 * NS_PER_S; /* ZooKeeper's default */

/* ---- Small things that the other files ask for ---- */

zhandle_t *zookeeper_handle(const struct zookeeper *z)
{
    return !z->is_leaving && z->client && client_is_connected(z->client) ? client_handle(z->client) : NULL;
}

void zookeeper_pump(struct zookeeper *z)
{
    if (z->client) client_pump(z->client);
}

bool zookeeper_is_broken(int rc)
{
    switch (rc) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZCLOSING:
    case ZINVALIDSTATE:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED: return true;
    default: return false;
    }
}

void zookeeper_heard(struct zookeeper *z)
{
    engine_hears_store(z->engine);
}

void zookeeper_refused(struct zookeeper *z, const char *path, const char *what, int rc)
{
    const char *help = "";
    if (rc == ZNOAUTH)
        help =
            z->settings.digest[0]
                ? ": its ACL gives these credentials no right to: is the password right? Mend auth-file=FILE or "
                  "ELECTOR_ZOOKEEPER_AUTH, or the ACL"
                : ": its ACL wants credentials: set auth-file=FILE or ELECTOR_ZOOKEEPER_AUTH";
    else if (rc == ZNONODE)
        help = ": a folder above it is missing, and cannot be created: create it, or mend the ACL above";
    engine_trouble(z->engine, "zookeeper: %s: cannot %s: %s%s", path[0] ? path : "/", what, zerror(rc), help);
}

/* ---- Renewals ---- */

static void on_time(uv_timer_t *);
static void on_soon(uv_timer_t *);

void zookeeper_soon(struct zookeeper *z)
{
    if (!z->is_closed && !uv_is_active((uv_handle_t *)&z->soon)) uv_timer_start(&z->soon, on_soon, 0, 0);
}

static void plan(struct zookeeper *z)
{
    uint64_t due = renewal_due(&z->renewals);
    const uint64_t now = clock_boottime_ns(), patience = z->least_ms * NS_PER_MS / PARTS;
    if (z->renewals.is_in_flight) due = z->write_sent_ns + patience;
    const bool retries = z->removals || !z->knows_tokens;
    if (retries && now + RETRY_MS * NS_PER_MS < due) due = now + RETRY_MS * NS_PER_MS;
    if (due == UINT64_MAX || z->is_closed) return;
    /* At least 1 ms: libuv calls a timer that is due at once again in the same turn of the loop. */
    uv_timer_start(&z->timer, on_time, due > now ? (due - now + NS_PER_MS - 1) / NS_PER_MS : 1, 0);
}

static void renew_proved(struct zookeeper *z, uint64_t number)
{
    for (struct place *p = number ? z->places : NULL; p; p = p->next)
        if (p->has_renewal && p->mark <= number) place_renewed(p);
}

static void on_written(int rc, const void *context)
{
    struct zookeeper *z = (struct zookeeper *)(uintptr_t)context;
    if (zookeeper_is_broken(rc)) return; /* the session's state says more */
    zookeeper_heard(z);
    renew_proved(z, renewal_answered(&z->renewals, clock_boottime_ns()));
    plan(z);
}

/* A transaction that changes nothing, so that no watch fires: what counts is that the leader of the servers did it for
 * our session. That root is there needs no right to know; if it does, the refusal proves as much. */
static void write_nothing(struct zookeeper *z, uint64_t now)
{
    zhandle_t *zk = zookeeper_handle(z);
    if (!zk) return;
    zoo_check_op_init(&z->check, "/", -1);
    if (zoo_amulti(zk, 1, &z->check, &z->checked, on_written, z) != ZOK) return;
    z->write_sent_ns = now;
    renewal_sent(&z->renewals, now);
    zookeeper_pump(z);
}

static void on_time(uv_timer_t *timer)
{
    struct zookeeper *z = timer->data;
    const uint64_t now = clock_boottime_ns();
    if (z->client && z->renewals.is_in_flight && now - z->write_sent_ns >= z->least_ms * NS_PER_MS / PARTS) {
        z->write_sent_ns = now; /* once more after as long, unless the client notices */
        client_move_on(z->client);
    } else if (renewal_due(&z->renewals) <= now) {
        write_nothing(z, now);
    }
    removals_go_on(z);
    tokens_read(z); /* once more: it was unusable, or the connection broke */
    plan(z);
}

/* ---- Times ---- */

/*
 * The machine's times, from the timeout that the servers granted. A renewal is proved by two writes half a tick apart, so
 * it takes that long and two round trips; beats must be further apart.
 */
static void set_times(struct zookeeper *z, uint32_t granted_ms)
{
    const el_duration granted = granted_ms * NS_PER_MS;
    const el_duration most =
        granted / 2; /* servers grant at least two ticks, unless minSessionTimeout says otherwise */
    const el_duration tick = z->tick_ns ? z->tick_ns : most, gap = tick / 2 + tick / 20;
    const el_duration slow = gap + gap / 2, beat = slow > granted / PARTS ? slow : granted / PARTS;
    z->least_ms = granted_ms;
    z->renewals.gap_ns = gap;
    z->renewals.spacing_ns = gap / 8;
    engine_set_worst_failover(z->engine,
                              granted + tick); /* the servers look for sessions that are over once a tick */
    engine_set_time(z->engine, "lease", engine_lease_within(z->engine, granted));
    engine_set_time(z->engine, "heartbeat", beat);
    engine_set_time(z->engine, "timeout", granted / PARTS);
}

/* ---- Leaving ---- */

/*
 * The C client sends the end of the session, waits for any answer, and closes its socket. If answers to earlier requests
 * are still to come, the server may find the socket closed before it reads the end, and then the nodes stay until the
 * session expires. So we ask nothing more, and wait until all is answered: a last request tells.
 */
static void on_quiet(int rc, const char *path, const void *context)
{
    struct zookeeper *z = (struct zookeeper *)(uintptr_t)context;
    (void)path;
    z->is_quiet = !zookeeper_is_broken(rc);
    zookeeper_soon(z);
}

static void become_quiet(struct zookeeper *z)
{
    if (client_is_connected(z->client)) (void)zoo_async(client_handle(z->client), "/", on_quiet, z);
    zookeeper_pump(z);
}

static void leave_now(struct zookeeper *z)
{
    struct client *client = z->client;
    if (!client) return;
    z->client = NULL;
    client_close(client);
    engine_has_left(z->engine);
}

static void leave(void *opened)
{
    struct zookeeper *z = opened;
    z->is_leaving = true;
    if (z->client) become_quiet(z);
}

/* ---- The session ---- */

static void on_connected(void *context, bool is_new)
{
    struct zookeeper *z = context;
    const uint32_t granted_ms = client_granted_ms(z->client);
    (void)is_new;
    zookeeper_heard(z);
    if (z->is_leaving) {
        become_quiet(z);
        return;
    }
    if (z->least_ms == 0 || granted_ms < z->least_ms) {
        for (struct place *p = z->places; p; p = p->next)
            p->has_renewal = false; /* they count on more than there is */
        set_times(z, granted_ms);
    }
    engine_trouble_is_over(z->engine);
    engine_is_ready(z->engine);
    for (struct place *p = z->places; p; p = p->next) place_reconnected(p);
    renew_proved(z, renewal_connected(&z->renewals));
    for (struct place *p = z->places; p; p = p->next)
        if (p->has_renewal) p->mark = renewal_ask(&z->renewals);
    removals_go_on(z);
    zookeeper_check_go_on(z);
    zookeeper_soon(z);
}

static void on_disconnected(void *context)
{
    struct zookeeper *z = context;
    renewal_broken(&z->renewals);
}

static void on_expired(void *context)
{
    struct zookeeper *z = context;
    renewal_broken(&z->renewals);
    removals_end(z, true);
    for (struct place *p = z->places; p; p = p->next) place_lost_session(p);
    engine_trouble(z->engine,
                   "zookeeper: the session has expired, with all candidacies: standing again in a new one");
}

static void on_trouble(void *context, const char *text)
{
    struct zookeeper *z = context;
    engine_trouble(z->engine, "zookeeper: %s: %s", z->hosts, text);
}

static void on_soon(uv_timer_t *timer)
{
    struct zookeeper *z = timer->data;
    if (z->is_quiet) {
        leave_now(z);
        return;
    }
    tokens_read(z);
    for (struct place *p = z->places; p; p = p->next) place_settle(p);
    plan(z);
}

/* ---- Opening ---- */

static bool is_path(const char *path)
{
    for (const char *at = path; *at;) {
        const size_t size = strcspn(at, "/");
        if (size == 0 || (size == 1 && at[0] == '.') || (size == 2 && at[0] == '.' && at[1] == '.'))
            return false;
        at += size;
        if (*at == '/' && *++at == '\0') return false;
    }
    return true;
}

static bool take_path(struct zookeeper *z, const struct engine_url *url, char text[ENGINE_TEXT])
{
    size_t size = strlen(url->path);
    char path[FOLDER_SIZE - 1];
    while (size && url->path[size - 1] == '/') size--;
    const bool fits = size < sizeof path;
    snprintf(path, sizeof path, "%.*s", fits ? (int)size : 0, url->path);
    if (!fits || !is_path(path) || strcmp(path, "zookeeper") == 0) {
        snprintf(text, ENGINE_TEXT,
                 "%.160s: the path is where groups have their nodes, such as /elections: no '//', "
                 "'.' or '..', not /zookeeper, at most %d characters",
                 url->text, FOLDER_SIZE - 2);
        return false;
    }
    if (path[0]) snprintf(z->path, sizeof z->path, "/%s", path);
    return true;
}

static bool take_servers(struct zookeeper *z, const struct engine_url *url, char text[ENGINE_TEXT])
{
    size_t used = 0;
    if (url->host_count == 0 || url->host_count > CLIENT_SERVERS_MAX) {
        snprintf(text, ENGINE_TEXT,
                 "%.160s: expected one to %d hosts, such as zookeeper://a:2181,b:2181/elections", url->text,
                 CLIENT_SERVERS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < url->host_count; i++) {
        z->settings.servers[i] = (struct client_server){strdup(url->hosts[i]), url->ports[i]};
        if (!z->settings.servers[i].host) {
            snprintf(text, ENGINE_TEXT, "out of memory");
            return false;
        }
        z->settings.server_count++;
        const int size = snprintf(z->hosts + used, sizeof z->hosts - used, "%s%s:%u", i ? "," : "",
                                  url->hosts[i], url->ports[i]);
        used += size > 0 && (size_t)size < sizeof z->hosts - used ? (size_t)size : 0;
    }
    return true;
}

static bool take_options(struct zookeeper *z, const struct engine_url *url, char text[ENGINE_TEXT])
{
    const char *layout = url_option(url, "layout"), *tick = url_option(url, "tick");
    const char *file = url_option(url, "auth-file"), *auth = url_setting(url, "", "ELECTOR_ZOOKEEPER_AUTH");
    z->layout = layout_named(layout ? layout : "kazoo");
    if (!z->layout) {
        snprintf(text, ENGINE_TEXT,
                 "%.160s: 'layout' is kazoo, latch (Curator's LeaderLatch) or selector (its "
                 "LeaderSelector)",
                 url->text);
        return false;
    }
    if (tick && (!units_time(tick, &z->tick_ns) || z->tick_ns < NS_PER_MS)) {
        snprintf(text, ENGINE_TEXT, "%.160s: 'tick' is the tickTime of the servers, such as 2s", url->text);
        return false;
    }
    if (file) {
        if (!url_read_secret(file, z->settings.digest, sizeof z->settings.digest, text)) return false;
    } else if (auth) {
        snprintf(z->settings.digest, sizeof z->settings.digest, "%s", auth);
    }
    if (z->settings.digest[0] && !strchr(z->settings.digest, ':')) {
        snprintf(text, ENGINE_TEXT, "%.160s: the credentials are USER:PASSWORD, on one line", url->text);
        return false;
    }
    z->acl = z->settings.digest[0] ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
    return true;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct zookeeper *z = handle->data;
    if (--z->timers) return;
    for (uint32_t i = 0; i < z->settings.server_count; i++)
        free((char *)(uintptr_t)z->settings.servers[i].host);
    free(z);
}

static void close_adapter(void *opened)
{
    struct zookeeper *z = opened;
    struct client *client = z->client;
    z->is_closed = true;
    z->client = NULL;
    if (client) client_close(client);
    zookeeper_check_free(z);
    removals_end(z, false);
    for (struct place *p = z->places, *next; p; p = next) {
        next = p->next;
        place_free(p);
    }
    z->places = NULL;
    uv_close((uv_handle_t *)&z->soon, on_timer_closed);
    uv_close((uv_handle_t *)&z->timer, on_timer_closed);
}

static bool open_adapter(struct engine *engine, const struct engine_url *url, void **opened,
                         char text[ENGINE_TEXT])
{
    struct zookeeper *z = calloc(1, sizeof *z);
    const struct client_hooks hooks = {z, on_connected, on_disconnected, on_expired, on_trouble};
    if (!z) {
        snprintf(text, ENGINE_TEXT, "out of memory");
        return false;
    }
    z->engine = engine;
    z->settings.session_ms = (uint32_t)(engine_ttl(engine) / NS_PER_MS);
    renewal_init(&z->renewals, usual_tick);
    const bool fits = take_servers(z, url, text) && take_path(z, url, text) && take_options(z, url, text);
    uv_timer_init(engine_loop(engine), &z->soon);
    uv_timer_init(engine_loop(engine), &z->timer);
    z->soon.data = z->timer.data = z;
    z->timers = 2;
    if (fits) z->client = client_new(engine_loop(engine), &z->settings, &hooks);
    if (z->client) {
        *opened = z;
        return true;
    }
    if (fits) snprintf(text, ENGINE_TEXT, "out of memory");
    close_adapter(z);
    return false;
}

/* ---- Groups ---- */

static bool has_node(struct zookeeper *z, struct host_group *group, struct place **place)
{
    const char *name = engine_group_name(group);
    if (strncmp(name, "elector", 7) == 0 && (name[7] == '\0' || name[7] == '/')) {
        engine_trouble(z->engine,
                       "zookeeper: the group '%s' cannot be elected: nodes below elector/ are the engine's own",
                       name);
        return false;
    }
    if (!is_path(name)) {
        engine_trouble(z->engine,
                       "zookeeper: group '%s' has no node: a name with '/' has none at its ends, no '//', "
                       "and no part '.' or '..'",
                       engine_group_name(group));
        return false;
    }
    *place = place_of(z, group);
    return *place != NULL;
}

static void observe(void *opened, struct host_group *group)
{
    struct zookeeper *z = opened;
    struct place *p;
    if (!has_node(z, group, &p)) return;
    p->must_look = true;
    zookeeper_soon(z);
}

static void ask(void *opened, struct host_group *group, const struct el_msg *m)
{
    struct place *p;
    if (has_node(opened, group, &p)) place_ask(p, m);
}

static void withdraw(void *opened, struct host_group *group)
{
    struct place *p;
    if (has_node(opened, group, &p)) place_withdraw(p);
}

static bool forget(void *opened, struct host_group *group)
{
    struct place *p = engine_group_data(group);
    (void)opened;
    return !p || place_forget(p);
}

static void proclaim(void *opened, struct host_group *group, uint64_t token, const char *value)
{
    struct place *p;
    if (has_node(opened, group, &p)) place_proclaim(p, token, value);
}

static const char *const options[] = {"layout", "tick", "auth-file", NULL};
static const char *const lacks[][2] = {
    {"transfer", "ZooKeeper has no transfer to a named candidate: resign, and the next in the queue leads"},
    {"priority", "ZooKeeper knows no priorities: who stands first leads first; leave the priority out"},
    {"members", "ZooKeeper keeps no members of this kind: `elector status` names the candidates of each group"},
    {"history", "ZooKeeper keeps no history of who led"},
    {"why", "ZooKeeper keeps no history of who led, and why that changed"},
    {"forget", "a group that nobody stands for is an empty node of ZooKeeper: delete it there"},
    {NULL, NULL}};

const struct store_kind store_zookeeper = {
    .name = "zookeeper",
    .schemes = {"zookeeper", ""},
    .port = 2181,
    .options = options,
    .algorithm = &el_zookeeper_recipe,
    .removed = "removed: our node in ZooKeeper is gone: somebody deleted it, or ended our session",
    .lacks = lacks,
    .open = open_adapter,
    .leave = leave,
    .close = close_adapter,
    .observe = observe,
    .ask = ask,
    .withdraw = withdraw,
    .proclaim = proclaim,
    .forget = forget,
    .check = zookeeper_check};
