/* --rank cmd:COMMAND: runs it without a shell for at most 5 seconds, and kills its process group afterwards. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/run/rank.h"
#include "supervise/helper_command.h"

enum { LIMIT_MS = 5000, LINE_MAX_SIZE = 256 };

static int64_t now_ms(void)
{
    return (int64_t)(clock_monotonic_ns() / NS_PER_MS);
}

static _Noreturn void execute(char **words, int output)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (dup2(output, STDOUT_FILENO) >= 0) execvp(words[0], words);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Up to the first newline, the end, or the limit; false at the limit. */
static bool read_line(int input, char *line)
{
    const int64_t end = now_ms() + LIMIT_MS;
    size_t used = 0;
    for (int64_t left = LIMIT_MS; left > 0; left = end - now_ms()) {
        struct pollfd polled = {.fd = input, .events = POLLIN};
        if (poll(&polled, 1, (int)left) <= 0) continue;
        const ssize_t size = read(input, line + used, LINE_MAX_SIZE - 1 - used);
        if (size < 0 && errno == EINTR) continue;
        if (size > 0) used += (size_t)size;
        line[used] = '\0';
        char *newline = strchr(line, '\n');
        if (newline) *newline = '\0';
        if (newline || size <= 0 || used == LINE_MAX_SIZE - 1) return true;
    }
    return false;
}

/* The line is read. A command that does not exit within 1 s is killed. */
static int end_command(pid_t child, bool at_once)
{
    int status = 0;
    const int64_t end = now_ms() + 1000;
    while (!at_once && now_ms() < end) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid) break;
        poll(NULL, 0, 5);
    }
    kill(-child, SIGKILL); /* before it is reaped, while nobody else can have its process id */
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

static bool read_result(bool in_time, int status, const char *line, uint64_t *number, char *problem,
                        size_t size)
{
    if (!in_time) {
        snprintf(problem, size, "the command wrote no line within %d seconds", LIMIT_MS / 1000);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        snprintf(problem, size, "the command failed with %d", WEXITSTATUS(status));
    } else if (!rank_number(line, number)) {
        snprintf(problem, size, "the command's first line is not a whole number from 0 to 2^53 - 1");
    } else {
        return true;
    }
    return false;
}

static bool run(char **words, uint64_t *number, char *problem, size_t size)
{
    int ends[2];
    char line[LINE_MAX_SIZE] = "";
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(problem, size, "%s", strerror(errno));
        return false;
    }
    const pid_t child = fork();
    if (child == 0) execute(words, ends[1]);
    close(ends[1]);
    if (child < 0) {
        snprintf(problem, size, "%s", strerror(errno));
        close(ends[0]);
        return false;
    }
    setpgid(child, child);
    const bool in_time = read_line(ends[0], line);
    close(ends[0]);
    return read_result(in_time, end_command(child, !in_time), line, number, problem, size);
}

bool rank_by_command(const char *command, uint64_t *number, char *problem, size_t size)
{
    struct helper_words *words = helper_split_words(command);
    if (!words) snprintf(problem, size, "the command must have 1 to %d words", HELPER_WORDS_MAX);
    const bool has_rank = words && run(words->list, number, problem, size);
    free(words);
    return has_rank;
}
