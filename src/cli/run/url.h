/*
 * Chooses the agent of this host, or locks that only this host knows, if no URL is given. Locks
 * elect one leader on each host, so they are right only where no agent is, or is to be.
 */
#ifndef ELECTOR_CLI_RUN_URL_H
#define ELECTOR_CLI_RUN_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Looks for a sign that this host has an agent, or that one is to start: its socket's folder, its configuration,
 * its state, or its service, if that is enabled. A path that we may not look at counts as a sign. `root` stands
 * before each path: "" for this host. True: `sign` is the path that was found.
 */
bool url_finds_agent(const char *root, char *sign, size_t size);

/*
 * Makes the folder for locks of the user `owner`, HOME/.local/state/elector. `home` is from the user's entry in
 * the password database: an environment differs between a login and cron, and two folders would elect two
 * leaders. Each folder below `home` must belong to `owner` and not be a symbolic link, and others must not be
 * able to write to the last. False: `path` is the folder that failed, and `problem` says why.
 */
bool url_makes_lock_folder(const char *home, uid_t owner, char *path, size_t size, const char **problem);

#endif
