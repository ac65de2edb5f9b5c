/* Elections on ZooKeeper: zookeeper://HOST:PORT,HOST:PORT/PATH. See internal.h. */
#ifndef ELECTOR_ENGINES_ZOOKEEPER_ZOOKEEPER_H
#define ELECTOR_ENGINES_ZOOKEEPER_ZOOKEEPER_H

#include "engines/engine.h"

extern const struct store_kind store_zookeeper;

#endif
