/*
 * Groups in the order of their last change, in one line, and readers who stand somewhere in it. What is in front of a reader
 * it has not been told; a group that changes goes to the end of the line, so that it is told once, as it is then. Nothing
 * grows with a reader that is slow, and one that is new begins behind nobody and is told of everything.
 *
 * Places belong to whoever brings them, and stay where they are in memory for as long as they are in line.
 */
#ifndef ELECTOR_AGENT_FEED_H
#define ELECTOR_AGENT_FEED_H

struct feed_place {
    struct feed_place *before, *after; /* NULL: not in line */
    void *subject;                     /* NULL: a reader */
};

struct feed {
    struct feed_place ends; /* the line is a ring: behind the last comes the first, and this is between them */
    void *whose;
    void (*moved)(void *whose); /* may be NULL. From within any call of the host, so it must not call back */
};

void feed_init(struct feed *);
/* It is the last now, and readers have something to hear. */
void feed_change(struct feed *, struct feed_place *);
void feed_join(struct feed *, struct feed_place *reader);
void feed_leave(struct feed_place *);
/* The next subject, which the reader has then been told of; NULL: it knows everything. */
void *feed_next(struct feed *, struct feed_place *reader);

#endif
