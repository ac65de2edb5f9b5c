/*
 * The command line: a table of verbs (main.c), one or a few files for each verb, and common helpers (common.c).
 * run/ has `elector run`, cluster/ the verbs for agents and clusters, lab/ simulator and checker, replay/
 * recordings. test/style/run.sh lists the rooms that each folder may use; no room may use a verb.
 * Start with the table in main.c.
 */
#ifndef ELECTOR_CLI_H
#define ELECTOR_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "elector.h"

struct closest;
struct json_t;
struct sim_style;

/* Exit codes, the same for every verb. */
enum { CLI_YES = 0, CLI_NO = 1, CLI_USAGE = 2, CLI_CANNOT_TELL = 3 };

/* The default of run and campaign. It is the default of keepalived, too, and leaves room below for a penalty. */
enum { CLI_PRIORITY = 100 };

struct cli_verb {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
};

int cli_algorithms(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_detect(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_demo(int argc, char **argv);
int cli_lab(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_agent(int argc, char **argv);
int cli_guardian(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_keygen(int argc, char **argv);
int cli_init(int argc, char **argv);
int cli_campaign(int argc, char **argv);
int cli_observe(int argc, char **argv);
int cli_resign(int argc, char **argv);
int cli_transfer(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_members(int argc, char **argv);
int cli_forget(int argc, char **argv);
int cli_history(int argc, char **argv);
int cli_why(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_replay(int argc, char **argv);

/* "elector VERB: text", and the exit code of a usage error. */
int cli_usage_error(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_out_of_memory(const char *verb);
/* The exit code of a verb for what the library or the agent said : 1 for every refusal. */
int cli_status_code(elector_status status);

/*
 * "elector VERB: unknown option WORD", with the closest option of the verb's own help, if one is close. `run` is the
 * verb, which prints its help. Before anything else is printed.
 */
int cli_unknown(const char *verb, int (*run)(int argc, char **argv), const char *word);
/* "; did you mean NAME?", or ";", for a hint that follows. The text is overwritten by the next call. */
const char *cli_meant(const struct closest *);
const char *cli_meant_algorithm(const char *word);

/* help.c: topics are the documents, and parts of them: "run", "docs/run.md#limits", "elector.conf" */
bool cli_has_topic(const char *word);
int cli_help_topic(const char *word); /* there is one */
void cli_write_topics(FILE *out);
void cli_offer_topics(struct closest *);

/* Colours only on a terminal, and not if NO_COLOR is set. */
struct sim_style cli_style(void);

/*
 * Reads "--name value" or "--name=value" at argv[*at]. True if it is that option; then *value is its value
 * (NULL if none is left, which the caller reports) and *at stands on the last word used.
 */
bool cli_option(int argc, char **argv, int *at, const char *name, const char **value);

/* "--output text|json"; false with a message if it is neither, or NULL. */
bool cli_output(const char *verb, const char *value, bool *json);

/*
 * What others have said goes to a terminal, which must not obey it. Both write U+0000 to U+001F, U+007F and U+0080
 * to U+009F as characters that do nothing: cli_put_plain() as '?', cli_put_json() as \u escapes. `flags` are
 * jansson's. cli_put_json() returns 0, or -1 if it failed.
 */
void cli_put_plain(const char *text);
int cli_put_json(const struct json_t *, FILE *out, size_t flags);

/* Prints a cell of this width to standard output, with cli_put_plain(). */
void cli_cell(const char *text, int width);

/* Writes a key of 32 bytes as one line of base64 to a new file that only its owner can read. False with a
 * message. */
bool cli_write_key(const char *verb, const char *path, const unsigned char *key);

/* Flushes and returns `status`, or the code of an error if writing failed (full disk, closed pipe). */
int cli_finish(const char *verb, FILE *out, int status);

#endif
