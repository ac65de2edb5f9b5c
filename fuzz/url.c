/*
 * Bytes as the URL of an engine: either its parts are understood, each without what its kind may not have, or there is one line that says why
 * not. A URL with a user and a password never gets through, and the line does not repeat the password.
 */
#define _GNU_SOURCE /* strnlen */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void look_at_line(const char *text)
{
    const size_t length = strnlen(text, URL_TEXT);
    if (length == 0 || length == URL_TEXT) abort();
}

static bool is_inside(const struct engine_url *url, const char *text)
{
    return text >= url->rest && text < url->rest + sizeof url->rest;
}

static void look(const struct engine_url *url)
{
    if (url->host_count > URL_HOSTS_MAX || url->option_count > URL_OPTIONS_MAX) abort();
    for (uint32_t i = 0; i < url->host_count; i++)
        if (!is_inside(url, url->hosts[i]) || !url->hosts[i][0] || strpbrk(url->hosts[i], "@/?,%") ||
            !url->ports[i])
            abort();
    for (uint32_t i = 0; i < url->option_count; i++) {
        if (!is_inside(url, url->options[i].name) || !is_inside(url, url->options[i].value)) abort();
        if (url_option(url, url->options[i].name) != url->options[i].value) abort(); /* each occurs once */
    }
    if (url->path[0] && !is_inside(url, url->path)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const own[] = {"layout", "user", NULL};
    struct engine_url url;
    char given[4096], text[URL_TEXT] = "";
    if (size >= sizeof given) return 0;
    memcpy(given, bytes, size);
    given[size] = '\0';
    if (!url_parse(&url, given, 2379, text)) {
        look_at_line(text);
        return 0;
    }
    look(&url);
    if (!url_knows(&url, url_common_options, own, text)) look_at_line(text);
    return 0;
}
