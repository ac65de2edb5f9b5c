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

enum { ASIDE_WORDS_MAX = 64 };

/* A command line, split at blanks; there are no quotes. */
struct aside_words {
    char *list[ASIDE_WORDS_MAX + 1]; /* ends with NULL */
    char text[];
};

/* NULL: no word, too many, or no memory. To be freed. */
struct aside_words *aside_split(const char *text);

/* Zeroed: nothing runs. */
struct aside {
    pid_t pid; /* 0: nothing runs */
    int fd;    /* readable when it has ended */
    uint64_t until_ns;
    bool cut; /* killed by us: its time was up, or nobody wants it any more */
    pid_t last;
};

/* 0, or errno. The environment is ours; `signals` are those that it blocks. It dies with us. */
int aside_start(struct aside *, const struct aside_words *, const sigset_t *signals, uint64_t until_ns);
/* True when it has ended: *status as of waitpid(), -1 if its time was up. Kills it once it is time. */
bool aside_look(struct aside *, uint64_t now_ns, int *status);
void aside_cut(struct aside *);
/* Whether this child of ours is one of those that run. */
bool aside_is(pid_t);
/* "failed with 3", "was killed by signal 9", "took too long", in a buffer. */
const char *aside_describe(int status, char *text, size_t size);

#endif
