/*
 * A group's place in its queue: what the machine asks becomes a run of requests to the servers (run.c), and what they say
 * becomes the machine's answer.
 *
 *   OPEN         another name for the next node. The session with ZooKeeper belongs to all groups
 *   CREATE       look; if none of the nodes is ours, create one, and look again
 *   LIST         look: the children of the group's path; then what the first one holds, and whether ours is there
 *   WATCH        exists, with a watch, of the node before ours
 *   DELETE       delete our nodes; look
 *   CLOSE        delete our nodes; the next one has another name and a higher czxid
 *
 * A node of ours is known by the uuid in its name, so a create whose answer was lost is found again, and is never done
 * twice.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "engines/zookeeper/internal.h"

enum { ANY_VERSION = -1 };

/* ---- The machine is told ---- */

struct node *place_node(const struct place *p)
{
    return nodes_of(&p->nodes, p->prefix);
}

/* What stands for a node that is before ours: any number but 0. */
static uint64_t id_of(const struct node *node)
{
    return node ? (uint64_t)node->sequence + 1 : 0;
}

static struct el_msg message(const struct place *p, uint8_t kind)
{
    const struct node *first = p->nodes.count ? p->nodes.all : NULL;
    struct el_msg msg = {.kind = kind, .subject = ENGINE_STORE, .epoch = p->session, .rank = p->told};
    if (first && first->czxid) {
        msg.subject = first == place_node(p) ? ENGINE_SELF : ENGINE_OTHERS;
        msg.extra[2] = first->czxid;
    }
    return msg;
}

static void answer(struct place *p, const struct el_msg *request, bool has_session, uint8_t flags)
{
    const struct node *own = place_node(p);
    struct el_msg msg = message(p, (uint8_t)(request->kind + 1));
    msg.more = request->more;
    msg.flags = flags;
    msg.extra[0] = request->extra[0];
    if (!has_session) msg.epoch = 0;
    if (has_session && own && own->czxid) {
        msg.aux = own->czxid;
        msg.extra[1] = id_of(nodes_before(&p->nodes, own));
    }
    engine_answer(p->group, msg);
}

void place_answer(struct place *p, bool has_session, uint8_t flags)
{
    const struct el_msg request = p->request;
    if (!p->has_request) return;
    p->has_request = false;
    answer(p, &request, has_session, flags);
}

void place_tell(struct place *p, uint64_t gone)
{
    if (p->session == 0) return;
    p->told++;
    struct el_msg msg = message(p, STORE_EVENT);
    msg.aux = gone;
    msg.extra[0] = p->request.extra[0];
    engine_answer(p->group, msg);
}

void place_show(struct place *p)
{
    struct engine_candidate *all = calloc(p->nodes.count + 1, sizeof *all);
    const struct node *own = place_node(p);
    uint32_t count = 0;
    if (!all) return;
    for (const struct node *each = p->nodes.all; count < p->nodes.count && each->is_read; each++)
        all[count++] = (struct engine_candidate){.name = each->who[0] ? each->who : "unnamed",
                                                 .value = each->who + each->value_at,
                                                 .token = each->czxid,
                                                 .is_ours = each == own};
    engine_observed(p->group, all, count);
    free(all);
}

void place_rename(struct place *p)
{
    uint8_t random[LAYOUT_UUID];
    randombytes_buf(random, sizeof random);
    layout_prefix(p->z->layout, random, p->prefix);
    p->watches_own = false;
}

/* ---- For the adapter ---- */

void place_settle(struct place *p)
{
    const bool opens = p->request.kind == STORE_OPEN;
    if (p->has_renewal && p->renewal.epoch != p->session) {
        p->has_renewal = false;
        answer(p, &p->renewal, false, 0);
    }
    if (p->has_request && !opens && p->request.epoch != p->session) place_answer(p, false, 0);
    if (!zookeeper_handle(p->z) || !p->z->knows_tokens) return;
    if (p->has_request && opens) {
        run_give_up(p);
        if (p->session) (void)removal_begin(p->z, p->path, p->prefix, NULL, NULL);
        p->session = ++p->z->sessions;
        p->told = 0;
        place_rename(p);
        place_answer(p, true, 1); /* no write proves yet when the servers last heard of the session */
    }
    if (p->run) return;
    if (p->has_request)
        run_begin(p, p->request.kind);
    else if (p->must_look)
        run_begin(p, 0);
    place_proclaim(p, 0, NULL);
}

