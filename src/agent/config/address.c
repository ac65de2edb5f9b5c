/* Parses and writes addresses: HOST:PORT and [IPV6]:PORT. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

#include "agent/config/internal.h"
#include "base/units.h"

static bool refuse(const char *text, const char *what, char *reason, size_t size)
{
    snprintf(reason, size, "an address is HOST:PORT or [IPV6]:PORT; in '%.80s' %s", text, what);
    return false;
}

bool config_split_address(const char *text, char *host, size_t room, uint16_t *port, char *reason, size_t size)
{
    uint64_t number = 0;
    const bool bracket = text[0] == '[';
    const char *from = text + bracket, *colon = strrchr(text, ':');
    const char *end = bracket ? strchr(text, ']') : colon;
    if (!colon || !end || end + bracket != colon) return refuse(text, "the port is missing", reason, size);
    if (!bracket && strchr(text, ':') != colon)
        return refuse(text, "there is more than one colon; put an IPv6 host in brackets", reason, size);
    if (end == from) return refuse(text, "the host is missing", reason, size);
    if ((size_t)(end - from) >= room) return refuse(text, "the host is too long", reason, size);
    if (!units_number(colon + 1, 65535, &number) || number == 0)
        return refuse(text, "the port is not a number from 1 to 65535", reason, size);
    memcpy(host, from, (size_t)(end - from));
    host[end - from] = '\0';
    *port = (uint16_t)number;
    return true;
}

/* IPv4 before IPv6, so that all members of a cluster find the same address. */
static int look_up(const char *host, bool numeric, struct sockaddr_storage *address)
{
    static const int families[] = {AF_INET, AF_INET6};
    int error = 0;
    for (int i = 0; i < 2; i++) {
        const struct addrinfo hints = {
            .ai_family = families[i], .ai_socktype = SOCK_DGRAM, .ai_flags = numeric ? AI_NUMERICHOST : 0};
        struct addrinfo *found = NULL;
        error = getaddrinfo(host, NULL, &hints, &found);
        if (error) continue;
        memset(address, 0, sizeof *address);
        memcpy(address, found->ai_addr, found->ai_addrlen);
        freeaddrinfo(found);
        return 0;
    }
    return error;
}

static struct sockaddr_in *v4(struct sockaddr_storage *address)
{
    return (struct sockaddr_in *)address;
}

static struct sockaddr_in6 *v6(struct sockaddr_storage *address)
{
    return (struct sockaddr_in6 *)address;
}

static bool is_one_host(struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET) {
        const uint32_t host = ntohl(v4(address)->sin_addr.s_addr);
        return host != INADDR_ANY && !IN_MULTICAST(host) && host != INADDR_BROADCAST;
    }
    const struct in6_addr *host = &v6(address)->sin6_addr;
    return !IN6_IS_ADDR_UNSPECIFIED(host) && !IN6_IS_ADDR_MULTICAST(host);
}

/* The address of a name that is not looked up: 127.0.0.1 for localhost, else one in 2001:db8::/32 (reserved for
 * documentation), different for each name. */
static void stand_in(const char *host, struct sockaddr_storage *address)
{
    const struct el_hash sum = el_fingerprint(host, strlen(host));
    memset(address, 0, sizeof *address);
    if (strcmp(host, "localhost") == 0) {
        address->ss_family = AF_INET;
        v4(address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return;
    }
    address->ss_family = AF_INET6;
    memcpy(v6(address)->sin6_addr.s6_addr, "\x20\x01\x0d\xb8", 4);
    memcpy(v6(address)->sin6_addr.s6_addr + 8, &sum.low, 8);
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET)
        v4(address)->sin_port = htons(port);
    else
        v6(address)->sin6_port = htons(port);
}

