/* The candidates of each group, as ranges and events of the store show them; and what the machine is told of them. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/etcd/internal.h"

static const char names_folder[] = "elector/names", own_folder[] = "elector", tokens_key[] = "tokens-above";

#define TOKENS_ABOVE_MAX (UINT64_C(1) << 52)

/* ---- Keys ---- */

static void free_key(struct etcd_key *key)
{
    free(key->id);
    free(key->value);
}

void etcd_forget_keys(struct etcd_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) free_key(&g->keys[i]);
    g->count = 0;
}

static struct etcd_key *find(const struct etcd_group *g, const char *id)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (strcmp(g->keys[i].id, id) == 0) return &g->keys[i];
    return NULL;
}

static void remove_key(struct etcd_group *g, const struct etcd_key *key)
{
    const uint32_t at = (uint32_t)(key - g->keys);
    free_key(&g->keys[at]);
    memmove(&g->keys[at], &g->keys[at + 1], (--g->count - at) * sizeof *g->keys);
}

/* In the order of creation. Takes the texts over. */
static void insert(struct etcd_group *g, struct etcd_key key)
{
    if (g->count == g->room) {
        const uint32_t room = g->room ? 2 * g->room : 8;
        struct etcd_key *keys = realloc(g->keys, room * sizeof *keys);
        if (!keys) {
            free_key(&key);
            g->is_wanted = true; /* read it again later */
            return;
        }
        g->keys = keys;
        g->room = room;
    }
    uint32_t at = g->count++;
    for (; at > 0 && g->keys[at - 1].created > key.created; at--) g->keys[at] = g->keys[at - 1];
    g->keys[at] = key;
}

const struct etcd_key *etcd_ours(const struct etcd_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->keys[i].lease == g->etcd->lease) return &g->keys[i];
    return NULL;
}

static uint64_t token_of(const struct etcd_group *g, const struct etcd_key *key)
{
    return key->created + g->etcd->tokens_above;
}

static bool has_token(const struct etcd_group *g, uint64_t token)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (token_of(g, &g->keys[i]) == token) return true;
    return false;
}

static void put(struct etcd_group *g, const char *id, const json_t *kv)
{
    size_t size;
    struct etcd_key key = {.created = etcd_number(kv, "create_revision"),
                           .lease = etcd_number(kv, "lease"),
                           .id = strdup(id),
                           .value = etcd_read_bytes(kv, "value", &size)};
    const struct etcd_key *before = find(g, id);
    if (before) remove_key(g, before);
    if (key.id && key.value)
        insert(g, key);
    else
        free_key(&key);
    g->is_news = true;
}

/* ---- Names ---- */

static struct etcd_name *find_name(const struct etcd *etcd, uint64_t lease)
{
    for (uint32_t i = 0; i < etcd->name_count; i++)
        if (etcd->names[i].lease == lease) return &etcd->names[i];
    return NULL;
}

/* Cut to what the protocol allows, and without bytes that a terminal would obey. */
static void make_printable(char *to, size_t size, const char *from)
{
    size_t used = 0;
    for (; from[used] && used + 1 < size; used++) {
        const bool is_control = (unsigned char)from[used] < ' ' || from[used] == 127;
        to[used] = from[used];
        if (is_control) to[used] = '?';
    }
    to[used] = '\0';
}

static void set_name(struct etcd *etcd, uint64_t lease, const char *text)
{
    struct etcd_name *name = find_name(etcd, lease);
    if (!text) {
        if (name) *name = etcd->names[--etcd->name_count];
        return;
    }
    if (!name && etcd->name_count == etcd->name_room) {
        const uint32_t room = etcd->name_room ? 2 * etcd->name_room : 16;
        struct etcd_name *names = realloc(etcd->names, room * sizeof *names);
        if (!names) return;
        etcd->names = names;
        etcd->name_room = room;
    }
    if (!name) name = &etcd->names[etcd->name_count++];
    name->lease = lease;
    make_printable(name->name, sizeof name->name, text);
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g))
        for (uint32_t i = 0; i < g->count; i++) g->is_news = g->is_news || g->keys[i].lease == lease;
}

/* ---- What the store said ---- */

