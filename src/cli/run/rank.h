/* --rank: a number by which this host is better than others, measured when it campaigns. */
#ifndef ELECTOR_CLI_RUN_RANK_H
#define ELECTOR_CLI_RUN_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rank_kind { RANK_IP, RANK_CPU, RANK_DISK, RANK_FILES, RANK_UPTIME, RANK_CMD };

struct rank {
    enum rank_kind kind;
    const char *argument; /* a path or a command, borrowed from the text; NULL where there is none */
};

/* The greatest rank and priority: what every part of the system, and JSON, can carry. */
#define RANK_MAX ((UINT64_C(1) << 53) - 1)

/* ip, cpu, disk:PATH, files:PATH, uptime or cmd:COMMAND. False for anything else. */
bool rank_parse(const char *text, struct rank *);

/* Decimal digits, up to RANK_MAX, with blanks around them at most. */
bool rank_number(const char *text, uint64_t *number);

/*
 * Measures. What is greater than RANK_MAX counts as that. False: `problem` says why, in words that follow the name
 * of the option. A command has five seconds.
 */
bool rank_measure(const struct rank *, uint64_t *number, char *problem, size_t size);

/* The first line that a command writes, as a number; the words are split at blanks, without a shell. */
bool rank_by_command(const char *command, uint64_t *number, char *problem, size_t size);

#endif
