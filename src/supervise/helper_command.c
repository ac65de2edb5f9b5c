/* See helper_command.h. */
#define _GNU_SOURCE
#include "supervise/helper_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kernel/realtime.h"

enum { HELPER_MAX = 512, CANNOT_EXECUTE = 126, NOT_FOUND = 127 };

static pid_t running[HELPER_MAX]; /* 0: a free place */

struct helper_words *helper_split_words(const char *text)
{
    size_t count = 0;
    char *rest = NULL;
    struct helper_words *words = calloc(1, sizeof *words + strlen(text) + 1);
    if (!words) return NULL;
    memcpy(words->text, text, strlen(text) + 1);
    for (char *word = strtok_r(words->text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (count == HELPER_WORDS_MAX) {
            count = 0;
            break;
        }
        words->list[count++] = word;
    }
    if (count > 0) return words;
    free(words);
    return NULL;
}

/* ---- List of running ones ---- */

static bool replace_in_list(pid_t pid, pid_t instead)
{
    for (size_t i = 0; i < HELPER_MAX; i++) {
        if (running[i] != instead) continue;
        running[i] = pid;
        return true;
    }
    return false;
}

bool helper_is_running(pid_t pid)
{
    for (size_t i = 0; i < HELPER_MAX; i++)
        if (running[i] == pid) return true;
    return false;
}

/* ---- Start ---- */

/* What a new process does: a command, or a function whose output goes to a pipe. */
struct helper_job {
    const struct helper_words *words; /* NULL: the function */
    int (*run)(const void *);
    const void *about;
    int output;
};

static _Noreturn void execute(const struct helper_job *job, const sigset_t *signals, pid_t parent)
{
    const struct helper_words *words = job->words;
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(CANNOT_EXECUTE);
    realtime_end();
    sigaction(SIGPIPE, &usual, NULL);
    sigprocmask(SIG_SETMASK, signals, NULL);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (words) execvp(words->list[0], words->list);
    if (!words && job->run && dup2(job->output, STDOUT_FILENO) >= 0 &&
        close_range(STDERR_FILENO + 1, UINT_MAX, 0) == 0)
        _exit(job->run(job->about));
    _exit(errno == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

/* Reaps the orphans of the last one, which were killed with its process group. */
static void reap_last(struct helper_command *helper)
{
    siginfo_t info = {0};
    while (helper->last && waitid(P_PGID, (id_t)helper->last, &info, WEXITED | WNOHANG) == 0 && info.si_pid)
        info.si_pid = 0;
    helper->last = 0;
}

static int start(struct helper_command *helper, const struct helper_job *job, const sigset_t *signals,
                 uint64_t until_ns)
{
    const pid_t self = getpid();
    reap_last(helper);
    const pid_t child = fork();
    if (child == 0) execute(job, signals, self);
    if (child < 0) return errno;
    setpgid(child, child); /* as the child does */
    const int fd = (int)syscall(SYS_pidfd_open, child, 0);
    if (fd < 0 || !replace_in_list(child, 0)) {
        const int error = fd < 0 ? errno : EAGAIN;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (fd >= 0) close(fd);
        return error;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    *helper = (struct helper_command){.pid = child, .fd = fd, .until_ns = until_ns};
    return 0;
}

int helper_start(struct helper_command *helper, const struct helper_words *words, const sigset_t *signals,
                 uint64_t until_ns)
{
    const struct helper_job job = {.words = words};
    return start(helper, &job, signals, until_ns);
}

int helper_start_function(struct helper_command *helper, int (*run)(const void *), const void *about,
                          const sigset_t *signals, uint64_t until_ns, int *output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    const struct helper_job job = {.run = run, .about = about, .output = ends[1]};
    const int error = start(helper, &job, signals, until_ns);
    close(ends[1]);
    if (error) close(ends[0]);
    if (!error) fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (!error) *output = ends[0];
    return error;
}

/* ---- End ---- */

void helper_kill(struct helper_command *helper)
{
    if (!helper->pid) return;
    helper->killed = true;
    kill(-helper->pid, SIGKILL); /* not reaped yet: nobody else can have this id */
    kill(helper->pid, SIGKILL);
}

bool helper_poll(struct helper_command *helper, uint64_t now_ns, int *status)
{
    siginfo_t info = {0};
    if (!helper->pid) return false;
    if (waitid(P_PID, (id_t)helper->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid) {
        if (now_ns >= helper->until_ns && !helper->killed) helper_kill(helper);
        return false;
    }
    const bool killed = helper->killed;
    helper_kill(helper);                                   /* its children */
    if (waitpid(helper->pid, status, 0) < 0) *status = -1; /* reaped by supervise_abandon_keeper() */
    if (killed) *status = -1;
    (void)replace_in_list(0, helper->pid);
    close(helper->fd);
    *helper = (struct helper_command){.last = helper->pid};
    return true;
}

const char *helper_describe(int status, char *text, size_t size)
{
    if (status == -1)
        snprintf(text, size, "was killed: timeout, or no longer needed");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "was killed by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == NOT_FOUND)
        snprintf(text, size, "was not found, or ended with 127");
    else
        snprintf(text, size, "ended with %d", WEXITSTATUS(status));
    return text;
}
