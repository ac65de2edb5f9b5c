/*
 * Bytes as what an API server answers: a Lease is understood, or there is a reason why not. One that is understood has texts that a
 * terminal does not obey; a write to it can be read again, says what was to be written, and gives no token that falls.
 */
#define _GNU_SOURCE /* strnlen */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/kubernetes/lease.h"

static void look_at_text(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);
    if (length == size) abort();
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127) abort();
}

static void look(const struct lease *lease)
{
    look_at_text(lease->name, sizeof lease->name);
    look_at_text(lease->uid, sizeof lease->uid);
    look_at_text(lease->holder, sizeof lease->holder);
    look_at_text(lease->value, sizeof lease->value);
    if (lease->version == 0 || lease->version >= LEASE_TOKEN_MAX || lease->token >= LEASE_TOKEN_MAX) abort();
    if (lease->has_token && (!lease->token || !lease->holder[0])) abort();
}

/* Spec and annotations that are no objects are replaced by the write, so all of it is read back. */
static void write_and_read(const json_t *object, const struct lease *before, const struct lease_change *change)
{
    struct lease after;
    const char *wrong;
    json_t *written = lease_changed(object, change);
    if (!written || !lease_read(written, &after, &wrong)) abort();
    look(&after);
    if (strcmp(after.holder, change->holder) != 0 || after.duration_s != change->duration_s) abort();
    if (after.version != before->version || after.renewed_us != change->now_us) abort();
    if (change->token ? after.token != change->token || !after.has_token : after.token != before->token)
        abort();
    json_decref(written);
}

/* ---- Input: bytes of JSON; or, for the fuzzer sees nothing of jansson, lines that each set a field of a good Lease ---- */

static const char good[] =
    "{\"metadata\":{\"name\":\"work\",\"uid\":\"u\",\"resourceVersion\":\"41\",\"annotations\":{\"elector/token\":\"40\"}},"
    "\"spec\":{\"holderIdentity\":\"a\",\"acquireTime\":\"2026-01-02T12:00:00.123456Z\"}}";
static const char *const fields[][2] = {{"metadata", "name"},
                                        {"metadata", "uid"},
                                        {"metadata", "resourceVersion"},
                                        {"metadata", "annotations"},
                                        {"annotations", "elector/token"},
                                        {"annotations", "elector/acquired"},
                                        {"annotations", "elector/value"},
                                        {"spec", "holderIdentity"},
                                        {"spec", "leaseDurationSeconds"},
                                        {"spec", "leaseTransitions"},
                                        {"spec", "acquireTime"},
                                        {"spec", "renewTime"}};
enum { FIELDS = sizeof fields / sizeof *fields };

static json_t *value_of(char kind, const char *text, size_t size)
{
    char number[24] = "";
    memcpy(number, text, size < sizeof number - 1 ? size : sizeof number - 1);
    switch (kind) {
    case 'i': return json_integer(strtoll(number, NULL, 10));
    case 'n': return json_null();
    case 'o': return json_object();
    default: return json_stringn(text, size); /* NULL: no UTF-8 */
    }
}

static void set(json_t *object, const char *line, size_t size)
{
    const char *const *field = fields[(unsigned char)line[0] % FIELDS];
    json_t *metadata = json_object_get(object, "metadata");
    json_t *folder = json_object_get(strcmp(field[0], "annotations") == 0 ? metadata : object, field[0]);
    (void)json_object_set_new(folder, field[1], value_of(line[1], line + 2, size - 2));
}

static json_t *lease_of(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    if (size == 0 || *at == '{' || *at == '[') return json_loadb(at, size, 0, NULL);
    json_t *object = json_loads(good, 0, NULL);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        if (stop - at > 2) set(object, at, (size_t)(stop - at));
        at = stop + 1;
    }
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lease_change give_back = {.holder = "", .duration_s = 1, .now_us = 1};
    struct lease lease;
    const char *wrong = NULL;
    json_t *object = lease_of(data, size);
    const bool is_good = lease_read(object, &lease, &wrong);
    if (is_good == (wrong != NULL)) abort();
    if (is_good) {
        const uint64_t above = lease.version > lease.token ? lease.version : lease.token;
        const struct lease_change take = {
            .holder = "me", .duration_s = 5, .now_us = 1767355200123456, .token = above};
        look(&lease);
        if (lease.transitions < INT32_MAX) write_and_read(object, &lease, &take);
        write_and_read(object, &lease, &give_back);
    }
    json_decref(object);
    return 0;
}
