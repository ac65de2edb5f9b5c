/* The candidates of a group, as last seen. See internal.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/zookeeper/internal.h"

enum { NAME_MAX_BYTES = 63, VALUE_MAX_BYTES = 255 };

static int by_sequence(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence ? 1 : strcmp(x->name, y->name);
}

/* Anybody may create thousands of nodes: looking at all of them for each of them would stop the loop. */
static const struct node *known_before(const struct nodes *nodes, const char *name, uint32_t sequence)
{
    uint32_t first = 0, end = nodes->count;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        const struct node *at = &nodes->all[middle];
        const int order =
            at->sequence != sequence ? (at->sequence < sequence ? -1 : 1) : strcmp(at->name, name);
        if (order == 0) return at;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

enum nodes_verdict nodes_take(struct nodes *nodes, const struct layout *layout,
                              const struct String_vector *children, const struct layout **other)
{
    const size_t room = children->count > 0 ? (size_t)children->count : 0;
    struct nodes taken = {.all = calloc(room + 1, sizeof *taken.all)};
    enum nodes_verdict verdict = taken.all ? NODES_FINE : NODES_NO_MEMORY;
    for (size_t i = 0; i < room && verdict == NODES_FINE; i++) {
        struct node *node = &taken.all[taken.count];
        const char *name = children->data[i];
        const enum layout_sort sort = layout_read(layout, name, &node->sequence, other);
        if (sort == LAYOUT_FOREIGN) verdict = NODES_OTHER_LAYOUT;
        if (sort == LAYOUT_USED_UP || strlen(name) >= sizeof node->name) verdict = NODES_USED_UP;
        if (sort != LAYOUT_CANDIDATE || verdict != NODES_FINE) continue;
        const struct node *known = known_before(nodes, name, node->sequence);
        if (known)
            *node = *known;
        else
            snprintf(node->name, sizeof node->name, "%s", name);
        taken.count++;
    }
    if (verdict != NODES_FINE) {
        free(taken.all);
        return verdict;
    }
    qsort(taken.all, taken.count, sizeof *taken.all, by_sequence);
    free(nodes->all);
    *nodes = taken;
    return NODES_FINE;
}

void nodes_free(struct nodes *nodes)
{
    free(nodes->all);
    *nodes = (struct nodes){0};
}

struct node *nodes_named(const struct nodes *nodes, const char *name)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        if (strcmp(nodes->all[i].name, name) == 0) return &nodes->all[i];
    return NULL;
}

struct node *nodes_of(const struct nodes *nodes, const char *prefix)
{
    for (uint32_t i = 0; prefix[0] && i < nodes->count; i++)
        if (strncmp(nodes->all[i].name, prefix, strlen(prefix)) == 0) return &nodes->all[i];
    return NULL;
}

struct node *nodes_before(const struct nodes *nodes, const struct node *node)
{
    return node == nodes->all ? NULL : nodes->all + (node - nodes->all) - 1;
}

/* Anybody may have written it: what a terminal would obey is not kept, and no more than the socket protocol allows. */
void node_read(struct node *node, const struct layout *layout, const char *data, size_t size, uint64_t czxid)
{
    const char *space = layout_is_ours(layout, node->name) && size ? memchr(data, ' ', size) : NULL;
    const size_t name_size = space ? (size_t)(space - data) : size;
    size_t used = 0;
    node->czxid = czxid;
    node->is_read = true;
    for (size_t i = 0; i < name_size && used < NAME_MAX_BYTES; i++) node->who[used++] = data[i];
    node->who[used++] = '\0';
    node->value_at = (uint32_t)used;
    for (size_t i = name_size + 1; i < size && used < node->value_at + VALUE_MAX_BYTES; i++)
        node->who[used++] = data[i];
    node->who[used] = '\0';
    for (size_t i = 0; i < used; i++) {
        const bool is_end = i + 1 == node->value_at;
        if (!is_end && ((unsigned char)node->who[i] < ' ' || node->who[i] == 0x7f)) node->who[i] = '?';
    }
}

size_t node_write(char data[NODE_DATA], const char *name, const char *value)
{
    const int size = snprintf(data, NODE_DATA, value[0] ? "%s %s" : "%s", name, value);
    return size < 0 ? 0 : size < NODE_DATA ? (size_t)size : NODE_DATA - 1;
}
