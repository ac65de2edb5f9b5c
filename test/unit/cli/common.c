/* What verbs write of the words of others: nothing that a terminal obeys, and JSON that reads back as it was. */
#define _GNU_SOURCE /* open_memstream */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { TRIALS = 20000, CHARACTERS = 40 };

static bool has_control(const char *text, bool may_have_lines)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '\n' && may_have_lines) continue;
        if (*c < ' ' || *c == 0x7F) return true;
        if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) return true;
    }
    return false;
}

static char *written(const json_t *json, size_t flags)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(cli_put_json(json, out, flags), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void writes_what_reads_back(const json_t *json)
{
    static const size_t all_flags[] = {JSON_COMPACT, JSON_INDENT(2)};
    for (size_t i = 0; i < sizeof all_flags / sizeof *all_flags; i++) {
        char *text = written(json, all_flags[i]);
        json_t *read = json_loads(text, 0, NULL);
        if (has_control(text, all_flags[i] != JSON_COMPACT) || !json_equal(json, read)) fail_msg("%s", text);
        json_decref(read);
        free(text);
    }
}

static size_t put_character(char *at, unsigned code)
{
    if (code < 0x80) {
        at[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        at[0] = (char)(0xC0 | code >> 6);
        at[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    at[0] = (char)(0xE0 | code >> 12);
    at[1] = (char)(0x80 | (code >> 6 & 0x3F));
    at[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

static void every_control_character_is_escaped(void **state)
{
    char character[4];
    for (unsigned code = 0; code < 0x300; code++) {
        json_t *json = json_pack("{s:o}", "value", json_stringn(character, put_character(character, code)));
        assert_non_null(json);
        if (code) writes_what_reads_back(json);
        json_decref(json);
    }
    json_t *json = json_string("\x1b[2J\x7f\xc2\x9b\xc3\x9b\n");
    char *text = written(json, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(text, "\"\\u001B[2J\\u007F\\u009B\xc3\x9b\\n\"");
    free(text);
    json_decref(json);
}

static void any_text_reads_back(void **state)
{
    uint64_t seed = 1;
    char text[3 * CHARACTERS], key[3 * CHARACTERS + 1];
    for (int trial = 0; trial < TRIALS; trial++) {
        size_t size = 0, key_size = 0;
        for (int i = 0; i < CHARACTERS; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            const unsigned code = 1 + (unsigned)(seed >> 33) % (i % 2 ? 0xA5 : 0xD000);
            size += put_character(text + size, code);
            if (i < CHARACTERS / 4) key_size += put_character(key + key_size, code);
        }
        key[key_size] = '\0';
        json_t *json = json_object();
        json_object_set_new(json, key, json_stringn(text, size));
        writes_what_reads_back(json);
        json_decref(json);
    }
}

static void plain_text_has_no_control_characters(void **state)
{
    char text[100] = "";
    FILE *const usual = stdout;
    stdout = fmemopen(text, sizeof text, "w");
    cli_cell("a\x1b[2J\xc2\x9b\xc3\xa9\x7f\xc2", 12);
    cli_put_plain("\xc2\xa0\xc2\x80.");
    fclose(stdout);
    stdout = usual;
    assert_string_equal(text, "a?[2J?\xc3\xa9?\xc2   \xc2\xa0?.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_control_character_is_escaped),
        cmocka_unit_test(any_text_reads_back),
        cmocka_unit_test(plain_text_has_no_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
