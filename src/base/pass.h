/* Passing a descriptor to another process. */
#ifndef ELECTOR_BASE_PASS_H
#define ELECTOR_BASE_PASS_H

#include <stddef.h>
#include <sys/types.h>

/* sendmsg() with `fd`, which is borrowed, beside the first of these bytes; -1: with none. */
ssize_t pass_send(int socket, const void *bytes, size_t size, int fd, int flags);

#endif
