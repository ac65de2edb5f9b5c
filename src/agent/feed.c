/* See feed.h. */
#include "agent/feed.h"

#include <stddef.h>

static void take_out(struct feed_place *place)
{
    if (!place->before) return;
    place->before->after = place->after;
    place->after->before = place->before;
    place->before = place->after = NULL;
}

static void put_behind(struct feed_place *place, struct feed_place *before)
{
    place->before = before;
    place->after = before->after;
    before->after->before = place;
    before->after = place;
}

void feed_init(struct feed *feed)
{
    *feed = (struct feed){.ends = {.before = &feed->ends, .after = &feed->ends}};
}

void feed_change(struct feed *feed, struct feed_place *place)
{
    take_out(place); /* first: it may be the last itself */
    put_behind(place, feed->ends.before);
    if (feed->moved) feed->moved(feed->whose);
}

void feed_join(struct feed *feed, struct feed_place *reader)
{
    reader->subject = NULL;
    put_behind(reader, &feed->ends);
}

void feed_leave(struct feed_place *place)
{
    take_out(place);
}

void *feed_next(struct feed *feed, struct feed_place *reader)
{
    struct feed_place *next = reader->after;
    while (next != &feed->ends && !next->subject) next = next->after; /* other readers */
    if (next == &feed->ends) return NULL;
    take_out(reader);
    put_behind(reader, next);
    return next->subject;
}
