/* See spawn.h. */
#define _GNU_SOURCE
#include "agent/guardian/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ABOVE = 10 }; /* no descriptor may lie where dup2 puts another */

static int move_up(int fd)
{
    const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);
    if (fd >= 0) close(fd);
    return moved;
}

static int spawn(const char *program, bool json, bool realtime, int channel, int agent, pid_t *pid)
{
    static char self[] = "elector", mode[] = "guardian", as_json[] = "json", as_words[] = "words",
                in_realtime[] = "realtime";
    char *const words[] = {self, mode, json ? as_json : as_words, realtime ? in_realtime : NULL, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, channel, CLIENT_CHANNEL);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, agent, CLIENT_AGENT);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, CLIENT_AGENT + 1);
    if (!error) error = posix_spawn(pid, program, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int guardian_spawn(const char *program, bool json, bool realtime, pid_t *pid, int *channel)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    const int theirs = move_up(ends[1]), agent = move_up((int)syscall(SYS_pidfd_open, getpid(), 0));
    int error = theirs < 0 || agent < 0 ? errno : 0;
    if (!error) error = spawn(program, json, realtime, theirs, agent, pid);
    if (theirs >= 0) close(theirs);
    if (agent >= 0) close(agent);
    if (error)
        close(ends[0]);
    else
        *channel = ends[0];
    return error;
}
