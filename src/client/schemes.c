/* What a URL names. */
#include <string.h>

#include "client/engine.h"

/* Beside the table of connection.c, so that the command can be tested over a library that has no engine. */
static const struct scheme {
    const char *name;
    const char *expected;
    bool is_store; /* else a path follows the colon */
    bool has_lines;
} schemes[] = {
    {"unix:", "expected unix:PATH, or unix:// and an absolute path", false, true},
    {"file:", "expected file:PATH, or file:// and an absolute path", false, false},
    {"etcd:", "expected etcd://HOST:PORT/PREFIX", true, true},
    {"etcds:", "expected etcds://HOST:PORT/PREFIX", true, true},
    {"zookeeper:", "expected zookeeper://HOST:PORT/PATH", true, true},
    {"kubernetes:", "expected kubernetes:///NAMESPACE, with three slashes", true, true},
};

static const struct scheme *find(const char *url)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(url, schemes[i].name, strlen(schemes[i].name)) == 0) return &schemes[i];
    return NULL;
}

bool engine_speaks_lines(const char *url)
{
    const struct scheme *scheme = find(url);
    return scheme && scheme->has_lines;
}

bool engine_is_store(const char *url)
{
    const struct scheme *scheme = find(url);
    return scheme && scheme->is_store;
}

const char *engine_url_flaw(const char *url)
{
    const struct scheme *scheme = find(url);
    if (!scheme) return ENGINE_URL_EXPECTED;
    const char *rest = url + strlen(scheme->name);
    const bool has_slashes = strncmp(rest, "//", 2) == 0;
    const bool is_well = scheme->is_store ? has_slashes : !has_slashes || rest[2] == '/';
    return is_well ? NULL : scheme->expected;
}
