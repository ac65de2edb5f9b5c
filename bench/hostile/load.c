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

/* The start of a small file; "": it cannot be read. */
static void read_start(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    const size_t got = file ? fread(text, 1, size - 1, file) : 0;
    if (file) fclose(file);
    text[got] = '\0';
}

/* The fields from `first` to `last` of those that follow `at`, added up; the first is 1. */
static uint64_t sum_of_fields(const char *at, uint32_t first, uint32_t last)
{
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= last && at; i++) {
        at += strspn(at, " ");
        if (i >= first) sum += strtoull(at, NULL, 10);
        at = strchr(at, ' ');
    }
    return sum;
}

/* User, nice, system; and, as the eighth, what another machine on the same processors has stolen. */
static uint64_t ticks_of_all(void)
{
    char text[1024];
    read_start("/proc/stat", text, sizeof text);
    const char *fields = strchr(text, ' '); /* "cpu  1 2 3 ..." */
    return sum_of_fields(fields, 1, 3) + sum_of_fields(fields, 8, 8);
}

static bool read_process(const char *name, struct process *p)
{
    char path[300], text[1024];
    snprintf(path, sizeof path, "/proc/%s/stat", name);
    read_start(path, text, sizeof text);
    const char *end =
        strrchr(text, ')'); /* of its name, which may have spaces and brackets; then state, parent, ... */
    if (!end) return false;
    *p = (struct process){.pid = (int)strtol(name, NULL, 10),
                          .parent = (int)sum_of_fields(end + 1, 2, 2),
                          .ticks = sum_of_fields(end + 1, 12, 15)};
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
