/* A control group (version 2) for the command: one write kills all its processes, however fast they fork. Best effort. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervise/tree.h"

#define GROUP_NAME "elector-run-" /* followed by the process id of its creator and a number */

/* The mount point of version 2: the fifth word of the line in mountinfo whose type is cgroup2. */
static bool find_mount(char *mount, size_t size)
{
    char line[2 * PATH_MAX];
    bool found = false;
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file)) {
        if (!strstr(line, " - cgroup2 ")) continue;
        char *rest = line;
        const char *word = strtok_r(rest, " ", &rest);
        for (int i = 0; i < 4 && word; i++) word = strtok_r(NULL, " ", &rest);
        found = word && strlen(word) < size && !strchr(word, '\\'); /* no escaped blanks */
        if (found) memcpy(mount, word, strlen(word) + 1);
    }
    fclose(file);
    return found;
}

/* Our own control group below the mount point: "0::/user.slice/…". */
static bool find_own_group(char *place, size_t size)
{
    char line[PATH_MAX];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return false;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0 && strlen(line + 3) < size;
        if (found) memcpy(place, line + 3, strlen(line + 3) + 1);
    }
    fclose(file);
    return found;
}

/* The creator's process id; 0: not one of our groups. */
static pid_t maker_of(const char *name)
{
    const size_t length = sizeof GROUP_NAME - 1;
    char *end;
    if (strncmp(name, GROUP_NAME, length) != 0) return 0;
    const long maker = strtol(name + length, &end, 10);
    return *end == '-' && maker > 0 && maker <= INT_MAX ? (pid_t)maker : 0;
}

/* Groups of creators that were killed before they could remove them. The kernel keeps a group that has processes. */
static void remove_leftovers(const char *folder)
{
    DIR *groups = opendir(folder);
    for (const struct dirent *one; groups && (one = readdir(groups));) {
        const pid_t maker = maker_of(one->d_name);
        if (maker > 0 && kill(maker, 0) != 0 && errno == ESRCH)
            (void)unlinkat(dirfd(groups), one->d_name, AT_REMOVEDIR);
    }
    if (groups) closedir(groups);
}

void supervise_cgroup_make(struct supervise_tree *tree)
{
    static unsigned made; /* several commands may run at a time */
    char mount[PATH_MAX], place[PATH_MAX], folder[PATH_MAX];
    tree->cgroup[0] = '\0';
    if (!find_mount(mount, sizeof mount) || !find_own_group(place, sizeof place)) return;
    int size = snprintf(folder, sizeof folder, "%s%s", mount, place[1] ? place : "");
    if (size < 0 || (size_t)size >= sizeof folder) return;
    remove_leftovers(folder);
    size = snprintf(tree->cgroup, sizeof tree->cgroup, "%s/" GROUP_NAME "%d-%u", folder, (int)getpid(), ++made);
    if (size < 0 || (size_t)size >= sizeof tree->cgroup || mkdir(tree->cgroup, 0755) != 0)
        tree->cgroup[0] = '\0';
}

static void write_to(const struct supervise_tree *tree, const char *name, const char *text)
{
    char path[PATH_MAX];
    if (!tree->cgroup[0]) return;
    const int size = snprintf(path, sizeof path, "%s/%s", tree->cgroup, name);
    if (size < 0 || (size_t)size >= sizeof path) return;
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t written = write(file, text, strlen(text));
    (void)written; /* process group and children are signalled, too */
    close(file);
}

void supervise_cgroup_join(const struct supervise_tree *tree)
{
    write_to(tree, "cgroup.procs", "0");
}

void supervise_cgroup_kill(const struct supervise_tree *tree)
{
    write_to(tree, "cgroup.kill", "1");
}

void supervise_cgroup_remove(struct supervise_tree *tree)
{
    if (tree->cgroup[0]) rmdir(tree->cgroup);
    tree->cgroup[0] = '\0';
}
