/* See confine.h. */
#define _GNU_SOURCE
#include "agent/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/confine/internal.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED false
#endif

static const char *report; /* the file's name; NULL: a forbidden call only fails */

void confine_memory(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE,
                    &none); /* also until the guardian, whose exec resets the next, has set it again */
    if (!SANITIZED) (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* ---- For tests: a forbidden call ends the process ---- */

static char *put_text(char *to, const char *text)
{
    while (*text) *to++ = *text++;
    return to;
}

static char *put_number(char *to, unsigned number)
{
    char digits[12];
    unsigned count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count) *to++ = digits[--count];
    return to;
}

static void on_forbidden(int number, siginfo_t *info, void *context)
{
    char line[80], *end = put_text(line, "process ");
    (void)context;
    end = put_number(end, (unsigned)getpid());
    end = put_text(end, ": forbidden system call ");
    end = put_number(end, (unsigned)info->si_syscall);
    end = put_text(end, "\n");
    const int file = open(report, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) (void)!write(file, line, (size_t)(end - line));
    (void)!write(STDERR_FILENO, line, (size_t)(end - line));
    _exit(128 + number);
}

void confine_report(void)
{
    struct sigaction action = {.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO};
    report = getenv("ELECTOR_SECCOMP_REPORT");
    if (report) (void)sigaction(SIGSYS, &action, NULL);
}

/* ---- The filter ---- */

bool confine_calls(char *text, size_t size)
{
    static bool is_confined;
    confine_report();
    if (SANITIZED)
        snprintf(text, size, "this is a sanitized build");
    else if (!is_confined && !confine_install(report))
        snprintf(text, size, "the kernel refuses, or does not know how: %s", strerror(errno));
    else
        is_confined = true;
    return is_confined;
}
