/* Tests that a programmer error traps. Runs in a child process, which the trap ends. Include before all
 * others. */
#ifndef ELECTOR_TEST_LIB_NODE_TRAP_H
#define ELECTOR_TEST_LIB_NODE_TRAP_H

#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool traps(void (*mistake)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGILL, SIG_DFL);
        signal(SIGTRAP, SIG_DFL);
        mistake();
        _exit(0);
    }
    int status = 0;
    if (child == -1 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return false;
    return WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP;
}

#endif
