/* See change_list.h. */
#include "agent/serve/change_list.h"

#include <stdlib.h>

static const uint32_t NOT_IN_LINE = UINT32_MAX;

/* One after the other, as numbered. */
static void line_up(struct feed_place *places, uint32_t count)
{
    for (uint32_t place = 0; place <= count; place++)
        places[place] =
            (struct feed_place){.before = place ? place - 1 : count, .after = place < count ? place + 1 : 0};
}

static bool make_room(struct feed *feed)
{
    uint32_t room = feed->room ? feed->room : 16;
    while (room <= feed->count) room *= 2;
    struct feed_place *places = room > feed->room ? realloc(feed->places, room * sizeof *places) : feed->places;
    if (!places) return false;
    if (feed->room == 0) line_up(places, feed->count);
    for (uint32_t i = feed->room ? feed->room : feed->count + 1; i < room; i++)
        places[i] = (struct feed_place){NOT_IN_LINE, NOT_IN_LINE};
    feed->places = places;
    feed->room = room;
    return true;
}

void feed_free(struct feed *feed)
{
    free(feed->places);
    *feed = (struct feed){0};
}

/* Who stands behind it stands behind the one before. */
static void take_out(struct feed *feed, uint32_t place)
{
    const struct feed_place was = feed->places[place];
    if (was.before == NOT_IN_LINE) return;
    feed->places[was.before].after = was.after;
    feed->places[was.after].before = was.before;
    for (struct feed_reader *reader = feed->readers; reader; reader = reader->next)
        if (reader->behind == place) reader->behind = was.before;
}

void feed_change(struct feed *feed, uint32_t group)
{
    const uint32_t place = group + 1;
    if (group >= feed->count) feed->count = group + 1;
    if (!feed->readers || !make_room(feed)) return;
    take_out(feed, place); /* first: it may be the last itself */
    const uint32_t last = feed->places[0].before;
    feed->places[place] = (struct feed_place){.before = last, .after = 0};
    feed->places[last].after = feed->places[0].before = place;
    if (feed->moved) feed->moved(feed->whose);
}

void feed_join(struct feed *feed, struct feed_reader *reader)
{
    reader->behind = 0;
    reader->next = feed->readers;
    feed->readers = reader;
    (void)make_room(feed); /* if not now, then with the next change */
}

void feed_leave(struct feed *feed, struct feed_reader *reader)
{
    struct feed_reader **at = &feed->readers;
    while (*at && *at != reader) at = &(*at)->next;
    if (*at) *at = reader->next;
    if (feed->readers) return;
    free(feed->places);
    feed->places = NULL;
    feed->room = 0;
}

bool feed_next(struct feed *feed, struct feed_reader *reader, uint32_t *group)
{
    const uint32_t next = feed->room ? feed->places[reader->behind].after : 0;
    if (next == 0) return false;
    reader->behind = next;
    *group = next - 1;
    return true;
}
