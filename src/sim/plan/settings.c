/* Collecting settings from the command line and from the lines of a scenario file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/plan/plan.h"

/* The order is that of --help. */
static const struct sim_key keys[] = {
    {"algorithm", "NAME", "which election (the first argument of `elector sim`)"},
    {"nodes", "N", "N nodes with the ids 1..N in ring order"},
    {"ids", "A,B,…", "these ids, in ring order"},
    {"attr", "ID=VALUE,…", "an attribute that counts before the id in the rank"},
    {"ordinary", "ID,…", "these members vote but never lead"},
    {"leader", "ID", "the leader at the start"},
    {"record", "ID,…[/ID,…]",
     "who votes by the next record of the members (quorum), and who may lead,\n"
     "otherwise all of them that are not ordinary; one --record for each record"},
    {"change", "T,…", "the next record is decided, as soon as it can be"},
    {"initiator", "ID[@T],…", "who calls an election, and when (or: all, none)"},
    {"case", "best|worst",
     "the textbooks' cases. Best: on a ring the future leader calls; elsewhere the\n"
     "leader dies, and only the second-highest knows. Worst: on a ring the future\n"
     "leader's successor calls; elsewhere the leader dies, and the lowest calls"},
    {"crash", "ID@T,…", "a process crashes (leader@T: the leader at that time)"},
    {"restart", "ID@T,…", "a dead process restarts with empty memory"},
    {"wipe", "ID@T,…", "a dead process restarts, and its saved record is lost too"},
    {"resign", "ID@T,…", "a process is asked to resign (leader@T: the leader at that time)"},
    {"transfer", "ID@T,…", "the leader at that time is asked to hand over to ID"},
    {"fact", "ID:NAME=N[@T],…", "a fact that its host reports to a process, such as the length of its log"},
    {"pause", "ID@T..T,…", "a process makes no progress from T to T"},
    {"partition", "A,B|C,D@T..T", "sides that cannot reach each other (a node not named reaches all)"},
    {"cut", "A>B@T..T", "messages from A to B are lost"},
    {"slow", "A>B=D@T..T", "messages from A to B take D longer"},
    {"loss", "P", "each message is lost with probability P (0.1, 10%)"},
    {"dup", "P", "each message arrives twice with probability P"},
    {"reorder", "P", "each message overtakes earlier ones with probability P"},
    {"delay", "D|A..B|exp:M..X", "message delay: fixed, a range, or exponential with mean M up to X"},
    {"bound", "D", "the longest message delay that processes assume (otherwise the true one)"},
    {"detect", "D", "a failure detector that reports a crash or a broken link after D"},
    {"miss", "A:B,…", "A's detector never notices B's crash (all:B, A:all)"},
    {"false-suspect", "A:B@T[..T],…", "A wrongly suspects B from T on (all:B)"},
    {"detector", "NAME[:OPTIONS]", "a real failure detector on every node, such as phi:8"},
    {"resource", "D", "every D, the leader works on a resource whose guard checks its term"},
    {"quality", "D", "failures lower the rank of a process; D of uptime halves the penalty"},
    {"clock", "ID=RATE,…", "a clock that runs fast (1.05) or slow (0.95)"},
    {"jump", "ID@T=+D,…", "a clock that jumps forward (+D), or stops and loses D (-D)"},
    {"drift", "RHO", "clock rates are assumed to stay within 1±RHO (otherwise 0.005)"},
    {"disk", "D|A..B", "how long saving a record takes; messages that depend on it wait"},
    {"groups", "N", "N groups over the same members, each with its own leader and its own ranks"},
    {"group", "NAME=ALGORITHM", "one more group, with an algorithm of its own"},
    {"script", "steps|ticks", "only steps happen: each takes one delay, or time passes only by wait"},
    {"step", "…",
     "campaign ID, deliver|return|lose|copy A>B KIND [#2], fire ID TIMER[:SLOT],\n"
     "suspect|trust A:B, crash ID, restart ID [wiped], pause|resume ID, resign ID,\n"
     "transfer ID ID, fact ID:NAME=N, wait D, loop; before it dying=N, choosing=N,…"},
    {"set", "KEY=VALUE", "an option of the algorithm's own, see `elector algorithms NAME`"},
    {"seed", "S", "the seed of every random choice"},
    {"until", "T", "stop at T, and judge the state then"},
    {"settle", "D", "with heartbeats: the run is at rest when nothing has changed for D"},
    {"horizon", "T", "a run that is still busy at T counts as endless"},
    {"expect", "…",
     "leader ID|none, agreement, no agreement, messages [KIND] N, failed-hops N,\n"
     "turnaround T, term N, refused N, violation KIND, no violation,\n"
     "broken PROPERTY (of `elector check`)"},
};

