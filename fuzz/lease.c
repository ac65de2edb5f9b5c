/*
 * Bytes as what an API server answers: a Lease is understood, or there is a reason why not. One that is understood has texts that a
 * terminal does not obey; a write to it can be read again, says what was to be written, and gives no token that falls.
 */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lease_change give_back = {.holder = "", .duration_s = 1, .now_us = 1};
    struct lease lease;
    const char *wrong = NULL;
    json_t *object = json_loadb((const char *)data, size, 0, NULL);
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
