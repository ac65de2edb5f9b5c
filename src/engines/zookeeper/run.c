/*
 * Requests to the servers for one place, one run of them at a time: looking at the candidates, creating our node, watching
 * the one before it, deleting ours. See place.c for what they are good for. Their answers may come after the place has
 * given the run up.
 *
 * Watches: on the node before ours, on ours, on the first one (who leads, and its value). On the children only if we lead or
 * do not stand, so that one who leaves wakes one who waits.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/zookeeper/internal.h"

enum { READS_MAX = 64 };

/* Requests under way. Its answers may come after the place has given it up. */
struct run {
    struct place *place; /* NULL: given up */
    struct place *owner; /* the same, always */
    uint8_t kind;        /* of the request; 0: nobody asked */
    uint32_t under_way;
    bool has_failed, has_created, is_gone, lacks_right;
    struct removal *removal;
    void (*next)(struct run *); /* once all answers are there */
};

static void look(struct run *);

/* ---- Runs ---- */

static void free_run(struct run *run)
{
    run->owner->answers--;
    free(run);
}

static void end(struct run *run)
{
    struct place *p = run->place;
    if (p) p->run = NULL;
    if (run->removal) removal_forget(run->removal);
    free_run(run);
    if (p) zookeeper_soon(p->z);
}

void run_give_up(struct place *p)
{
    struct run *run = p->run;
    if (!run) return;
    p->run = NULL;
    run->place = NULL;
    if (run->removal) removal_forget(run->removal);
    run->removal = NULL;
    if (run->under_way == 0) free_run(run);
}

/* Counts a request that was sent. */
static void sent(struct run *run, int rc)
{
    if (rc == ZOK)
        run->under_way++;
    else
        run->has_failed = true;
}

static void go_on(struct run *run)
{
    if (run->under_way) return;
    if (!run->place)
        free_run(run);
    else if (run->has_failed)
        end(run); /* the request waits: for the connection, or until the machine asks again */
    else
        run->next(run);
}

/* An answer has come. False: it means nothing. */
static bool enter(struct run *run, int rc, const char *what)
{
    run->under_way--;
    if (!run->place) return false;
    if (rc == ZOK || rc == ZNONODE || rc == ZNODEEXISTS) {
        zookeeper_heard(run->place->z);
        return !run->has_failed;
    }
    run->has_failed = true;
    if (!zookeeper_is_broken(rc)) zookeeper_refused(run->place->z, run->place->path, what, rc);
    return false;
}

static bool is_under(const struct place *p, const char *path, const char *name)
{
    const size_t size = strlen(p->path);
    return name[0] && strncmp(path, p->path, size) == 0 && path[size] == '/' &&
           strcmp(path + size + 1, name) == 0;
}

static void on_unwatched(int rc, const void *context)
{
    (void)rc, (void)context; /* one that stays finds no group */
}

static void hear_change(struct place *p, int type, const char *path)
{
    struct node *own = place_node(p), *first = nodes_named(&p->nodes, p->first);
    const bool is_own = own && is_under(p, path, own->name);
    p->must_look = true;
    if (strcmp(path, p->path) == 0) p->watches_children = false;
    if (is_under(p, path, p->first)) {
        p->watches_first = false;
        if (first) first->is_read = false;
    }
    if (is_under(p, path, p->watched)) {
        p->watched[0] = '\0';
        if (type == ZOO_DELETED_EVENT) place_tell(p, 1);
    }
    if (is_own) {
        p->watches_own = false;
        if (type == ZOO_DELETED_EVENT) place_tell(p, own->czxid);
    }
}

/* Below a group's node may be that of another group: 'a' and 'a/b'. A group that was forgotten hears no more. */
static void on_watched(zhandle_t *zk, int type, int state, const char *path, void *context)
{
    struct zookeeper *z = context;
    char name[PATH_SIZE];
    const size_t size = strlen(z->path);
    (void)zk, (void)state;
    if (type == ZOO_SESSION_EVENT || !path || strncmp(path, z->path, size) != 0 || path[size] != '/') return;
    zookeeper_heard(z);
    snprintf(name, sizeof name, "%s", path + size + 1);
    for (int i = 0; i < 2; i++) {
        struct host_group *group = engine_known(z->engine, name);
        struct place *p = group ? engine_group_data(group) : NULL;
        char *slash = strrchr(name, '/');
        if (p) hear_change(p, type, path);
        if (!slash) break;
        *slash = '\0';
    }
    zookeeper_soon(z);
}

