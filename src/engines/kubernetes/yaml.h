/* YAML as JSON values, by libyaml: what a kubeconfig needs. Scalars are strings; null is null. */
#ifndef ELECTOR_ENGINES_KUBERNETES_YAML_H
#define ELECTOR_ENGINES_KUBERNETES_YAML_H

#include <jansson.h>
#include <stddef.h>

enum { YAML_TEXT = 200 };
/* The first document. NULL: `text` says what is wrong, and in which line. */
json_t *yaml_read(const char *bytes, size_t size, char text[YAML_TEXT]);

#endif
