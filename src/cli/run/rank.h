/* --rank: a priority that is measured on this host when it campaigns. */
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

/* The greatest rank and priority that JSON numbers can carry. */
#define RANK_MAX ((UINT64_C(1) << 53) - 1)

/* ip, cpu, disk:PATH, files:PATH, uptime or cmd:COMMAND. False for anything else. */
bool rank_parse(const char *text, struct rank *);

/* Decimal digits, up to RANK_MAX, with blanks around them at most. */
bool rank_number(const char *text, uint64_t *number);

/*
 * Measures; values above RANK_MAX become RANK_MAX. False: `problem` says why, to be printed after the name of the
 * option. A command has 5 seconds.
 */
bool rank_measure(const struct rank *, uint64_t *number, char *problem, size_t size);

/* The first line that a command writes, as a number. The command is split at blanks and run without a shell. */
bool rank_by_command(const char *command, uint64_t *number, char *problem, size_t size);

#endif
