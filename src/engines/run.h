/* Runs an engine until its client is gone, or until it is told to stop. */
#ifndef ELECTOR_ENGINES_RUN_H
#define ELECTOR_ENGINES_RUN_H

#include <stdbool.h>

struct engine_request {
    const char *url;
    int client;         /* the socket of its one client; -1: it listens at `socket` */
    const char *socket; /* a path */
    bool verbose, json;
};

/* The exit code. Unusable arguments are said in one line on standard error. */
int engine_run(const struct engine_request *);

struct store_kind;
/* kinds.c: NULL, and `text` names those that there are. */
const struct store_kind *store_kind_of(const char *url, char *text, unsigned long size);

#endif
