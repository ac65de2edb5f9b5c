/*
 * The exports: what is written must be what happened, well-formed for any input, and always the same.
 * JSON Lines, Mermaid and ShiViz, and what holds for all writers; the diagram itself is in svg.c.
 */
#include "lib/sim/exports.h"

enum { NODES = 8 }; /* as many as vector clocks are read of */

static writer *const writers[] = {sim_write_jsonl, sim_write_mermaid, sim_write_shiviz, sim_write_svg};

/* ---- JSON, by hand: each reader returns what follows, or NULL ---- */

static const char *value(const char *at);

static const char *string(const char *at)
{
    if (!at || *at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at == '\\' && !strchr("\"\\/bfnrt", *++at)) return NULL;
    }
    return at + 1;
}

static const char *number(const char *at)
{
    const size_t whole = strspn(at, "0123456789");
    if (whole == 0 || (whole > 1 && *at == '0')) return NULL;
    at += whole;
    if (*at != '.') return at;
    const size_t decimals = strspn(at + 1, "0123456789");
    return decimals ? at + 1 + decimals : NULL;
}

/* Members of an object or an array up to the bracket that closes it. */
static const char *members(const char *at, char close, bool named)
{
    if (*at == close) return at + 1;
    for (;;) {
        if (named) {
            at = string(at);
            if (!at || *at++ != ':') return NULL;
        }
        at = value(at);
        if (!at) return NULL;
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
    }
}

static const char *value(const char *at)
{
    if (*at == '{') return members(at + 1, '}', true);
    if (*at == '[') return members(at + 1, ']', false);
    if (*at == '"') return string(at);
    if (strncmp(at, "null", 4) == 0) return at + 4;
    return number(at);
}

static void assert_json_lines(const char *text, uint64_t lines)
{
    for (const char *at = text; *at; lines--) {
        const char *after = *at == '{' ? value(at) : NULL;
        if (!after || *after != '\n') {
            fail_msg("not a JSON object on a line of its own: %.200s", at);
            return;
        }
        at = after + 1;
    }
    assert_int_equal(lines, 0);
}

/* ---- JSON Lines ---- */

static void jsonl_tells_a_run_record_by_record(void **state)
{
    static const char expected[] =
        "{\"what\":\"run\",\"algorithm\":\"chang-roberts\","
        "\"nodes\":[3,32,5,80,6,12],\"seed\":1,\"unit\":\"T\"}\n"
        "{\"record\":1,\"time\":0,\"what\":\"campaigned\",\"node\":3}\n"
        "{\"record\":2,\"time\":0,\"what\":\"sent\",\"node\":3,\"to\":32,\"kind\":\"Election\",\"subject\":3,"
        "\"message\":2,\"cause\":1}\n"
        "{\"record\":3,\"time\":1,\"what\":\"delivered\",\"node\":32,\"from\":3,\"kind\":\"Election\","
        "\"subject\":3,\"message\":2,\"cause\":2}\n"
        "{\"record\":4,\"time\":1,\"what\":\"noted\",\"node\":32,\"note\":\"outbids\","
        "\"text\":\"outbids 3\",\"cause\":3}\n";
    struct run run;
    tell(&run, ring);
    char *text = text_of(sim_write_jsonl, &run);
    text[strlen(expected)] = '\0';
    assert_string_equal(text, expected);
    free(text);
    forget(&run);
}

static void every_line_of_jsonl_is_an_object(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_jsonl, &run);
        assert_json_lines(text, run.trace->count + 1);
        free(text);
        forget(&run);
    }
}

static void jsonl_has_a_word_for_whatever_happens(void **state)
{
    static const char *const words[] = {"\"what\":\"requested\",\"node\":1,\"request\":\"transfer\",\"to\":2",
                                        "\"what\":\"told\",\"node\":2,\"fact\":\"log-index\",\"value\":4",
                                        "\"what\":\"admitted\",\"node\":1,\"term\":1",
                                        "\"what\":\"jumped\",\"node\":1"};
    struct run run;
    tell(&run, asked);
    char *text = text_of(sim_write_jsonl, &run);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_has(text, words[i]);
    free(text);
    forget(&run);
    tell(&run, scripted_ring);
    text = text_of(sim_write_jsonl, &run);
    assert_has(text, "\"what\":\"looped\",\"step\":6");
    assert_has(text, "\"text\":\"the run is where it was at step 6: it can go round for ever\"");
    free(text);
    forget(&run);
}

