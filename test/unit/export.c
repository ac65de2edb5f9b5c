/* The exports: what is written must be what happened, well-formed for any input, and always the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/export.h"

/* ---- Bench ---- */

enum { SETTINGS_MAX = 12, NODES = 8 };

/* Settings as a user would type them: key, value, key, value ... NULL. */
typedef const char *story[2 * SETTINGS_MAX + 1];

static const story ring = {"algorithm", "chang-roberts", "ids", "3,32,5,80,6,12", "initiator", "3", NULL};
static const story busy_ring = {"algorithm", "chang-roberts", "ids", "3,32,5,80,6,12",
                                "initiator", "all",           NULL};
static const story endless_ring = {"algorithm", "chang-roberts", "ids",    "3,32,5,80,6,12", "initiator",
                                   "3",         "crash",         "80@3.5", "horizon",        "30",
                                   NULL};
static const story bully = {"algorithm", "bully", "nodes",     "5", "leader", "5",
                            "crash",     "5@0",   "initiator", "2", NULL};
static const story split = {"algorithm", "bully",       "nodes",     "5",   "leader", "5",
                            "partition", "1,2,3|4,5@1", "initiator", "1@2", NULL};
static const story lossy = {"algorithm", "multicast", "nodes", "5",        "initiator", "3", "loss", "0.2",
                            "dup",       "0.3",       "delay", "0.5..1.5", "seed",      "7", NULL};
static const story paused = {"algorithm", "bully",  "nodes",     "4",   "leader", "4",
                             "pause",     "4@1..6", "initiator", "1@2", NULL};
static const story comeback = {"algorithm", "invitation", "nodes", "5",      "initiator", "all", "crash",
                               "3@2",       "restart",    "3@30",  "detect", "1",         NULL};
static const story interrupted = {"algorithm", "bully", "nodes", "6", "initiator", "1", "until", "1.5", NULL};
static const story alone = {"algorithm", "ring-basic", "nodes", "1", "initiator", "all", NULL};
static const story crowd = {"algorithm", "bully", "nodes", "100", "initiator", "1", NULL};

static const story *const stories[] = {&ring,   &busy_ring, &endless_ring, &bully, &split, &lossy,
                                       &paused, &comeback,  &interrupted,  &alone, &crowd};
enum { STORIES = sizeof stories / sizeof *stories };

struct run {
    struct sim_settings settings;
    struct sim_plan plan;
    struct sim_world *world;
    const struct sim_trace *trace;
};

static void begin(struct run *run, const story told)
{
    struct sim_error error;
    *run = (struct run){0};
    for (int i = 0; told[i]; i += 2) assert_true(sim_settings_add(&run->settings, told[i], told[i + 1], 0, 0));
    if (sim_plan_build(&run->plan, &run->settings, &error) != 0) fail_msg("%s", error.text);
}

static void finish(struct run *run)
{
    run->world = sim_world_new(&run->plan, SIM_KEEP_ALL);
    assert_non_null(run->world);
    sim_world_run(run->world);
    run->trace = sim_world_trace(run->world);
}

static void tell(struct run *run, const story told)
{
    begin(run, told);
    finish(run);
}

static void forget(struct run *run)
{
    sim_world_free(run->world);
    sim_plan_free(&run->plan);
    sim_settings_free(&run->settings);
}

typedef int writer(FILE *out, const struct sim_world *world);
static writer *const writers[] = {sim_write_jsonl, sim_write_mermaid, sim_write_shiviz, sim_write_svg};

/* What the writer writes; the caller frees it. */
static char *text_of(writer *write, const struct run *run)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(write(file, run->world), 0);
    const long size = ftell(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) found++;
    return found;
}

