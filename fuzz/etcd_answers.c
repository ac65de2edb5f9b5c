/*
 * Bytes as what etcd tells of keys: the first look, events and ranges, in any order, with any keys, values and revisions. A queue is
 * always in the order of creation and has no key twice; what those who look are shown has texts that a terminal does not obey. An
 * engine that has looked again knows what the look said, whatever came before.
 *
 * The fuzzer sees nothing of jansson: a line of input is one change, and what is no such line is a whole object of JSON.
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "engines/etcd/internal.h"
#include "lib/engines/fake_engine.h"

static struct etcd etcd;

/* ---- What must hold ---- */

static void look_at(const struct etcd_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->keys[i].id || !g->keys[i].value) abort();
        if (i && g->keys[i - 1].created > g->keys[i].created) abort();
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(g->keys[i].id, g->keys[k].id) == 0) abort();
    }
}

static void look(void)
{
    for (const struct etcd_group *g = etcd_next(&etcd, NULL); g; g = etcd_next(&etcd, g)) look_at(g);
    for (const char *at = fake_said(); *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127) abort();
    if (etcd.tokens_above >> 53) abort();
}

/* ---- Input ---- */

static const char *const folders[] = {"shop/work/",    "shop/b/", "shop/elector/names/",
                                      "shop/elector/", "shop/",   ""};
enum { FOLDERS = sizeof folders / sizeof *folders };

/* FOLDER KIND LEASE CREATED CHANGED VALUE: each number is a character, the value is the rest. The id is the lease's. */
static json_t *kv_of(const char *line, size_t size)
{
    char key[64], numbers[3][8];
    if (size < 5) return NULL;
    for (int i = 0; i < 3; i++) snprintf(numbers[i], sizeof numbers[i], "%d", (unsigned char)line[2 + i] % 32);
    const char *folder = folders[(unsigned char)line[0] % FOLDERS];
    snprintf(key, sizeof key, "%s%s", folder,
             strcmp(folder, "shop/elector/") == 0 ? "tokens-above" : numbers[0]);
    return json_pack("{so ss ss ss so}", "key", etcd_bytes(key, strlen(key)), "lease", numbers[0],
                     "create_revision", numbers[1], "mod_revision", numbers[2], "value",
                     etcd_bytes(line + 5, size - 5));
}

static void take_range(json_t *kvs, const json_t *kv)
{
    struct host_group *group = fake_group("work");
    struct etcd_group *g = etcd_group_of(group) ? etcd_group_of(group) : etcd_make_group(&etcd, group);
    json_t *range = json_pack("{sO}", "kvs", kvs);
    if (g) etcd_take_range(g, range, etcd_number(kv, "mod_revision"));
    json_decref(range);
}

static void take_line(const char *line, size_t size)
{
    json_t *kv = kv_of(line, size), *event = kv ? NULL : json_loadb(line, size, JSON_DECODE_ANY, NULL);
    if (!kv) {
        etcd_take_event(&etcd, event);
        json_decref(event);
        return;
    }
    json_t *kvs = json_pack("[O]", kv);
    switch ((unsigned char)line[1] % 6) {
    case 0: etcd_take_all(&etcd, kvs, etcd_number(kv, "mod_revision")); break;
    case 1: take_range(kvs, kv); break;
    case 2: event = json_pack("{ss sO}", "type", "DELETE", "kv", kv); break;
    case 3: fake_group("work")->stands = !fake_group("work")->stands; break;
    default: event = json_pack("{sO}", "kv", kv); break;
    }
    if (event) etcd_take_event(&etcd, event);
    json_decref(event);
    json_decref(kvs);
    json_decref(kv);
}

/* Whatever came before, a new look says what is. */
static void look_again(void)
{
    json_t *kv = kv_of("\0\0\7\1\1a", 6), *kvs = json_pack("[O]", kv);
    etcd_take_all(&etcd, kvs, 1000);
    etcd_pump_queues(&etcd);
    look();
    const struct etcd_group *g = etcd_group_of(fake_group("work"));
    if (!g || g->count != 1 || strcmp(g->keys[0].value, "a") != 0 || etcd.revision != 1000) abort();
    json_decref(kvs);
    json_decref(kv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etcd = (struct etcd){
        .prefix = "shop/", .lease = 7, .lease_state = LEASE_ALIVE, .session = 1, .has_looked = true};
    for (const char *at = (const char *)data, *end = at + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        take_line(at, (size_t)(stop - at));
        etcd_pump_queues(&etcd);
        look();
        at = stop + 1;
    }
    look_again();
    for (struct host_group *group = fake_groups; group; group = group->next)
        if (group->data) etcd_free_group(group->data);
    free(etcd.names);
    fake_end();
    return 0;
}
