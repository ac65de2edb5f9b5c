/* Numbers and bytes in the JSON of etcd's gateway: 64-bit numbers are texts, bytes are base64, and what is 0 or empty is left out. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "engines/etcd/internal.h"

enum { BASE64 = sodium_base64_VARIANT_ORIGINAL };

uint64_t etcd_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (json_is_integer(value)) return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : 0;
}

json_t *etcd_bytes(const char *bytes, size_t size)
{
    const size_t room = sodium_base64_encoded_len(size, BASE64);
    char *text = malloc(room);
    if (!text) return NULL;
    json_t *string = json_string(sodium_bin2base64(text, room, (const unsigned char *)bytes, size, BASE64));
    free(text);
    return string;
}

char *etcd_read_bytes(const json_t *object, const char *name, size_t *size)
{
    const json_t *value = json_object_get(object, name);
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    const size_t room = strlen(text) + 1;
    char *bytes = malloc(room);
    if (!bytes) return NULL;
    if (sodium_base642bin((unsigned char *)bytes, room, text, room - 1, NULL, size, NULL, BASE64) != 0)
        *size = 0;
    bytes[*size] = '\0';
    return bytes;
}
