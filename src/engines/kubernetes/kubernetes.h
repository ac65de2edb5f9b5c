/* Elections on Kubernetes: kubernetes:///NAMESPACE. See internal.h. */
#ifndef ELECTOR_ENGINES_KUBERNETES_KUBERNETES_H
#define ELECTOR_ENGINES_KUBERNETES_KUBERNETES_H

#include "engines/engine.h"

extern const struct store_kind store_kubernetes;

#endif
