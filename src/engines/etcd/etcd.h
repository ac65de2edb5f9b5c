/* etcd://, etcds://: elections as etcd's own client has them, over etcd's JSON gateway. See internal.h. */
#ifndef ELECTOR_ENGINES_ETCD_ETCD_H
#define ELECTOR_ENGINES_ETCD_ETCD_H

#include "engines/engine.h"

extern const struct store_kind store_etcd;

#endif