/* Splits a key into the group's folder and the last part. NULL: it is no candidate's. */
static char *split(const struct etcd *etcd, char *key)
{
    const size_t length = strlen(etcd->prefix);
    char *slash = strrchr(key, '/');
    if (strncmp(key, etcd->prefix, length) != 0 || !slash || slash < key + length || !slash[1]) return NULL;
    *slash = '\0';
    return slash + 1;
}

static void take(struct etcd *etcd, const json_t *kv, uint64_t revision, bool is_deleted)
{
    size_t size;
    char *key = etcd_read_bytes(kv, "key", &size), *value = etcd_read_bytes(kv, "value", &size);
    char *id = key ? split(etcd, key) : NULL;
    const char *name = id ? key + strlen(etcd->prefix) : "";
    if (id && value && strcmp(name, names_folder) == 0) {
        set_name(etcd, strtoull(id, NULL, 16), is_deleted ? NULL : value);
    } else if (id && value && strcmp(name, own_folder) == 0 && strcmp(id, tokens_key) == 0) {
        const uint64_t number = is_deleted ? 0 : strtoull(value, NULL, 10);
        etcd->tokens_above = number <= TOKENS_ABOVE_MAX ? number : 0;
    } else if (id && value) {
        struct host_group *group =
            etcd->prefix[0] ? engine_meet(etcd->engine, name) : engine_known(etcd->engine, name);
        struct etcd_group *g = group ? etcd_group_of(group) : NULL;
        if (group && !g) {
            g = etcd_make_group(etcd, group);
            /* Other keys of the same transaction may have raised etcd->revision to this one already. */
            if (g && g->is_known && g->revision >= revision) g->revision = g->seen = revision - 1;
        }
        if (g && g->is_known && revision > g->revision) {
            const struct etcd_key *known = find(g, id);
            if (!is_deleted) put(g, id, kv);
            if (is_deleted && known) remove_key(g, known);
            g->is_news = true;
            g->seen = revision;
        }
    }
    free(key);
    free(value);
}

void etcd_take_event(struct etcd *etcd, const json_t *event)
{
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *kv = json_object_get(event, "kv");
    const uint64_t revision = etcd_number(kv, "mod_revision");
    take(etcd, kv, revision, type && strcmp(type, "DELETE") == 0);
    if (revision > etcd->revision) etcd->revision = revision;
}

/* Without a prefix these are names alone. */
void etcd_take_all(struct etcd *etcd, const json_t *kvs, uint64_t revision)
{
    size_t i;
    const json_t *kv;
    etcd->name_count = 0;
    etcd->tokens_above = 0;
    etcd->revision = 0; /* so that all of it counts, also in groups that are made now */
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        g->is_wanted = !etcd->prefix[0];
        if (!etcd->prefix[0]) continue;
        etcd_forget_keys(g);
        g->is_known = g->is_news = true;
        g->revision = g->seen = 0;
    }
    json_array_foreach(kvs, i, kv)
    {
        take(etcd, kv, etcd_number(kv, "mod_revision"), false);
    }
    for (struct etcd_group *g = etcd_next(etcd, NULL); g && etcd->prefix[0]; g = etcd_next(etcd, g))
        g->revision = g->seen = revision;
    etcd->revision = revision;
}

void etcd_take_range(struct etcd_group *g, const json_t *range, uint64_t revision)
{
    size_t i, size;
    const json_t *kv;
    if (g->is_known && revision < g->seen) return; /* events have told more */
    etcd_forget_keys(g);
    json_array_foreach(json_object_get(range, "kvs"), i, kv)
    {
        char *key = etcd_read_bytes(kv, "key", &size);
        const char *id = key && strncmp(key, g->folder, strlen(g->folder)) == 0 ? key + strlen(g->folder) : "/";
        if (*id && !strchr(id, '/')) put(g, id, kv);
        free(key);
    }
    if (!g->is_known && !g->etcd->prefix[0]) g->etcd->watch_is_old = true; /* it is not among those watched */
    g->is_known = g->is_news = true;
    g->is_wanted = false;
    g->revision = g->seen = revision;
}

/* ---- What the machine is told ---- */