const struct sim_key *sim_keys(size_t *count)
{
    *count = sizeof keys / sizeof *keys;
    return keys;
}

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *made = malloc(size);
    return made ? memcpy(made, text, size) : NULL;
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

/* # after white space begins a comment, except in a step, which numbers messages: #2. */
static bool begins_comment(const char *key, const char *p)
{
    const bool number = strncmp(key, "step", 4) == 0 && p[1] >= '0' && p[1] <= '9';
    return *p == '#' && (p[-1] == ' ' || p[-1] == '\t') && !number;
}

/* A line is a key, white space, and the value. */
static int read_line(struct sim_settings *settings, char *line, uint32_t number, struct sim_error *error)
{
    char *key = line + strspn(line, " \t");
    if (*key == '\0' || *key == '#') return 0;
    char *key_end = key + strcspn(key, " \t");
    char *value = key_end + strspn(key_end, " \t");
    for (char *p = key_end; *p; p++)
        if (begins_comment(key, p)) *p = '\0';
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

/* The column, from 1, of the first control character; 0 if there is none. */
static size_t column_of_garbage(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)line[i];
        if ((c < ' ' && c != '\t') || c == 0x7F) return i + 1;
    }
    return 0;
}

int sim_settings_parse(struct sim_settings *settings, const char *name, char *text, size_t size,
                       struct sim_error *error)
{
    uint32_t number = 0;
    settings->file = name;
    for (char *line = text; line < text + size;) {
        char *end = memchr(line, '\n', (size_t)(text + size - line));
        char *next = end ? end + 1 : text + size;
        if (!end) end = text + size;
        if (end > line && end[-1] == '\r') end--;
        number++;
        const size_t garbage = column_of_garbage(line, (size_t)(end - line));
        if (garbage) {
            snprintf(error->text, sizeof error->text, "%s:%u:%zu: this is not text; a scenario is a text file",
                     settings->file, number, garbage);
            return -1;
        }
        *end = '\0';
        if (read_line(settings, line, number, error) != 0) return -1;
        line = next;
    }
    return 0;
}

int sim_settings_read(struct sim_settings *settings, const char *path, struct sim_error *error)
{
    enum { SIZE_MAX_READ = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(SIZE_MAX_READ + 1) : NULL;
    int status = -1;
    settings->file = path;
    if (!file) {
        snprintf(error->text, sizeof error->text, "%s: cannot read it: %s", path, strerror(errno));
    } else if (!text) {
        snprintf(error->text, sizeof error->text, "out of memory");
    } else {
        const size_t size = fread(text, 1, SIZE_MAX_READ, file);
        if (ferror(file)) {
            snprintf(error->text, sizeof error->text, "%s: cannot read it: %s", path, strerror(errno));
        } else if (size == SIZE_MAX_READ) {
            snprintf(error->text, sizeof error->text, "%s: larger than a scenario may be (1 MiB)", path);
        } else {
            status = sim_settings_parse(settings, path, text, size, error);
        }
    }
    free(text);
    if (file) fclose(file);
    return status;
}
