/*
 * Runs a test so that nothing of it is left, however it ends.
 *
 *     contain COMMAND [ARGUMENT...]
 *
 * The command gets two folders of its own: TMPDIR and, in memory, ELECTOR_SHM. When the command has ended, what it started has
 * two seconds to end, too, unless the command has failed. Then contain thaws file systems that are mounted in the folders and still frozen, because nobody
 * dies while he writes to one, kills the rest and removes the folders. A test that left a process or a file has
 * failed, and so has one in which an agent made a system call that it is forbidden (src/agent/confine). Otherwise the exit code
 * is the command's, or 128 and the signal that ended it.
 *
 * Two processes do this. The inner one is the parent of every orphan below it, so it finds what moved to another session or
 * process group. The outer one is what a limit kills: the kernel tells the inner one, which then cleans up.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 2000, STEP_MS = 10, PROCESSES_MAX = 4096, CANNOT = 125, RUNS = -1 };

/* A longer root than this leaves no room for the names of sockets. */
enum { ROOT_MAX = 24, PATH_ROOM = 64, FOLDERS = 2 };
static char folders[FOLDERS][PATH_ROOM];
static char calls[PATH_ROOM + 8]; /* an agent that makes a forbidden system call says so here */
static bool is_ended;             /* from outside: what is left is no news then */

/* ---- Processes ---- */

struct process {
    pid_t pid, parent;
    char state;
    bool is_ours;
};

static bool read_process(const char *pid, struct process *found)
{
    char path[300], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0) return false;
    text[size] = '\0';
    const char *name_end = strrchr(text, ')'); /* the name may contain anything */
    if (!name_end || strlen(name_end) < sizeof ") S 1" - 1) return false;
    found->state = name_end[2];
    found->pid = (pid_t)strtol(pid, NULL, 10);
    found->parent = (pid_t)strtol(name_end + 4, NULL, 10);
    found->is_ours = found->parent == getpid();
    return true;
}

static int list_processes(struct process *all)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    if (!proc) err(CANNOT, "/proc");
    for (const struct dirent *one; (one = readdir(proc)) && count < PROCESSES_MAX;)
        if (one->d_name[0] >= '1' && one->d_name[0] <= '9' && read_process(one->d_name, &all[count])) count++;
    closedir(proc);
    return count;
}

/* Our children, theirs, and so on; at the front of the array. Those that have ended and wait for their parent do not count. */
static int list_descendants(struct process *all)
{
    const int count = list_processes(all);
    int kept = 0;
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count && !all[i].is_ours; j++)
                if (all[j].is_ours && all[i].parent == all[j].pid) all[i].is_ours = has_grown = true;
    }
    for (int i = 0; i < count; i++)
        if (all[i].is_ours && all[i].state != 'Z' && all[i].state != 'X') all[kept++] = all[i];
    return kept;
}

static void reap(pid_t command, int *status)
{
    int how;
    for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;)
        if (pid == command) *status = how;
}

static void print_process(pid_t pid)
{
    char path[64], line[300];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0) close(fd);
    if (size < 0) size = 0;
    for (ssize_t i = 0; i < size; i++)
        if (line[i] < ' ') line[i] = ' ';
    line[size] = '\0';
    fprintf(stderr, "contain: left running: %d %s\n", (int)pid, line);
}

/* What is mounted in our folders is perhaps seen by that process alone. */
static void thaw(pid_t pid)
{
    char path[PATH_MAX], line[PATH_MAX + 512], where[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/mounts", (int)pid);
    FILE *mounts = fopen(path, "re");
    while (mounts && fgets(line, sizeof line, mounts)) {
        bool is_ours = false;
        if (sscanf(line, "%*s %3000s", where) != 1) continue;
        for (int i = 0; i < FOLDERS; i++)
            is_ours = is_ours || (folders[i][0] && strncmp(where, folders[i], strlen(folders[i])) == 0);
        if (!is_ours) continue;
        snprintf(path, sizeof path, "/proc/%d/root%.3000s", (int)pid, where);
        const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) (void)ioctl(fd, FITHAW, 0);
        if (fd >= 0) close(fd);
    }
    if (mounts) fclose(mounts);
}

