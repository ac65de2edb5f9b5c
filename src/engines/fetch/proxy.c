/*
 * See proxy.h. libcurl before 8.7 does not say whether it used a proxy, so this reads the environment as it does: the variable of the
 * scheme, then all_proxy; HTTP_PROXY in capitals does not count; no_proxy lists hosts and domains.
 */
#define _GNU_SOURCE
#include "engines/fetch/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

static const char *find(bool is_tls, const char **variable)
{
    static const char *const of_tls[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL},
                             *const of_plain[] = {"http_proxy", "all_proxy", "ALL_PROXY", NULL};
    const char *value = NULL;
    for (const char *const *each = is_tls ? of_tls : of_plain; *each && !value; each++) {
        value = value_of(*each);
        *variable = *each;
    }
    return value;
}

/* "example.org" and ".example.org" are for the host and all below it. */
static bool covers(const char *entry, size_t size, const char *host, size_t host_size)
{
    if (size && *entry == '.') entry++, size--;
    if (size == 0 || size > host_size || strncasecmp(host + host_size - size, entry, size) != 0) return false;
    return size == host_size || host[host_size - size - 1] == '.';
}

static bool is_excepted(const char *host, size_t host_size)
{
    const char *list = value_of("no_proxy");
    if (!list) list = value_of("NO_PROXY");
    if (list && strcmp(list, "*") == 0) return true;
    while (list && *list) {
        const size_t size = strcspn(list, ", ");
        if (covers(list, size, host, host_size)) return true;
        list += size;
        list += strspn(list, ", ");
    }
    return false;
}

bool proxy_of(const char *url, char *text, size_t size)
{
    const char *variable = "", *host = strstr(url, "://");
    const char *proxy = find(strncmp(url, "https:", 6) == 0, &variable);
    if (!proxy || !host) return false;
    host += 3;
    const bool is_v6 = *host == '[';
    host += is_v6;
    if (is_excepted(host, strcspn(host, is_v6 ? "]" : ":/"))) return false;
    const char *scheme = strstr(proxy, "://"), *place = scheme ? scheme + 3 : proxy, *at = strrchr(place, '@');
    snprintf(text, size, "%.*s%.150s (%s)", scheme ? (int)(place - proxy) : 0, proxy, at ? at + 1 : place,
             variable);
    return true;
}
