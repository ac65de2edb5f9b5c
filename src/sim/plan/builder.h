/* Shared by the files that build a plan: the setting being read, errors that point into it, and value
 * parsers. */
#ifndef ELECTOR_SIM_PLAN_BUILDER_H
#define ELECTOR_SIM_PLAN_BUILDER_H

#include "sim/plan/parse.h"
#include "sim/plan/plan.h"

enum { BUILD_COUNT_MAX = 1u << 24 };

struct builder {
    struct sim_plan *plan;
    const struct sim_settings *settings;
    const struct sim_setting *now; /* the setting being read; NULL: none in particular */
    const char *whole;             /* the text as typed, while `now` is one part of it */
    struct sim_error *error;
};

/* Reads one setting's value: 0, or -1 with the error filled in. */
typedef int build_reader(struct builder *b, const char *value);

/* Fills in the error, pointing at `at` within the setting being read (NULL: at its beginning). Returns -1. */
int build_fail_at(struct builder *b, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int build_out_of_memory(struct builder *b);

/* The last setting of this key, or NULL. */
const struct sim_setting *build_last_of(const struct builder *b, const char *key);
/* Reads the last setting of this key, if there is one; or every one, in order. */
int build_once(struct builder *b, const char *key, build_reader *read);
int build_each(struct builder *b, const char *key, build_reader *read);

/* Parts of values. Each reader moves `*at` past what it read. */
int build_read_node(struct builder *b, const char **at, el_node *node);
/* "all" is returned as EL_NOBODY. */
int build_read_node_or_all(struct builder *b, const char **at, el_node *node);
int build_read_time(struct builder *b, const char **at, sim_time *time);
/* "leader" is returned as EL_NOBODY. */
int build_read_node_or_leader(struct builder *b, const char **at, el_node *node);
/* "@T" */
int build_read_at(struct builder *b, const char **at, sim_time *time);
/* "@T..T"; without "@" from the beginning, without ".." for ever. */
int build_read_span(struct builder *b, const char **at, sim_time *from, sim_time *until);
/* True after a comma, false at the end; anything else is an error. */
int build_read_more(struct builder *b, const char **at, bool *more);
/* The whole value is one number, or one time. */
int build_read_whole(struct builder *b, const char *value, uint64_t *number);
int build_read_only_time(struct builder *b, const char *value, sim_time *time);

/* Returns room for one more element at the end of an array that doubles. `array_in_out` is the address of the
 * array pointer. NULL if memory ran out. */
void *build_one_more(void *array_in_out, size_t *count, size_t size);

/* members.c: the algorithm, who takes part, and the algorithm's own options. */
int build_members(struct builder *b);
int build_options(struct builder *b);
/* The records of the members that may follow the first. */
int build_records(struct builder *b);
/* The detector machine; then the inequalities between the durations of both machines. */
int build_detector(struct builder *b);
int build_check_times(struct builder *b);
/* schedule.c: the commands and their times. */
int build_story(struct builder *b);
/* NULL if memory ran out. */
struct sim_command *build_add_command(struct builder *b, enum sim_command_type type, sim_time at);
/* cases.c: `case best`, `case worst`: who leads, dies and calls. */
int build_case(struct builder *b);
/* "ID:NAME=N", without the time */
int build_read_fact(struct builder *b, const char **at, struct sim_command *command);
/* script.c: the same for a plan in which every move is scripted. */
bool build_is_scripted(const struct builder *b);
int build_script(struct builder *b);
/* expect.c: the expectations. */
int build_expectations(struct builder *b);

#endif