void run_unwatch(struct place *p)
{
    zhandle_t *zk = zookeeper_handle(p->z);
    /* zoo_aremove_watches() would leave it at the server. Its header has a pointer too much: what it calls is the argument itself. */
    void_completion_t *done = (void_completion_t *)(uintptr_t)on_unwatched;
    if (zk) (void)zoo_aremove_all_watches(zk, p->path, ZWATCHTYPE_ANY, 0, done, NULL);
    zookeeper_pump(p->z);
}

/* ---- What is in the nodes ---- */

static void details_done(struct run *run)
{
    struct place *p = run->place;
    const struct node *own = place_node(p);
    const bool leads = own && own == p->nodes.all;
    const bool is_late = p->must_look; /* something has changed meanwhile */
    if (leads && !p->watches_children) p->must_look = true;
    place_show(p);
    if (run->kind == 0 || is_late) { /* a request that waits is begun again */
        end(run);
        return;
    }
    p->run = NULL;
    free_run(run);
    place_answer(p, true, 0);
    zookeeper_soon(p->z);
}

static bool is_token(const struct run *run, const struct Stat *stat, uint64_t *token)
{
    if (tokens_make(run->owner->z, stat->czxid, token)) return true;
    zookeeper_refused(run->owner->z, run->owner->path, "use czxids beyond 2^53 as tokens", ZBADARGUMENTS);
    return false;
}

struct reading { /* of one node */
    struct run *run;
    char name[NODE_NAME];
};

static void on_data(int rc, const char *data, int size, const struct Stat *stat, const void *context)
{
    struct reading *reading = (struct reading *)(uintptr_t)context;
    struct run *run = reading->run;
    uint64_t token = 0;
    if (rc != ZOK && strcmp(run->owner->first, reading->name) == 0) run->owner->watches_first = false;
    if (enter(run, rc, "read a node")) {
        struct place *p = run->place;
        struct node *node = nodes_named(&p->nodes, reading->name);
        if (rc != ZOK)
            p->must_look = true; /* gone since we looked */
        else if (!is_token(run, stat, &token))
            run->has_failed = true;
        else if (node)
            node_read(node, p->z->layout, data ? data : "", size > 0 ? (size_t)size : 0, token);
    }
    free(reading);
    go_on(run);
}

static void on_own(int rc, const struct Stat *stat, const void *context)
{
    struct run *run = (struct run *)(uintptr_t)context;
    uint64_t token = 0;
    if (enter(run, rc, "look for our node")) {
        struct place *p = run->place;
        struct node *own = place_node(p);
        if (rc != ZOK || !own || stat->ephemeralOwner != client_session(p->z->client)) {
            p->must_look = true; /* gone, or of a session that is over and will go */
        } else if (!is_token(run, stat, &token)) {
            run->has_failed = true;
        } else {
            own->czxid = token;
            p->watches_own = true;
        }
    }
    go_on(run);
}

void node_path(const struct place *p, const char *name, char path[NODE_PATH])
{
    (void)snprintf(path, NODE_PATH, "%s/%s", p->path, name);
}

static void read_node(struct run *run, const struct node *node, bool watches)
{
    struct place *p = run->place;
    struct reading *reading = malloc(sizeof *reading);
    char path[NODE_PATH];
    if (!reading) {
        run->has_failed = true;
        return;
    }
    reading->run = run;
    snprintf(reading->name, sizeof reading->name, "%s", node->name);
    node_path(p, node->name, path);
    const int rc = zoo_awget(zookeeper_handle(p->z), path, watches ? on_watched : NULL, watches ? p->z : NULL,
                             on_data, reading);
    if (rc != ZOK) free(reading);
    sent(run, rc);
}

