/*
 * Bytes as messages of an agent to its guardian, some with a descriptor. After a message that it does not understand a
 * guardian says nothing of anybody's end. It keeps no descriptor beyond its end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/guardian/guardian.h"
#include "base/kernel/memfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITHOUT, WITH_NULL, WITH_SOCKET, WITH_PAGE, DESCRIPTORS };

static int descriptor_of(unsigned kind)
{
    if (kind == WITH_NULL) return open("/dev/null", O_RDWR | O_CLOEXEC);
    if (kind == WITH_SOCKET) return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (kind != WITH_PAGE) return -1;
    const int fd = memfd_new("page");
    if (fd < 0 || ftruncate(fd, sizeof(struct guardian_page)) != 0) abort();
    return fd;
}

static bool is_good(const struct guardian *g)
{
    return g->watched_count <= GUARDIAN_WATCHED_MAX && g->timeout_ms <= GUARDIAN_TIMEOUT_MAX_MS;
}

/* Six bytes say the kind, the descriptor, the number, the peer, and the size of the datagram that follows; then its bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct guardian guardian; /* too large for a stack */
    const int lowest = dup(STDERR_FILENO);
    guardian = (struct guardian){.socket = -1};
    close(lowest);
    while (size >= 6) {
        struct guardian_message m = {
            .kind = data[0] % 13, .number = data[2], .peer = data[3], .size = data[4] * 8U};
        const size_t told = data[5] < 250 ? GUARDIAN_HEAD + m.size : data[5] - 250U; /* or cut */
        const bool was_mute = guardian.is_mute, is_cut = told < GUARDIAN_HEAD || told > sizeof m;
        const int fd = descriptor_of(data[1] % DESCRIPTORS);
        data += 6, size -= 6;
        const size_t room = m.size < sizeof m.datagram ? m.size : sizeof m.datagram,
                     some = room < size ? room : size;
        if (some > 0) memcpy(m.datagram, data, some);
        data += some, size -= some;
        guardian_take(&guardian, &m, told, fd);
        if (!is_good(&guardian) || ((was_mute || is_cut) && !guardian.is_mute)) abort();
    }
    if (guardian.is_mute && guardian_end_all(&guardian)) abort();
    guardian_close(&guardian);
    int next = -1;
    for (int i = 0; i < 1000 && next != lowest; i++) { /* those of clients are closed by a thread */
        if (next >= 0) usleep(1000);
        next = dup(STDERR_FILENO);
        close(next);
    }
    if (next != lowest) abort(); /* a descriptor is left */
    return 0;
}
