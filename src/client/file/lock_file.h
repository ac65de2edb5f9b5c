/*
 * The file behind file:PATH. Its first line is the token of the last term with a checksum, written and synced
 * before that term begins. Its second line names the leader while there is one. The leader holds a lock on the
 * open file, which the kernel frees when the process dies.
 *
 * A path may name a file of somebody else by mistake. So only a new or empty file is written, or one that
 * begins with the mark of a lock file; the path is not followed if it is a symbolic link.
 */
#ifndef ELECTOR_CLIENT_LOCK_FILE_H
#define ELECTOR_CLIENT_LOCK_FILE_H

#include <sys/types.h>

#include "elector.h"

struct lock_file {
    char path[4096];
    int fd;    /* -1: not open */
    pid_t pid; /* that opened it: a child forked later must not release the lock */
    uint64_t token;
};

/* Sets the path: PATH.GROUP, or PATH/GROUP.lock if PATH is a folder; '/' in GROUP becomes '%'. False: too
 * long. */
bool lock_name(struct lock_file *, const char *path, const char *group);
/* 1: locked, and no term has begun yet; 0: somebody else has the lock; -1: errno says why (EEXIST: the file is
 * no lock file; EMLINK: it has a second name; EINVAL: it is no plain file). Never blocks. */
int lock_try(struct lock_file *);
/* Begins a term with a new token, durably. False: the lock is free again; errno says why (EOVERFLOW: no tokens
 * left). */
bool lock_begin(struct lock_file *);
/* Writes the second line: this process, and the value. */
bool lock_proclaim(const struct lock_file *, const char *value);
/* Whether the path still names the file that we have locked. */
bool lock_is_intact(const struct lock_file *);
void lock_release(struct lock_file *);
/* The name of this process as a leader, HOST:PID. */
void lock_name_self(char name[ELECTOR_NAME_MAX + 1]);

struct lock_holder {
    char name[ELECTOR_NAME_MAX + 1];
    uint64_t token;
    char value[ELECTOR_VALUE_MAX + 1];
};
/* The leader; an empty name, also if there is no file: none. False: errno says why it cannot be read. */
bool lock_read(const char *path, struct lock_holder *);

#endif
