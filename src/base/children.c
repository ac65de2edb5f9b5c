/* See children.h. */
#define _GNU_SOURCE
#include "base/children.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* "12 345 6 " */
bool children_add(struct children *children, const char *path)
{
    char word[24];
    FILE *file = fopen(path, "re");
    if (!file) return false;
    while (children->count < CHILDREN_MAX && fscanf(file, "%23s", word) == 1) {
        const long pid = strtol(word, NULL, 10);
        if (pid > 1) children->list[children->count++] = (pid_t)pid;
    }
    fclose(file);
    return true;
}

bool children_read(struct children *children)
{
    children->count = 0;
    return children_add(children, "/proc/thread-self/children");
}

/* The kernel is asked first: only if something has ended is the list read. */
void children_reap_unknown(bool (*is_known)(const void *context, pid_t child), const void *context)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid) return;
    struct children *children = malloc(sizeof *children);
    if (children && children_read(children)) {
        for (size_t i = 0; i < children->count; i++)
            if (!is_known(context, children->list[i])) (void)waitpid(children->list[i], NULL, WNOHANG);
    }
    free(children);
}
