/* Collecting settings: the words of the command line, and the lines of a scenario file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* The order is that of --help. */
static const struct sim_key keys[] = {
    {"algorithm", "NAME", "which election (the first argument of `elector sim`)"},
    {"nodes", "N", "N nodes with the ids 1..N in ring order"},
    {"ids", "A,B,…", "these ids, in ring order"},
    {"attr", "ID=VALUE,…", "an attribute that comes before the id in the rank"},
    {"leader", "ID", "who leads when the story begins"},
    {"initiator", "ID[@T],…", "who calls an election, and when (or: all, none)"},
    {"crash", "ID@T,…", "a process dies"},
    {"restart", "ID@T,…", "a dead process comes back, its memory empty"},
    {"pause", "ID@T..T,…", "a process stands still for a while"},
    {"partition", "A,B|C,D@T..T", "sides that cannot reach each other (who is not named reaches all)"},
    {"cut", "A>B@T..T", "messages from A to B are lost"},
    {"loss", "P", "each message is lost with probability P (0.1, 10%)"},
    {"dup", "P", "each message arrives twice with probability P"},
    {"reorder", "P", "each message overtakes earlier ones with probability P"},
    {"delay", "D|A..B|exp:M..X", "how long a message takes: fixed, a range, exponential of mean M up to X"},
    {"bound", "D", "how long the processes believe a message takes at most (otherwise the truth)"},
    {"detect", "D", "a failure detector that reports a crash or a broken link after D"},
    {"miss", "A:B,…", "A's detector never notices B's death (all:B, A:all)"},
    {"false-suspect", "A:B@T[..T],…", "A wrongly suspects B from T on (all:B)"},
    {"clock", "ID=RATE,…", "a clock that runs fast (1.05) or slow (0.95)"},
    {"set", "KEY=VALUE", "an option of the algorithm's own, see `elector algorithms NAME`"},
    {"seed", "S", "the seed of every random choice"},
    {"until", "T", "stop then, and judge what there is"},
    {"horizon", "T", "a run that is still busy then counts as endless"},
    {"expect", "…",
     "leader ID|none, agreement, no agreement, messages [KIND] N, failed-hops N,\n"
     "turnaround T, violation KIND, no violation"},
};

const struct sim_key *sim_keys(size_t *count)
{
    *count = sizeof keys / sizeof *keys;
    return keys;
}

static char *copy(const char *text)
{
    char *made = malloc(strlen(text) + 1);
    return made ? strcpy(made, text) : NULL;
}

bool sim_settings_add(struct sim_settings *settings, const char *key, const char *value, uint32_t line,
                      uint32_t column)
{
    if (settings->count == settings->capacity) {
        const size_t capacity = settings->capacity ? 2 * settings->capacity : 16;
        void *list = realloc(settings->list, capacity * sizeof *settings->list);
        if (!list) return false;
        settings->list = list;
        settings->capacity = capacity;
    }
    struct sim_setting made = {copy(key), copy(value), line, column};
    if (!made.key || !made.value) {
        free(made.key);
        free(made.value);
        return false;
    }
    settings->list[settings->count++] = made;
    return true;
}

void sim_settings_free(struct sim_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        free(settings->list[i].key);
        free(settings->list[i].value);
    }
    free(settings->list);
    *settings = (struct sim_settings){0};
}

/* One line: a word, white space, the rest; # begins a comment where a word could. */
static int read_line(struct sim_settings *settings, char *line, uint32_t number, struct sim_error *error)
{
    char *key = line + strspn(line, " \t");
    if (*key == '\0' || *key == '#') return 0;
    char *key_end = key + strcspn(key, " \t");
    char *value = key_end + strspn(key_end, " \t");
    char *comment = strstr(value, " #");
    if (comment) *comment = '\0';
    size_t length = strlen(value);
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t')) value[--length] = '\0';
    *key_end = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].name, key) != 0) continue;
        if (sim_settings_add(settings, key, value, number, (uint32_t)(value - line) + 1)) return 0;
        snprintf(error->text, sizeof error->text, "out of memory");
        return -1;
    }
    snprintf(
        error->text, sizeof error->text,
        "%s:%u:%u: unknown word '%.40s'; a line is one of the options of `elector sim --help` and its value",
        settings->file, number, (unsigned)(key - line) + 1, key);
    return -1;
}

int sim_settings_read(struct sim_settings *settings, const char *path, struct sim_error *error)
{
    char line[4096];
    uint32_t number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error->text, sizeof error->text, "%s: cannot read it: %s", path, strerror(errno));
        return -1;
    }
    settings->file = path;
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, file)) {
        number++;
        const size_t length = strcspn(line, "\r\n");
        if (length + 1 == sizeof line) {
            snprintf(error->text, sizeof error->text, "%s:%u:1: the line is longer than %zu characters", path,
                     number, sizeof line - 2);
            status = -1;
        } else if (memchr(line, '\0', length)) {
            status = -1;
        } else {
            line[length] = '\0';
            status = read_line(settings, line, number, error);
        }
    }
    if (status == 0 && ferror(file)) {
        snprintf(error->text, sizeof error->text, "%s: cannot read it: %s", path, strerror(errno));
        status = -1;
    }
    fclose(file);
    return status;
}
