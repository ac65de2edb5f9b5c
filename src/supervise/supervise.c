/* The supervisor's side: starts a keeper, gives it orders, and does without it if it must. */
#define _GNU_SOURCE
#include "supervise/supervise.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

uint64_t supervise_now_ns(void)
{
    return clock_boottime_ns();
}

bool supervise_init(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

/* Those that run, and the children that are neither a keeper nor a work. */
static struct supervise *works;
static bool (*is_ours)(pid_t child);

void supervise_spare(bool (*ours)(pid_t child))
{
    is_ours = ours;
}

/* A keeper that is given up is a child like any other. */
static bool is_spared(pid_t child)
{
    for (const struct supervise *work = works; work; work = work->next)
        if (work->keeper == child) return !work->forced;
    return is_ours && is_ours(child);
}

static void forget(const struct supervise *work)
{
    struct supervise **at = &works;
    while (*at && *at != work) at = &(*at)->next;
    if (*at) *at = work->next;
}

/* In a keeper: the others' are not its business, and must end when the supervisor does. */
static void close_others(void)
{
    for (const struct supervise *work = works; work; work = work->next) close(work->socket);
    works = NULL;
}

static struct supervise_page *make_page(uint64_t kill_at_ns)
{
    struct supervise_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return NULL;
    atomic_store(&page->kill_at_ns, kill_at_ns);
    return page;
}

static int give_up(struct supervise *work, int error)
{
    if (work->page) {
        supervise_line_count_out(work->line, &work->page->is_counted); /* unless the keeper has */
        munmap(work->page, sizeof *work->page);
    }
    if (work->forced || work->keeper <= 0) supervise_cgroup_remove(&work->tree); /* else the keeper does */
    forget(work);
    *work = (struct supervise){0};
    return error;
}

void supervise_bury(struct supervise *work)
{
    if (!work->gone) return;
    kill(work->gone, SIGKILL);
    waitpid(work->gone, NULL, 0);
    work->gone = 0;
}

int supervise_start(struct supervise *work, const struct supervise_command *command, uint64_t kill_at_ns)
{
    int ends[2];
    supervise_bury(work);
    *work = (struct supervise){.page = make_page(kill_at_ns), .line = command->line};
    if (!work->page) return give_up(work, errno);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return give_up(work, errno);
    supervise_cgroup_make(&work->tree);
    supervise_line_count(work->line, &work->page->is_counted);
    work->keeper = fork();
    if (work->keeper == 0) {
        close(ends[0]);
        close_others();
        work->socket = ends[1];
        supervise_keep(work, command);
    }
    const int error = errno;
    close(ends[1]);
    if (work->keeper < 0) {
        close(ends[0]);
        return give_up(work, error);
    }
    work->socket = ends[0];
    work->next = works;
    works = work;
    return 0;
}

void supervise_until(struct supervise *work, uint64_t kill_at_ns)
{
    if (work->keeper) atomic_store(&work->page->kill_at_ns, kill_at_ns);
}

/* A keeper that is gone says so when it is read. */
static void order(struct supervise *work, int kind)
{
    const struct supervise_message message = {.kind = kind};
    if (!work->keeper || work->forced) return;
    const ssize_t sent = send(work->socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
}

void supervise_signal(struct supervise *work, int signal)
{
    order(work, signal);
}

void supervise_stop(struct supervise *work)
{
    order(work, SUPERVISE_STOP_ALL);
}

void supervise_kill(struct supervise *work)
{
    order(work, SUPERVISE_KILL_ALL);
}

void supervise_force(struct supervise *work)
{
    if (!work->keeper || work->forced) return;
    work->forced = true;
    work->tree.leader = atomic_load(&work->page->command);
    work->tree.spares = is_spared;
    kill(work->keeper, SIGKILL);
    supervise_tree_signal_all(&work->tree, SIGKILL);
}

static enum supervise_news end(struct supervise *work)
{
    const pid_t keeper = work->forced ? 0 : work->keeper;
    close(work->socket);
    give_up(work, 0);
    work->gone = keeper; /* its exit is not waited for: who waits for our leadership would wait, too */
    return SUPERVISE_EMPTY;
}

/* What the keeper should have done. The keeper itself is a child like others. */
static enum supervise_news read_by_ourselves(struct supervise *work, int *value)
{
    if (!work->tree.empty) {
        supervise_tree_signal_all(&work->tree, SIGKILL);
        supervise_tree_reap(&work->tree);
    }
    if (!work->tree.empty) return SUPERVISE_NOTHING;
    if (work->told_exit) return end(work);
    work->told_exit = true;
    *value = 128 + SIGKILL;
    return SUPERVISE_EXITED;
}

enum supervise_news supervise_read(struct supervise *work, int *value)
{
    struct supervise_message message;
    if (!work->keeper) {
        if (work->gone && waitpid(work->gone, NULL, WNOHANG) != 0) work->gone = 0;
        return SUPERVISE_NOTHING;
    }
    if (!work->forced) {
        const ssize_t size = recv(work->socket, &message, sizeof message, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return SUPERVISE_NOTHING;
        if (size == (ssize_t)sizeof message) {
            *value = message.value;
            if (message.kind == SUPERVISE_EMPTY) return end(work);
            if (message.kind == SUPERVISE_EXITED || message.kind == SUPERVISE_FAILED) work->told_exit = true;
            return (enum supervise_news)message.kind;
        }
        supervise_force(work); /* it died before its time */
    }
    return read_by_ourselves(work, value);
}
