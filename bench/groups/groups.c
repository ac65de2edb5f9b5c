/*
 * Many groups on three agents: how long until one candidate leads them all, what they cost at rest, and how long until
 * others lead them when that agent and its candidate are killed.
 *
 *     bench-groups ELECTOR FOLDER COUNT IDLE_S
 *
 * FOLDER: what `elector init` made for members a, b and c. Prints one line of numbers: groups, ms to acquire all, % of a core
 * at rest (all three agents), datagrams a second, bytes a group and agent, ms until all have a new leader; - for what could
 * not be measured. Datagrams are those of this network namespace. With PHASES in the environment, what each phase cost, too; with
 * HOLDER_LIVES the candidate is not killed with its agent, so that its lease is waited for.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cluster.h"
#include "crowd.h"

static const uint64_t MS = 1000000, PATIENCE_S = 300;

static struct cluster cluster;
static struct crowd crowds[MEMBERS]; /* the first is the holder's alone, in a process of its own */

/* What the holder's process tells, in memory that it shares with us. */
static struct holder {
    pid_t pid;
    _Atomic uint32_t entered, elected;
    _Atomic uint64_t all_at; /* when it led all; 0: it does not yet */
    _Atomic bool is_refused, may_begin;
    char refusal[CROWD_REFUSAL_MAX];
} * holder;

static void clean_up(void)
{
    cluster_end(&cluster);
}

static _Noreturn void hold(const char *path, uint32_t count)
{
    struct crowd *crowd = &crowds[0];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!crowd_open(crowd, path, count)) _exit(1);
    while (!holder->may_begin) pause_us(100);
    for (;;) {
        crowd_turn(crowd, 1, 1000);
        holder->entered = crowd->entered;
        holder->elected = crowd->elected;
        if (crowd->elected >= count && !holder->all_at) holder->all_at = clock_boottime_ns();
        if (!crowd->refusal[0] || holder->is_refused) continue;
        memcpy(holder->refusal, crowd->refusal, sizeof holder->refusal);
        holder->is_refused = true;
    }
}

static void start_holder(const char *path, uint32_t count)
{
    holder = mmap(NULL, sizeof *holder, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (holder == MAP_FAILED) exit(1);
    const pid_t pid = fork();
    if (pid == 0) hold(path, count);
    holder->pid = pid;
}

/* What was started dies with this process: it asked the kernel for that. */
static void on_end(int number)
{
    (void)number;
    _exit(143);
}

/* ---- What the kernel counts ---- */

static uint64_t number_in(const char *path, const char *behind)
{
    char line[512];
    uint64_t number = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const size_t length = strlen(behind);
        if (strncmp(line, behind, length) != 0) continue;
        number = strtoull(line + length, NULL, 10);
        break;
    }
    if (file) fclose(file);
    return number;
}

/* In ns, of all threads. */
static uint64_t cpu_of(pid_t pid)
{
    char path[300];
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *threads = opendir(path);
    for (const struct dirent *one; threads && (one = readdir(threads));) {
        if (one->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pid, one->d_name);
        sum += number_in(path, "");
    }
    if (threads) closedir(threads);
    return sum;
}

static uint64_t cpu_of_all(void)
{
    pid_t pids[PIDS_MAX];
    uint64_t sum = 0;
    for (uint32_t m = 0; m < MEMBERS; m++)
        for (int i = cluster_processes(&cluster, m, pids); i > 0; i--) sum += cpu_of(pids[i - 1]);
    return sum;
}

static uint64_t memory_of_all(void)
{
    char path[64];
    uint64_t sum = 0;
    for (uint32_t m = 0; m < MEMBERS; m++) {
        snprintf(path, sizeof path, "/proc/%d/status", cluster.agents[m]);
        sum += number_in(path, "VmRSS:") * 1024;
    }
    return sum;
}

/* Udp: names, then Udp: numbers: received, no port, errors, sent, no room. */
enum udp_field { UDP_SENT = 4, UDP_NO_ROOM = 5 };

static uint64_t datagrams(enum udp_field wanted)
{
    char line[512];
    uint64_t counted = 0;
    FILE *file = fopen("/proc/net/snmp", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *at = line + 5;
        if (strncmp(line, "Udp: ", 5) != 0 || *at < '0' || *at > '9') continue;
        for (int field = 0; field < (int)wanted; field++) counted = strtoull(at, &at, 10);
    }
    if (file) fclose(file);
    return counted;
}

/* ---- Where the time goes ---- */

/* What each agent and this process have used of a processor since the last phase ended, and datagrams, to who has asked for it. */
static void end_phase(const char *name)
{
    static uint64_t cpu[MEMBERS + 1], sent, lost, at;
    if (!getenv("PHASES")) return;
    const uint64_t now = clock_boottime_ns();
    fprintf(stderr, "%-10s %8.1f ms; CPU ms:", name, (double)(now - at) / 1e6);
    at = now;
    for (uint32_t m = 0; m <= MEMBERS; m++) {
        const uint64_t used = m < MEMBERS ? cpu_of(cluster.agents[m]) : cpu_of(getpid()) + cpu_of(holder->pid);
        fprintf(stderr, " %.1f", used > cpu[m] ? (double)(used - cpu[m]) / 1e6 : 0.0);
        cpu[m] = used;
    }
    fprintf(stderr, "; datagrams %" PRIu64 ", lost %" PRIu64 "\n", datagrams(UDP_SENT) - sent,
            datagrams(UDP_NO_ROOM) - lost);
    sent = datagrams(UDP_SENT);
    lost = datagrams(UDP_NO_ROOM);
}

