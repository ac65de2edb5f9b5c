/* The supervisor's side: starts a keeper, sends it orders, and does its work if it dies or hangs. */
#define _GNU_SOURCE
#include "supervise/supervise.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/children.h"
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
        if (work->keeper == child || work->exiting_keeper == child) return !work->abandoned;
    return is_ours && is_ours(child);
}

static bool is_known(const void *unused, pid_t child)
{
    (void)unused;
    return is_spared(child);
}

/* Those of an abandoned keeper are reaped by supervise_read(), which keeps the id of their group until the end. */
void supervise_reap_orphans(void)
{
    for (const struct supervise *work = works; work; work = work->next)
        if (work->abandoned) return;
    children_reap_unknown(is_known, NULL);
}

static void forget(const struct supervise *work)
{
    struct supervise **at = &works;
    while (*at && *at != work) at = &(*at)->next;
    if (*at) *at = work->next;
}

static void list(struct supervise *work)
{
    work->next = works;
    works = work;
}

/* In a keeper: sockets to other keepers must close when the supervisor dies. */
static void close_others(void)
{
    for (const struct supervise *work = works; work; work = work->next)
        if (work->keeper) close(work->socket);
    works = NULL;
}

void supervise_forget_line(const struct supervise_line *line)
{
    for (struct supervise *work = works; work; work = work->next)
        if (work->line == line) work->line = NULL;
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
    forget(work);
}

static int fork_keeper(struct supervise *work, const struct supervise_command *command, uint64_t kill_at_ns,
                       bool is_open)
{
    int ends[2];
    supervise_reap_keeper(work);
    *work = (struct supervise){.page = make_page(kill_at_ns), .line = command->line, .is_open = is_open};
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
    list(work);
    return 0;
}

void supervise_set_kill_time(struct supervise *work, uint64_t kill_at_ns)
{
    if (work->keeper) atomic_store(&work->page->kill_at_ns, kill_at_ns);
}

void supervise_set_end(struct supervise *work, uint64_t end_at_ns)
{
    if (work->keeper) atomic_store(&work->page->end_at_ns, end_at_ns);
}

/* supervise_read() notices a keeper that is gone. */
static void send_order(struct supervise *work, int kind, int value)
{
    const struct supervise_message message = {kind, value};
    if (!work->keeper || work->abandoned) return;
    const ssize_t sent = send(work->socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
}

void supervise_signal(struct supervise *work, int signal)
{
    send_order(work, signal, 0);
}

void supervise_stop(struct supervise *work)
{
    send_order(work, SUPERVISE_STOP_ALL, 0);
}

void supervise_kill(struct supervise *work)
{
    send_order(work, SUPERVISE_KILL_ALL, 0);
}

int supervise_open(struct supervise *work, const struct supervise_command *command, uint64_t kill_at_ns)
{
    return fork_keeper(work, command, kill_at_ns, true);
}

/* The keeper clears what the page says of the last program before it starts this one. */
static void start_in_open_keeper(struct supervise *work, int kind, int value)
{
    work->runs = true;
    work->reported_exit = false;
    send_order(work, kind, value);
}

int supervise_start(struct supervise *work, const struct supervise_command *command, uint64_t kill_at_ns)
{
    if (!work->keeper) return fork_keeper(work, command, kill_at_ns, false);
    supervise_set_kill_time(work, kill_at_ns);
    start_in_open_keeper(work, SUPERVISE_START, command->takes_terminal);
    return 0;
}

void supervise_start_first(struct supervise *work)
{
    start_in_open_keeper(work, SUPERVISE_START_FIRST, 0);
}

void supervise_finish(struct supervise *work)
{
    if (work->keeper) work->is_finishing = true;
    send_order(work, SUPERVISE_FINISH, 0);
}

bool supervise_is_running(const struct supervise *work)
{
    return work->keeper && (work->runs || !work->is_open);
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

/* The keeper's exit is not waited for: the next leader would wait, too. */
static enum supervise_report end(struct supervise *work, enum supervise_report report)
{
    const pid_t keeper = work->abandoned ? 0 : work->keeper;
    close(work->socket);
    release(work, 0);
    work->exiting_keeper = keeper;
    if (keeper) list(work);
    return report;
}

/* What an open keeper ran is gone; the keeper stays. */
static enum supervise_report rest(struct supervise *work)
{
    work->runs = work->reported_exit = false;
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
    *value = SUPERVISE_KEEPER_DIED;
    if (work->is_open && !work->runs) return end(work, SUPERVISE_CLOSED);
    if (work->reported_exit) return end(work, SUPERVISE_EMPTY);
    work->reported_exit = true;
    *value = 128 + SIGKILL;
    return SUPERVISE_EXITED;
}

/* A keeper that exits before it has read all orders resets the socket. The kernel tells that first, once; what the keeper
 * has reported is still to be read. */
static ssize_t receive(const struct supervise *work, struct supervise_message *message)
{
    const ssize_t size = recv(work->socket, message, sizeof *message, MSG_DONTWAIT);
    if (size >= 0 || errno != ECONNRESET) return size;
    return recv(work->socket, message, sizeof *message, MSG_DONTWAIT);
}

enum supervise_report supervise_read(struct supervise *work, int *value)
{
    struct supervise_message message;
    if (!work->keeper) {
        if (work->exiting_keeper && waitpid(work->exiting_keeper, NULL, WNOHANG) != 0) {
            work->exiting_keeper = 0;
            forget(work);
        }
        return SUPERVISE_NOTHING;
    }
    if (!work->abandoned) {
        const ssize_t size = receive(work, &message);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return SUPERVISE_NOTHING;
        if (size == (ssize_t)sizeof message) {
            *value = message.value;
            if (message.kind == SUPERVISE_EMPTY && work->is_open) return rest(work);
            if (message.kind == SUPERVISE_EMPTY || message.kind == SUPERVISE_CLOSED)
                return end(work, (enum supervise_report)message.kind);
            if (message.kind == SUPERVISE_EXITED || message.kind == SUPERVISE_FAILED)
                work->reported_exit = true;
            return (enum supervise_report)message.kind;
        }
        supervise_abandon_keeper(work); /* the keeper died too early */
    }
    return kill_without_keeper(work, value);
}
