/* What a URL names. */
#include <string.h>

#include "client/engine.h"

/* As in the table of connection.c; a lock (file:) speaks no lines. */
static const char *const with_lines[] = {"unix:", "etcd:", "etcds:", "zookeeper:", "kubernetes:"};

bool engine_speaks_lines(const char *url)
{
    for (size_t i = 0; i < sizeof with_lines / sizeof *with_lines; i++)
        if (strncmp(url, with_lines[i], strlen(with_lines[i])) == 0) return true;
    return false;
}
