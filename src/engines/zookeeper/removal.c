/*
 * Deletes nodes of ours until the servers confirm it, or until the session that they end with is over. A node may have
 * been created although its answer was lost, so what counts is what is there: all nodes with the unique beginning.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/zookeeper/internal.h"

struct removal {
    struct zookeeper *z;
    struct removal *next;
    struct place *place;
    void (*done)(struct place *); /* NULL: nobody waits */
    uint32_t under_way;           /* answers that are to come */
    bool has_failed;              /* one of them did: begin again */
    bool is_over;                 /* the session is: only the answers are waited for */
    char path[PATH_SIZE], prefix[LAYOUT_PREFIX];
};

static void unlink_and_free(struct removal *r)
{
    struct removal **at = &r->z->removals;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    free(r);
}

/* An answer has come. Answers to a closed handle come while it is being closed: then nobody is told. */
static void settle(struct removal *r)
{
    if (--r->under_way) return;
    if (r->is_over) {
        unlink_and_free(r);
    } else if (!r->has_failed) {
        struct place *place = r->place;
        void (*done)(struct place *) = r->done;
        unlink_and_free(r);
        if (done) done(place);
    }
}

static void on_deleted(int rc, const void *context)
{
    struct removal *r = (struct removal *)(uintptr_t)context;
    if (rc != ZOK && rc != ZNONODE) {
        r->has_failed = true;
        if (!zookeeper_is_broken(rc)) zookeeper_refused(r->z, r->path, "delete our node", rc);
    }
    settle(r);
}

static void on_children(int rc, const struct String_vector *children, const void *context)
{
    struct removal *r = (struct removal *)(uintptr_t)context;
    const size_t size = strlen(r->prefix);
    zhandle_t *zk = zookeeper_handle(r->z);
    char path[NODE_PATH];
    if ((rc != ZOK && rc != ZNONODE) || !zk) {
        r->has_failed = true;
        if (zk && !zookeeper_is_broken(rc)) zookeeper_refused(r->z, r->path, "look for our node", rc);
    }
    for (int32_t i = 0; rc == ZOK && zk && !r->is_over && i < children->count; i++) {
        if (strncmp(children->data[i], r->prefix, size) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", r->path, children->data[i]);
        if (zoo_adelete(zk, path, -1, on_deleted, r) == ZOK)
            r->under_way++;
        else
            r->has_failed = true;
    }
    settle(r);
}

static void on_synced(int rc, const char *path, const void *context)
{
    struct removal *r = (struct removal *)(uintptr_t)context;
    (void)path;
    if (rc != ZOK && rc != ZNONODE) r->has_failed = true;
    settle(r);
}

static void begin(struct removal *r)
{
    zhandle_t *zk = zookeeper_handle(r->z);
    if (r->under_way || r->is_over) return;
    r->has_failed = true;
    if (!zk) return;
    r->under_way = 1; /* so that it does not end in between */
    r->has_failed = false;
    /* The server may not know yet of what was created over another connection. */
    if (zoo_async(zk, r->path, on_synced, r) == ZOK)
        r->under_way++;
    else
        r->has_failed = true;
    if (zoo_aget_children(zk, r->path, 0, on_children, r) == ZOK)
        r->under_way++;
    else
        r->has_failed = true;
    r->under_way--;
    zookeeper_pump(r->z);
}

struct removal *removal_begin(struct zookeeper *z, const char *path, const char *prefix,
                              void (*done)(struct place *), struct place *place)
{
    struct removal *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (struct removal){.z = z, .next = z->removals, .place = place, .done = done};
    snprintf(r->path, sizeof r->path, "%s", path);
    snprintf(r->prefix, sizeof r->prefix, "%s", prefix);
    z->removals = r;
    begin(r);
    return r;
}

void removal_forget(struct removal *r)
{
    r->done = NULL;
}

void removals_go_on(struct zookeeper *z)
{
    for (struct removal *r = z->removals; r; r = r->next)
        if (r->has_failed && !r->under_way) begin(r);
}

void removals_end(struct zookeeper *z, bool tell)
{
    for (struct removal *r = z->removals, *next; r; r = next) {
        next = r->next;
        struct place *place = r->place;
        void (*done)(struct place *) = tell ? r->done : NULL;
        r->done = NULL;
        r->is_over = true;
        if (!r->under_way) unlink_and_free(r);
        if (done) done(place);
    }
}
