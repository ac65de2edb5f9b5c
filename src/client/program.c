/*
 * etcd://, etcds://, zookeeper://, kubernetes://: an engine in a process of its own, elector-engine (src/engines). It speaks the agent's protocol over a
 * socketpair, so from here on it is an agent that serves one client: agent_engine.c. Neither the store's libraries nor threads
 * come into the application.
 *
 * The program is looked for in $ELECTOR_ENGINES_DIR, near the running program, near this library, and where it was
 * installed; never in $PATH, and never where somebody else could have put it. It gets the socket as descriptor 3, standard error, and no other descriptor, and a session of its
 * own, so that a signal from the terminal does not end it before the work has ended. It forks at once, so that the application
 * has no child that it does not know.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "client/program.h"

enum { CHILD_SOCKET = 3 };
static const char program[] = "elector-engine";

/* ---- Finding the program ---- */

static bool is_in(const char *folder, size_t length, char path[PATH_MAX])
{
    const int size = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, program);
    return size > 0 && size < PATH_MAX && access(path, X_OK) == 0;
}

/* Beside a program or library, or where it is installed if that is in bin, lib or lib/TRIPLET. */
static bool is_near(const char *file, char path[PATH_MAX])
{
    static const char *const ways[] = {"", "/../libexec/elector", "/../../libexec/elector"};
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < sizeof ways / sizeof *ways; i++) {
        const int size = snprintf(folder, sizeof folder, "%.*s%s", (int)(slash - file), file, ways[i]);
        if (size > 0 && size < PATH_MAX && is_in(folder, (size_t)size, path)) return true;
    }
    return false;
}

/* Not where the environment says: that is this user's own word. */
static bool find_installed(char path[PATH_MAX])
{
    char self[PATH_MAX];
    Dl_info library;
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size > 0) self[size] = '\0';
    if (size > 0 && is_near(self, path)) return true;
    if (dladdr(program, &library) && library.dli_fname && library.dli_fname[0] == '/' &&
        is_near(library.dli_fname, path))
        return true;
    return is_in(ELECTOR_ENGINES_DIR, strlen(ELECTOR_ENGINES_DIR), path);
}

/* ---- Who could have put it there ---- */

static bool is_safe(const char *path, char *reason, size_t size)
{
    static const char *const mend = "install it elsewhere, or name its folder with ELECTOR_ENGINES_DIR";
    struct stat status;
    if (stat(path, &status) != 0)
        snprintf(reason, size, "cannot look at %.200s: %s", path, strerror(errno));
    else if (status.st_uid != 0 && status.st_uid != geteuid())
        snprintf(reason, size, "%.200s belongs to user %u, so no %s is started from there: %s", path,
                 (unsigned)status.st_uid, program, mend);
    else if (status.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(reason, size, "others can write to %.200s, so no %s is started from there: chmod go-w it, %s",
                 path, program, mend);
    else
        return true;
    return false;
}

static bool is_safe_folder_of(const char *path, char *reason, size_t size)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    return is_safe(dirname(folder), reason, size);
}

bool program_is_trusted(const char *path, char *reason, size_t size)
{
    char target[PATH_MAX]; /* of a symbolic link */
    if (!realpath(path, target)) {
        snprintf(reason, size, "cannot look at %.200s: %s", path, strerror(errno));
        return false;
    }
    return is_safe_folder_of(path, reason, size) && is_safe_folder_of(target, reason, size) &&
           is_safe(target, reason, size);
}

bool program_find(char *path, char *reason, size_t size)
{
    const char *folder = secure_getenv("ELECTOR_ENGINES_DIR");
    if (folder && *folder) {
        if (is_in(folder, strlen(folder), path)) return true;
        snprintf(reason, size, "there is no %s in %.200s, which ELECTOR_ENGINES_DIR names", program, folder);
        return false;
    }
    if (find_installed(path)) return program_is_trusted(path, reason, size);
    snprintf(reason, size,
             "there is no %s near this program, nor in %s: install it, or say with ELECTOR_ENGINES_DIR "
             "where it is",
             program, ELECTOR_ENGINES_DIR);
    return false;
}

/* ---- Starting it ---- */

static int set_up(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int socket)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error && fcntl(STDERR_FILENO, F_GETFD) < 0) /* the application has closed it */
        error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(actions, socket, CHILD_SOCKET);
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, CHILD_SOCKET + 1);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setflags(attributes,
                                         POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return error;
}

/* 0, or errno. */
static int spawn(const char *path, const char *url, int socket)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid;
    char name[] = "elector-engine", option[] = "--client";
    char *const arguments[] = {name, option, (char *)(uintptr_t)url, NULL};
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    int error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_up(&actions, &attributes, socket);
        if (!error) error = posix_spawn(&pid, path, &actions, &attributes, arguments, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    while (!error && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
    return error;
}

int program_start(const char *url, char *reason, size_t size)
{
    char path[PATH_MAX];
    int ends[2];
    if (getauxval(AT_SECURE)) {
        snprintf(reason, size, "a program with raised privileges starts no engine: use an agent, unix:PATH");
        return -1;
    }
    if (!program_find(path, reason, size)) return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        snprintf(reason, size, "cannot make a socket for %s: %s", program, strerror(errno));
        return -1;
    }
    /* Above 3: what is duplicated to itself would keep its close-on-exec flag. */
    const int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);
    const int error = theirs < 0 ? errno : spawn(path, url, theirs);
    if (theirs >= 0) close(theirs);
    close(ends[1]);
    if (!error) return descriptors_above_standard(ends[0]);
    close(ends[0]);
    snprintf(reason, size, "cannot start %.200s: %s", path, strerror(error));
    return -1;
}

bool program_runs_in(pid_t process)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0) return false;
    path[size] = '\0';
    const char *slash = strrchr(path, '/');
    return slash && strncmp(slash + 1, program, strlen(program)) == 0; /* " (deleted)" may follow */
}
