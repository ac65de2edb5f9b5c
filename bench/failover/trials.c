/*
 * Ends a leader in five ways, again and again, and prints how long it took until the successor's `elected` could be read
 * by its client.
 *
 *     bench-failover ELECTOR FOLDER LEASE_MS TRIALS WHAT…
 *
 * FOLDER: what `elector init` made for members a, b and c. Others of this program may run beside it with folders next to
 * this one: while one rests, another tries, but only one ends a leader at a time (FOLDER/../turn), unless it waits for
 * leases anyway. WHAT: round-trip, worker, agent, silence, transfer, resign,
 * command. A line for each trial: SYSTEM WHAT NS. `command` runs `elector run`, and is timed until the successor's command
 * has begun.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trial.h"

enum { PATIENCE_MS = 60000, ECHO_MS = 20, ROUND_TRIPS = 3000, DEATHS = 200, NOBODY = MEMBERS };
static const char *const GROUP = "work";

struct driver {
    struct cluster cluster;
    uint64_t lease_ms;
    int reports[2];
    struct {
        pid_t pid;
        int orders;
        bool stands;
    } seats[MEMBERS];
    uint32_t leader;
    uint64_t token, elected_at, asked_at;
    bool has_failed;
};

static struct driver driver; /* one, so that whatever ends the program can end the rest */

static void clean_up(void)
{
    for (uint32_t m = 0; m < MEMBERS; m++)
        if (driver.seats[m].pid > 0) kill(driver.seats[m].pid, SIGKILL);
    cluster_end(&driver.cluster);
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench-failover: not in time: %s\n", what);
    exit(1);
}

/* What was started dies with this process: it asked the kernel for that. */
static void on_end(int number)
{
    (void)number;
    _exit(143);
}

/* ---- What candidates tell ---- */

static void take(struct driver *d, const struct report *r)
{
    switch ((enum report_kind)r->kind) {
    case REPORT_STANDS: d->seats[r->member].stands = true; break;
    case REPORT_ELECTED:
        if (r->token <= d->token) break;
        d->token = r->token;
        d->elected_at = r->at_ns;
        d->leader = r->member;
        break;
    case REPORT_ASKED: d->asked_at = r->at_ns; break;
    case REPORT_FAILED: d->has_failed = true; break;
    }
}

/* False: nothing came in time. */
static bool hear(struct driver *d, int timeout_ms)
{
    struct report r;
    struct pollfd wanted = {.fd = d->reports[0], .events = POLLIN};
    if (poll(&wanted, 1, timeout_ms) <= 0) return false;
    if (read(d->reports[0], &r, sizeof r) != sizeof r) return false;
    take(d, &r);
    return true;
}

static void await_leader_after(struct driver *d, uint64_t token)
{
    while (d->token <= token && !d->has_failed)
        if (!hear(d, PATIENCE_MS)) give_up("a new leader");
}

/* Who asked says so when it is done, which may be later. */
static uint64_t since_asked(struct driver *d)
{
    while (d->asked_at == 0 && !d->has_failed)
        if (!hear(d, PATIENCE_MS)) give_up("when it was asked");
    return d->elected_at - d->asked_at;
}

/* Lets all come to rest; what is reported meanwhile counts. */
static void rest(struct driver *d, uint64_t ms)
{
    const uint64_t end = clock_boottime_ns() + ms * 1000000;
    for (uint64_t now; (now = clock_boottime_ns()) < end;) (void)hear(d, (int)((end - now) / 1000000) + 1);
}

/* So that heirs are known, and trials begin at any point between two beats. */
static void rest_a_while(struct driver *d)
{
    rest(d, d->lease_ms / 3 + (uint64_t)random() % (d->lease_ms / 6 + 1));
}

/* ---- Candidates ---- */

static void seat(struct driver *d, uint32_t member)
{
    static char url[300];
    int orders[2];
    cluster_url(&d->cluster, member, url, sizeof url);
    if (pipe2(orders, O_CLOEXEC) != 0) give_up("a pipe");
    d->seats[member].stands = false;
    const pid_t pid = fork();
    if (pid == 0) candidate_run(member, url, GROUP, orders[0], d->reports[1]);
    close(orders[0]);
    d->seats[member].pid = pid;
    d->seats[member].orders = orders[1];
    while (!d->seats[member].stands)
        if (!hear(d, PATIENCE_MS)) give_up("a candidate stands");
}

static void unseat(struct driver *d, uint32_t member)
{
    if (d->seats[member].pid <= 0) return;
    kill(d->seats[member].pid, SIGKILL);
    waitpid(d->seats[member].pid, NULL, 0);
    close(d->seats[member].orders);
    d->seats[member].pid = 0;
}

