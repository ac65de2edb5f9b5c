/* See attacks.h. One user may stand for 16,384 groups. Here it leads them all, and then they all end at the same time. */
#define _GNU_SOURCE
#include "hostile/attacks.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cluster.h"

enum { MANY = 16384, WATCHDOG_MS = 1000, ELECTED_WITHIN_S = 10, LOT = 64 * 1024 };

struct client {
    int fd;
    uint32_t asked, elected;
    char lines[LOT + 200];
    size_t first, size; /* of the lines that are to be sent */
};

static void ask_more(struct client *c, const char *option)
{
    if (c->size > 0) return;
    c->first = 0;
    for (; c->asked < MANY && c->size < LOT; c->asked++)
        c->size += (size_t)snprintf(c->lines + c->size, sizeof c->lines - c->size,
                                    "{\"op\":\"campaign\",\"group\":\"m%u-%u\",\"priority\":9%s}\n",
                                    (unsigned)getuid(), c->asked, option);
}

static uint32_t count_elections(const char *text, size_t size)
{
    static const char word[] = "\"elected\"";
    uint32_t count = 0;
    for (const char *at = text; (at = memmem(at, size - (size_t)(at - text), word, sizeof word - 1)); at++)
        count++;
    return count;
}

/* False: the agent has closed the connection. An event that two readings part is not counted: then the time decides. */
static bool exchange_some(struct client *c, const char *option)
{
    static char answers[1 << 20];
    ask_more(c, option);
    const short events = (short)(POLLIN | (c->size > 0 ? POLLOUT : 0));
    (void)poll(&(struct pollfd){.fd = c->fd, .events = events}, 1, 10);
    const ssize_t sent = send(c->fd, c->lines + c->first, c->size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
        c->first += (size_t)sent;
        c->size -= (size_t)sent;
    }
    const ssize_t got = recv(c->fd, answers, sizeof answers, MSG_DONTWAIT);
    if (got > 0) c->elected += count_elections(answers, (size_t)got);
    return got != 0;
}

/* Leads as many groups as it may. */
static bool lead_many(const struct victim *v, struct client *c, const char *option)
{
    *c = (struct client){.fd = attack_join(v)};
    if (c->fd < 0) return false;
    const uint64_t until = clock_boottime_ns() + ELECTED_WITHIN_S * NS_PER_S;
    while (c->elected < MANY && clock_boottime_ns() < until)
        if (!exchange_some(c, option)) break;
    return c->elected > 0;
}

/* Until the agent has closed the connection, or what had to pass has. */
static void wait_for_the_end(struct client *c, uint64_t ns)
{
    static char answers[1 << 20];
    const uint64_t until = clock_boottime_ns() + ns;
    while (clock_boottime_ns() < until) {
        (void)poll(&(struct pollfd){.fd = c->fd, .events = POLLIN}, 1, 100);
        if (recv(c->fd, answers, sizeof answers, MSG_DONTWAIT) == 0) return;
    }
}

/* Says something that is no request: the agent disconnects it, and each tenure ends at its deadline. */
void be_expelled(const struct victim *v)
{
    static struct client c;
    for (;; close(c.fd)) {
        if (!lead_many(v, &c, "")) continue;
        if (send(c.fd, "garbage\n", 8, MSG_NOSIGNAL) > 0) attack_hit(v);
        wait_for_the_end(&c, NS_PER_S);
    }
}

/* Promises signs of life, and gives none. */
void hang(const struct victim *v)
{
    static struct client c;
    char option[40];
    snprintf(option, sizeof option, ",\"watchdog_ms\":%d", WATCHDOG_MS);
    for (;; close(c.fd)) {
        if (!lead_many(v, &c, option)) continue;
        attack_hit(v);
        wait_for_the_end(&c, NS_PER_MS * WATCHDOG_MS * 4);
    }
}
