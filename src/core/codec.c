/*
 * The wire form of a message. Offsets: 0 version, 1 kind, 2 flags, 3 zero, 4 from, 8 to, 12 subject,
 * 16 epoch, 24 rank, 32 aux, 40 more, 48 four extra words; integers little-endian.
 */
#include "elector/core.h"

#include "core/bytes.h"

enum { EXTRA_AT = 48, EXTRA = 4 };

void el_encode(const struct el_msg *msg, uint8_t wire[EL_WIRE_SIZE])
{
    wire[0] = EL_WIRE_VERSION;
    wire[1] = msg->kind;
    wire[2] = msg->flags;
    wire[3] = 0;
    el_put(wire + 4, msg->from, 4);
    el_put(wire + 8, msg->to, 4);
    el_put(wire + 12, msg->subject, 4);
    el_put(wire + 16, msg->epoch, 8);
    el_put(wire + 24, msg->rank, 8);
    el_put(wire + 32, msg->aux, 8);
    el_put(wire + 40, msg->more, 8);
    for (unsigned i = 0; i < EXTRA; i++) el_put(wire + EXTRA_AT + (size_t)8 * i, msg->extra[i], 8);
}

enum el_wire el_decode(const uint8_t *wire, size_t size, struct el_msg *msg)
{
    if (size < EL_WIRE_SIZE) return EL_WIRE_SHORT;
    if (size > EL_WIRE_SIZE) return EL_WIRE_LONG;
    if (wire[0] != EL_WIRE_VERSION) return EL_WIRE_OTHER_VERSION;
    if (wire[1] == 0) return EL_WIRE_NO_KIND;
    if (wire[3] != 0) return EL_WIRE_RESERVED;
    *msg = (struct el_msg){
        .kind = wire[1],
        .flags = wire[2],
        .from = (el_node)el_get(wire + 4, 4),
        .to = (el_node)el_get(wire + 8, 4),
        .subject = (el_node)el_get(wire + 12, 4),
        .epoch = el_get(wire + 16, 8),
        .rank = el_get(wire + 24, 8),
        .aux = el_get(wire + 32, 8),
        .more = el_get(wire + 40, 8),
    };
    for (unsigned i = 0; i < EXTRA; i++) msg->extra[i] = el_get(wire + EXTRA_AT + (size_t)8 * i, 8);
    return EL_WIRE_OK;
}
