/*
 * The floor: how fast a failover could be on this machine, at this moment, for any program. The shortest chain of processes
 * that can do it, with nothing but poll, send and write, and no decision:
 *
 *     worker           ends -> its agent's poll -> datagram -> the heir's agent -> the heir
 *     agent            ends -> its guardian, by a robust mutex -> datagram -> the heir's agent -> the heir
 *     agent and work   the same, but the guardian first ends the worker, and has the kernel's word (pidfd) that it has ended
 *     transfer, resign asks -> its agent -> datagram -> the heir's agent -> the heir
 *
 * The driver measures it in turns with Elector's trials, after the same rest, so that load and cold caches are the same.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trial.h"

enum { BYTES = 100, STEP_WITHIN_MS = 60000 };

/* The message along the chain is as long as one of an election. */
struct step {
    uint64_t from_ns; /* 0: the driver knows */
    char rest[BYTES - sizeof(uint64_t)];
};

enum role { HEIR, HEIRS_AGENT, AGENT, GUARDIAN, WORKER, ROLES };

struct floor {
    enum floor_kind kind;
    int order[2], ask[2], heir[2], result[2]; /* [0] reads */
    int sender, receiver;
    struct sockaddr_in address; /* of the heir's agent */
    pthread_mutex_t *alive;
    int worker; /* its pidfd, for the guardian; -1: there is none */
    pid_t pids[ROLES];
};

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* False: the other side has ended. */
static bool take(int fd, struct step *step)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    if (poll(&wanted, 1, STEP_WITHIN_MS) != 1) _exit(1);
    return read(fd, step, sizeof *step) == sizeof *step;
}

static void pass_on(int fd, const struct step *step)
{
    if (write(fd, step, sizeof *step) != sizeof *step) _exit(1);
}

static void send_to_heir(const struct floor *f, const struct step *step)
{
    if (sendto(f->sender, step, sizeof *step, 0, (const struct sockaddr *)&f->address, sizeof f->address) < 0)
        _exit(1);
}

/* ---- The processes ---- */

/* Is told, and says when its poll returned. */
static void be_heir(const struct floor *f)
{
    struct step step;
    struct pollfd wanted = {.fd = f->heir[0], .events = POLLIN};
    if (poll(&wanted, 1, STEP_WITHIN_MS) != 1) _exit(1);
    const uint64_t at = clock_boottime_ns();
    if (read(f->heir[0], &step, sizeof step) != sizeof step) _exit(1);
    const uint64_t times[2] = {step.from_ns, at};
    if (write(f->result[1], times, sizeof times) != sizeof times) _exit(1);
}

static void be_heirs_agent(const struct floor *f)
{
    struct step step;
    if (take(f->receiver, &step)) pass_on(f->heir[1], &step);
}

static bool has_guardian(const struct floor *f)
{
    return f->kind == FLOOR_AGENT || f->kind == FLOOR_AGENT_AND_WORK;
}

static void be_agent(const struct floor *f)
{
    struct step step = {0};
    if (has_guardian(f)) {
        if (pthread_mutex_lock(f->alive) != 0) _exit(1);
        pass_on(f->result[1], &step); /* it holds it */
        for (;;) pause();
    }
    if (!take(f->ask[0], &step)) step = (struct step){0};
    send_to_heir(f, &step);
}

static void be_guardian(const struct floor *f)
{
    const struct step step = {0};
    struct pollfd over = {.fd = f->worker, .events = POLLIN};
    if (pthread_mutex_lock(f->alive) != EOWNERDEAD) _exit(1);
    if (f->worker >= 0 && (shutdown(f->ask[0], SHUT_RDWR) != 0 || poll(&over, 1, STEP_WITHIN_MS) != 1))
        _exit(1);
    send_to_heir(f, &step);
}

static void be_worker(const struct floor *f)
{
    struct step step;
    if (has_guardian(f)) _exit(take(f->ask[1], &step)); /* its connection ends */
    if (!take(f->order[0], &step)) _exit(0);
    step.from_ns = clock_boottime_ns();
    pass_on(f->ask[1], &step);
}

static void begin(struct floor *f, enum role role, void (*be)(const struct floor *))
{
    f->pids[role] = fork();
    if (f->pids[role] < 0) fail("floor: fork");
    if (f->pids[role] > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (role != WORKER) close(f->ask[1]); /* the worker's end is the only one */
    be(f);
    for (;;) pause(); /* ends are noticed by others, and only one is meant to be */
}

/* ---- The chain ---- */

static void make_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("floor: socketpair");
}

static int open_udp(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &size) != 0)
        fail("floor: socket");
    return fd;
}

static void make_lock(struct floor *f)
{
    pthread_mutexattr_t how;
    f->alive = mmap(NULL, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f->alive == MAP_FAILED || pthread_mutexattr_init(&how) != 0 ||
        pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) != 0 || pthread_mutex_init(f->alive, &how) != 0)
        fail("floor: mutex");
}

struct floor *floor_begin(enum floor_kind kind)
{
    struct floor *f = calloc(1, sizeof *f);
    struct sockaddr_in unused;
    struct step held;
    if (!f) fail("floor");
    f->kind = kind;
    make_pair(f->order);
    make_pair(f->ask);
    make_pair(f->heir);
    make_pair(f->result);
    f->sender = open_udp(&unused);
    f->receiver = open_udp(&f->address);
    make_lock(f);
    begin(f, HEIR, be_heir);
    begin(f, HEIRS_AGENT, be_heirs_agent);
    begin(f, AGENT, be_agent);
    if (kind != FLOOR_AGENT) begin(f, WORKER, be_worker);
    f->worker = kind == FLOOR_AGENT_AND_WORK ? (int)syscall(SYS_pidfd_open, f->pids[WORKER], 0) : -1;
    if (has_guardian(f)) {
        if (!take(f->result[0], &held)) fail("floor: lock");
        begin(f, GUARDIAN, be_guardian);
    }
    close(f->ask[1]);
    return f;
}

uint64_t floor_end(struct floor *f)
{
    const struct step order = {0};
    struct pollfd told = {.fd = f->result[0], .events = POLLIN};
    uint64_t times[2], from = clock_boottime_ns();
    if (f->kind == FLOOR_ASKED)
        pass_on(f->order[1], &order);
    else
        kill(f->pids[f->kind == FLOOR_WORKER ? WORKER : AGENT], SIGKILL);
    if (poll(&told, 1, STEP_WITHIN_MS) != 1 || read(f->result[0], times, sizeof times) != sizeof times)
        fail("floor: nobody was told");
    if (times[0]) from = times[0];
    for (int role = 0; role < ROLES; role++) {
        if (f->pids[role] == 0) continue;
        kill(f->pids[role], SIGKILL);
        waitpid(f->pids[role], NULL, 0);
    }
    for (int i = 0; i < 2; i++) {
        close(f->order[i]);
        close(f->heir[i]);
        close(f->result[i]);
    }
    close(f->ask[0]);
    if (f->worker >= 0) close(f->worker);
    close(f->sender);
    close(f->receiver);
    munmap(f->alive, sizeof(pthread_mutex_t));
    free(f);
    return times[1] - from;
}
