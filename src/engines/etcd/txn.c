/*
 * Transactions. Each operation of a group is a transaction of its own, in which the group's keys are read; many of them, of
 * different groups, go in one. A group has one operation under way at a time, so they take effect in their order. All of them
 * may be repeated: what is created, deleted or written depends on what is there.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/etcd/internal.h"

enum operation { NOTHING, REQUEST, WITHDRAW, VALUE, READ };

struct flight {
    uint64_t session;
    bool names;
    uint32_t count;
    struct part {
        struct etcd_group *g;
        enum operation what;
        uint64_t number; /* REQUEST: of the machine's request; VALUE: of the tenure */
        uint8_t kind;
        uint64_t incarnation;
    } parts[ETCD_BATCH];
};

/* ---- Making operations ---- */

void etcd_own_key(const struct etcd_group *g, char key[ETCD_KEY_MAX])
{
    snprintf(key, ETCD_KEY_MAX, "%s%" PRIx64, g->folder, g->etcd->lease);
}

static json_t *text_of(const char *text)
{
    return etcd_bytes(text, strlen(text));
}

json_t *etcd_range(const char *folder)
{
    char end[ETCD_KEY_MAX];
    snprintf(end, sizeof end, "%s", folder);
    const size_t length = strlen(end);
    if (length) end[length - 1]++; /* a folder ends with '/' */
    return json_pack("{so so ss ss}", "key", length ? text_of(folder) : etcd_bytes("", 1), "range_end",
                     length ? text_of(end) : etcd_bytes("", 1), "sort_order", "ASCEND", "sort_target",
                     "CREATE");
}

static json_t *range_of(const struct etcd_group *g)
{
    return json_pack("{so}", "request_range", etcd_range(g->folder));
}

static json_t *put_of(const struct etcd *etcd, const char *key, const char *value)
{
    char lease[24];
    snprintf(lease, sizeof lease, "%" PRIu64, etcd->lease);
    return json_pack("{s{so so ss}}", "request_put", "key", text_of(key), "value", text_of(value), "lease",
                     lease);
}

static json_t *created_is(const char *key, uint64_t revision)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, revision);
    return json_pack("{ss ss so ss}", "target", "CREATE", "result", "EQUAL", "key", text_of(key),
                     "create_revision", number);
}

static json_t *txn_of(json_t *compare, json_t *success, json_t *failure)
{
    return json_pack("{s{so so so}}", "request_txn", "compare", compare, "success", success, "failure",
                     failure);
}

static json_t *create_of(const struct etcd_group *g)
{
    char key[ETCD_KEY_MAX];
    etcd_own_key(g, key);
    return txn_of(json_pack("[o]", created_is(key, 0)),
                  json_pack("[oo]", put_of(g->etcd, key, engine_member(g->etcd->engine)), range_of(g)),
                  json_pack("[o]", range_of(g)));
}

static json_t *delete_of(const struct etcd_group *g)
{
    char key[ETCD_KEY_MAX];
    etcd_own_key(g, key);
    return txn_of(json_array(),
                  json_pack("[{s{so}}o]", "request_delete_range", "key", text_of(key), range_of(g)),
                  json_array());
}

static json_t *value_of(const struct etcd_group *g)
{
    char key[ETCD_KEY_MAX];
    etcd_own_key(g, key);
    return txn_of(
        json_pack("[o]", created_is(key, g->value_of - g->etcd->tokens_above)),
        json_pack("[o]", put_of(g->etcd, key, g->value[0] ? g->value : engine_member(g->etcd->engine))),
        json_array());
}

static json_t *name_of(const struct etcd *etcd)
{
    char key[ETCD_KEY_MAX];
    snprintf(key, sizeof key, "%selector/names/%" PRIx64, etcd->prefix, etcd->lease);
    return put_of(etcd, key, engine_member(etcd->engine));
}

static bool is_of_store(uint8_t kind)
{
    return kind == STORE_CREATE || kind == STORE_LIST || kind == STORE_DELETE || kind == STORE_CLOSE;
}

static enum operation next_operation(const struct etcd_group *g)
{
    const bool is_alive = g->etcd->lease_state == LEASE_ALIVE;
    if (g->in_flight) return NOTHING;
    if (g->withdraws && is_alive) return WITHDRAW;
    if (is_of_store(g->request.kind)) return is_alive ? REQUEST : NOTHING;
    if (g->value && is_alive) return VALUE;
    return g->is_wanted && g->etcd->has_looked ? READ : NOTHING;
}

static json_t *make(struct etcd_group *g, enum operation what)
{
    switch (what) {
    case REQUEST:
        if (g->request.kind == STORE_CREATE) g->has_key = true;
        return g->request.kind == STORE_CREATE ? create_of(g)
               : g->request.kind == STORE_LIST ? range_of(g)
                                               : delete_of(g);
    case WITHDRAW: return delete_of(g);
    case VALUE: return value_of(g);
    default: return range_of(g);
    }
}

