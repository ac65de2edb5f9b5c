/*
 * A network that misbehaves when told to, for the cluster tests: stands between every two members of a cluster.
 *
 *     cluster-relay PREFIX COUNT PORT < commands
 *
 * Member j listens at PREFIX.j:PORT. What i sends to PREFIX.(10 i + 100 + j):PORT comes to j. A command is a line
 * `FROM TO WHAT NUMBER`, 0 for every member; it is repeated on standard output once it holds. WHAT:
 *
 *     drop     1: nothing comes through            delay    so many ms on the way
 *     copies   so many of each, beside the first   garble   so many more, each with a byte changed
 *     replay   so many old ones with each
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS_MAX = 9, QUEUE_MAX = 4096, OLD_MAX = 64, DATAGRAM_MAX = 1500 };
enum fault { DROP, DELAY, COPIES, GARBLE, REPLAY, FAULTS };
static const char *const fault_names[FAULTS] = {"drop", "delay", "copies", "garble", "replay"};

struct datagram {
    size_t size;
    uint8_t bytes[DATAGRAM_MAX];
};

struct link {
    int socket;
    struct sockaddr_in to;
    unsigned faults[FAULTS];
    struct datagram old[OLD_MAX];
    unsigned seen;
};

struct late {
    uint64_t at_ms; /* 0: this place is free */
    struct link *link;
    struct datagram datagram;
};

static struct link links[MEMBERS_MAX * MEMBERS_MAX];
static struct late queue[QUEUE_MAX];
static int count;

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct link *link_of(int from, int to)
{
    return &links[(from - 1) * MEMBERS_MAX + to - 1];
}

static void put_out(const struct link *link, const struct datagram *datagram)
{
    (void)sendto(link->socket, datagram->bytes, datagram->size, MSG_DONTWAIT,
                 (const struct sockaddr *)&link->to, sizeof link->to);
}

static void send_or_delay(struct link *link, const struct datagram *datagram)
{
    if (link->faults[DELAY] == 0) {
        put_out(link, datagram);
        return;
    }
    for (int i = 0; i < QUEUE_MAX; i++) {
        if (queue[i].at_ms) continue;
        queue[i] = (struct late){now_ms() + link->faults[DELAY], link, *datagram};
        return;
    }
}

static void relay(struct link *link, struct datagram *datagram)
{
    link->old[link->seen++ % OLD_MAX] = *datagram;
    if (link->faults[DROP]) return;
    for (unsigned i = 0; i <= link->faults[COPIES]; i++) send_or_delay(link, datagram);
    for (unsigned i = 0; i < link->faults[REPLAY]; i++) {
        const unsigned known = link->seen < OLD_MAX ? link->seen : OLD_MAX;
        send_or_delay(link, &link->old[(unsigned)random() % known]);
    }
    for (unsigned i = 0; i < link->faults[GARBLE] && datagram->size > 0; i++) {
        struct datagram garbled = *datagram;
        garbled.bytes[(size_t)random() % garbled.size] ^= (uint8_t)(1 + random() % 255);
        send_or_delay(link, &garbled);
    }
}

static void hear(struct link *link)
{
    struct datagram datagram;
    for (int i = 0; i < 64; i++) {
        const ssize_t size = recv(link->socket, datagram.bytes, sizeof datagram.bytes, MSG_DONTWAIT);
        if (size < 0) return;
        datagram.size = (size_t)size;
        relay(link, &datagram);
    }
}

/* Sends what is due. How long until the next is, in ms; -1: nothing waits. */
static int send_late(void)
{
    const uint64_t now = now_ms();
    int next = -1;
    for (int i = 0; i < QUEUE_MAX; i++) {
        if (queue[i].at_ms == 0) continue;
        if (queue[i].at_ms <= now) {
            put_out(queue[i].link, &queue[i].datagram);
            queue[i].at_ms = 0;
        } else if (next < 0 || queue[i].at_ms - now < (uint64_t)next) {
            next = (int)(queue[i].at_ms - now);
        }
    }
    return next;
}

static void obey(const char *line)
{
    char *rest = NULL, what[16] = "";
    const long from = strtol(line, &rest, 10), to = strtol(rest, &rest, 10);
    const size_t length = strcspn(rest += strspn(rest, " "), " ");
    if (length == 0 || length >= sizeof what) return;
    memcpy(what, rest, length);
    const unsigned number = (unsigned)strtoul(rest + length, NULL, 10);
    for (int i = 1; i <= count; i++)
        for (int j = 1; j <= count; j++)
            for (int fault = 0; fault < FAULTS; fault++)
                if ((from == 0 || from == i) && (to == 0 || to == j) && strcmp(fault_names[fault], what) == 0)
                    link_of(i, j)->faults[fault] = number;
    printf("%ld %ld %s %u\n", from, to, what, number);
    fflush(stdout);
}

/* False: nobody is there to command any more. */
static int read_commands(void)
{
    static char text[4096];
    static size_t used;
    const ssize_t size = read(STDIN_FILENO, text + used, sizeof text - 1 - used);
    if (size <= 0) return 0;
    used += (size_t)size;
    text[used] = '\0';
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        obey(line);
    }
    used = strlen(line);
    memmove(text, line, used + 1);
    return used < sizeof text - 1;
}

static int open_link(struct link *link, const char *prefix, int from, int to, uint16_t port)
{
    char text[64];
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    link->to = here;
    snprintf(text, sizeof text, "%s.%d", prefix, 100 + 10 * from + to);
    if (inet_pton(AF_INET, text, &here.sin_addr) != 1) return 0;
    snprintf(text, sizeof text, "%s.%d", prefix, to);
    if (inet_pton(AF_INET, text, &link->to.sin_addr) != 1) return 0;
    link->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return link->socket >= 0 && bind(link->socket, (const struct sockaddr *)&here, sizeof here) == 0;
}

int main(int argc, char **argv)
{
    struct pollfd polled[1 + MEMBERS_MAX * MEMBERS_MAX] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    struct link *polled_links[1 + MEMBERS_MAX * MEMBERS_MAX];
    nfds_t places = 1;
    count = argc == 4 ? (int)strtol(argv[2], NULL, 10) : 0;
    const uint16_t port = argc == 4 ? (uint16_t)strtoul(argv[3], NULL, 10) : 0;
    if (count < 1 || count > MEMBERS_MAX) {
        fprintf(stderr, "usage: cluster-relay PREFIX COUNT PORT < commands\n");
        return 2;
    }
    for (int i = 1; i <= count; i++)
        for (int j = 1; j <= count; j++) {
            if (i == j) continue;
            if (!open_link(link_of(i, j), argv[1], i, j, port)) {
                perror("cluster-relay");
                return 1;
            }
            polled[places] = (struct pollfd){.fd = link_of(i, j)->socket, .events = POLLIN};
            polled_links[places++] = link_of(i, j);
        }
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        const int timeout = send_late();
        if (poll(polled, places, timeout) < 0 && errno != EINTR) return 1;
        if ((polled[0].revents & (POLLIN | POLLHUP)) && !read_commands()) return 0;
        for (nfds_t i = 1; i < places; i++)
            if (polled[i].revents & POLLIN) hear(polled_links[i]);
    }
}
