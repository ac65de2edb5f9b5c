/*
 * The URL of an engine: SCHEME://HOST[:PORT],HOST[:PORT]/PATH?NAME=VALUE&... A name or value may have %XX. Credentials do not
 * belong there, because `ps` shows it: files and environment have them.
 */
#ifndef ELECTOR_ENGINES_URL_H
#define ELECTOR_ENGINES_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { URL_SIZE = 2048, URL_HOSTS_MAX = 16, URL_OPTIONS_MAX = 24, URL_TEXT = 512 };

struct engine_url {
    char text[URL_SIZE]; /* as given */
    char rest[URL_SIZE]; /* what the pointers below point into */
    const char *scheme;
    const char *hosts[URL_HOSTS_MAX]; /* without brackets; "" cannot be */
    uint16_t ports[URL_HOSTS_MAX];
    uint32_t host_count; /* 0: none was given */
    const char *path;    /* without the first '/'; "": none */
    struct {
        const char *name, *value;
    } options[URL_OPTIONS_MAX];
    uint32_t option_count;
};

/* Options that every engine has: ttl=5s, member=NAME. */
extern const char *const url_common_options[];

/* False: `text` says what is wrong, and what to do. `port`: of a host without one. */
bool url_parse(struct engine_url *, const char *given, uint16_t port, char text[URL_TEXT]);
/* Whether all options are in one of the lists, which end with NULL. */
bool url_knows(const struct engine_url *, const char *const *common, const char *const *own,
               char text[URL_TEXT]);
/* The value; NULL: it is not there. */
const char *url_option(const struct engine_url *, const char *name);
/* The same, else the environment's variable, unless privileges are raised; NULL: neither is there, or it is empty. */
const char *url_setting(const struct engine_url *, const char *name, const char *variable);
/* The secret in a file that only its owner may read, up to the end of its first line. False: `text` says why not. */
bool url_read_secret(const char *path, char *secret, size_t size, char text[URL_TEXT]);

#endif
