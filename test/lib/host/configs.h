/* A configuration in a folder of its own, read from text. */
#ifndef ELECTOR_TEST_LIB_HOST_CONFIGS_H
#define ELECTOR_TEST_LIB_HOST_CONFIGS_H

#include "agent/config/config.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/units.h"

#include "lib/scratch.h"

static char folder[64];
static char path[80], text[700];
static struct config config;

/* ---- A small bench ---- */

static inline int make_folder(void **state)
{
    if (sodium_init() < 0 || !scratch_folder(folder, sizeof folder, "config")) return -1;
    snprintf(path, sizeof path, "%s/elector.conf", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    static const char *const names[] = {"elector.conf", "a.key", "b.key", "cluster.key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static inline void write_file(const char *name, const char *content, mode_t mode)
{
    char file_path[96];
    snprintf(file_path, sizeof file_path, "%s/%s", folder, name);
    unlink(file_path);
    FILE *file = fopen(file_path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(file_path, mode), 0);
}

/* Three on this host, and lines that go behind or instead. */
#define CLUSTER "[cluster]\nname = shop\n"
#define MEMBERS                                                                                    \
    "[member a]\nid = 1\naddress = 127.0.0.1:7401\n[member b]\nid = 2\naddress = 127.0.0.1:7402\n" \
    "[member c]\nid = 3\naddress = 127.0.0.1:7403\n"
#define AGENT "[agent]\nself = a\n"
#define ALL CLUSTER MEMBERS AGENT /* 13 lines */

static inline bool read_text(const char *content)
{
    write_file("elector.conf", content, 0644);
    return config_read(&config, path, text, sizeof text);
}

static inline void accepts(const char *content)
{
    if (!read_text(content)) fail_msg("%s", text);
    assert_string_equal(text, "");
}

/* `words` come after the path, from the colon on. */
static inline void refuses(const char *content, const char *words)
{
    static const struct config nothing;
    if (read_text(content)) fail_msg("accepted, and should have said %s", words);
    if (strncmp(text, path, strlen(path)) != 0 || strcmp(text + strlen(path), words) != 0)
        fail_msg("said   %s\nshould %s%s", text, path, words);
    assert_memory_equal(&config, &nothing, sizeof config);
}

/* The same where the rest of the line does not matter. */
static inline void mentions(const char *content, const char *words)
{
    if (read_text(content)) fail_msg("accepted, and should have said %s", words);
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
    assert_null(strchr(text, '\n'));
}

#endif