static struct el_msg about(const struct etcd_group *g, bool is_alive, const struct el_msg *request,
                           uint8_t kind)
{
    struct el_msg msg = {.kind = kind, .subject = ENGINE_STORE, .more = request->more, .rank = g->told};
    const struct etcd_key *ours = etcd_ours(g);
    msg.extra[0] = request->extra[0];
    if (g->count) {
        msg.subject = &g->keys[0] == ours ? ENGINE_SELF : ENGINE_OTHERS;
        msg.extra[2] = token_of(g, &g->keys[0]);
    }
    if (!is_alive) return msg;
    msg.epoch = g->session;
    if (!ours) return msg;
    msg.aux = token_of(g, ours);
    if (ours > g->keys) msg.extra[1] = token_of(g, ours - 1);
    return msg;
}

void etcd_answer(struct etcd_group *g, bool is_alive, uint8_t flags)
{
    const struct el_msg request = g->request;
    struct el_msg msg = about(g, is_alive, &request, (uint8_t)(request.kind + 1));
    g->request = (struct el_msg){0};
    g->request_joined = false;
    if (request.kind == STORE_CLOSE) msg.epoch = 0; /* as it is answered: that session is over */
    msg.flags = flags;
    g->mine = msg.aux;
    engine_answer(g->group, msg);
}

void etcd_answer_renewal(struct etcd_group *g, bool is_alive)
{
    const struct el_msg renewal = g->renewal;
    const struct el_msg msg = about(g, is_alive, &renewal, STORE_RENEWED);
    g->renewal = (struct el_msg){0};
    g->renewal_joined = false;
    engine_answer(g->group, msg);
}

void etcd_tell(struct etcd_group *g, uint64_t gone)
{
    struct el_msg request = {0};
    request.extra[0] = g->request.extra[0];
    g->told++;
    struct el_msg msg = about(g, true, &request, STORE_EVENT);
    msg.aux = gone;
    msg.extra[0] = g->incarnation;
    msg.extra[1] = 0;
    engine_answer(g->group, msg);
}

/* It asked for the end of the key before its own; and it must hear of the end of its own. */
static void tell_ends(struct etcd_group *g)
{
    const uint64_t watched = g->watched, mine = g->mine;
    if (!engine_group_stands(g->group)) return;
    if (watched && !has_token(g, watched)) {
        g->watched = 0;
        etcd_tell(g, watched);
    } else if (mine && !has_token(g, mine)) {
        g->mine = 0;
        etcd_tell(g, mine);
    }
}

static void answer_watch(struct etcd_group *g)
{
    const bool is_ours = g->mine && !has_token(g, g->mine);
    const bool is_gone = is_ours || !has_token(g, g->request.aux);
    g->watched = is_gone ? 0 : g->request.aux;
    const uint64_t mine = g->mine;
    etcd_answer(g, true, is_gone);
    if (!g->mine) g->mine = mine;
}

static void show(struct etcd_group *g)
{
    struct engine_candidate *shown = calloc(g->count + 1, sizeof *shown);
    char(*names)[ETCD_NAME_MAX + 1] = calloc(g->count + 1, sizeof *names);
    char(*values)[ETCD_VALUE_MAX + 1] = calloc(g->count + 1, sizeof *values);
    for (uint32_t i = 0; shown && names && values && i < g->count; i++) {
        const struct etcd_key *key = &g->keys[i];
        const struct etcd_name *name = find_name(g->etcd, key->lease);
        const char *said = name ? name->name : key->value[0] ? key->value : key->id;
        make_printable(names[i], sizeof names[i], said);
        make_printable(values[i], sizeof values[i],
                       name && strcmp(name->name, key->value) == 0 ? "" : key->value);
        shown[i] =
            (struct engine_candidate){names[i], values[i], token_of(g, key),
                                      g->etcd->lease_state != LEASE_NONE && key->lease == g->etcd->lease};
    }
    if (shown && names && values) engine_observed(g->group, shown, g->count);
    free(shown);
    free(names);
    free(values);
}

void etcd_pump_queues(struct etcd *etcd)
{
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        if (g->request.kind == STORE_WATCH && g->is_known) answer_watch(g);
        if (!g->is_news || !g->is_known) continue;
        g->is_news = false;
        /* A create that was given up may have taken effect after all. */
        if (!engine_group_stands(g->group) && etcd->lease_state == LEASE_ALIVE && etcd_ours(g))
            g->withdraws = true;
        tell_ends(g);
        show(g);
    }
}