/* ---- Phases ---- */

static void stop_if_refused(const char *refusal, uint32_t count, uint32_t entered)
{
    if (refusal[0] == '\0') return;
    fprintf(stderr, "bench-groups: %u groups are more than the agent takes: it stopped at %u: %s\n", count,
            entered, refusal);
    exit(3);
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench-groups: not in time: %s (led %u, %u, %u; stands in %u, %u, %u)\n", what,
            holder->elected, crowds[1].elected, crowds[2].elected, holder->entered, crowds[1].entered,
            crowds[2].entered);
    exit(1);
}

static uint64_t acquire_all(uint32_t count)
{
    const uint64_t from = clock_boottime_ns();
    holder->may_begin = true;
    while (!holder->all_at) {
        pause_us(1000);
        if (holder->is_refused) stop_if_refused(holder->refusal, count, holder->entered);
        if (clock_boottime_ns() - from > PATIENCE_S * 1000 * MS) give_up("all are led");
    }
    return holder->all_at - from;
}

static void turn(int timeout_ms)
{
    crowd_turn(crowds + 1, MEMBERS - 1, timeout_ms);
}

static void let_others_stand(uint32_t count)
{
    const uint64_t from = clock_boottime_ns();
    while (crowds[1].entered < count || crowds[2].entered < count) {
        turn(1000);
        for (uint32_t m = 1; m < MEMBERS; m++) stop_if_refused(crowds[m].refusal, count, crowds[m].entered);
        if (clock_boottime_ns() - from > PATIENCE_S * 1000 * MS) give_up("the others stand");
    }
}

static void rest(uint64_t ms)
{
    const uint64_t end = clock_boottime_ns() + ms * MS;
    for (uint64_t now; (now = clock_boottime_ns()) < end;) turn((int)((end - now) / MS) + 1);
}

static uint64_t take_over(uint32_t count)
{
    const uint32_t before = crowds[1].elected + crowds[2].elected;
    const uint64_t from = clock_boottime_ns();
    kill(cluster.agents[0], SIGKILL);
    if (!getenv("HOLDER_LIVES")) kill(holder->pid, SIGKILL);
    while (crowds[1].elected + crowds[2].elected < before + count) {
        turn(1000);
        if (clock_boottime_ns() - from > PATIENCE_S * 1000 * MS) give_up("all are led by others");
    }
    return clock_boottime_ns() - from;
}

int main(int argc, char **argv)
{
    static char paths[MEMBERS][300];
    if (argc != 5) {
        fprintf(stderr, "usage: bench-groups ELECTOR FOLDER COUNT IDLE_S\n");
        return 2;
    }
    const uint32_t count = (uint32_t)strtoul(argv[3], NULL, 10);
    const uint64_t idle_s = strtoull(argv[4], NULL, 10);
    cluster = (struct cluster){.program = argv[1], .folder = argv[2]};
    atexit(clean_up);
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
    for (uint32_t m = 0; m < MEMBERS; m++) cluster_start(&cluster, m);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        snprintf(paths[m], sizeof paths[m], "%s/%s/agent.sock", cluster.folder, member_names[m]);
        if (m == 0) start_holder(paths[m], count);
        if (m > 0 && !crowd_open(&crowds[m], paths[m], count)) give_up("a connection");
    }
    pause_us(1500000); /* so that sessions are there, and memory is touched */
    const uint64_t memory = memory_of_all();
    end_phase("start");
    const uint64_t acquired = acquire_all(count);
    end_phase("acquire");
    let_others_stand(count);
    end_phase("stand");
    rest(3000);
    end_phase("settle");
    const uint64_t grown = memory_of_all() - memory, cpu = cpu_of_all(), sent = datagrams(UDP_SENT),
                   from = clock_boottime_ns();
    rest(idle_s * 1000);
    const double elapsed = (double)(clock_boottime_ns() - from);
    const double busy = 100 * (double)(cpu_of_all() - cpu) / elapsed;
    const double rate = 1e9 * (double)(datagrams(UDP_SENT) - sent) / elapsed;
    const uint32_t again = holder->elected - count + crowds[1].elected + crowds[2].elected;
    if (again) fprintf(stderr, "bench-groups: %u groups changed hands while nothing was wrong\n", again);
    end_phase("rest");
    const uint64_t over = take_over(count);
    end_phase("take over");
    printf("%u %.1f %.2f %.0f %" PRIu64 " %.1f\n", count, (double)acquired / 1e6, busy, rate,
           grown / MEMBERS / count, (double)over / 1e6);
    for (uint32_t m = 1; m < MEMBERS; m++) crowd_close(&crowds[m]);
    kill(holder->pid, SIGKILL);
    waitpid(holder->pid, NULL, 0);
    return 0;
}
