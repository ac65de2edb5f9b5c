/*
 * A command beside the work: a hook or a health check. Words without a shell, a process group of its own, a limit to its
 * time, and an end that is told by a descriptor: nothing here waits.
 */
#ifndef ELECTOR_SUPERVISE_HELPER_COMMAND_H
#define ELECTOR_SUPERVISE_HELPER_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HELPER_WORDS_MAX = 64 };

/* A command line, split at blanks; there are no quotes. */
struct helper_words {
    char *list[HELPER_WORDS_MAX + 1]; /* ends with NULL */
    char text[];
};

/* NULL: no word, too many, or no memory. To be freed. */
struct helper_words *helper_split_words(const char *text);

/* Zeroed: nothing runs. */
struct helper_command {
    pid_t pid; /* 0: nothing runs */
    int fd;    /* readable when it has ended */
    uint64_t until_ns;
    bool killed; /* killed by us: its time was up, or nobody wants it any more */
    pid_t last;
};

/* 0, or errno. The environment is ours; `signals` are those that it blocks. It dies with us. */
int helper_start(struct helper_command *, const struct helper_words *, const sigset_t *signals,
                 uint64_t until_ns);
/* True when it has ended: *status as of waitpid(), -1 if its time was up. Kills it once it is time. */
bool helper_poll(struct helper_command *, uint64_t now_ns, int *status);
void helper_kill(struct helper_command *);
/* Whether this child of ours is one of those that run. */
bool helper_is_running(pid_t);
/* "failed with 3", "was killed by signal 9", "took too long", in a buffer. */
const char *helper_describe(int status, char *text, size_t size);

#endif