/* ---- Answers ---- */

/* The last response of a transaction is the range; VALUE has none. */
static const json_t *range_in(const json_t *response)
{
    const json_t *txn = json_object_get(response, "response_txn");
    const json_t *inner = json_object_get(txn, "responses");
    const json_t *last = txn ? json_array_get(inner, json_array_size(inner) - 1) : response;
    return json_object_get(last, "response_range");
}

static void land(const struct part *part, const json_t *response, uint64_t revision)
{
    struct etcd_group *g = part->g;
    const json_t *range = range_in(response);
    if (range) etcd_take_range(g, range, revision);
    if (part->what == WITHDRAW) g->withdraws = g->has_key = false;
    if (part->what == VALUE && g->value && g->value_of == part->number) {
        free(g->value);
        g->value = NULL;
    }
    if (part->what != REQUEST || g->request.kind != part->kind || g->request.more != part->number ||
        g->request.extra[0] != part->incarnation)
        return;
    if (part->kind == STORE_DELETE || part->kind == STORE_CLOSE) g->has_key = false;
    etcd_answer(g, true, 0);
}

static void land_all(struct etcd *etcd, const struct flight *flight, const json_t *answer)
{
    const json_t *responses = json_object_get(answer, "responses");
    const uint64_t revision = etcd_number(json_object_get(answer, "header"), "revision");
    const size_t first = flight->names ? 1 : 0;
    engine_trouble_is_over(etcd->engine);
    if (flight->names && flight->session == etcd->session) etcd->has_named = true;
    for (uint32_t i = 0; i < flight->count; i++)
        land(&flight->parts[i], json_array_get(responses, i + first), revision);
}

static void on_landed(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                      int code, const char *message)
{
    struct flight *flight = context;
    etcd->flights--;
    for (uint32_t i = 0; i < flight->count; i++) flight->parts[i].g->in_flight = false;
    if (outcome == ETCD_DONE && flight->session == etcd->session)
        land_all(etcd, flight, answer);
    else if (outcome == ETCD_REFUSED && code == ETCD_NOT_FOUND && flight->session == etcd->session)
        etcd_lease_is_lost(etcd); /* a key cannot be put without its lease */
    else if (outcome == ETCD_REFUSED && code != ETCD_NOT_FOUND)
        (void)etcd_refused(etcd, etcd->at, code, message);
    free(flight);
    etcd_go_on(etcd);
}

/* ---- Sending ---- */

/* The machine's session is not the one that we have now: it learns so, and opens another. */
static bool is_of_old_session(const struct etcd_group *g)
{
    return is_of_store(g->request.kind) &&
           (g->session != g->etcd->session || g->etcd->lease_state == LEASE_NONE);
}

static struct flight *fill(struct etcd *etcd, json_t *list)
{
    struct flight *flight = calloc(1, sizeof *flight);
    if (!flight) return NULL;
    flight->session = etcd->session;
    for (struct etcd_group *g = etcd_next(etcd, NULL); g && flight->count < ETCD_BATCH;
         g = etcd_next(etcd, g)) {
        const enum operation what = next_operation(g);
        if (what == NOTHING) continue;
        if (!flight->names && what == REQUEST && g->request.kind == STORE_CREATE && !etcd->has_named)
            flight->names = json_array_insert_new(list, 0, name_of(etcd)) == 0;
        json_array_append_new(list, make(g, what));
        flight->parts[flight->count++] = (struct part){.g = g,
                                                       .what = what,
                                                       .number = what == VALUE ? g->value_of : g->request.more,
                                                       .kind = g->request.kind,
                                                       .incarnation = g->request.extra[0]};
        g->in_flight = true;
    }
    return flight;
}

static bool send_one(struct etcd *etcd)
{
    json_t *list = json_array();
    struct flight *flight = list ? fill(etcd, list) : NULL;
    const bool is_empty = !flight || flight->count == 0;
    if (!is_empty && etcd_call(etcd, "/v3/kv/txn", json_pack("{sO}", "success", list), flight, on_landed)) {
        etcd->flights++;
        json_decref(list);
        return true;
    }
    for (uint32_t i = 0; flight && i < flight->count; i++) flight->parts[i].g->in_flight = false;
    json_decref(list);
    free(flight);
    return false;
}

void etcd_pump_txns(struct etcd *etcd)
{
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        if (is_of_old_session(g)) etcd_answer(g, false, 0);
        if (g->withdraws && etcd->lease_state == LEASE_NONE) g->withdraws = g->has_key = false;
    }
    while (etcd->flights < ETCD_FLIGHTS && send_one(etcd)) {}
}
