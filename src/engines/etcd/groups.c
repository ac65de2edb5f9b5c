/* The groups that etcd's adapter knows: those that somebody here has asked for, and with a prefix all below it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/etcd/internal.h"

struct etcd_group *etcd_group_of(struct host_group *group)
{
    return engine_group_data(group);
}

struct etcd_group *etcd_next(const struct etcd *etcd, const struct etcd_group *after)
{
    struct host_group *next = engine_next_group(etcd->engine, after ? after->group : NULL);
    while (next && !engine_group_data(next)) next = engine_next_group(etcd->engine, next);
    return next ? engine_group_data(next) : NULL;
}

struct etcd_group *etcd_make_group(struct etcd *etcd, struct host_group *group)
{
    char folder[ETCD_KEY_MAX];
    const char *name = engine_group_name(group);
    if (strncmp(name, "elector", 7) == 0 && (name[7] == '\0' || name[7] == '/')) {
        engine_trouble(etcd->engine,
                       "etcd: the group '%s' cannot be elected: keys below elector/ are the engine's own",
                       name);
        return NULL;
    }
    struct etcd_group *g = calloc(1, sizeof *g);
    snprintf(folder, sizeof folder, "%s%s/", etcd->prefix, engine_group_name(group));
    if (g) g->folder = strdup(folder);
    if (!g || !g->folder) {
        free(g);
        return NULL;
    }
    g->etcd = etcd;
    g->group = group;
    if (etcd->prefix[0] && etcd->has_looked) {
        g->is_known = g->is_news = true;
        g->revision = g->seen = etcd->revision;
    }
    g->is_wanted = !etcd->prefix[0];
    engine_group_set_data(group, g);
    return g;
}

void etcd_free_group(struct etcd_group *g)
{
    etcd_forget_keys(g);
    free(g->keys);
    free(g->value);
    free(g->folder);
    free(g);
}
