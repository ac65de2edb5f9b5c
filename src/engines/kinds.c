/* The stores that this program can elect on. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "engines/engine.h"
#include "engines/etcd/etcd.h"
#ifdef ELECTOR_HAS_KUBERNETES
#include "engines/kubernetes/kubernetes.h"
#endif
#ifdef ELECTOR_HAS_ZOOKEEPER
#include "engines/zookeeper/zookeeper.h"
#endif
#include "engines/run.h"

static const struct store_kind *const kinds[] = {
    &store_etcd,
#ifdef ELECTOR_HAS_ZOOKEEPER
    &store_zookeeper,
#endif
#ifdef ELECTOR_HAS_KUBERNETES
    &store_kubernetes,
#endif
};

static bool has_scheme(const struct store_kind *kind, const char *url)
{
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(kind->schemes[i]);
        if (length && strncmp(url, kind->schemes[i], length) == 0 && strncmp(url + length, "://", 3) == 0)
            return true;
    }
    return false;
}

const struct store_kind *store_kind_of(const char *url, char *text, unsigned long size)
{
    size_t used = (size_t)snprintf(text, size, "%.160s: expected one of", url);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_scheme(kinds[i], url)) return kinds[i];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int k = 0; k < 2 && kinds[i]->schemes[k][0] && used < size; k++)
            used += (size_t)snprintf(text + used, size - used, " %s://", kinds[i]->schemes[k]);
    return NULL;
}