static int count_records(const struct run *run, enum sim_what what)
{
    int found = 0;
    for (uint64_t i = 1; i <= run->trace->count; i++) found += sim_trace_at(run->trace, i)->what == what;
    return found;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

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

/* ---- XML, by hand ---- */

enum { DEPTH_MAX = 16 };

static void assert_entities(const char *text)
{
    for (const char *at = text; (at = strchr(at, '&')); at++)
        if (strncmp(at, "&amp;", 5) != 0 && strncmp(at, "&lt;", 4) != 0 && strncmp(at, "&gt;", 4) != 0 &&
            strncmp(at, "&quot;", 6) != 0 && strncmp(at, "&#39;", 5) != 0)
            fail_msg("a bare & before %.40s", at);
}

/* The end of a tag, past its attributes, in which a < is never bare. */
static const char *tag_end(const char *at)
{
    for (bool quoted = false; quoted || *at != '>'; at++) {
        if (!*at || *at == '<') fail_msg("a tag that does not end");
        if (*at == '"') quoted = !quoted;
    }
    return at;
}

static void assert_well_formed(const char *text)
{
    const char *open[DEPTH_MAX] = {NULL};
    size_t depth = 0, elements = 0;
    assert_entities(text);
    for (const char *at = text; (at = strchr(at, '<')); elements++) {
        const char *name = ++at, *end = tag_end(at);
        at = end;
        if (*name == '?' || end[-1] == '/') continue;
        if (*name != '/') {
            assert_true(depth < DEPTH_MAX);
            open[depth++] = name;
            continue;
        }
        const size_t length = (size_t)(end - name) - 1;
        if (depth == 0) {
            fail_msg("</%.*s> closes nothing", (int)length, name + 1);
            return;
        }
        depth--;
        if (!open[depth] || strncmp(open[depth], name + 1, length) != 0 || !strchr(" >", open[depth][length]))
            fail_msg("</%.*s> closes <%.20s", (int)length, name + 1, open[depth]);
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 10);
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
    static const char *const broken[] = {"\x1f",
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

/* ---- The diagram ---- */

static void every_diagram_is_well_formed(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_svg, &run);
        assert_well_formed(text);
        free(text);
        forget(&run);
    }
}

static void every_message_sent_is_drawn(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        if (stories[i] == &crowd) continue;
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_svg, &run);
        const int sent = count_records(&run, SIM_SENT), ended = count_records(&run, SIM_DELIVERED);
        const int dropped = count_records(&run, SIM_DROPPED);
        assert_int_equal(count(text, "<g class=\"message\""), sent);
        assert_int_equal(count(text, ", delivered at ") + count(text, ", a copy delivered at "), ended);
        assert_int_equal(count(text, ", was lost<") + count(text, ", found it dead at ") +
                             count(text, ", met a cut"),
                         dropped);
        free(text);
        forget(&run);
    }
}

/* The number behind these words, which must stand in this tag. */
static int attribute(const char *tag, const char *words)
{
    const char *at = strstr(tag, words);
    assert_true(at && at < strchr(tag, '>'));
    return (int)strtol(at + strlen(words), NULL, 10);
}

/* Label boxes are told by their round corners (rx). */
static int read_labels(const char *text, int box[][3], int most)
{
    int boxes = 0;
    for (const char *at = text; (at = strstr(at, "<rect x=\"")); at++) {
        const char *corner = strstr(at, " rx=\"");
        if (!corner || corner > strchr(at, '>')) continue;
        assert_true(boxes < most);
        box[boxes][0] = attribute(at, " x=\"");
        box[boxes][1] = attribute(at, " y=\"");
        box[boxes++][2] = attribute(at, " width=\"");
    }
    return boxes;
}

static void labels_never_cover_each_other(void **state)
{
    enum { LABELS_MAX = 2100 };
    static int box[LABELS_MAX][3];
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_svg, &run);
        const int boxes = read_labels(text, box, LABELS_MAX);
        assert_true(boxes > 5 || stories[i] == &alone);
        for (int a = 0; a < boxes; a++)
            for (int b = 0; b < a; b++)
                assert_false(abs(box[a][1] - box[b][1]) < 14 && box[a][0] < box[b][0] + box[b][2] &&
                             box[b][0] < box[a][0] + box[a][2]);
        free(text);
        forget(&run);
    }
}

static void a_quiet_diagram_labels_every_message_in_full(void **state)
{
    struct run run;
    tell(&run, ring);
    char *text = text_of(sim_write_svg, &run);
    assert_int_equal(count(text, ">Election 3</text>"), 1);
    assert_int_equal(count(text, ">Election 32</text>"), 2);
    assert_int_equal(count(text, ">Election 80</text>"), 6);
    assert_int_equal(count(text, ">Elected 80</text>"), 6);
    free(text);
    forget(&run);
}

