/* What a group may be called. */
#include <string.h>

#include "agent/config.h"

bool config_is_group_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";
    const size_t size = strlen(text);
    return size >= 1 && size <= CONFIG_NAME_MAX && strspn(text, allowed) == size && text[0] != '-' &&
           text[0] != '.';
}
