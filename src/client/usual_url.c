/* The URL if none is given; see engine.h. */
#define _GNU_SOURCE /* secure_getenv */
#include <stdlib.h>

#include "client/engine.h"

const char *engine_named_url(void)
{
    const char *url = secure_getenv("ELECTOR_URL");
    return url && *url ? url : NULL;
}

const char *engine_usual_url(void)
{
    const char *url = engine_named_url();
    return url ? url : ENGINE_DEFAULT_URL;
}
