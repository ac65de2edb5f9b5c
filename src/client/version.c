#include "elector.h"

const char *elector_version(void)
{
    return ELECTOR_VERSION;
}
