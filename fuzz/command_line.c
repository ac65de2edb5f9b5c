/*
 * Bytes as words of a command line and as a scenario file. Lists of groups, ranks, times and commands are read or refused
 * with a reason, and a scenario becomes a plan or an error that says where.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel/memfd.h"
#include "base/units.h"
#include "cli/run/groups.h"
#include "cli/run/rank.h"
#include "sim/plan/plan.h"
#include "supervise/helper_command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_words(const char *text)
{
    static struct run_groups groups;
    struct rank rank;
    char problem[300] = "", time_text[UNITS_TIME_TEXT];
    uint64_t number;
    el_duration time;
    groups.count = 0;
    if (!run_groups_add(&groups, text, problem, sizeof problem) && !problem[0]) abort();
    if (groups.count > RUN_GROUPS_MAX) abort();
    for (size_t i = 0; i < groups.count; i++)
        if (strnlen(groups.names[i], sizeof *groups.names) > ELECTOR_GROUP_MAX) abort();
    if (rank_parse(text, &rank) && rank.kind > RANK_CMD) abort();
    if (rank_number(text, &number) && number > RANK_MAX) abort();
    if (units_time(text, &time) &&
        (time == 0 || time > UNITS_TIME_MAX || !units_write_time(time, time_text)[0]))
        abort();
    struct helper_words *words = helper_split_words(text);
    if (words && (!words->list[0] || words->list[HELPER_WORDS_MAX])) abort();
    free(words);
}

static void read_scenario(const uint8_t *data, size_t size)
{
    struct sim_settings settings = {0};
    struct sim_error error = {""};
    struct sim_plan plan;
    char path[64];
    const int fd = memfd_new("scenario");
    if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int result = sim_settings_read(&settings, path, &error);
    if (result == 0) result = sim_plan_build(&plan, &settings, &error);
    if (result == 0) sim_plan_free(&plan);
    if ((result != 0) != (error.text[0] != '\0')) abort();
    sim_settings_free(&settings);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* no longer, so that the sanitizer sees a step beyond */
    if (!text) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    read_words(text);
    free(text);
    read_scenario(data, size);
    return 0;
}