static void order(struct driver *d, uint32_t member, char what, uint32_t to)
{
    struct order o = {.what = what};
    if (to < MEMBERS) snprintf(o.to, sizeof o.to, "%s", member_names[to]);
    if (write(d->seats[member].orders, &o, sizeof o) != sizeof o) give_up("an order");
}

/* ---- Trials: each returns the time from its cause to the election ---- */

static uint64_t trial_worker(struct driver *d)
{
    const uint32_t was = d->leader;
    const uint64_t token = d->token, from = clock_boottime_ns();
    kill(d->seats[was].pid, SIGKILL);
    await_leader_after(d, token);
    const uint64_t took = d->elected_at - from;
    unseat(d, was);
    seat(d, was);
    return took;
}

static uint64_t trial_agent(struct driver *d)
{
    const uint32_t was = d->leader;
    const uint64_t token = d->token, from = clock_boottime_ns();
    kill(d->cluster.agents[was], SIGKILL);
    await_leader_after(d, token);
    const uint64_t took = d->elected_at - from;
    cluster_kill(&d->cluster, was);
    unseat(d, was);
    cluster_start(&d->cluster, was);
    seat(d, was);
    return took;
}

static uint64_t trial_silence(struct driver *d)
{
    const uint32_t was = d->leader;
    pid_t pids[PIDS_MAX];
    const int count = cluster_processes(&d->cluster, was, pids);
    const uint64_t token = d->token, from = clock_boottime_ns();
    for (int i = 0; i < count; i++) kill(pids[i], SIGSTOP);
    kill(d->seats[was].pid, SIGSTOP);
    await_leader_after(d, token);
    const uint64_t took = d->elected_at - from;
    for (int i = 0; i < count; i++) kill(pids[i], SIGCONT);
    kill(d->seats[was].pid, SIGCONT);
    return took;
}

static uint64_t trial_transfer(struct driver *d)
{
    const uint32_t to = (d->leader + 1 + (uint32_t)random() % (MEMBERS - 1)) % MEMBERS;
    const uint64_t token = d->token;
    d->asked_at = 0;
    order(d, d->leader, 't', to);
    await_leader_after(d, token);
    return since_asked(d);
}

static uint64_t trial_resign(struct driver *d)
{
    const uint32_t was = d->leader;
    const uint64_t token = d->token;
    d->asked_at = 0;
    order(d, was, 'r', NOBODY);
    await_leader_after(d, token);
    const uint64_t took = since_asked(d);
    order(d, was, 'c', NOBODY);
    return took;
}

static const struct {
    const char *name;
    uint64_t (*run)(struct driver *);
    uint64_t rest_percent; /* of a lease, until all is as before: one that was killed votes again */
    enum floor_kind floor; /* FLOOR_NONE: it waits for leases */
} kinds[] = {
    {"worker", trial_worker, 0, FLOOR_WORKER},   {"agent", trial_agent, 150, FLOOR_AGENT},
    {"silence", trial_silence, 100, FLOOR_NONE}, {"transfer", trial_transfer, 0, FLOOR_ASKED},
    {"resign", trial_resign, 0, FLOOR_ASKED},
};

static int take_turn(const struct driver *d)
{
    char path[300];
    snprintf(path, sizeof path, "%s/../turn", d->cluster.folder);
    const int turn = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (turn < 0 || flock(turn, LOCK_EX) != 0) give_up("a turn");
    return turn;
}

static void try_elector(struct driver *d, size_t kind)
{
    const uint64_t took = kinds[kind].run(d);
    if (d->has_failed) exit(1);
    print_sample("elector", kinds[kind].name, took);
}

static void end_turn(struct driver *d, int turn)
{
    rest(d, ECHO_MS);
    flock(turn, LOCK_UN); /* candidates have inherited it */
    close(turn);
}

/* In a turn of its own, after a rest in which its processes grow as cold as the cluster's. */
static void try_floor(struct driver *d, enum floor_kind kind, const char *name)
{
    struct floor *floor = floor_begin(kind);
    rest_a_while(d);
    const int turn = take_turn(d);
    print_sample("floor", name, floor_end(floor));
    end_turn(d, turn);
}

static void try_kind(struct driver *d, size_t kind, uint32_t trials)
{
    for (uint32_t i = 0; i < trials; i++) {
        const bool has_floor = kinds[kind].floor != FLOOR_NONE;
        if (has_floor) try_floor(d, kinds[kind].floor, kinds[kind].name);
        if (kinds[kind].floor == FLOOR_AGENT) try_floor(d, FLOOR_AGENT_AND_WORK, "agent-work");
        rest_a_while(d);
        const int turn = has_floor ? take_turn(d) : -1;
        try_elector(d, kind);
        if (turn >= 0) end_turn(d, turn);
        rest(d, d->lease_ms * kinds[kind].rest_percent / 100);
    }
}

