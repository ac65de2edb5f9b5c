/* See cluster.h. Processes are told apart by a word in their environment, which whatever they start inherits. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cluster.h"
#include "elector.h"

enum { ANSWERS_WITHIN_MS = 20000 };
#define MARK "ELECTOR_BENCH_MEMBER"

const char *const member_names[MEMBERS] = {"a", "b", "c"};

void cluster_url(const struct cluster *cluster, uint32_t member, char *url, size_t size)
{
    snprintf(url, size, "unix:%s/%s/agent.sock", cluster->folder, member_names[member]);
}

static void mark_of(const struct cluster *cluster, uint32_t member, char *mark, size_t size)
{
    snprintf(mark, size, "%s/%s", cluster->folder, member_names[member]);
}

static bool answers(const struct cluster *cluster, uint32_t member)
{
    char url[300];
    elector *e;
    cluster_url(cluster, member, url, sizeof url);
    const bool is_there = elector_open(url, &e) == ELECTOR_OK && elector_wait(e, 5000) == ELECTOR_OK &&
                          elector_member(e)[0] != '\0';
    elector_close(e);
    return is_there;
}

void cluster_start(struct cluster *cluster, uint32_t member)
{
    char config[300], mark[300], log[300];
    snprintf(config, sizeof config, "%s/%s/elector.conf", cluster->folder, member_names[member]);
    snprintf(log, sizeof log, "%s/%s.log", cluster->folder, member_names[member]);
    mark_of(cluster, member, mark, sizeof mark);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) dup2(fd, STDERR_FILENO), dup2(fd, STDOUT_FILENO);
        setenv(MARK, mark, 1);
        execl(cluster->program, cluster->program, "agent", "--config", config, (char *)NULL);
        _exit(127);
    }
    cluster->agents[member] = pid;
    for (int i = 0; i < ANSWERS_WITHIN_MS; i++) {
        if (answers(cluster, member)) return;
        pause_us(1000);
    }
    fprintf(stderr, "agent %s does not answer; see %s\n", member_names[member], log);
    exit(1);
}

void cluster_kill(struct cluster *cluster, uint32_t member)
{
    if (cluster->agents[member] <= 0) return;
    kill(cluster->agents[member], SIGKILL);
    waitpid(cluster->agents[member], NULL, 0);
    cluster->agents[member] = 0;
}

static bool has_mark(const char *pid, const char *wanted)
{
    static char words[65536];
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t size = read(fd, words, sizeof words - 1);
    close(fd);
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(words + at) + 1) {
        words[size] = '\0';
        if (strncmp(words + at, MARK "=", sizeof MARK) == 0)
            return strcmp(words + at + sizeof MARK, wanted) == 0;
    }
    return false;
}

int cluster_processes(const struct cluster *cluster, uint32_t member, pid_t pids[PIDS_MAX])
{
    char mark[300];
    int count = 0;
    mark_of(cluster, member, mark, sizeof mark);
    DIR *all = opendir("/proc");
    if (!all) return 0;
    for (const struct dirent *one; (one = readdir(all)) && count < PIDS_MAX;)
        if (one->d_name[0] >= '1' && one->d_name[0] <= '9' && has_mark(one->d_name, mark))
            pids[count++] = (pid_t)strtol(one->d_name, NULL, 10);
    closedir(all);
    return count;
}

void cluster_end(struct cluster *cluster)
{
    pid_t pids[PIDS_MAX];
    for (uint32_t m = 0; m < MEMBERS; m++) {
        const int count = cluster_processes(cluster, m, pids);
        for (int i = 0; i < count; i++) kill(pids[i], SIGKILL);
        if (cluster->agents[m] > 0) waitpid(cluster->agents[m], NULL, 0);
        cluster->agents[m] = 0;
    }
}
