/*
 * The file behind file:PATH. Its first line is the token of the last tenure, with a check sum, written and synced
 * before that tenure begins; its second line, while somebody leads, says who. Who leads holds a lock on the open file,
 * which the kernel takes away when the holder dies, however it dies.
 */
#ifndef ELECTOR_CLIENT_LOCK_FILE_H
#define ELECTOR_CLIENT_LOCK_FILE_H

#include <sys/types.h>

#include "elector.h"

struct lock_file {
    char path[4096];
    int fd;    /* -1: not open */
    pid_t pid; /* who opened it: a child that was forked later has no part in it */
    uint64_t token;
};

/* PATH.GROUP, or PATH/GROUP.lock if PATH is a folder; a / of the group becomes %. False: too long. */
bool lock_name(struct lock_file *, const char *path, const char *group);
/* 1: it is ours, though no tenure has begun; 0: somebody else's; -1: errno says what is wrong. Never blocks. */
int lock_try(struct lock_file *);
/* A new token, durable. False: errno says what is wrong (EOVERFLOW: tokens are used up), and the lock is free again. */
bool lock_begin(struct lock_file *);
/* Who leads, for all to read. */
bool lock_proclaim(const struct lock_file *, const char *value);
/* The path names the file that we have locked still. */
bool lock_is_intact(const struct lock_file *);
void lock_release(struct lock_file *);
/* Who leads: an empty name is nobody. False: errno says why it cannot be read; no file is nobody. */
bool lock_read(const char *path, elector_leader *leader);

#endif
