/*
 * A list of all groups in the order of their last change, and readers with a position in it. A group that
 * changes moves to the end. A reader gets each group after its position once, as it is then. So a slow reader
 * costs no memory, and a new reader, which starts at the beginning, gets all groups. Without readers there is
 * no list; the first reader gets one in the order of numbers.
 *
 * Groups are numbers from 0 on; a change of group N makes all groups up to N known. Readers belong to their
 * callers.
 */
#ifndef ELECTOR_AGENT_SERVE_CHANGE_LIST_H
#define ELECTOR_AGENT_SERVE_CHANGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct change_list_place {
    uint32_t before, after;
};

struct change_list_reader {
    struct change_list_reader *next;
    uint32_t behind; /* the place of the group that it got last; 0: none */
};

struct change_list {
    struct change_list_place *places; /* a ring, in which place 0 is before the first; NULL: no readers */
    uint32_t room;
    uint32_t count; /* of groups */
    struct change_list_reader *readers;
    void *context;
    void (*moved)(void *context); /* may be NULL. Called from within calls of the host: must not call back */
};

/* A zeroed struct is an empty list. */
void change_list_free(struct change_list *);
/* Moves the group to the end, and calls `moved`. If memory for a new group runs out, readers do not get it. */
void change_list_change(struct change_list *, uint32_t group);
void change_list_join(struct change_list *, struct change_list_reader *);
/* The reader gets nothing that changed before. */
void change_list_skip(const struct change_list *, struct change_list_reader *);
void change_list_leave(struct change_list *, struct change_list_reader *);
/* The next group for the reader; false: none is left. */
bool change_list_next(struct change_list *, struct change_list_reader *, uint32_t *group);

#endif
