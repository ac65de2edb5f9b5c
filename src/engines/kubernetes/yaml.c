/* See yaml.h. Aliases are copied where they stand, so depth and number of values are bounded: a few lines could name billions. */
#include "engines/kubernetes/yaml.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 32, VALUES_MAX = 20000 };

struct copying {
    yaml_document_t *document;
    unsigned values, depth;
    const char *wrong;
};

static json_t *copy(struct copying *, int index);

static json_t *copy_scalar(const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;
    const size_t size = node->data.scalar.length;
    const bool is_plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (is_plain && (size == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) return json_null();
    return json_stringn(text, size); /* NULL, if it is no UTF-8: libyaml has seen to that */
}

static json_t *copy_sequence(struct copying *c, const yaml_node_t *node)
{
    json_t *list = json_array();
    for (const int *item = node->data.sequence.items.start; list && item < node->data.sequence.items.top;
         item++)
        if (json_array_append_new(list, copy(c, *item)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *copy_mapping(struct copying *c, const yaml_node_t *node)
{
    json_t *object = json_object();
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; object && pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(c->document, pair->key);
        const char *name = key && key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : NULL;
        if (!name) c->wrong = "a key is no text";
        if (name && json_object_get(object, name)) c->wrong = "a key occurs twice";
        if (c->wrong || json_object_set_new(object, name, copy(c, pair->value)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *copy(struct copying *c, int index)
{
    const yaml_node_t *node = yaml_document_get_node(c->document, index);
    json_t *value = NULL;
    if (!node || c->depth == DEPTH_MAX || ++c->values > VALUES_MAX) {
        c->wrong = "it is too deep, or too large";
        return NULL;
    }
    c->depth++;
    switch (node->type) {
    case YAML_SCALAR_NODE: value = copy_scalar(node); break;
    case YAML_SEQUENCE_NODE: value = copy_sequence(c, node); break;
    case YAML_MAPPING_NODE: value = copy_mapping(c, node); break;
    case YAML_NO_NODE: break;
    }
    c->depth--;
    return value;
}

json_t *yaml_read(const char *bytes, size_t size, char text[YAML_TEXT])
{
    yaml_parser_t parser;
    yaml_document_t document;
    json_t *value = NULL;
    snprintf(text, YAML_TEXT, "out of memory");
    if (!yaml_parser_initialize(&parser)) return NULL;
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
    if (!yaml_parser_load(&parser, &document)) {
        snprintf(text, YAML_TEXT, "line %zu: %.100s", parser.problem_mark.line + 1,
                 parser.problem ? parser.problem : "it is no YAML");
    } else {
        struct copying copying = {.document = &document};
        value = yaml_document_get_root_node(&document) ? copy(&copying, 1) : NULL;
        if (!value) snprintf(text, YAML_TEXT, "%s", copying.wrong ? copying.wrong : "it is empty");
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return value;
}
