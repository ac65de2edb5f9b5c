/* See url.h. */
#define _GNU_SOURCE
#include "cli/run/url.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "client/engine.h"

/* ---- Signs of an agent ---- */

/* `make install` puts the service below /usr on every host, so only a service that was enabled, or that the
 * administrator has written, says anything. */
static const char *const signs[] = {
    "/run/elector",
    "/etc/elector/elector.conf",
    "/var/lib/elector",
    "/etc/systemd/system/elector-agent.service",
    "/etc/systemd/system/multi-user.target.wants/elector-agent.service",
    "/run/systemd/system/elector-agent.service",
};

bool url_finds_agent(const char *root, char *sign, size_t size)
{
    struct stat status;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const int length = snprintf(sign, size, "%s%s", root, signs[i]);
        const bool is_absent = length > 0 && (size_t)length < size && lstat(sign, &status) != 0 &&
                               (errno == ENOENT || errno == ENOTDIR);
        if (!is_absent) return true;
    }
    return false;
}

/* ---- The folder for locks ---- */

/* Opens the folder `name` in `parent`, and makes it if it is missing. -1: *problem says why. */
static int enter(int parent, const char *name, uid_t owner, struct stat *status, const char **problem)
{
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST) {
        *problem = strerror(errno);
        return -1;
    }
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *problem = fd >= 0                              ? NULL
               : errno == ELOOP || errno == ENOTDIR ? "not a folder, or a symbolic link"
                                                    : strerror(errno);
    if (fd >= 0 && (fstat(fd, status) != 0 || status->st_uid != owner))
        *problem = "it belongs to somebody else";
    if (!*problem) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

bool url_makes_lock_folder(const char *home, uid_t owner, char *path, size_t size, const char **problem)
{
    static const char *const names[] = {".local", "state", "elector"};
    struct stat status = {0};
    size_t length = (size_t)snprintf(path, size, "%s", home);
    int fd = home[0] == '/' ? open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    *problem = home[0] == '/' ? strerror(errno) : "not an absolute path";
    for (size_t i = 0; fd >= 0 && i < sizeof names / sizeof *names; i++) {
        if (length < size) length += (size_t)snprintf(path + length, size - length, "/%s", names[i]);
        const int below = enter(fd, names[i], owner, &status, problem);
        close(fd);
        fd = below;
    }
    if (fd < 0) return false;
    close(fd);
    if (status.st_mode & (S_IWGRP | S_IWOTH)) *problem = "others can write to it";
    if (length >= size) *problem = "its path is too long";
    return !*problem;
}

static bool find_lock_folder(char *path, size_t size, const char **problem)
{
    const struct passwd *user = getpwuid(geteuid());
    if (user && user->pw_dir) return url_makes_lock_folder(user->pw_dir, geteuid(), path, size, problem);
    snprintf(path, size, "user %u", (unsigned)geteuid());
    *problem = "has no home folder";
    return false;
}

/* ---- The choice ---- */

static bool copy_url(const char *text, char *url, size_t size)
{
    if (strlen(text) >= size) {
        fprintf(stderr, "elector run: the URL is longer than %zu bytes\n", size - 1);
        return false;
    }
    memcpy(url, text, strlen(text) + 1);
    return true;
}

/* Says once what a run waits for if the agent has not started yet. With --no-wait the attempt to connect says
 * it. */
static void tell_what_is_awaited(const struct run_request *request, const char *sign)
{
    const char *socket = &ENGINE_DEFAULT_URL[strlen("unix:")];
    if (request->no_wait || access(socket, F_OK) == 0 || errno != ENOENT) return;
    fprintf(stderr,
            "elector run: no agent listens at %s, but this host has %s; waiting for the agent. Start it "
            "(elector doctor helps), or elect on this host alone with --url file:PATH\n",
            socket, sign);
}

bool run_find_url(const struct run_request *request, char *url, size_t size)
{
    char text[PATH_MAX - 8];
    const char *problem = NULL, *named = request->url ? request->url : engine_named_url();
    if (named) return copy_url(named, url, size);
    if (url_finds_agent("", text, sizeof text)) {
        tell_what_is_awaited(request, text);
        return copy_url(ENGINE_DEFAULT_URL, url, size);
    }
    if (!find_lock_folder(text, sizeof text, &problem)) {
        fprintf(
            stderr,
            "elector run: no agent is configured, and there is no folder for locks: %s: %s; start an agent, "
            "or give --url file:PATH\n",
            text, problem);
        return false;
    }
    /* Also with --quiet: if other hosts were meant to take part, each of them has a leader now. */
    fprintf(stderr, "elector run: no agent is configured; electing among processes of this host only, in %s\n",
            text);
    snprintf(url, size, "file:%s", text);
    return true;
}
