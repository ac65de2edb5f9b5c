/* See turns.h. */
#include "agent/serve/limits/turns.h"

static const uint64_t NS_OF_TURN = UINT64_C(1000) * TURN_US;

void turns_join(struct turns *turns, struct turn_place *place, enum turn_queue queue)
{
    if (place->is_queued) return;
    *place = (struct turn_place){.before = turns->last[queue], .is_queued = true, .queue = (uint8_t)queue};
    *(place->before ? &place->before->after : &turns->first[queue]) = place;
    turns->last[queue] = place;
    turns->count++;
}

void turns_leave(struct turns *turns, struct turn_place *place)
{
    if (!place->is_queued) return;
    *(place->before ? &place->before->after : &turns->first[place->queue]) = place->after;
    *(place->after ? &place->after->before : &turns->last[place->queue]) = place->before;
    *place = (struct turn_place){0};
    turns->count--;
}

bool turns_wait(const struct turns *turns)
{
    return turns->count > 0;
}

void turns_begin(struct turns *turns, uint64_t now)
{
    turns->others_come_first = turns->first[TURN_OTHERS] && !turns->others_were_served;
    turns->others_were_served = false;
    turns->began_ns = now;
    turns->requests = 0;
    turns->bytes = 0;
}

bool turns_are_over(const struct turns *turns, uint64_t now)
{
    return turns->requests >= TURN_REQUESTS || turns->bytes >= TURN_BYTES ||
           now - turns->began_ns >= NS_OF_TURN;
}

static bool is_first_half(const struct turns *turns, uint64_t now)
{
    return turns->requests < TURN_REQUESTS / 2 && turns->bytes < TURN_BYTES / 2 &&
           now - turns->began_ns < NS_OF_TURN / 2;
}

struct turn_place *turns_next(struct turns *turns, uint64_t now)
{
    const bool prefers = (is_first_half(turns, now) && !turns->others_come_first) || !turns->first[TURN_OTHERS];
    struct turn_place *place = turns->first[prefers ? TURN_CANDIDATES : TURN_OTHERS];
    if (!place) place = turns->first[TURN_OTHERS];
    turns->others_come_first = false;
    if (place && place->queue == TURN_OTHERS) turns->others_were_served = true;
    if (place) turns_leave(turns, place);
    return place;
}