/* ---- Commands: `elector run` in place of candidates ---- */

/* As the command: says that it has begun, and waits to be killed. */
static int begin_work(const char *fifo, const char *member)
{
    const char *token = getenv("ELECTOR_TOKEN");
    const struct report line = {REPORT_ELECTED, (uint32_t)strtoul(member, NULL, 10),
                                token ? strtoull(token, NULL, 10) : 0, clock_boottime_ns()};
    const int fd = open(fifo, O_WRONLY | O_CLOEXEC);
    const struct report who = {REPORT_ASKED, line.member, 0,
                               (uint64_t)getpid()}; /* its process, for the driver */
    if (fd < 0 || write(fd, &line, sizeof line) != sizeof line || write(fd, &who, sizeof who) != sizeof who)
        return 1;
    for (;;) pause();
}

static void run_command(struct driver *d, uint32_t member, const char *self, const char *fifo)
{
    char url[300], number[8];
    cluster_url(&d->cluster, member, url, sizeof url);
    snprintf(number, sizeof number, "%u", member);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(d->cluster.program, d->cluster.program, "run", "--url", url, "--quiet", GROUP, "--", self,
              "--begin", fifo, number, (char *)NULL);
        _exit(127);
    }
    d->seats[member].pid = pid;
}

static void try_commands(struct driver *d, uint32_t trials, const char *self)
{
    char fifo[300];
    snprintf(fifo, sizeof fifo, "%s/begun", d->cluster.folder);
    const int kept = d->reports[0];
    if (mkfifo(fifo, 0600) != 0 || (d->reports[0] = open(fifo, O_RDWR | O_CLOEXEC)) < 0) give_up("a fifo");
    for (uint32_t m = 0; m < MEMBERS; m++) unseat(d, m);
    rest(d, 100);
    for (uint32_t m = 0; m < MEMBERS; m++) run_command(d, m, self, fifo);
    uint64_t token = d->token;
    for (uint32_t i = 0; i <= trials; i++) {
        const uint64_t from = clock_boottime_ns();
        if (i > 0) kill((pid_t)d->asked_at, SIGKILL);
        const uint32_t was = d->leader;
        await_leader_after(d, token);
        token = d->token;
        if (i > 0) print_sample("elector", "command", d->elected_at - from);
        if (i > 0) {
            waitpid(d->seats[was].pid, NULL, 0);
            run_command(d, was, self, fifo);
        }
        rest_a_while(d);
    }
    for (uint32_t m = 0; m < MEMBERS; m++) {
        kill(d->seats[m].pid, SIGTERM);
        waitpid(d->seats[m].pid, NULL, 0);
        d->seats[m].pid = 0;
    }
    close(d->reports[0]);
    d->reports[0] = kept;
}

/* ---- All of it ---- */

static void try_one(struct driver *d, const char *what, uint32_t trials, const char *self)
{
    if (strcmp(what, "round-trip") == 0) {
        measure_round_trips(ROUND_TRIPS);
        measure_deaths(DEATHS);
        return;
    }
    if (strcmp(what, "command") == 0) {
        try_commands(d, trials, self);
        return;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(what, kinds[k].name) != 0) continue;
        for (uint32_t m = 0; m < MEMBERS; m++)
            if (d->seats[m].pid == 0) seat(d, m);
        await_leader_after(d, 0);
        try_kind(d, k, trials);
        return;
    }
    fprintf(stderr, "bench-failover: '%s' is nothing that can be tried\n", what);
    exit(2);
}

int main(int argc, char **argv)
{
    static char self[4096];
    if (argc == 4 && strcmp(argv[1], "--begin") == 0) return begin_work(argv[2], argv[3]);
    if (argc < 6 || readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        fprintf(stderr, "usage: bench-failover ELECTOR FOLDER LEASE_MS TRIALS WHAT...\n");
        return 2;
    }
    const uint32_t trials = (uint32_t)strtoul(argv[4], NULL, 10);
    driver.cluster.program = argv[1];
    driver.cluster.folder = argv[2];
    driver.lease_ms = strtoull(argv[3], NULL, 10);
    driver.leader = NOBODY;
    srandom((unsigned)getpid());
    if (pipe2(driver.reports, O_CLOEXEC) != 0) return 1;
    atexit(clean_up);
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
    for (uint32_t m = 0; m < MEMBERS; m++) cluster_start(&driver.cluster, m);
    for (int i = 5; i < argc; i++) try_one(&driver, argv[i], trials, self);
    return 0;
}
