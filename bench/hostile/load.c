/* See load.h. */
#define _GNU_SOURCE
#include "hostile/load.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 65536 };

struct process {
    int pid, parent;
    uint64_t ticks; /* with those of its ended children */
    bool is_ours;
};

/* User, nice, system; and what another machine on the same processors has stolen. */
static uint64_t ticks_of_all(void)
{
    uint64_t user = 0, nice = 0, system = 0, stolen = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return 0;
    (void)!fscanf(file, "cpu %lu %lu %lu %*u %*u %*u %*u %lu", &user, &nice, &system, &stolen);
    fclose(file);
    return user + nice + system + stolen;
}

static bool read_process(const char *name, struct process *p)
{
    char path[300], line[1024];
    uint64_t own[2], children[2];
    snprintf(path, sizeof path, "/proc/%s/stat", name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    const size_t size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[size] = '\0';
    const char *end = strrchr(line, ')'); /* of the name, which may have spaces and brackets */
    *p = (struct process){.pid = (int)strtol(name, NULL, 10)};
    if (!end || sscanf(end, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &p->parent, &own[0],
                       &own[1], &children[0], &children[1]) != 5)
        return false;
    p->ticks = own[0] + own[1] + children[0] + children[1];
    return true;
}

static uint32_t read_all(struct process *list)
{
    uint32_t count = 0;
    DIR *folder = opendir("/proc");
    if (!folder) return 0;
    for (const struct dirent *entry; count < PROCESSES_MAX && (entry = readdir(folder));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(entry->d_name, &list[count]))
            count++;
    closedir(folder);
    return count;
}

uint64_t load_of_others(void)
{
    static struct process list[PROCESSES_MAX];
    uint64_t ours = 0;
    const uint32_t count = read_all(list);
    for (uint32_t i = 0; i < count; i++) list[i].is_ours = list[i].pid == getpid();
    for (bool finds = true; finds;) { /* children of ours, until there are no more */
        finds = false;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count && !list[i].is_ours; j++)
                if (list[j].is_ours && list[j].pid == list[i].parent) finds = list[i].is_ours = true;
    }
    for (uint32_t i = 0; i < count; i++)
        if (list[i].is_ours) ours += list[i].ticks;
    const uint64_t all = ticks_of_all();
    return all > ours ? all - ours : 0;
}

uint64_t load_ticks_a_second(void)
{
    return (uint64_t)sysconf(_SC_CLK_TCK);
}
