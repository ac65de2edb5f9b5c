/*
 * A hook or a health check: a command without a shell, in its own process group, with a timeout. A descriptor tells
 * when it has ended; no function here blocks.
 */
#ifndef ELECTOR_SUPERVISE_HELPER_COMMAND_H
#define ELECTOR_SUPERVISE_HELPER_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HELPER_WORDS_MAX = 64 };

/* A command line, split at blanks; quotes have no meaning. */
struct helper_words {
    char *list[HELPER_WORDS_MAX + 1]; /* ends with NULL */
    char text[];
};

/* NULL: no word, too many words, or out of memory. To be freed. */
struct helper_words *helper_split_words(const char *text);

/* Zeroed: nothing runs. */
struct helper_command {
    pid_t pid; /* 0: nothing runs */
    int fd;    /* readable when it has ended */
    uint64_t until_ns;
    bool killed; /* by us: timeout, or no longer needed */
    pid_t last;
};

/* 0, or errno. The command inherits our environment, blocks `signals`, and is killed when we die. */
int helper_start(struct helper_command *, const struct helper_words *, const sigset_t *signals,
                 uint64_t until_ns);
/*
 * The same for a function of ours, in a process of its own without our descriptors, which may block or crash. What it
 * writes to standard output can be read from *output when it has ended, up to 64 KiB; to be closed. Its result is the
 * exit code.
 */
int helper_start_function(struct helper_command *, int (*run)(const void *), const void *about,
                          const sigset_t *signals, uint64_t until_ns, int *output);
/* True: it has ended; *status is that of waitpid(), or -1 if we killed it. Kills it after `until_ns`. */
bool helper_poll(struct helper_command *, uint64_t now_ns, int *status);
void helper_kill(struct helper_command *);
/* Whether a child is one of these. */
bool helper_is_running(pid_t);
/* "ended with 3", "was killed by signal 9", ..., in the buffer. */
const char *helper_describe(int status, char *text, size_t size);

#endif
