/* See group_name.h. */
#include "base/group_name.h"

#include <string.h>

bool group_name_is_valid(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";
    const size_t size = strlen(text);
    return size >= 1 && size <= GROUP_NAME_MAX && strspn(text, allowed) == size && text[0] != '-' &&
           text[0] != '.';
}
