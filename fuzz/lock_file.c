/*
 * Bytes as the file of a lock, written by somebody who may write there: as they are, after a first line that is good,
 * which nobody guesses, and after one whose checksum is wrong. A reader names a leader only with the token of a good first
 * line. A candidate that takes the lock over gets a higher token than that line has, and leaves a file that it did not
 * begin as it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/file/lock_file.h"
#include "lib/scratch.h"

static const char good[] = "elector-lock 00000000000000000007 5a38ee64\n",
                  bad[] = "elector-lock 00000000000000000007 5a38ee65\n";

static void put(const char *path, const char *line, const uint8_t *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const size_t length = strlen(line);
    if (fd < 0 || (length > 0 && write(fd, line, length) != (ssize_t)length)) abort();
    if ((size > 0 && write(fd, data, size) != (ssize_t)size) || close(fd) != 0) abort();
}

static bool is_text(const char *text, size_t max)
{
    return strnlen(text, max + 1) <= max;
}

/* As one that looks while another holds the lock. */
static uint64_t look(const char *path, struct lock_file *holder)
{
    struct lock_holder leader;
    if (!lock_read(path, &leader) || leader.name[0] || leader.token) abort(); /* nobody has locked it */
    const int taken = lock_try(holder);
    if (taken < 0 && errno != EEXIST) abort();
    if (taken <= 0) return 0;
    if (!lock_read(path, &leader)) abort();
    if (!is_text(leader.name, ELECTOR_NAME_MAX) || !is_text(leader.value, ELECTOR_VALUE_MAX)) abort();
    if (leader.name[0] && (leader.token == 0 || leader.token >> 53)) abort();
    return leader.token;
}

/* As one that leads next. */
static void lead(const char *path, struct lock_file *holder, uint64_t before)
{
    struct lock_holder leader;
    if (!lock_begin(holder)) {
        if (errno != EOVERFLOW) abort();
        return;
    }
    if (holder->token <= before || holder->token >> 53) abort();
    if (!lock_proclaim(holder, "value") || !lock_read(path, &leader) || leader.token != holder->token) abort();
    lock_release(holder);
}

/* The token that was read in it; 0: nobody's. */
static uint64_t play(const char *line, const uint8_t *data, size_t size)
{
    static const char mark[] = "elector-lock ";
    char path[200];
    struct lock_file holder;
    snprintf(path, sizeof path, "%s/fuzz-%ld", scratch_memory(), (long)getpid());
    if (!lock_name(&holder, path, "g")) abort();
    put(holder.path, line, data, size);
    const uint64_t token = look(holder.path, &holder);
    const bool is_ours = holder.fd >= 0;
    if (is_ours && !line[0] && size >= sizeof mark && memcmp(data, mark, sizeof mark - 1) != 0 && data[0])
        abort();
    if (is_ours) lead(holder.path, &holder, token);
    if (unlink(holder.path) != 0) abort();
    return token;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)play("", data, size);
    const uint64_t token = play(good, data, size);
    if (token != 0 && token != 7) abort();
    if (play(bad, data, size) != 0) abort();
    return 0;
}
