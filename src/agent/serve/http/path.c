/* Parses untrusted paths, queries and Host headers. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "agent/serve/http/internal.h"
#include "base/units.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads one character, escaped or not, and advances *path; 0: a broken escape, or an escaped 0. */
static char take_one(const char **path)
{
    const char *at = *path;
    const int high = *at == '%' ? digit_of(at[1]) : 0, low = *at == '%' && high >= 0 ? digit_of(at[2]) : 0;
    if (*at != '%') {
        (*path)++;
        return *at;
    }
    if (high < 0 || low < 0) return '\0';
    *path += 3;
    return (char)(high * 16 + low);
}

bool http_unescape(const char *text, char *plain, size_t length_max)
{
    size_t length = 0;
    while (*text) {
        const char c = take_one(&text);
        if (c == '\0' || length == length_max) return false;
        plain[length++] = c;
    }
    plain[length] = '\0';
    return true;
}

bool http_group_of(const char *path, const char *prefix, char name[CONFIG_NAME_MAX + 1])
{
    const size_t skip = strlen(prefix);
    return strncmp(path, prefix, skip) == 0 && http_unescape(path + skip, name, CONFIG_NAME_MAX) &&
           group_name_is_valid(name);
}

/* ":PORT" or nothing. */
static bool is_port(const char *text)
{
    return *text == '\0' || (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

bool http_is_plain_host(const char *host)
{
    char name[64];
    uint8_t address[sizeof(struct in6_addr)];
    const bool bracket = *host == '[';
    const size_t length = strcspn(host += bracket, bracket ? "]" : ":");
    const char *rest = host + length;
    if (length == 0 || length >= sizeof name || (bracket && *rest++ != ']') || !is_port(rest)) return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (bracket) return inet_pton(AF_INET6, name, address) == 1;
    return strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, address) == 1;
}

const char *http_value_of(struct MHD_Connection *c, const char *key)
{
    return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, key);
}

bool http_read_number(struct MHD_Connection *c, const char *key, uint64_t most, uint64_t *number)
{
    const char *text = http_value_of(c, key);
    if (!text) return true;
    return units_read_number(&text, number) && *text == '\0' && *number <= most;
}
