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
 * For helper_start_function(), because a disk or a command may hang: measures, and writes one line with the number, or
 * with what is wrong. `about` is a struct rank. A command is split at blanks, and writes the line itself.
 */
int rank_measure(const void *about);
/*
 * What it has written to `output`, after it has ended with `status`. Values above RANK_MAX become RANK_MAX. False:
 * `problem` says why, to be printed after the name of the option.
 */
bool rank_read(const struct rank *, int status, int output, uint64_t *number, char *problem, size_t size);

#endif