static bool find(const char *text, bool numeric, struct sockaddr_storage *address, char *reason, size_t size)
{
    char host[254];
    uint16_t port = 0;
    if (!config_split_address(text, host, sizeof host, &port, reason, size)) return false;
    int error = look_up(host, numeric, address);
    if (error == EAI_NONAME && numeric) {
        stand_in(host, address);
        error = 0;
    }
    if (error) {
        snprintf(reason, size,
                 "cannot find the host '%.80s': %s; write its numeric address, or add it to DNS or /etc/hosts",
                 host, gai_strerror(error));
        return false;
    }
    set_port(address, port);
    return true;
}

bool config_is_numeric(const char *text)
{
    char host[254], reason[200];
    uint16_t port;
    struct sockaddr_storage address;
    return config_split_address(text, host, sizeof host, &port, reason, sizeof reason) &&
           look_up(host, true, &address) == 0;
}

bool config_address_of(const char *text, bool numeric, struct sockaddr_storage *address, bool *is_missing,
                       char *reason, size_t size)
{
    struct sockaddr_storage unused;
    if (is_missing) *is_missing = false;
    if (!find(text, numeric, address, reason, size)) {
        char other[200];
        if (is_missing) *is_missing = find(text, true, &unused, other, sizeof other);
        return false;
    }
    return is_one_host(address) ||
           refuse(text, "the host is a wildcard, broadcast or multicast address", reason, size);
}

bool config_http_of(const char *text, bool numeric, struct sockaddr_storage *address, char *reason, size_t size)
{
    uint64_t port = 0;
    if (text[0] && text[strspn(text, "0123456789")] == '\0' &&
        (!units_number(text, 65535, &port) || port == 0)) {
        snprintf(reason, size, "a port is a number from 1 to 65535, not %.80s", text);
        return false;
    }
    if (port == 0) return find(text, numeric, address, reason, size);
    memset(address, 0, sizeof *address);
    address->ss_family = AF_INET;
    v4(address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    set_port(address, (uint16_t)port);
    return true;
}

bool config_address(const char *text, struct sockaddr_storage *address, char *reason, size_t size)
{
    return config_address_of(text, false, address, NULL, reason, size);
}

void config_write_address(const struct sockaddr_storage *address, char *text, size_t size)
{
    struct sockaddr_storage copy = *address;
    char host[INET6_ADDRSTRLEN] = "?";
    if (copy.ss_family == AF_INET) {
        inet_ntop(AF_INET, &v4(&copy)->sin_addr, host, sizeof host);
        snprintf(text, size, "%s:%u", host, ntohs(v4(&copy)->sin_port));
    } else {
        inet_ntop(AF_INET6, &v6(&copy)->sin6_addr, host, sizeof host);
        snprintf(text, size, "[%s]:%u", host, ntohs(v6(&copy)->sin6_port));
    }
}

void config_write_place(const struct config *config, el_node member, char *text, size_t size)
{
    const struct config_member *m = &config->members[member - 1];
    size_t used = 0;
    if (m->is_dynamic && (m->is_unresolved || member == config->self)) {
        snprintf(text, size, "dynamic");
        return;
    }
    for (uint32_t i = 0; i < config_address_count(m) && used < size; i++) {
        char address[80];
        config_write_address(config_address_at(m, i), address, sizeof address);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", address);
    }
}

void config_set_wildcard(struct sockaddr_storage *address, sa_family_t family)
{
    memset(address, 0, sizeof *address); /* in both families all bytes are 0 */
    address->ss_family = family;
}

bool config_is_loopback(const struct sockaddr_storage *address)
{
    struct sockaddr_storage copy = *address;
    if (copy.ss_family == AF_INET) return ntohl(v4(&copy)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6(&copy)->sin6_addr);
}

uint16_t config_port(const struct sockaddr_storage *address)
{
    struct sockaddr_storage copy = *address;
    return ntohs(copy.ss_family == AF_INET ? v4(&copy)->sin_port : v6(&copy)->sin6_port);
}

socklen_t config_address_size(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}
