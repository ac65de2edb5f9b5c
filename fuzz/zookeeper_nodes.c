/*
 * Bytes as what ZooKeeper tells of a group: lines are the names of its nodes, after an empty line what is in them. Anybody may have written both.
 * Those that are taken for candidates stand in the order of their numbers, and none twice; what is shown of them has texts that a terminal
 * does not obey. A second look keeps what was read of those that are still there. The first byte chooses the layout.
 */
#define _GNU_SOURCE /* strnlen */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/zookeeper/internal.h"

enum { NAMES_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const layouts[] = {"kazoo", "latch", "selector"};

static void look_at_text(const char *text, const char *end)
{
    for (; text < end && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127) abort();
    if (text == end) abort();
}

static void look(const struct nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node *node = &nodes->all[i];
        if (!node->name[0] || strnlen(node->name, NODE_NAME) == NODE_NAME || node->sequence > INT32_MAX)
            abort();
        if (i && node[-1].sequence > node->sequence) abort();
        if (nodes_before(nodes, node) != (i ? &node[-1] : NULL)) abort();
        if (!node->is_read) continue;
        if (node->value_at >= NODE_DATA) abort();
        look_at_text(node->who, node->who + NODE_DATA);
        look_at_text(node->who + node->value_at, node->who + NODE_DATA);
    }
}

/* The names are those of one folder, so none is there twice. */
static int list_names(char *text, size_t *at, char *names[NAMES_MAX])
{
    int count = 0;
    for (char *end; (end = strchr(text + *at, '\n')) && count < NAMES_MAX; *at = (size_t)(end - text) + 1) {
        char *name = text + *at;
        bool is_new = true;
        *end = '\0';
        for (int i = 0; i < count; i++) is_new = is_new && strcmp(names[i], name) != 0;
        if (!name[0]) {
            ++*at;
            break;
        }
        if (is_new) names[count++] = name;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct nodes nodes = {0};
    const struct layout *other = NULL;
    char text[4096], *names[NAMES_MAX];
    size_t at = 0;
    if (size < 1 || size > sizeof text) return 0;
    const struct layout *layout = layout_named(layouts[bytes[0] % 3]);
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    const struct String_vector children = {list_names(text, &at, names), names};
    if (nodes_take(&nodes, layout, &children, &other) != NODES_FINE) {
        if (nodes.count) abort();
        return 0;
    }
    const size_t left = at < size - 1 ? size - 1 - at : 0;
    for (uint32_t i = 0; i < nodes.count; i++)
        node_read(&nodes.all[i], layout, text + (left ? at : size - 1), left / (i + 1), i + 1);
    look(&nodes);
    const uint32_t before = nodes.count;
    if (nodes_take(&nodes, layout, &children, &other) != NODES_FINE || nodes.count != before) abort();
    for (uint32_t i = 0; i < nodes.count; i++)
        if (!nodes.all[i].is_read || nodes_named(&nodes, nodes.all[i].name) != &nodes.all[i]) abort();
    look(&nodes);
    nodes_free(&nodes);
    return 0;
}