static void times_are_exact_and_no_longer_than_needed(void **state)
{
    static const story odd = {"algorithm", "chang-roberts",     "nodes", "3",
                              "initiator", "1@0.001002,2@2.50", NULL};
    static const story real = {"algorithm", "chang-roberts", "nodes", "3", "initiator",
                               "1@1500us",  "delay",         "10ms",  NULL};
    struct run run;
    tell(&run, odd);
    char *text = text_of(sim_write_jsonl, &run);
    assert_has(text, "\"time\":0.001002,\"what\":\"campaigned\"");
    assert_has(text, "\"time\":2.5,\"what\":\"campaigned\"");
    assert_has(text, "\"time\":1.001002,\"what\":\"delivered\"");
    free(text);
    forget(&run);

    tell(&run, real);
    text = text_of(sim_write_jsonl, &run);
    assert_has(text, "\"unit\":\"ms\"");
    assert_has(text, "\"time\":1.5,\"what\":\"campaigned\"");
    assert_has(text, "\"time\":11.5,\"what\":\"delivered\"");
    free(text);
    forget(&run);
}

/* ---- Any input ---- */

static void hostile_words_are_escaped_everywhere(void **state)
{
    static const char hostile[] = "</text>&\"\\';#%%\x01\n\xff\xc0\xaf\xed\xa0\x80 caf\xc3\xa9";
    struct run run;
    begin(&run, split);
    char *kept = run.plan.breaks[0].text, copy[sizeof hostile];
    run.plan.breaks[0].text = memcpy(copy, hostile, sizeof hostile);
    finish(&run);

    char *text = text_of(sim_write_jsonl, &run);
    assert_json_lines(text, run.trace->count + 1);
    assert_has(text, "\"</text>&\\\"\\\\';#%%\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_has(text, " caf\xc3\xa9\"");
    free(text);

    text = text_of(sim_write_svg, &run);
    assert_well_formed(text);
    assert_has(text, "&lt;/text&gt;&amp;&quot;\\&#39;;#%%\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_null(strchr(text, '\x01'));
    free(text);

    text = text_of(sim_write_mermaid, &run);
    assert_has(text, "#60;/text>&\"\\'#59;#35;#37;#37;\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_null(strchr(text, '%'));
    free(text);

    run.plan.breaks[0].text = kept;
    forget(&run);
}

static void only_whole_characters_pass(void **state)
{
    assert_int_equal(sim_character("a"), 1);
    assert_int_equal(sim_character("\xc3\xa9"), 2);
    assert_int_equal(sim_character("\xe2\x86\x92"), 3);
    assert_int_equal(sim_character("\xf0\x9f\x91\x91"), 4);
    static const char *const broken[] = {"\xc2\x80",
                                         "\xc2\x9b[2J",
                                         "\x1f",
                                         "\x7f",
                                         "\x80",
                                         "\xc1\xbf",
                                         "\xc3",
                                         "\xe0\x9f\xbf",
                                         "\xe2\x86",
                                         "\xed\xa0\x80",
                                         "\xef\xbf\xbf",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf0\x9f\x91",
                                         "\xf4\x90\x80\x80",
                                         "\xf8\x88\x80\x80\x80"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) assert_int_equal(sim_character(broken[i]), 0);
}

/* ---- Mermaid ---- */

static void mermaid_has_an_arrow_for_every_message_sent(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_mermaid, &run);
        const int arrows = count(text, "->>N") + count(text, "-xN") + count(text, "--)N");
        assert_int_equal(arrows, count_records(&run, SIM_SENT));
        assert_int_equal(count(text, "    participant N"), run.plan.cluster.count);
        free(text);
        forget(&run);
    }
}

static void mermaid_tells_the_story_in_order(void **state)
{
    static const char expected[] = "sequenceDiagram\n"
                                   "    title bully\n"
                                   "    participant N1 as 1\n"
                                   "    participant N2 as 2\n"
                                   "    participant N3 as 3\n"
                                   "    Note over N3: 0 T: 3 leads when the story begins\n"
                                   "    Note over N3: 0 T: 3 CRASHES\n"
                                   "    Note over N1: 0 T: 1 calls an election\n"
                                   "    N1->>N2: Election 1\n"
                                   "    N1-xN3: Election 1 (dead)\n"
                                   "    N2->>N1: Answer 2\n"
                                   "    N2-xN3: Election 2 (dead)\n"
                                   "    Note over N2: 3 T: 2 LEADS\n"
                                   "    N2->>N1: Coordinator 2\n";
    static const story small = {"algorithm", "bully", "nodes",     "3", "leader", "3",
                                "crash",     "3@0",   "initiator", "1", NULL};
    struct run run;
    tell(&run, small);
    char *text = text_of(sim_write_mermaid, &run);
    assert_string_equal(text, expected);
    free(text);
    forget(&run);
}

/* ---- ShiViz ---- */

