/* Finds out where to campaign: the URL of an agent, or of a folder of locks. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"

static const char agent_socket[] = "/run/elector/agent.sock";

/* Creates the folder, and those above it that are missing. */
static bool make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int made = mkdir(path, 0755);
        *slash = '/';
        if (made != 0 && errno != EEXIST && errno != EACCES && errno != EROFS) return false;
    }
    if (mkdir(path, 0755) != 0 && errno != EEXIST) return false;
    return access(path, W_OK | X_OK) == 0;
}

/* `parent` may be NULL: the variable is not set. */
static bool try_folder(const char *parent, const char *below, char *path, size_t size)
{
    if (!parent || parent[0] != '/') return false;
    const int length = snprintf(path, size, "%s%s", parent, below);
    return length > 0 && (size_t)length < size && make_folder(path);
}

static bool find_folder(char *path, size_t size)
{
    return try_folder("/run/elector", "/locks", path, size) ||
           try_folder(getenv("XDG_RUNTIME_DIR"), "/elector", path, size) ||
           try_folder(getenv("HOME"), "/.local/state/elector", path, size);
}

static bool copy_url(const char *text, char *url, size_t size)
{
    if (strlen(text) >= size) {
        fprintf(stderr, "elector run: the URL is longer than %zu bytes\n", size - 1);
        return false;
    }
    memcpy(url, text, strlen(text) + 1);
    return true;
}

bool run_find_url(const struct run_request *request, char *url, size_t size)
{
    char folder[PATH_MAX - 8];
    const char *from_environment = getenv("ELECTOR_URL");
    if (request->url) return copy_url(request->url, url, size);
    if (from_environment && *from_environment) return copy_url(from_environment, url, size);
    if (access(agent_socket, F_OK) == 0) {
        snprintf(url, size, "unix:%s", agent_socket);
        return true;
    }
    if (!find_folder(folder, sizeof folder)) {
        fprintf(
            stderr,
            "elector run: no agent (%s) and no writable folder for locks; start an agent, or give --url file:PATH\n",
            agent_socket);
        return false;
    }
    snprintf(url, size, "file:%s", folder);
    if (!request->quiet)
        fprintf(stderr,
                "elector run: no agent is configured; electing among processes of this host only, in %s\n",
                folder);
    return true;
}