void place_ask(struct place *p, const struct el_msg *m)
{
    if (m->kind == STORE_RENEW) {
        p->renewal = *m;
        p->has_renewal = true;
        p->mark = renewal_ask(&p->z->renewals);
    } else {
        if (p->has_request) p->must_look = true;
        p->request = *m;
        p->has_request = true;
        run_give_up(p);
    }
    zookeeper_soon(p->z);
}

void place_renewed(struct place *p)
{
    const struct el_msg renewal = p->renewal;
    p->has_renewal = false;
    answer(p, &renewal, renewal.epoch == p->session, 0);
}

void place_withdraw(struct place *p)
{
    run_give_up(p);
    if (p->session) (void)removal_begin(p->z, p->path, p->prefix, NULL, NULL);
    p->prefix[0] = '\0';
    p->session = 0;
    p->has_request = p->has_renewal = false;
    p->value_token = 0;
    p->watched[0] = '\0';
    p->watches_own = false;
    p->must_look = true;
    zookeeper_soon(p->z);
}

struct writing {
    struct place *place;
    uint64_t token;
};

static void on_written(int rc, const struct Stat *stat, const void *context)
{
    struct writing *writing = (struct writing *)(uintptr_t)context;
    struct place *p = writing->place;
    (void)stat;
    if (zookeeper_is_broken(rc)) {
        if (p->value_token == 0) p->value_token = writing->token; /* once more, when we are connected */
    } else if (rc != ZOK && rc != ZNONODE) {
        zookeeper_refused(p->z, p->path, "write our value", rc);
    }
    p->answers--;
    free(writing);
}

/* NULL: writes what is still to be written. */
void place_proclaim(struct place *p, uint64_t token, const char *value)
{
    const struct node *own = place_node(p);
    zhandle_t *zk = zookeeper_handle(p->z);
    char path[NODE_PATH], data[NODE_DATA];
    if (value) {
        p->value_token = token;
        snprintf(p->value, sizeof p->value, "%s", value);
    }
    if (p->value_token == 0 || !zk || !own || own->czxid != p->value_token) return;
    struct writing *writing = malloc(sizeof *writing);
    if (!writing) return;
    *writing = (struct writing){p, p->value_token};
    node_path(p, own->name, path);
    const size_t size = node_write(data, engine_member(p->z->engine), p->value);
    if (zoo_aset(zk, path, data, (int)size, ANY_VERSION, on_written, writing) == ZOK) {
        p->value_token = 0;
        p->answers++;
    } else {
        free(writing);
    }
    zookeeper_pump(p->z);
}

void place_reconnected(struct place *p)
{
    p->must_look = p->must_sync = true;
    p->watches_children = p->watches_own = p->watches_first = false; /* set anew, in case that one was lost */
}

/* All nodes of the session are gone, and with the handle all watches. */
void place_lost_session(struct place *p)
{
    const bool had = p->session != 0;
    run_give_up(p);
    p->watched[0] = p->first[0] = '\0';
    p->watches_children = p->watches_own = p->watches_first = false;
    for (uint32_t i = 0; i < p->nodes.count; i++) p->nodes.all[i].is_read = false;
    if (had && !p->has_request) place_tell(p, 1); /* it looks, and learns below that its session is over */
    p->session = 0;
    p->prefix[0] = '\0';
    p->must_look = true;
    zookeeper_soon(p->z);
}

struct place *place_of(struct zookeeper *z, struct host_group *group)
{
    struct place *p = engine_group_data(group);
    if (p) return p;
    p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->z = z;
    p->group = group;
    snprintf(p->path, sizeof p->path, "%s/%.200s", z->path, engine_group_name(group));
    p->next = z->places;
    z->places = p;
    engine_group_set_data(group, p);
    return p;
}

bool place_forget(struct place *p)
{
    struct place **at = &p->z->places;
    if (p->answers || p->session || p->has_request || p->has_renewal || p->must_look || p->nodes.count)
        return false;
    run_unwatch(p);
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    engine_group_set_data(p->group, NULL);
    place_free(p);
    return true;
}

void place_free(struct place *p)
{
    run_give_up(p);
    nodes_free(&p->nodes);
    free(p);
}
