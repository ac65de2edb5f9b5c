/*
 * What `bench/silence/run.sh` drives: who leads, when another does after a host fell silent, how often that changes although nothing
 * has failed, and whether two ever led at once. A host is a folder; the processes with SILENCE_HOST=FOLDER in their environment are
 * its own.
 *
 *     bench-silence claim FOLDER elector URL GROUP   a candidate of ours, through the library
 *     bench-silence claim FOLDER lines               a candidate of another system: a line `lost` on stdin ends, any other begins
 *     bench-silence trials COUNT FOLDER…             stops the leader's host, until another leads: a line `ns` each. Ends with 1, and
 *                                                    says why, if there are fewer
 *     bench-silence watch SECONDS PAUSES FOLDER…     prints how often somebody began to lead; with PAUSES 1, a random process of a
 *                                                    random host is stopped for 5 ms every 100 ms
 *     bench-silence overlap FOLDER…                  prints the longest time in which two led at once, in ns; and how many intervals
 *                                                    could not be compared, because there were more than 2^18
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "elector.h"
#include "silence/claims.h"

enum { HOSTS_MAX = 5, PROCESSES_MAX = 64, ENVIRONMENT_MAX = 1 << 17 };
static const uint64_t MS = 1000000, SECOND = 1000000000;
static const uint64_t FRESH_NS = 30000000, SETTLED_NS = 200000000, PATIENCE_NS = 60000000000;

struct host {
    char mark[600]; /* SILENCE_HOST=FOLDER */
    struct claims *claims;
    pid_t processes[PROCESSES_MAX];
    size_t count;
};

static struct host hosts[HOSTS_MAX];
static int host_count;

static void doze(uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    nanosleep(&time, NULL);
}

/* Below `end`. */
static uint64_t draw(uint64_t end)
{
    uint64_t random = 0;
    (void)!getrandom(&random, sizeof random, 0);
    return random % end;
}

/* ---- A candidate ---- */

static struct claims *own;

struct candidate {
    elector *elector;
    const char *url, *group;
};

static void on_event(void *candidate, const elector_event *event)
{
    const struct candidate *one = candidate;
    if (event->type != ELECTOR_STOP) return;
    claims_tell(own, claims_now_ns(), false);
    elector_stopped(one->elector, one->group);
}

static bool stand(struct candidate *one)
{
    elector_close(one->elector);
    one->elector = NULL;
    if (elector_open(one->url, &one->elector) != ELECTOR_OK) return false;
    elector_on_event(one->elector, on_event, one);
    const elector_status status = elector_campaign(one->elector, one->group, NULL, 0, NULL);
    return status == ELECTOR_OK || status == ELECTOR_TIMEOUT;
}

static _Noreturn void claim_by_library(const char *url, const char *group)
{
    struct candidate one = {.url = url, .group = group};
    for (bool stands = false;; doze(stands ? MS : 10 * MS)) {
        if (!stands) stands = stand(&one);
        const elector_status status = stands ? elector_dispatch(one.elector) : ELECTOR_LOST;
        stands = status == ELECTOR_OK || status == ELECTOR_TIMEOUT;
        const uint64_t now = claims_now_ns();
        claims_tell(own, now, stands && elector_is_leader(one.elector, group));
    }
}

static int claim_by_lines(void)
{
    struct pollfd polled = {.fd = STDIN_FILENO, .events = POLLIN};
    char bytes[4096], line[64] = "";
    size_t used = 0;
    for (bool leads = false;;) {
        const uint64_t now = claims_now_ns();
        claims_tell(own, now, leads);
        if (poll(&polled, 1, leads ? 1 : -1) <= 0) continue;
        const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
        if (got <= 0) return 0;
        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] != '\n') {
                if (used < sizeof line - 1) line[used++] = bytes[i];
                continue;
            }
            line[used] = '\0';
            if (used) leads = strcmp(line, "lost") != 0;
            used = 0;
        }
    }
}

/* ---- Hosts ---- */

static bool is_marked(const char *pid, const char *mark)
{
    static char environment[ENVIRONMENT_MAX];
    char path[300];
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, environment, sizeof environment - 1);
    if (fd >= 0) close(fd);
    if (size <= 0) return false;
    environment[size] = '\0';
    for (const char *at = environment; at < environment + size; at += strlen(at) + 1)
        if (strcmp(at, mark) == 0) return true;
    return false;
}

static void find_processes(struct host *host)
{
    DIR *folder = opendir("/proc");
    host->count = 0;
    for (const struct dirent *one; folder && (one = readdir(folder));)
        if (one->d_name[0] >= '1' && one->d_name[0] <= '9' && host->count < PROCESSES_MAX &&
            is_marked(one->d_name, host->mark))
            host->processes[host->count++] = (pid_t)strtol(one->d_name, NULL, 10);
    if (folder) closedir(folder);
}

static void signal_all(const struct host *host, int number)
{
    for (size_t i = 0; i < host->count; i++) (void)kill(host->processes[i], number);
}

static bool leads_now(const struct host *host)
{
    const uint64_t last = claims_last_ns(host->claims), now = claims_now_ns();
    return last && (last > now || now - last < FRESH_NS);
}

