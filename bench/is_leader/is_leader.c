/*
 * What it costs to ask elector_is_leader() before every write: nanoseconds a call, as the median of many batches, and
 * instructions a call, which no other program on the machine can spoil. A real agent that is alone in its cluster leads a
 * group, then as many as one elector can have; beside it the clock alone, below which no answer can be had.
 *
 * Instructions are counted by the processor where the kernel gives access to that, else by going through some calls one
 * instruction at a time; the output says which.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/state/record.h"
#include "base/clock.h"
#include "elector.h"

enum {
    BATCHES = 2001,
    CALLS = 1000,
    COUNTED_CALLS = 100000,
    STEPPED_CALLS = 100,
    GROUPS = 256,
    PATIENCE_MS = 30000
};

static char folder[] = "/tmp/elector-bench-XXXXXX";
static struct config config;
static pid_t agent;
static elector *e;
static char names[GROUPS][ELECTOR_GROUP_MAX + 1];

static void clean_up(void)
{
    if (agent > 0) kill(agent, SIGKILL);
    if (agent > 0) (void)waitpid(agent, NULL, 0);
    agent = 0;
    (void)unlink(config.socket);
    (void)unlink(config.state);
    (void)rmdir(folder);
}

/* ---- An agent ---- */

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        err(1, "cannot have a port");
    close(fd);
    return ntohs(address.sin_port);
}

static void start_agent(void)
{
    char path[128], text[512], bytes[512];
    struct record_identity identity = {.member = 1};
    if (!mkdtemp(folder)) err(1, "%s", folder);
    snprintf(path, sizeof path, "%s/elector.conf", folder);
    const int size = snprintf(bytes, sizeof bytes,
                              "[cluster]\nname = bench\n[member a]\nid = 1\naddress = 127.0.0.1:%u\n"
                              "[agent]\nself = a\nsocket = %s/agent.sock\nstate = %s/state\nrecorder = off\n",
                              free_port(), folder, folder);
    if (!config_parse(&config, path, bytes, (size_t)size, false, text, sizeof text)) errx(1, "%s", text);
    memcpy(identity.cluster_id, config.cluster_id, sizeof identity.cluster_id);
    if (!record_create(config.state, &identity, text, sizeof text)) errx(1, "%s", text);
    agent = fork();
    if (agent < 0) err(1, "fork");
    if (agent > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    _exit(agent_run(&config, NULL, NULL));
}

static void connect_to_agent(void)
{
    char url[200];
    elector_status status = ELECTOR_UNAVAILABLE;
    snprintf(url, sizeof url, "unix:%s", config.socket);
    for (int i = 0; i < PATIENCE_MS / 20 && status != ELECTOR_OK; i++) {
        elector_close(e);
        status = elector_open(url, &e);
        if (status != ELECTOR_OK) usleep(20000);
    }
    if (status != ELECTOR_OK) errx(1, "%s", elector_message(e));
}

static void lead(int count)
{
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], i ? "shard-%d" : "billing", i);
        if (elector_campaign(e, names[i], NULL, PATIENCE_MS, NULL) != ELECTOR_OK)
            errx(1, "%s: %s", names[i], elector_message(e));
    }
}

/* ---- What is measured ---- */

typedef unsigned calls(unsigned count, unsigned groups);

static unsigned ask_who_leads(unsigned count, unsigned groups)
{
    unsigned yes = 0;
    for (unsigned i = 0; i < count; i++)
        yes += elector_is_leader(e, names[i & (groups - 1)]); /* a power of two */
    return yes;
}

static unsigned ask_the_clock(unsigned count, unsigned groups)
{
    struct timespec now;
    unsigned yes = 0;
    for (unsigned i = 0; i < count; i++) yes += clock_gettime(CLOCK_BOOTTIME, &now) == 0 && groups > 0;
    return yes;
}

static double now_ns(void)
{
    return (double)clock_monotonic_ns();
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a batch that was interrupted for longer than a lease not all say yes; a few of those are left out. */
static double time_calls(calls *what, unsigned groups, double *slow)
{
    static double each[BATCHES];
    int left_out = 0;
    for (int i = 0; i < BATCHES;) {
        const double began = now_ns();
        const unsigned yes = what(CALLS, groups);
        each[i] = (now_ns() - began) / CALLS;
        if (yes == CALLS)
            i++;
        else if (++left_out > BATCHES)
            errx(1, "it does not lead for long enough to be measured");
    }
    qsort(each, BATCHES, sizeof *each, compare);
    *slow = each[BATCHES * 99 / 100];
    return each[BATCHES / 2];
}

/* ---- Instructions ---- */

static const char *counted_by;

static double count_by_processor(calls *what, unsigned groups)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS,
                                         .disabled = 1,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    const int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    uint64_t count = 0;
    if (fd < 0) return -1;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    (void)what(COUNTED_CALLS, groups);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, &count, sizeof count) != (ssize_t)sizeof count) count = 0;
    close(fd);
    counted_by = "counted by the processor";
    return count ? (double)count / COUNTED_CALLS : -1;
}

static void halt(void)
{
    syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
}

/* How many from one halt to the next; less than 0: nobody may look. */
static long steps_of(calls *what, unsigned count, unsigned groups)
{
    int status;
    const pid_t led = fork();
    if (led == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(1);
        halt();
        (void)what(count, groups);
        halt();
        _exit(0);
    }
    if (led < 0 || waitpid(led, &status, 0) != led || !WIFSTOPPED(status)) return -1;
    long steps = 0;
    while (ptrace(PTRACE_SINGLESTEP, led, NULL, NULL) == 0 && waitpid(led, &status, 0) == led &&
           WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
        steps++;
    kill(led, SIGKILL);
    (void)waitpid(led, NULL, 0);
    return steps;
}

static double count_by_steps(calls *what, unsigned groups)
{
    const long none = steps_of(what, 0, groups), all = steps_of(what, STEPPED_CALLS, groups);
    counted_by = "gone through one by one";
    return none < 0 || all < none ? -1 : (double)(all - none) / STEPPED_CALLS;
}

/* ---- The report ---- */

static double report(const char *title, calls *what, unsigned groups)
{
    (void)what(CALLS, groups); /* the linker has done its part, and nothing is far away */
    double slow, instructions = count_by_processor(what, groups);
    if (instructions < 0) instructions = count_by_steps(what, groups);
    const double usual = time_calls(what, groups, &slow);
    printf("%-44s %6.1f ns %6.1f ns", title, usual, slow);
    if (instructions < 0)
        printf("       no count: %s\n", strerror(errno));
    else
        printf(" %6.0f instructions, %s\n", instructions, counted_by);
    return usual;
}

int main(void)
{
    atexit(clean_up);
    start_agent();
    connect_to_agent();
    printf("%-44s %9s %9s   of %d batches of %d calls\n", "", "median", "99 %", BATCHES, CALLS);
    (void)report("clock_gettime(CLOCK_BOOTTIME)", ask_the_clock, 1);
    lead(1);
    const double one = report("elector_is_leader(), 1 group", ask_who_leads, 1);
    lead(GROUPS);
    (void)report("elector_is_leader(), 256 groups in turn", ask_who_leads, GROUPS);
    printf("aim: below 50 ns: %s\n", one < 50 ? "met" : "missed, here and now");
    elector_close(e);
    return 0;
}