/* Whether there was something to kill after the grace. */
static bool end_processes(int grace_ms)
{
    static struct process all[PROCESSES_MAX];
    bool is_left = false;
    int status, count;
    for (int ms = 0; (count = list_descendants(all)) > 0; ms += STEP_MS) {
        if (ms >= grace_ms) {
            for (int i = 0; i < count; i++) thaw(all[i].pid);
            for (int i = 0; i < count; i++) {
                if (!is_left && !is_ended) print_process(all[i].pid);
                kill(all[i].pid, SIGKILL);
            }
            is_left = true;
        }
        poll(NULL, 0, STEP_MS);
        reap(-1, &status);
    }
    reap(-1, &status);
    return is_left;
}

/* ---- Files ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about, (void)kind;
    if (walk->level == 1 && !is_ended) fprintf(stderr, "contain: left behind: %s\n", path);
    return remove(path), 0;
}

/* Whether one was not empty. */
static bool remove_folders(void)
{
    bool is_left = false;
    for (int i = 0; i < FOLDERS; i++) {
        if (folders[i][0] == '\0' || rmdir(folders[i]) == 0) continue;
        nftw(folders[i], remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        is_left = true;
    }
    return is_left;
}

static void make_folder(char *path, const char *name, const char *root)
{
    snprintf(path, PATH_ROOM, "%s/elector-XXXXXX", root);
    if (!mkdtemp(path) || chmod(path, 0711) != 0) err(CANNOT, "%s", path); /* a test may become another user */
    setenv(name, path, 1);
}

static void make_folders(void)
{
    const char *root = getenv("TMPDIR");
    if (!root || !root[0] || strlen(root) > ROOT_MAX) root = "/tmp";
    make_folder(folders[0], "TMPDIR", root);
    if (access("/dev/shm", W_OK) == 0) make_folder(folders[1], "ELECTOR_SHM", "/dev/shm");
    snprintf(calls, sizeof calls, "%s.calls", folders[0]);
    setenv("ELECTOR_SECCOMP_REPORT", calls, 1);
}

/* Whether there was one. */
static bool print_calls(void)
{
    char line[300];
    FILE *file = fopen(calls, "re");
    if (!file) return false;
    while (fgets(line, sizeof line, file)) fprintf(stderr, "contain: %s", line);
    fclose(file);
    (void)unlink(calls);
    return true;
}

/* ---- The two processes ---- */

/* Blocked in both processes, and waited for. */
static sigset_t awaited, before;

static void block_signals(void)
{
    sigemptyset(&awaited);
    for (const int *each = (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0}; *each; each++)
        sigaddset(&awaited, *each);
    sigprocmask(SIG_BLOCK, &awaited, &before);
}

static pid_t start(char **words)
{
    const pid_t pid = fork();
    if (pid < 0) err(CANNOT, "fork");
    if (pid > 0) return pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(words[0], words);
    err(127, "%s", words[0]);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int contain(char **words)
{
    int status = RUNS;
    make_folders();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t command = start(words);
    while (status == RUNS && !is_ended) {
        is_ended = sigwaitinfo(&awaited, NULL) != SIGCHLD;
        reap(command, &status);
    }
    const bool runs = end_processes(is_ended || status != 0 ? 0 : GRACE_MS);
    const bool is_left = remove_folders() || runs, is_forbidden = print_calls();
    if (is_ended) return 143;
    return code_of(status) == 0 && (is_left || is_forbidden) ? 1 : code_of(status);
}

int main(int argc, char **argv)
{
    if (argc < 2) errx(2, "usage: contain COMMAND [ARGUMENT...]");
    block_signals();
    const pid_t self = getpid(), inner = fork();
    int status = RUNS;
    if (inner < 0) err(CANNOT, "fork");
    if (inner == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
        return getppid() == self ? contain(argv + 1) : CANNOT;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    while (status == RUNS) {
        const int number = sigwaitinfo(&awaited, NULL);
        if (number != SIGCHLD) kill(inner, SIGTERM);
        reap(inner, &status);
    }
    return code_of(status);
}