/* The only one that leads, for SETTLED_NS; NULL: not in time. */
static struct host *await_settled(void)
{
    const uint64_t until = claims_now_ns() + PATIENCE_NS;
    struct host *found = NULL;
    for (uint64_t since = 0; claims_now_ns() < until; doze(MS)) {
        struct host *one = NULL;
        int count = 0;
        for (int i = 0; i < host_count; i++)
            if (leads_now(&hosts[i])) count++, one = &hosts[i];
        if (count != 1 || one != found) since = claims_now_ns();
        found = count == 1 ? one : NULL;
        if (found && claims_now_ns() - since >= SETTLED_NS) return found;
    }
    return NULL;
}

/* When another than `silent` began to lead after `since`; 0: not in time. */
static uint64_t await_successor(const struct host *silent, uint64_t since)
{
    while (claims_now_ns() < since + PATIENCE_NS) {
        for (int i = 0; i < host_count; i++) {
            const struct claims *claims = hosts[i].claims;
            const uint32_t count = atomic_load(&claims->count);
            if (&hosts[i] == silent || count == 0) continue;
            if (claims->list[count - 1].first_ns > since) return claims->list[count - 1].first_ns;
        }
        doze(MS / 10);
    }
    return 0;
}

/* Stops the leader's host at any moment between two beats. 0: it no longer led by then; or nobody did for PATIENCE_NS, and `text`
 * says so. */
static uint64_t try_once(const char **text)
{
    struct host *leader = await_settled();
    *text = leader ? NULL : "nobody leads, or two do";
    if (!leader) return 0;
    find_processes(leader);
    doze(draw(SECOND));
    if (!leads_now(leader)) return 0;
    const uint64_t began = claims_now_ns();
    signal_all(leader, SIGSTOP);
    const uint64_t ended = await_successor(leader, began);
    doze(50 * MS);
    signal_all(leader, SIGCONT);
    if (!ended) *text = "nobody led after a host fell silent";
    return ended ? ended - began : 0;
}

static int trials(long count)
{
    long done = 0;
    const char *text = NULL;
    for (long tries = 0; done < count && tries < 3 * count && !text; tries++) {
        const uint64_t ns = try_once(&text);
        if (ns) printf("%" PRIu64 "\n", ns);
        (void)fflush(stdout);
        done += ns > 0;
    }
    if (done < count)
        fprintf(stderr, "%ld of %ld trials: %s\n", done, count,
                text ? text : "the leader changes again and again");
    return done < count;
}

static uint32_t begins(void)
{
    uint32_t sum = 0;
    for (int i = 0; i < host_count; i++) sum += atomic_load(&hosts[i].claims->begins);
    return sum;
}

static void pause_one(void)
{
    const struct host *host = &hosts[draw((uint64_t)host_count)];
    if (host->count == 0) return;
    const pid_t pid = host->processes[draw(host->count)];
    (void)kill(pid, SIGSTOP);
    doze(5 * MS);
    (void)kill(pid, SIGCONT);
}

static int watch(uint64_t seconds, bool pauses)
{
    if (!await_settled()) fprintf(stderr, "bench-silence: nobody leads for long, or two do\n");
    const uint32_t before = begins();
    uint64_t found_at = 0;
    for (const uint64_t until = claims_now_ns() + seconds * SECOND; claims_now_ns() < until; doze(95 * MS)) {
        if (pauses && claims_now_ns() - found_at > SECOND) {
            for (int i = 0; i < host_count; i++) find_processes(&hosts[i]);
            found_at = claims_now_ns();
        }
        if (pauses) pause_one();
    }
    printf("%" PRIu32 "\n", begins() - before);
    return 0;
}

static int overlap(void)
{
    uint64_t longest = 0;
    for (int i = 0; i < host_count; i++)
        for (int k = i + 1; k < host_count; k++) {
            const uint64_t one = claims_overlap_ns(hosts[i].claims, hosts[k].claims);
            if (one > longest) longest = one;
        }
    uint64_t forgotten = 0;
    for (int i = 0; i < host_count; i++) forgotten += atomic_load(&hosts[i].claims->forgotten);
    printf("%" PRIu64 " %" PRIu64 "\n", longest, forgotten);
    return 0;
}

static bool open_hosts(char **folders)
{
    for (; *folders && host_count < HOSTS_MAX; folders++) {
        struct host *host = &hosts[host_count++];
        char path[600];
        snprintf(host->mark, sizeof host->mark, "SILENCE_HOST=%s", *folders);
        snprintf(path, sizeof path, "%s/claims", *folders);
        host->claims = claims_open(path, false);
        if (!host->claims) return fprintf(stderr, "bench-silence: cannot open %s\n", path), false;
    }
    return host_count > 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "claim") == 0) {
        char path[600];
        snprintf(path, sizeof path, "%s/claims", argv[2]);
        own = claims_open(path, true);
        if (!own) return 1;
        if (strcmp(argv[3], "lines") == 0) return claim_by_lines();
        if (argc == 6) claim_by_library(argv[4], argv[5]);
    }
    if (argc > 3 && strcmp(argv[1], "trials") == 0)
        return !open_hosts(argv + 3) || trials(strtol(argv[2], NULL, 10));
    if (argc > 4 && strcmp(argv[1], "watch") == 0)
        return !open_hosts(argv + 4) || watch(strtoull(argv[2], NULL, 10), *argv[3] == '1');
    if (argc > 2 && strcmp(argv[1], "overlap") == 0) return !open_hosts(argv + 2) || overlap();
    fprintf(stderr, "bench-silence: see the head of its source\n");
    return 2;
}
