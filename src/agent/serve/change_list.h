/*
 * Groups in the order of their last change, in one line, and readers who stand somewhere in it. What is in front of a reader
 * it has not been told; a group that changes goes to the end of the line, so that it is told once, as it is then. Nothing
 * grows with a reader that is slow, and one that is new begins behind nobody and is told of everything. So while there
 * are no readers there need be no line, and there is none: the first one finds all groups in the order of their numbers.
 *
 * Groups are numbers from 0 on, known from the first change of one that is as high; readers are few, and belong to whoever
 * brings them.
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
    uint32_t behind; /* the place of whom it was told of last */
};

struct change_list {
    struct change_list_place
        *places; /* a ring: behind the last comes the first, and place 0 is between them; NULL: no readers */
    uint32_t room;
    uint32_t count; /* groups */
    struct change_list_reader *readers;
    void *context;
    void (*moved)(void *context); /* may be NULL. From within any call of the host, so it must not call back */
};

/* All zeros is an empty one. */
void change_list_free(struct change_list *);
/* It is the last now, and readers have something to hear. Without memory for one that is new they do not hear of it. */
void change_list_change(struct change_list *, uint32_t group);
void change_list_join(struct change_list *, struct change_list_reader *);
void change_list_leave(struct change_list *, struct change_list_reader *);
/* The next group, which the reader has then been told of; false: it knows everything. */
bool change_list_next(struct change_list *, struct change_list_reader *, uint32_t *group);

#endif
