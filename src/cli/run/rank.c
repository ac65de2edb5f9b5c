/* --rank: measures this host. */
#define _GNU_SOURCE
#include "cli/run/rank.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "supervise/helper_command.h"

enum { LINE_MAX_SIZE = 256 };

static const struct {
    const char *name;
    enum rank_kind kind;
    bool has_argument;
} kinds[] = {{"ip", RANK_IP, false},      {"cpu", RANK_CPU, false},       {"disk", RANK_DISK, true},
             {"files", RANK_FILES, true}, {"uptime", RANK_UPTIME, false}, {"cmd", RANK_CMD, true}};

bool rank_parse(const char *text, struct rank *rank)
{
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length) != 0) continue;
        if (kinds[i].has_argument != (colon && colon[1 + strspn(colon + 1, " ")])) return false;
        if (colon && !kinds[i].has_argument) return false;
        *rank = (struct rank){kinds[i].kind, colon ? colon + 1 : NULL};
        return true;
    }
    return false;
}

bool rank_number(const char *text, uint64_t *number)
{
    uint64_t value;
    text += strspn(text, " \t\r");
    if (!units_read_number(&text, &value) || text[strspn(text, " \t\r")] != '\0' || value > RANK_MAX)
        return false;
    *number = value;
    return true;
}

static bool measure_ip(uint64_t *number, char *problem, size_t size)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all) == 0) {
        for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
            struct sockaddr_in address;
            if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) ||
                !(one->ifa_flags & IFF_UP))
                continue;
            memcpy(&address, one->ifa_addr, sizeof address);
            *number = ntohl(address.sin_addr.s_addr);
            found = true;
        }
        freeifaddrs(all);
    }
    if (!found) snprintf(problem, size, "no interface but loopback has an IPv4 address");
    return found;
}

/* "cpu MHz : 2400.000" of the first processor; 0: unknown. */
static uint64_t megahertz_now(void)
{
    char line[256];
    uint64_t value = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file) return 0;
    while (value == 0 && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "cpu MHz", 7) != 0) continue;
        colon += 1 + strspn(colon + 1, " \t");
        (void)units_read_number(&colon, &value);
    }
    fclose(file);
    return value < 1000000 ? value : 0;
}

/* The highest frequency does not change with the load, so it is preferred. */
static uint64_t megahertz(void)
{
    char text[32] = "";
    uint64_t kilohertz = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
    if (file) {
        if (fgets(text, sizeof text, file)) text[strcspn(text, "\n")] = '\0';
        fclose(file);
    }
    if (rank_number(text, &kilohertz) && kilohertz >= 1000) return kilohertz / 1000;
    const uint64_t now = megahertz_now();
    return now ? now : 1;
}

static uint64_t measure_cpu(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (processors > 0 ? (uint64_t)processors : 1) * megahertz();
}

static bool measure_disk(const char *path, uint64_t *number, char *problem, size_t size)
{
    struct statvfs about;
    if (statvfs(path, &about) != 0) {
        snprintf(problem, size, "%s: %s", path, strerror(errno));
        return false;
    }
    *number = (uint64_t)((double)about.f_bavail * (double)about.f_frsize / (1024.0 * 1024.0));
    return true;
}

static bool measure_files(const char *path, uint64_t *number, char *problem, size_t size)
{
    uint64_t count = 0;
    DIR *folder = opendir(path);
    if (!folder) {
        snprintf(problem, size, "%s: %s", path, strerror(errno));
        return false;
    }
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    *number = count;
    return true;
}

static bool measure(const struct rank *rank, uint64_t *number, char *problem, size_t size)
{
    switch (rank->kind) {
    case RANK_IP: return measure_ip(number, problem, size);
    case RANK_CPU: *number = measure_cpu(); return true;
    case RANK_DISK: return measure_disk(rank->argument, number, problem, size);
    case RANK_FILES: return measure_files(rank->argument, number, problem, size);
    case RANK_UPTIME: *number = clock_boottime_ns() / NS_PER_S; return true;
    case RANK_CMD: break;
    }
    return false;
}

static int execute(const char *command)
{
    struct helper_words *words = helper_split_words(command);
    if (words) execvp(words->list[0], words->list);
    free(words);
    return errno == ENOENT ? 127 : 126;
}

int rank_measure(const void *about)
{
    const struct rank *rank = about;
    uint64_t number = 0;
    char problem[LINE_MAX_SIZE] = "";
    if (rank->kind == RANK_CMD) return execute(rank->argument);
    const bool measured = measure(rank, &number, problem, sizeof problem);
    if (number > RANK_MAX) number = RANK_MAX;
    if (measured) snprintf(problem, sizeof problem, "%" PRIu64, number);
    return dprintf(STDOUT_FILENO, "%s\n", problem) > 0 && measured ? 0 : 1;
}

bool rank_read(const struct rank *rank, int status, int output, uint64_t *number, char *problem, size_t size)
{
    char line[LINE_MAX_SIZE];
    const ssize_t length = read(output, line, sizeof line - 1);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (status == -1)
        snprintf(problem, size, "it took too long, and was killed");
    else if (status != 0 && rank->kind == RANK_CMD)
        snprintf(problem, size, "the command failed with %d",
                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    else if (status != 0)
        snprintf(problem, size, "%s", line);
    else if (rank_number(line, number))
        return true;
    else
        snprintf(problem, size, "the command's first line is not a whole number from 0 to 2^53 - 1");
    return false;
}
