/* How long a test waits for an event that always comes. Shorter where a planted bug is looked for, which may well be that it never comes. */
#ifndef ELECTOR_TEST_LIB_GIVE_UP_H
#define ELECTOR_TEST_LIB_GIVE_UP_H

#include <stdlib.h>

static inline int give_up_ms(void)
{
    const char *seconds = getenv("ELECTOR_GIVE_UP_S");
    return 1000 * (seconds ? (int)strtol(seconds, NULL, 10) : 30);
}

#endif
