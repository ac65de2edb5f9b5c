/* See layout.h. */
#include "engines/zookeeper/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 10, TAG_BYTES = 4 };

struct layout {
    const char *name, *head, *marker;
    bool has_dashes; /* in the uuid */
};

static const struct layout layouts[] = {
    {"kazoo", "", "__lock__", false}, {"latch", "_c_", "-latch-", true}, {"selector", "_c_", "-lock-", true}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static const uint8_t tag[TAG_BYTES] = {'e', 'l', 'e', 'c'};

/* Nodes of the same clients that stand in no order with a candidate's: locks of readers, semaphores. */
static const struct layout readers = {"read lock", "", "__rlock__", false};

const struct layout *layout_named(const char *name)
{
    for (size_t i = 0; i < LAYOUTS; i++)
        if (strcmp(layouts[i].name, name) == 0) return &layouts[i];
    return NULL;
}

const char *layout_name(const struct layout *layout)
{
    return layout->name;
}

void layout_prefix(const struct layout *layout, const uint8_t random[LAYOUT_UUID], char prefix[LAYOUT_PREFIX])
{
    uint8_t uuid[LAYOUT_UUID];
    memcpy(uuid, random, sizeof uuid);
    memcpy(uuid, tag, sizeof tag);
    uuid[6] = (uint8_t)(0x80 | (uuid[6] & 0x0f)); /* version 8: our own rules */
    uuid[8] = (uint8_t)(0x80 | (uuid[8] & 0x3f));
    size_t used = (size_t)snprintf(prefix, LAYOUT_PREFIX, "%s", layout->head);
    for (size_t i = 0; i < sizeof uuid; i++) {
        const bool dash = layout->has_dashes && (i == 4 || i == 6 || i == 8 || i == 10);
        used += (size_t)snprintf(prefix + used, LAYOUT_PREFIX - used, "%s%02x", dash ? "-" : "", uuid[i]);
    }
    (void)snprintf(prefix + used, LAYOUT_PREFIX - used, "%s", layout->marker);
}

/* Where the number begins, if the node is named by this layout; else NULL. Curator's older nodes have no uuid. */
static const char *number_in(const struct layout *layout, const char *node)
{
    const char *marker = layout->marker, *found = NULL;
    for (const char *at = strstr(node, marker); at; at = strstr(at + 1, marker)) found = at;
    if (found) return found + strlen(marker);
    const size_t size = strlen(marker);
    return marker[0] == '-' && strncmp(node, marker + 1, size - 1) == 0 ? node + size - 1 : NULL;
}

static bool is_number(const char *text)
{
    const bool is_negative = *text == '-';
    text += is_negative;
    return strlen(text) == DIGITS && strspn(text, "0123456789") == DIGITS;
}

enum layout_sort layout_read(const struct layout *layout, const char *node, uint32_t *sequence,
                             const struct layout **other)
{
    const char *number = number_in(layout, node);
    if (number && is_number(number)) {
        const long long value = strtoll(number, NULL, 10);
        *sequence = value >= 0 ? (uint32_t)value : 0;
        return value < 0 || value > INT32_MAX ? LAYOUT_USED_UP : LAYOUT_CANDIDATE;
    }
    for (size_t i = 0; i <= LAYOUTS; i++) {
        const struct layout *each = i < LAYOUTS ? &layouts[i] : &readers;
        number = each == layout ? NULL : number_in(each, node);
        if (!number || !is_number(number)) continue;
        *other = each;
        return LAYOUT_FOREIGN;
    }
    return LAYOUT_UNRELATED;
}

bool layout_is_ours(const struct layout *layout, const char *node)
{
    char prefix[LAYOUT_PREFIX];
    static const uint8_t nothing[LAYOUT_UUID];
    layout_prefix(layout, nothing, prefix);
    return strncmp(node, prefix, strlen(layout->head) + (size_t)2 * TAG_BYTES) == 0;
}