/* Reads "host {"id":n, …}" into one row, by position. Returns the host. */
static el_node read_clock(const struct run *run, const char *line, unsigned long row[NODES + 1])
{
    char *at = NULL;
    const el_node host = sim_plan_node(&run->plan, strtoull(line, &at, 10));
    memset(row, 0, (NODES + 1) * sizeof *row);
    assert_true(strncmp(at, " {\"", 3) == 0);
    for (at += 2; *at == '"'; at += *at == ',' ? 2 : 0) {
        const el_node node = sim_plan_node(&run->plan, strtoull(at + 1, &at, 10));
        assert_true(node >= 1 && node <= NODES && strncmp(at, "\":", 2) == 0);
        row[node] = strtoul(at + 2, &at, 10);
    }
    assert_true(strncmp(at, "}\n", 2) == 0);
    return host;
}

static const char *next_line(const char *at)
{
    at = strchr(at, '\n');
    assert_non_null(at);
    return at + 1;
}

static bool is_of_a_node(const struct sim_record *r)
{
    return r->node && r->what != SIM_DROPPED && r->what != SIM_COPIED && r->what != SIM_VIOLATED;
}

/* Walks the log along the trace, and hands each delivery both clocks. */
static void check_clocks(const struct run *run, const char *log)
{
    unsigned long now[NODES + 1][NODES + 1] = {{0}}, row[NODES + 1];
    unsigned long(*at_record)[NODES + 1] = calloc(run->trace->count + 1, sizeof *at_record);
    assert_non_null(at_record);
    for (uint64_t i = 1; i <= run->trace->count; i++) {
        const struct sim_record *r = sim_trace_at(run->trace, i);
        if (!is_of_a_node(r)) continue;
        assert_int_equal(read_clock(run, log, row), r->node);
        for (el_node node = 1; node <= run->plan.cluster.count; node++) {
            if (node == r->node) {
                assert_int_equal(row[node], now[node][node] + 1);
            } else if (r->what == SIM_DELIVERED) { /* exactly what the two knew, and no more */
                const unsigned long mine = now[r->node][node], theirs = at_record[r->number][node];
                assert_int_equal(row[node], mine > theirs ? mine : theirs);
            } else {
                assert_int_equal(row[node], now[r->node][node]);
            }
        }
        memcpy(now[r->node], row, sizeof row);
        memcpy(at_record[i], row, sizeof row);
        log = next_line(log);
        assert_true(*log != '\n');
        log = next_line(log);
    }
    assert_string_equal(log, "");
    free(at_record);
}

static void vector_clocks_follow_the_messages(void **state)
{
    static const char head[] = "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n";
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_shiviz, &run);
        assert_int_equal(strncmp(text, head, strlen(head)), 0);
        if (run.plan.cluster.count <= NODES) check_clocks(&run, text + strlen(head));
        free(text);
        forget(&run);
    }
}

static void shiviz_is_refused_more_than_256_nodes(void **state)
{
    static const story many = {"algorithm", "chang-roberts", "nodes", "257", "initiator", "1", NULL};
    static const story enough = {"algorithm", "chang-roberts", "nodes", "256", "initiator", "1", NULL};
    struct run run;
    char line[8] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    tell(&run, many);
    assert_int_equal(sim_write_shiviz(file, run.world), -1);
    rewind(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(line[0], '#');
    fclose(file);
    forget(&run);

    tell(&run, enough);
    free(text_of(sim_write_shiviz, &run));
    forget(&run);
}

/* ---- All of them ---- */

static void two_runs_give_the_same_bytes(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        struct run first, second;
        tell(&first, *stories[i]);
        tell(&second, *stories[i]);
        for (size_t w = 0; w < sizeof writers / sizeof *writers; w++) {
            char *one = text_of(writers[w], &first), *other = text_of(writers[w], &second);
            assert_string_equal(one, other);
            free(one);
            free(other);
        }
        forget(&first);
        forget(&second);
    }
}

static void a_file_that_cannot_be_written_is_reported(void **state)
{
    struct run run;
    tell(&run, ring);
    for (size_t w = 0; w < sizeof writers / sizeof *writers; w++) {
        FILE *file = fopen(ELECTOR_SOURCE_DIR "/LICENSE", "r");
        assert_non_null(file);
        assert_int_equal(writers[w](file, run.world), -1);
        fclose(file);
    }
    forget(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsonl_tells_a_run_record_by_record),
        cmocka_unit_test(every_line_of_jsonl_is_an_object),
        cmocka_unit_test(jsonl_has_a_word_for_whatever_happens),
        cmocka_unit_test(times_are_exact_and_no_longer_than_needed),
        cmocka_unit_test(hostile_words_are_escaped_everywhere),
        cmocka_unit_test(only_whole_characters_pass),
        cmocka_unit_test(mermaid_has_an_arrow_for_every_message_sent),
        cmocka_unit_test(mermaid_tells_the_story_in_order),
        cmocka_unit_test(vector_clocks_follow_the_messages),
        cmocka_unit_test(shiviz_is_refused_more_than_256_nodes),
        cmocka_unit_test(two_runs_give_the_same_bytes),
        cmocka_unit_test(a_file_that_cannot_be_written_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