static void read_details(struct run *run)
{
    struct place *p = run->place;
    struct node *own = place_node(p);
    char path[NODE_PATH];
    uint32_t reads = 0;
    run->next = details_done;
    run->under_way++; /* this function */
    for (uint32_t i = 0; i < p->nodes.count && reads < READS_MAX; i++) {
        const struct node *each = &p->nodes.all[i];
        const bool is_first = i == 0,
                   watches = is_first && !(p->watches_first && strcmp(p->first, each->name) == 0);
        if (each->is_read && !watches) continue;
        if (is_first) {
            snprintf(p->first, sizeof p->first, "%s", each->name);
            p->watches_first = true;
        }
        reads++;
        read_node(run, each, watches);
    }
    if (own && !(p->watches_own && own->czxid)) {
        node_path(p, own->name, path);
        sent(run, zoo_awexists(zookeeper_handle(p->z), path, on_watched, p->z, on_own, run));
    }
    run->under_way--;
    zookeeper_pump(p->z);
    go_on(run);
}

/* ---- Our node ---- */

static void on_created(int rc, const char *name, const void *context)
{
    struct run *run = (struct run *)(uintptr_t)context;
    (void)name; /* it is among the children, by its uuid */
    if (enter(run, rc, "create a node")) {
        if (rc == ZNONODE) {
            run->has_failed = true;
            zookeeper_refused(run->place->z, run->place->path, "create it", run->lacks_right ? ZNOAUTH : rc);
        }
        run->next = look;
    }
    go_on(run);
}

/* Folders above ours may exist, and we may have no right to create them: only the last answer counts. */
static void on_folder(int rc, const char *name, const void *context)
{
    struct run *run = (struct run *)(uintptr_t)context;
    (void)name;
    run->lacks_right = rc == ZNOAUTH;
    (void)enter(run, rc == ZNOAUTH ? ZNODEEXISTS : rc, "create it");
    go_on(run);
}

static void make_folders(struct run *run, zhandle_t *zk)
{
    struct place *p = run->place;
    char path[PATH_SIZE];
    for (size_t at = 1; at <= strlen(p->path); at++) {
        if (p->path[at] != '/' && p->path[at] != '\0') continue;
        snprintf(path, sizeof path, "%.*s", (int)at, p->path);
        sent(run, zoo_acreate(zk, path, NULL, -1, p->z->acl, 0, on_folder, run));
    }
}

static void create(struct run *run, bool has_folder)
{
    struct place *p = run->place;
    zhandle_t *zk = zookeeper_handle(p->z);
    char path[NODE_PATH], data[NODE_DATA];
    const size_t size = node_write(data, engine_member(p->z->engine), "");
    run->has_created = true;
    run->next = look;
    run->under_way++; /* this function */
    if (!has_folder) make_folders(run, zk);
    node_path(p, p->prefix, path);
    sent(run, zoo_acreate(zk, path, data, (int)size, p->z->acl, ZOO_EPHEMERAL_SEQUENTIAL, on_created, run));
    run->under_way--;
    zookeeper_pump(p->z);
    go_on(run);
}

/* ---- Looking ---- */

static const char *words_for(enum nodes_verdict verdict)
{
    switch (verdict) {
    case NODES_OTHER_LAYOUT: return "candidates of another layout stand there";
    case NODES_USED_UP: return "its sequence numbers are used up: delete it when nobody stands";
    case NODES_NO_MEMORY: return "out of memory";
    case NODES_FINE: break;
    }
    return "";
}

static void on_children(int rc, const struct String_vector *children, const void *context)
{
    static const struct String_vector none = {0};
    struct run *run = (struct run *)(uintptr_t)context;
    if (rc != ZOK) run->owner->watches_children = false;
    if (!enter(run, rc, "look at the candidates")) {
        go_on(run);
        return;
    }
    struct place *p = run->place;
    const struct layout *other = NULL;
    const enum nodes_verdict verdict =
        nodes_take(&p->nodes, p->z->layout, rc == ZOK ? children : &none, &other);
    run->is_gone = rc == ZNONODE;
    if (verdict != NODES_FINE) {
        run->has_failed = true;
        engine_trouble(p->z->engine, "zookeeper: %s: %s%s%s%s", p->path[0] ? p->path : "/", words_for(verdict),
                       other ? " (layout " : "", other ? layout_name(other) : "",
                       other ? "): use another path, or their layout" : "");
    } else if (run->kind == STORE_CREATE && !place_node(p) && !run->has_created) {
        create(run, rc == ZOK);
        return;
    }
    go_on(run);
}

