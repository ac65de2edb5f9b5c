/*
 * Names of the nodes that candidates create below a group's path: a unique part, a marker, and the ten digits that
 * ZooKeeper appends. A layout is one way to write them. Clients of different layouts on one path do not see each
 * other in order, so such a path is refused.
 *
 *     kazoo     <uuid>__lock__NNNNNNNNNN      kazoo's Election and Lock
 *     latch     _c_<uuid>-latch-NNNNNNNNNN    Curator's LeaderLatch
 *     selector  _c_<uuid>-lock-NNNNNNNNNN     Curator's LeaderSelector
 *
 * Our uuids are of version 8 and begin with "elec" (656c6563), so that ours are known from others.
 */
#ifndef ELECTOR_ENGINES_ZOOKEEPER_LAYOUT_H
#define ELECTOR_ENGINES_ZOOKEEPER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAYOUT_UUID = 16, LAYOUT_PREFIX = 64 };

struct layout;

/* NULL: there is none of that name. */
const struct layout *layout_named(const char *name);
const char *layout_name(const struct layout *);
/* The name of a new node without its digits. `random` is made into a uuid of ours. */
void layout_prefix(const struct layout *, const uint8_t random[LAYOUT_UUID], char prefix[LAYOUT_PREFIX]);

enum layout_sort {
    LAYOUT_CANDIDATE, /* of this layout; *sequence is its place */
    LAYOUT_FOREIGN,   /* of another layout, which is *other */
    LAYOUT_UNRELATED, /* no candidate */
    LAYOUT_USED_UP    /* of this layout, but ZooKeeper's numbers went beyond 2^31: the order is lost */
};
enum layout_sort layout_read(const struct layout *, const char *node, uint32_t *sequence,
                             const struct layout **other);
/* Whether an Elector created this node. */
bool layout_is_ours(const struct layout *, const char *node);

#endif
