/*
 * Three agents, and a candidate that leads 1,000 groups at the first of them, while somebody attacks that agent. Counts leases that
 * were lost, and asks the agent for the longest turn of its loop. Prints one line for run.sh, which makes the files and judges:
 * leases lost; microseconds of the longest turn before the attack, of the longest one, and of the longest without the time in which others
 * had the processor (the metric elector_loop_turn_longest_own_seconds); thousandths of a processor that others took meanwhile; what
 * watch.c saw: `good` or `bad`, and what else it has to say.
 *
 * bench-hostile PROGRAM FOLDER SOCKET HTTP-PORT PEER-ADDRESS:PORT ATTACK SECONDS DISK
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fs.h>

#include "common/cluster.h"
#include "hostile/attacks.h"
#include "hostile/load.h"
#include "hostile/watch.h"

enum { GROUPS = 1000, ELECTED_WITHIN_S = 60, NOBODY = 65534, ATTACKERS_MAX = 8 };

static struct cluster cluster;

static void die(const char *why)
{
    fprintf(stderr, "bench-hostile: %s\n", why);
    cluster_end(&cluster);
    exit(1);
}

/* ---- The leader ---- */

static struct {
    int fd;
    char in[1 << 20];
    size_t size;
    uint32_t elected, lost;
    char first_loss[200];
} leader;

static void hear_line(const char *line)
{
    if (strstr(line, "\"event\":\"elected\"")) leader.elected++;
    if (!strstr(line, "\"event\":\"lost\"")) return;
    if (leader.lost++ == 0) snprintf(leader.first_loss, sizeof leader.first_loss, "%.150s", line);
}

/* Reads for up to so long. */
static void hear(int timeout_ms)
{
    if (poll(&(struct pollfd){.fd = leader.fd, .events = POLLIN}, 1, timeout_ms) <= 0) return;
    const ssize_t got =
        recv(leader.fd, leader.in + leader.size, sizeof leader.in - leader.size - 1, MSG_DONTWAIT);
    if (got == 0) die("the agent has closed the leader's connection");
    if (got < 0) return;
    leader.size += (size_t)got;
    char *at = leader.in;
    for (char *end; (end = memchr(at, '\n', leader.size - (size_t)(at - leader.in))); at = end + 1) {
        *end = '\0';
        hear_line(at);
    }
    leader.size -= (size_t)(at - leader.in);
    memmove(leader.in, at, leader.size);
}

static void lead(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char line[100];
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    leader.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(leader.fd, (struct sockaddr *)&address, sizeof address) != 0) die("no agent to lead at");
    if (send(leader.fd, "{\"op\":\"hello\",\"page\":true}\n", 27, 0) != 27) die("cannot ask for the page");
    for (int i = 0; i < GROUPS; i++) {
        const int size =
            snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"g-%d\",\"priority\":9}\n", i);
        if (send(leader.fd, line, (size_t)size, MSG_NOSIGNAL) != size) die("cannot campaign");
        hear(0);
    }
    for (int i = 0; i < ELECTED_WITHIN_S * 10 && leader.elected < GROUPS; i++) hear(100);
    if (leader.elected < GROUPS) die("not all groups were elected in time");
}

/* ---- What the agent says ---- */

/* In microseconds; 0: it does not say. */
struct turn {
    double all, own;
};

static struct turn longest_turn(const struct sockaddr_in *http)
{
    for (int attempt = 0; attempt < 50; attempt++) {
        const char *metrics = ask_http(http, "/metrics", 5000);
        const struct turn turn = {read_metric(metrics, "\nelector_loop_turn_longest_seconds ") * 1e6,
                                  read_metric(metrics, "\nelector_loop_turn_longest_own_seconds ") * 1e6};
        if (turn.all > 0) return turn;
        pause_us(100000);
    }
    return (struct turn){0, 0};
}

/* ---- The attack ---- */

static const struct attack *find_attack(const char *name)
{
    for (uint32_t i = 0; i < attack_count; i++)
        if (strcmp(attacks[i].name, name) == 0) return &attacks[i];
    return NULL;
}

/* Each process is another user. */
static pid_t start(const struct attack *attack, const struct victim *victim, uint32_t number)
{
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (geteuid() == 0 && !attack->needs_root &&
        (setgroups(0, NULL) != 0 || setgid(NOBODY - number) != 0 || setuid(NOBODY - number) != 0))
        _exit(1);
    attack->run(victim);
    _exit(0);
}

static void thaw(const char *disk)
{
    const int fd = disk[0] ? open(disk, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    (void)ioctl(fd, FITHAW, 0);
    close(fd);
}

/* Returns how much of a processor others took meanwhile, in thousandths. */
static uint64_t attack_for(uint64_t seconds, const struct attack *attack, const struct victim *victim)
{
    pid_t attackers[ATTACKERS_MAX] = {0};
    const uint64_t others = load_of_others(), until = clock_boottime_ns() + seconds * NS_PER_S;
    for (uint32_t i = 0; i < attack->processes; i++) attackers[i] = start(attack, victim, i);
    while (clock_boottime_ns() < until) {
        hear(50);
        watch_on();
    }
    for (uint32_t i = 0; i < attack->processes; i++) {
        kill(attackers[i], SIGKILL);
        waitpid(attackers[i], NULL, 0);
    }
    thaw(victim->disk);
    const uint64_t after = load_of_others();
    return after > others ? (after - others) * 1000 / (load_ticks_a_second() * seconds) : 0;
}

static bool address_of(const char *text, struct sockaddr_in *address)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    if (!colon || (size_t)(colon - text) >= sizeof host) return false;
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    address->sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    return inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

int main(int argc, char **argv)
{
    struct victim victim = {0};
    if (argc != 9) {
        fputs("usage: bench-hostile PROGRAM FOLDER SOCKET HTTP PEER ATTACK SECONDS DISK\n", stderr);
        return 2;
    }
    const struct attack *attack = find_attack(argv[6]);
    const long seconds = strtol(argv[7], NULL, 10);
    cluster = (struct cluster){.program = argv[1], .folder = argv[2]};
    victim.folder = argv[2];
    victim.socket = argv[3];
    victim.hits = mmap(NULL, sizeof *victim.hits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    victim.disk = argv[8];
    if (!attack || seconds <= 0 || victim.hits == MAP_FAILED || !address_of(argv[4], &victim.http) ||
        !address_of(argv[5], &victim.peer)) {
        fputs("bench-hostile: an attack, a time or an address is not one\n", stderr);
        return 2;
    }
    cluster_start(&cluster, 0);
    if (watch_restarts(attack->name) && !learn_handshakes(&victim)) die("cannot make handshakes of b");
    for (uint32_t m = 1; m < MEMBERS; m++) cluster_start(&cluster, m);
    lead(victim.socket);
    watch_begin(&cluster, &victim, attack->name);
    const struct turn before = longest_turn(&victim.http);
    const uint64_t others = attack_for((uint64_t)seconds, attack, &victim);
    const struct turn after = longest_turn(&victim.http);
    hear(500);
    if (atomic_load(victim.hits) == 0) die("the attack has not reached the agent");
    printf("%u %.0f %.0f %.0f %" PRIu64 " ", leader.lost, before.all, after.all, after.own, others);
    watch_end(stdout);
    if (leader.lost) fprintf(stderr, "bench-hostile: %s\n", leader.first_loss);
    cluster_end(&cluster);
    return 0;
}