static void on_folder_there(int rc, const struct Stat *stat, const void *context)
{
    struct run *run = (struct run *)(uintptr_t)context;
    (void)stat;
    if (rc != ZOK && rc != ZNONODE) run->owner->watches_children = false;
    if (enter(run, rc, "look at it") && run->is_gone && rc == ZOK)
        run->place->must_look = true; /* it came meanwhile */
    go_on(run);
}

/* There is nothing yet: a watch tells when there is. */
static void await_folder(struct run *run)
{
    struct place *p = run->place;
    run->next = details_done;
    p->watches_children = true;
    sent(run, zoo_awexists(zookeeper_handle(p->z), p->path, on_watched, p->z, on_folder_there, run));
    zookeeper_pump(p->z);
    go_on(run);
}

static void children_done(struct run *run)
{
    if (run->is_gone)
        await_folder(run);
    else
        read_details(run);
}

static void on_synced(int rc, const char *path, const void *context)
{
    struct run *run = (struct run *)(uintptr_t)context;
    (void)path;
    if (enter(run, rc, "wait for what was done before")) run->place->must_sync = false;
    go_on(run);
}

static void look(struct run *run)
{
    struct place *p = run->place;
    zhandle_t *zk = zookeeper_handle(p->z);
    const struct node *own = place_node(p);
    const bool watches = !engine_group_stands(p->group) || (own && own == p->nodes.all);
    run->next = children_done;
    run->is_gone = false;
    p->must_look = false;
    if (!zk) {
        end(run);
        return;
    }
    run->under_way++; /* this function */
    if (p->must_sync) sent(run, zoo_async(zk, p->path[0] ? p->path : "/", on_synced, run));
    if (watches && !p->watches_children) {
        p->watches_children = true;
        sent(run, zoo_awget_children(zk, p->path, on_watched, p->z, on_children, run));
    } else {
        sent(run, zoo_aget_children(zk, p->path, 0, on_children, run));
    }
    run->under_way--;
    zookeeper_pump(p->z);
    go_on(run);
}

/* ---- Watching the node before ours ---- */

static void watch_done(struct run *run)
{
    struct place *p = run->place;
    const bool is_gone = run->is_gone;
    p->run = NULL;
    free_run(run);
    place_answer(p, true, is_gone);
    zookeeper_soon(p->z);
}

static void on_before(int rc, const struct Stat *stat, const void *context)
{
    struct run *run = (struct run *)(uintptr_t)context;
    (void)stat;
    if (enter(run, rc, "watch a node") && rc == ZNONODE) run->is_gone = true;
    if (run->place && run->is_gone) run->place->watched[0] = '\0';
    go_on(run);
}

static void watch(struct run *run)
{
    struct place *p = run->place;
    const struct node *own = place_node(p), *before = own ? nodes_before(&p->nodes, own) : NULL;
    char path[NODE_PATH];
    run->next = watch_done;
    if (!before) { /* gone since the machine was told of it */
        run->is_gone = true;
        watch_done(run);
        return;
    }
    snprintf(p->watched, sizeof p->watched, "%s", before->name);
    node_path(p, before->name, path);
    sent(run, zoo_awexists(zookeeper_handle(p->z), path, on_watched, p->z, on_before, run));
    zookeeper_pump(p->z);
    go_on(run);
}

/* ---- Leaving the queue ---- */

static void on_removed(struct place *p)
{
    struct run *run = p->run;
    if (!run || !run->removal) return;
    run->removal = NULL;
    place_rename(p);
    if (run->kind == STORE_DELETE) {
        look(run);
        return;
    }
    p->run = NULL;
    free_run(run);
    p->session = 0;
    place_answer(p, false, 0);
    zookeeper_soon(p->z);
}

void run_begin(struct place *p, uint8_t kind)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) return; /* the machine asks again */
    run->place = run->owner = p;
    p->answers++;
    run->kind = kind;
    p->run = run;
    if (kind == STORE_WATCH) {
        watch(run);
    } else if (kind == STORE_DELETE || kind == STORE_CLOSE) {
        run->removal = removal_begin(p->z, p->path, p->prefix, on_removed, p);
        if (!run->removal) end(run);
    } else {
        look(run);
    }
}
