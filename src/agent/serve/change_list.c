/* See change_list.h. */
#include "agent/serve/change_list.h"

#include <stdlib.h>

static const uint32_t NOT_IN_LINE = UINT32_MAX;

/* Puts all groups into the order of their numbers. */
static void line_up(struct change_list_place *places, uint32_t count)
{
    for (uint32_t place = 0; place <= count; place++)
        places[place] = (struct change_list_place){.before = place ? place - 1 : count,
                                                   .after = place < count ? place + 1 : 0};
}

static bool make_room(struct change_list *change_list)
{
    uint32_t room = change_list->room ? change_list->room : 16;
    while (room <= change_list->count) room *= 2;
    struct change_list_place *places =
        room > change_list->room ? realloc(change_list->places, room * sizeof *places) : change_list->places;
    if (!places) return false;
    if (change_list->room == 0) line_up(places, change_list->count);
    for (uint32_t i = change_list->room ? change_list->room : change_list->count + 1; i < room; i++)
        places[i] = (struct change_list_place){NOT_IN_LINE, NOT_IN_LINE};
    change_list->places = places;
    change_list->room = room;
    return true;
}

void change_list_free(struct change_list *change_list)
{
    free(change_list->places);
    *change_list = (struct change_list){0};
}

/* Readers that were behind it are then behind the place before. */
static void take_out(struct change_list *change_list, uint32_t place)
{
    const struct change_list_place was = change_list->places[place];
    if (was.before == NOT_IN_LINE) return;
    change_list->places[was.before].after = was.after;
    change_list->places[was.after].before = was.before;
    for (struct change_list_reader *reader = change_list->readers; reader; reader = reader->next)
        if (reader->behind == place) reader->behind = was.before;
}

void change_list_change(struct change_list *change_list, uint32_t group)
{
    const uint32_t place = group + 1;
    if (group >= change_list->count) change_list->count = group + 1;
    if (!change_list->readers || !make_room(change_list)) return;
    take_out(change_list, place); /* before `last` is read: it may be the last itself */
    const uint32_t last = change_list->places[0].before;
    change_list->places[place] = (struct change_list_place){.before = last, .after = 0};
    change_list->places[last].after = change_list->places[0].before = place;
    if (change_list->moved) change_list->moved(change_list->context);
}

void change_list_join(struct change_list *change_list, struct change_list_reader *reader)
{
    reader->behind = 0;
    reader->next = change_list->readers;
    change_list->readers = reader;
    (void)make_room(change_list); /* on failure, the next change tries again */
}

void change_list_skip(const struct change_list *change_list, struct change_list_reader *reader)
{
    reader->behind = change_list->room ? change_list->places[0].before : 0;
}

void change_list_leave(struct change_list *change_list, struct change_list_reader *reader)
{
    struct change_list_reader **at = &change_list->readers;
    while (*at && *at != reader) at = &(*at)->next;
    if (*at) *at = reader->next;
    if (change_list->readers) return;
    free(change_list->places);
    change_list->places = NULL;
    change_list->room = 0;
}

bool change_list_next(struct change_list *change_list, struct change_list_reader *reader, uint32_t *group)
{
    const uint32_t next = change_list->room ? change_list->places[reader->behind].after : 0;
    if (next == 0) return false;
    reader->behind = next;
    *group = next - 1;
    return true;
}
