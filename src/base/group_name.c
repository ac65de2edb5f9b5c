/* See group_name.h. */
#include "base/group_name.h"

#include <string.h>

bool group_name_is_valid_up_to(const char *text, size_t max)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";
    const size_t size = strlen(text);
    return size >= 1 && size <= max && strspn(text, allowed) == size && text[0] != '-' && text[0] != '.';
}

bool group_name_is_valid(const char *text)
{
    return group_name_is_valid_up_to(text, GROUP_NAME_MAX);
}