static void what_happens_is_marked(void **state)
{
    static const struct {
        const story *told;
        const char *marks[5];
    } cases[] = {
        {&ring, {">chang-roberts</text>", "15 messages", "turnaround 15 T", "leader 80", "class=\"crown\""}},
        {&bully,
         {"class=\"crash\"", "stroke-dasharray=\"3 5\"", ">down<", "class=\"crown\"", "class=\"leads\""}},
        {&split,
         {"class=\"band\"", ">partition 1,2,3|4,5<", ">two-leaders at 5: 3, 5<", ">follows 3<", ">follows 5<"}},
        {&paused, {"class=\"pause\"", "class=\"violation\"", ">is elected<", ">leads<", ">stands still<"}},
        {&comeback, {"class=\"suspicion\"", ">comes back<", ">3?<", "class=\"crash\"", ">suspects<"}},
        {&interrupted, {"opacity=\"0.2\"", "still under way", "no agreement", ">no leader<", ">time in T<"}},
        {&endless_ring, {">endless at 30<", ">does not arrive<", "3 failed hops", ">is told of it<", ">down<"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        tell(&run, *cases[i].told);
        char *text = text_of(sim_write_svg, &run);
        for (int mark = 0; mark < 5; mark++) assert_has(text, cases[i].marks[mark]);
        free(text);
        forget(&run);
    }
}

static void equal_messages_at_once_share_a_label(void **state)
{
    static const story twice = {"algorithm", "ring-basic", "nodes", "4", "initiator", "1,1", NULL};
    struct run run;
    tell(&run, twice);
    char *text = text_of(sim_write_svg, &run);
    assert_int_equal(count(text, ">Election 1 ×2<"), 1);
    assert_int_equal(count(text, ">Election 1<"), 0);
    assert_int_equal(count(text, "<g class=\"message\""), count_records(&run, SIM_SENT));
    free(text);
    forget(&run);
}

static void a_timer_is_drawn_only_if_something_came_of_it(void **state)
{
    struct run run;
    tell(&run, bully);
    char *text = text_of(sim_write_svg, &run);
    int effective = 0;
    for (uint64_t i = 1; i < run.trace->count; i++) {
        const struct sim_record *r = sim_trace_at(run.trace, i);
        bool effect = false;
        for (uint64_t j = i + 1; r->what == SIM_TIMED_OUT && j <= run.trace->count; j++) {
            const struct sim_record *next = sim_trace_at(run.trace, j);
            effect |= next->cause == i && (next->what == SIM_SENT || next->what == SIM_VIEWED);
        }
        effective += effect;
    }
    assert_true(effective > 0);
    assert_int_equal(count(text, "class=\"timer\""), effective + 1); /* and the legend */
    free(text);
    forget(&run);
}

static void a_node_that_did_not_crash_is_not_marked(void **state)
{
    struct run run;
    tell(&run, ring);
    char *text = text_of(sim_write_svg, &run);
    assert_int_equal(count(text, "class=\"crash\""), 0);
    assert_int_equal(count(text, "class=\"violation\""), 0);
    assert_int_equal(count(text, "class=\"band\""), 0);
    assert_int_equal(count(text, "left out"), 0);
    assert_int_equal(count(text, "class=\"crown\""), 2); /* the election, and the legend */
    free(text);
    forget(&run);
}

static void a_large_run_is_drawn_in_part_and_says_so(void **state)
{
    static const story endless = {"algorithm", "chang-roberts", "nodes",   "30",    "initiator", "1",
                                  "crash",     "30@29.5",       "horizon", "90000", NULL};
    static const story *const large[] = {&crowd, &endless};
    for (int i = 0; i < 2; i++) {
        struct run run;
        tell(&run, *large[i]);
        char *text = text_of(sim_write_svg, &run), caption[64];
        const int drawn = count(text, "<g class=\"message\"");
        assert_true(drawn > 100 && drawn <= 2000);
        assert_true(strlen(text) < 2000000);
        snprintf(caption, sizeof caption, "; %d messages are left out.", count_records(&run, SIM_SENT) - drawn);
        assert_has(text, caption);
        assert_well_formed(text);
        free(text);
        forget(&run);
    }
}

static void a_long_silence_is_drawn_short(void **state)
{
    static const story far = {"algorithm", "chang-roberts", "nodes", "3", "initiator", "1,3@1000000", NULL};
    struct run run;
    tell(&run, far);
    char *text = text_of(sim_write_svg, &run);
    assert_in_range(attribute(strstr(text, "<svg"), " width=\""), 100, 2000);
    assert_has(text, ">1000000</text>");
    assert_int_equal(count(text, "<g class=\"message\""), count_records(&run, SIM_SENT));
    free(text);
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
        cmocka_unit_test(times_are_exact_and_no_longer_than_needed),
        cmocka_unit_test(hostile_words_are_escaped_everywhere),
        cmocka_unit_test(only_whole_characters_pass),
        cmocka_unit_test(mermaid_has_an_arrow_for_every_message_sent),
        cmocka_unit_test(mermaid_tells_the_story_in_order),
        cmocka_unit_test(vector_clocks_follow_the_messages),
        cmocka_unit_test(shiviz_is_refused_more_than_256_nodes),
        cmocka_unit_test(every_diagram_is_well_formed),
        cmocka_unit_test(every_message_sent_is_drawn),
        cmocka_unit_test(labels_never_cover_each_other),
        cmocka_unit_test(a_quiet_diagram_labels_every_message_in_full),
        cmocka_unit_test(what_happens_is_marked),
        cmocka_unit_test(equal_messages_at_once_share_a_label),
        cmocka_unit_test(a_timer_is_drawn_only_if_something_came_of_it),
        cmocka_unit_test(a_node_that_did_not_crash_is_not_marked),
        cmocka_unit_test(a_large_run_is_drawn_in_part_and_says_so),
        cmocka_unit_test(a_long_silence_is_drawn_short),
        cmocka_unit_test(two_runs_give_the_same_bytes),
        cmocka_unit_test(a_file_that_cannot_be_written_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
