/* See line.h. */
#define _GNU_SOURCE
#include "supervise/line.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/guardian/guardian.h"

struct supervise_line *supervise_line_new(int socket)
{
    struct supervise_line *line =
        mmap(NULL, sizeof *line, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (line == MAP_FAILED) {
        close(socket);
        return NULL;
    }
    line->socket = socket;
    return line;
}

void supervise_line_free(struct supervise_line *line)
{
    if (!line) return;
    close(line->socket);
    munmap(line, sizeof *line);
}

/* May be sent twice. If it is lost, the next leader waits for the lease. */
static void answer(const struct supervise_line *line)
{
    if (!atomic_load(&line->is_ended) || atomic_load(&line->works)) return;
    (void)!send(line->socket, GUARDIAN_LINE_OVER, sizeof GUARDIAN_LINE_OVER - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void supervise_line_add_work(struct supervise_line *line, _Atomic bool *is_counted)
{
    if (line && !atomic_exchange(is_counted, true)) atomic_fetch_add(&line->works, 1);
}

/* A process that dies between the two statements leaves the count too high: then nobody answers. */
void supervise_line_remove_work(struct supervise_line *line, _Atomic bool *is_counted)
{
    if (!line || !atomic_exchange(is_counted, false)) return;
    atomic_fetch_sub(&line->works, 1);
    answer(line);
}

void supervise_line_end(struct supervise_line *line)
{
    if (!line) return;
    atomic_store(&line->is_ended, true);
    answer(line);
}

bool supervise_line_is_ended(const struct supervise_line *line)
{
    return line && atomic_load(&line->is_ended);
}

/* Sets is_ended before the shutdown, so that a keeper that sees the shutdown also sees is_ended. */
enum supervise_word supervise_line_read(struct supervise_line *line)
{
    char word[sizeof GUARDIAN_LINE_END];
    if (!line) return SUPERVISE_SILENCE;
    if (atomic_load(&line->is_ended)) return SUPERVISE_END;
    const ssize_t size = recv(line->socket, word, sizeof word, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return SUPERVISE_SILENCE;
    if (size == (ssize_t)sizeof word - 1 && memcmp(word, GUARDIAN_LINE_END, sizeof word - 1) == 0)
        atomic_store(&line->is_ended, true);
    shutdown(line->socket, SHUT_RD);
    return atomic_load(&line->is_ended) ? SUPERVISE_END : SUPERVISE_GONE;
}
