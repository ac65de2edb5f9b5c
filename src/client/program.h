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
/* Where it is: PROGRAM_PATH bytes. False: nowhere, or others could have put it there; `reason` says what to do. */
bool program_find(char *path, char *reason, size_t size);
/* Whether only root and this user can change the program: it and its folder are theirs, and nobody else can write to them. */
bool program_is_trusted(const char *path, char *reason, size_t size);

/* The socket to it, non-blocking; -1: `reason` says why not, and what to do. */
int program_start(const char *url, char *reason, size_t size);
/* For a process that adopts orphans (elector run): whether this child of it is an engine. It ends by itself, after its client. */
bool program_runs_in(pid_t);

#endif
