/* See boot_id.h. */
#define _GNU_SOURCE
#include "base/kernel/boot_id.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

size_t boot_id_read(char text[BOOT_ID_TEXT])
{
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    memset(text, 0, BOOT_ID_TEXT);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, BOOT_ID_TEXT - 1);
    if (fd >= 0) close(fd);
    return got > 0 ? (size_t)got : 0;
}
