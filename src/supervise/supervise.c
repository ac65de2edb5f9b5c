/* The supervisor's side: starts a keeper, sends it orders, and does its work if it dies or hangs. */
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

/* All that run; and a test for children that are neither keepers nor orphans of a command. */
static struct supervise *works;
static bool (*is_ours)(pid_t child);

void supervise_spare_children(bool (*ours)(pid_t child))
{
    is_ours = ours;
}

/* An abandoned keeper is killed like any other child. */
static bool is_spared(pid_t child)
{
    for (const struct supervise *work = works; work; work = work->next)
        if (work->keeper == child) return !work->abandoned;
    return is_ours && is_ours(child);
}

static void forget(const struct supervise *work)
{
    struct supervise **at = &works;
    while (*at && *at != work) at = &(*at)->next;
    if (*at) *at = work->next;
}

/* In a keeper: sockets to other keepers must close when the supervisor dies. */
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

static int release(struct supervise *work, int error)
{
    if (work->page) {
        supervise_line_remove_work(work->line, &work->page->is_counted); /* unless the keeper did */
        munmap(work->page, sizeof *work->page);
    }
    if (work->abandoned || work->keeper <= 0) supervise_cgroup_remove(&work->tree); /* else the keeper does */
    forget(work);
    *work = (struct supervise){0};
    return error;
}

void supervise_reap_keeper(struct supervise *work)
{
    if (!work->exiting_keeper) return;
    kill(work->exiting_keeper, SIGKILL);
    waitpid(work->exiting_keeper, NULL, 0);
    work->exiting_keeper = 0;
}

int supervise_start(struct supervise *work, const struct supervise_command *command, uint64_t kill_at_ns)
{
    int ends[2];
    supervise_reap_keeper(work);
    *work = (struct supervise){.page = make_page(kill_at_ns), .line = command->line};
    if (!work->page) return release(work, errno);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return release(work, errno);
    supervise_cgroup_make(&work->tree);
    supervise_line_add_work(work->line, &work->page->is_counted);
    work->keeper = fork();
    if (work->keeper == 0) {
        close(ends[0]);
        close_others();
        work->socket = ends[1];
        supervise_run_keeper(work, command);
    }
    const int error = errno;
    close(ends[1]);
    if (work->keeper < 0) {
        close(ends[0]);
        return release(work, error);
    }
    work->socket = ends[0];
    work->next = works;
    works = work;
    return 0;
}

void supervise_set_kill_time(struct supervise *work, uint64_t kill_at_ns)
{
    if (work->keeper) atomic_store(&work->page->kill_at_ns, kill_at_ns);
}

/* supervise_read() notices a keeper that is gone. */
static void send_order(struct supervise *work, int kind)
{
    const struct supervise_message message = {.kind = kind};
    if (!work->keeper || work->abandoned) return;
    const ssize_t sent = send(work->socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
}

void supervise_signal(struct supervise *work, int signal)
{
    send_order(work, signal);
}

void supervise_stop(struct supervise *work)
{
    send_order(work, SUPERVISE_STOP_ALL);
}

void supervise_kill(struct supervise *work)
{
    send_order(work, SUPERVISE_KILL_ALL);
}

void supervise_abandon_keeper(struct supervise *work)
{
    if (!work->keeper || work->abandoned) return;
    work->abandoned = true;
    work->tree.leader = atomic_load(&work->page->command);
    work->tree.spares = is_spared;
    kill(work->keeper, SIGKILL);
    supervise_tree_signal_all(&work->tree, SIGKILL);
}

static enum supervise_report end(struct supervise *work)
{
    const pid_t keeper = work->abandoned ? 0 : work->keeper;
    close(work->socket);
    release(work, 0);
    work->exiting_keeper = keeper; /* do not wait for its exit: the next leader would wait, too */
    return SUPERVISE_EMPTY;
}

/* Does what the keeper should have done. */
static enum supervise_report kill_without_keeper(struct supervise *work, int *value)
{
    if (!work->tree.empty) {
        supervise_tree_signal_all(&work->tree, SIGKILL);
        supervise_tree_reap(&work->tree);
    }
    if (!work->tree.empty) return SUPERVISE_NOTHING;
    if (work->reported_exit) return end(work);
    work->reported_exit = true;
    *value = 128 + SIGKILL;
    return SUPERVISE_EXITED;
}

enum supervise_report supervise_read(struct supervise *work, int *value)
{
    struct supervise_message message;
    if (!work->keeper) {
        if (work->exiting_keeper && waitpid(work->exiting_keeper, NULL, WNOHANG) != 0) work->exiting_keeper = 0;
        return SUPERVISE_NOTHING;
    }
    if (!work->abandoned) {
        const ssize_t size = recv(work->socket, &message, sizeof message, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return SUPERVISE_NOTHING;
        if (size == (ssize_t)sizeof message) {
            *value = message.value;
            if (message.kind == SUPERVISE_EMPTY) return end(work);
            if (message.kind == SUPERVISE_EXITED || message.kind == SUPERVISE_FAILED)
                work->reported_exit = true;
            return (enum supervise_report)message.kind;
        }
        supervise_abandon_keeper(work); /* the keeper died too early */
    }
    return kill_without_keeper(work, value);
}
