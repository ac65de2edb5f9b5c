/*
 * Settings as a user types them, "bully; nodes 5; crash 2@0", for tests of the resulting plan, error or
 * settings. All checks refer to the last settings.
 */
#ifndef ELECTOR_TEST_LIB_SIM_TYPED_H
#define ELECTOR_TEST_LIB_SIM_TYPED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/plan/plan.h"

#define MS UINT64_C(1000000) /* T, unless --delay says otherwise */

static struct sim_settings settings;
static struct sim_plan plan;
static struct sim_error error;

static inline void clear(void)
{
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    memset(&error, 0, sizeof error);
}

/* "bully; nodes 5; crash 2@0": keys and values, as typed; each is a line of a file if one is named. */
static inline int build(const char *text, const char *file)
{
    char line[512];
    uint32_t number = 0;
    clear();
    settings.file = file;
    for (const char *at = text; at; number++) {
        const char *end = strchr(at, ';');
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        assert_true(length < sizeof line);
        memcpy(line, at, length);
        line[length] = '\0';
        at = end ? end + 1 + strspn(end + 1, " ") : NULL;
        char *value = line;
        const char *key = "algorithm";
        if (number) {
            key = line;
            value = line + strcspn(line, " ");
            if (*value) *value++ = '\0';
        }
        const uint32_t column = number ? (uint32_t)(value - line) + 1 : 1;
        assert_true(sim_settings_add(&settings, key, value, file ? number + 1 : 0, column));
    }
    return sim_plan_build(&plan, &settings, &error);
}

static inline void planned(const char *text)
{
    if (build(text, NULL) == 0) return;
    print_error("%s: %s\n", text, error.text);
    fail();
}

/* The error, at least its beginning. */
static inline void refused(const char *text, const char *file, const char *expected)
{
    if (build(text, file) == 0) {
        print_error("accepted: %s\n", text);
        fail();
    }
    if (strncmp(error.text, expected, strlen(expected)) != 0) {
        print_error("%s\n  expected: %s\n  but said: %s\n", text, expected, error.text);
        fail();
    }
}

static inline int finish(void **state)
{
    clear();
    return 0;
}

#endif
