/* Shared by history and why: asking an agent about a group's past, and formatting its answer. */
#ifndef ELECTOR_CLI_CLUSTER_HISTORY_QUERY_H
#define ELECTOR_CLI_CLUSTER_HISTORY_QUERY_H

#include "cli/cli.h"
#include "client/json_lines.h"

struct history_query {
    const char *verb, *group, *url;
    int (*run)(int argc, char **argv); /* the verb */
    uint64_t last;                     /* history: how many leaders; 0: the agent's default */
    bool json;
};

/* Reads GROUP, --url, --output and, with `takes_last`, -n and --last. CLI_YES, or the exit code after a
 * message. */
int history_query_read(struct history_query *, int argc, char **argv, bool takes_last);
/* The agent's answer, to be freed; NULL after a message, with the exit code. */
json_t *history_query_ask(const struct history_query *, int *code);
/* A duration: "less than 1 µs", "12 µs", "1.234 ms", "3.20 s", "12 min 5 s", "3 d 4 h". */
enum { PAST_SPAN = 32 };
const char *history_query_span(uint64_t us, char text[PAST_SPAN]);
/* "2026-11-16 10:31:02.345" of "2026-11-16T10:31:02.345678Z"; "?" of anything else. */
enum { PAST_TIME = 32 };
const char *history_query_time(const json_t *object, const char *name, char text[PAST_TIME]);

#endif
