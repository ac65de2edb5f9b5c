/* Starts elector-engine for a URL of a store. */
#ifndef ELECTOR_CLIENT_PROGRAM_H
#define ELECTOR_CLIENT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifndef ELECTOR_ENGINES_DIR /* where `make install` puts it */
#define ELECTOR_ENGINES_DIR "/usr/local/libexec/elector"
#endif

enum { PROGRAM_PATH = 4096 };
/* Where it is: PROGRAM_PATH bytes. False: nowhere, and program_say_missing() says what to do. */
bool program_find(char *path);
void program_say_missing(char *reason, size_t size);

/* The socket to it, non-blocking; -1: `reason` says why not, and what to do. */
int program_start(const char *url, char *reason, size_t size);
/* For a process that adopts orphans (elector run): whether this child of it is an engine. It ends by itself, after its client. */
bool program_runs_in(pid_t);

#endif
