/* See url.h. */
#define _GNU_SOURCE /* secure_getenv */
#include "engines/url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"

const char *const url_common_options[] = {"ttl", "member", NULL};

static bool fail(char text[URL_TEXT], const char *url, const char *what)
{
    snprintf(text, URL_TEXT, "%.160s: %s", url, what);
    return false;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* In place. False: a '%' without two digits, or a zero byte. */
static bool decode(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        const int high = digit(at[1]), low = high >= 0 ? digit(at[2]) : -1;
        if (low < 0 || high + low == 0) return false;
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = '\0';
    return true;
}

static const char *read_port(const char *digits, uint16_t *port)
{
    uint64_t number;
    if (!units_number(digits, 65535, &number) || number == 0)
        return "a port is a number from 1 to 65535: HOST:PORT";
    *port = (uint16_t)number;
    return NULL;
}

/* One of HOST, HOST:PORT, [IPV6], [IPV6]:PORT. NULL, or what is wrong. */
static const char *read_host(char *text, struct engine_url *url, uint16_t port)
{
    const bool is_bracketed = text[0] == '[';
    char *end = is_bracketed ? strchr(text, ']') : strchr(text, ':');
    const char *host = is_bracketed ? text + 1 : text;
    uint16_t *own = &url->ports[url->host_count];
    if (url->host_count == URL_HOSTS_MAX) return "it names too many hosts: at most 16";
    if (is_bracketed && !end) return "'[' without ']': [IPV6]:PORT";
    *own = port;
    if (end) {
        char *colon = is_bracketed ? end + 1 : end;
        if (*colon && *colon != ':') return "after ']' comes nothing, or :PORT";
        const char *wrong = *colon ? read_port(colon + 1, own) : NULL;
        if (wrong) return wrong;
        *end = '\0';
    }
    if (!*host) return "it names no host: SCHEME://HOST:PORT,HOST:PORT/PATH";
    for (const char *at = host; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:", *at))
            return "a host is a name or an address";
    url->hosts[url->host_count++] = host;
    return NULL;
}

static const char *read_options(char *text, struct engine_url *url)
{
    for (char *one = strtok(text, "&"); one; one = strtok(NULL, "&")) {
        char *value = strchr(one, '=');
        if (url->option_count == URL_OPTIONS_MAX) return "it has too many options";
        if (!value) return "after '?' come NAME=VALUE, with '&' between them";
        *value++ = '\0';
        if (!decode(one) || !decode(value)) return "a '%' is followed by two hexadecimal digits";
        if (url_option(url, one)) return "an option occurs twice";
        url->options[url->option_count].name = one;
        url->options[url->option_count++].value = value;
    }
    return NULL;
}

bool url_parse(struct engine_url *url, const char *given, uint16_t port, char text[URL_TEXT])
{
    *url = (struct engine_url){0};
    if (strlen(given) >= sizeof url->text) return fail(text, given, "it is too long: at most 2047 bytes");
    snprintf(url->text, sizeof url->text, "%s", given);
    snprintf(url->rest, sizeof url->rest, "%s", given);
    char *colon = strstr(url->rest, "://");
    if (!colon) return fail(text, given, "expected SCHEME://HOST:PORT,HOST:PORT/PATH");
    *colon = '\0';
    url->scheme = url->rest;
    char *hosts = colon + 3, *query = strchr(hosts, '?');
    if (query) *query++ = '\0';
    char *path = strchr(hosts, '/');
    if (path) *path++ = '\0';
    url->path = path ? path : "";
    if (strchr(hosts, '@')) {
        snprintf(text, URL_TEXT,
                 "%s://…@…: no user and password in a URL, because `ps` shows it; use the option user= with "
                 "password-file=, or the environment",
                 url->scheme);
        return false;
    }
    const char *wrong = query ? read_options(query, url) : NULL;
    if (!wrong && path && !decode(path)) wrong = "a '%' is followed by two hexadecimal digits";
    for (char *host = hosts, *comma; !wrong && *hosts && host; host = comma) {
        comma = strchr(host, ',');
        if (comma) *comma++ = '\0';
        wrong = read_host(host, url, port);
    }
    return wrong ? fail(text, given, wrong) : true;
}

static bool is_in(const char *name, const char *const *list)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

bool url_knows(const struct engine_url *url, const char *const *common, const char *const *own,
               char text[URL_TEXT])
{
    for (uint32_t i = 0; i < url->option_count; i++) {
        if (is_in(url->options[i].name, common) || is_in(url->options[i].name, own)) continue;
        size_t used = (size_t)snprintf(text, URL_TEXT, "%.100s: it has no option '%.40s'; there are", url->text,
                                       url->options[i].name);
        for (const char *const *list = common; list; list = list == common ? own : NULL)
            for (const char *const *name = list; *name && used < URL_TEXT; name++)
                used += (size_t)snprintf(text + used, URL_TEXT - used, " %s", *name);
        return false;
    }
    return true;
}

const char *url_option(const struct engine_url *url, const char *name)
{
    for (uint32_t i = 0; i < url->option_count; i++)
        if (strcmp(url->options[i].name, name) == 0) return url->options[i].value;
    return NULL;
}

const char *url_setting(const struct engine_url *url, const char *name, const char *variable)
{
    const char *value = url_option(url, name);
    if (!value) value = secure_getenv(variable);
    return value && *value ? value : NULL;
}

bool url_read_secret(const char *path, char *secret, size_t size, char text[URL_TEXT])
{
    struct stat file;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_file = fd >= 0 && fstat(fd, &file) == 0;
    const ssize_t got = is_file && S_ISREG(file.st_mode) ? read(fd, secret, size - 1) : -1;
    const int error = errno;
    if (fd >= 0) close(fd);
    if (got < 0) {
        snprintf(text, URL_TEXT, "cannot read %.200s: %s", path,
                 is_file && !S_ISREG(file.st_mode) ? "it is no regular file" : strerror(error));
        return false;
    }
    if (file.st_mode & (S_IRWXG | S_IRWXO)) {
        snprintf(text, URL_TEXT, "%.200s holds a secret, and others than its owner can open it: chmod 600 it",
                 path);
        return false;
    }
    secret[got] = '\0';
    secret[strcspn(secret, "\r\n")] = '\0';
    if (secret[0] && got < (ssize_t)size - 1) return true;
    snprintf(text, URL_TEXT, "%.200s: its first line must hold the secret, of at most %zu bytes", path,
             size - 2);
    return false;
}
