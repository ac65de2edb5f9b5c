/* elector compare: every algorithm through the same three stories. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { NODES_DEFAULT = 6, NODES_MAX = 1000 };

/* What a story adds to "N nodes, the highest leads". */
enum { ONE_NOTICES, ALL_NOTICE, CUT_IN_TWO, STORIES };
static const char *const story_keys[STORIES] = {"one_notices", "all_notice", "cut_in_two"};

struct outcome {
    uint64_t messages;
    sim_time turnaround;
    uint64_t leader;
    uint32_t violations;
    bool agreed;
    bool ran; /* false: more members than its messages can speak of */
};

struct story {
    struct sim_settings settings;
    bool ok;
};

static void set(struct story *story, const char *key, const char *value)
{
    story->ok = story->ok && sim_settings_add(&story->settings, key, value, 0, 0);
}

static void set_number(struct story *story, const char *key, uint64_t number, const char *behind)
{
    char text[48];
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)number, behind);
    set(story, key, text);
}

/* The upper third, the leader among them, is cut off from the others. */
static void set_partition(struct story *story, uint64_t nodes)
{
    const uint64_t first_above = nodes - nodes / 3 + (nodes < 3 ? 0 : 1);
    const size_t size = nodes * 8 + 8;
    char *text = malloc(size);
    size_t used = 0;
    story->ok = story->ok && text;
    for (uint64_t id = 1; story->ok && id <= nodes; id++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu",
                                 id == 1             ? ""
                                 : id == first_above ? "|"
                                                     : ",",
                                 (unsigned long long)id);
    if (story->ok && nodes >= 3) set(story, "partition", text);
    free(text);
}

static bool tell_story(const struct sim_settings *settings, struct outcome *outcome)
{
    struct sim_plan plan;
    struct sim_error error;
    *outcome = (struct outcome){0};
    if (sim_plan_build(&plan, settings, &error) != 0) return true;
    struct sim_world *world = sim_world_new(&plan, 0);
    const struct sim_result *result = world ? sim_world_run(world) : NULL;
    const bool ok = result && !result->out_of_memory;
    if (ok)
        *outcome = (struct outcome){.ran = true,
                                    .messages = result->sent[0],
                                    .turnaround = result->turnaround / plan.unit,
                                    .agreed = result->agreed,
                                    .leader = result->agreed ? el_id(&plan.cluster, result->leader) : 0,
                                    .violations = result->violation_kinds};
    sim_world_free(world);
    sim_plan_free(&plan);
    return ok;
}

static bool run_story(const struct el_algorithm *algorithm, int which, uint64_t nodes, uint64_t initiator,
                      struct outcome *outcome)
{
    struct story story = {.ok = true};
    set(&story, "algorithm", algorithm->name);
    set_number(&story, "nodes", nodes, "");
    set_number(&story, "leader", nodes, "");
    if (which != CUT_IN_TWO) set_number(&story, "crash", nodes, "@0");
    if (which == ONE_NOTICES) {
        set_number(&story, "initiator", initiator, "");
    } else {
        set(&story, "initiator", "none");
        set(&story, "detect", "2");
    }
    if (which == CUT_IN_TWO) set_partition(&story, nodes);
    const bool ok = story.ok && tell_story(&story.settings, outcome);
    sim_settings_free(&story.settings);
    return ok;
}

static const char *verdict(const struct outcome *o, char *text, size_t size)
{
    size_t used = 0;
    if (!o->violations) return o->agreed ? "one leader" : "groups agree";
    text[0] = '\0';
    for (uint32_t bit = 1; bit <= o->violations && used < size; bit <<= 1)
        if (o->violations & bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     el_violation_name((enum el_violation)bit));
    return text;
}

static void write_row(const struct el_algorithm *algorithm, const struct outcome outcomes[STORIES])
{
    char text[256];
    printf("%-20s", algorithm->name);
    if (!outcomes[0].ran) {
        printf("at most %u members\n", algorithm->count_max);
        return;
    }
    for (int i = 0; i < CUT_IN_TWO; i++) {
        char leader[24] = "none";
        if (outcomes[i].agreed) snprintf(leader, sizeof leader, "%llu", (unsigned long long)outcomes[i].leader);
        printf("%10llu%8llu%8s%6s", (unsigned long long)outcomes[i].messages,
               (unsigned long long)outcomes[i].turnaround, leader, outcomes[i].violations ? "no" : "yes");
    }
    printf("   %s\n", verdict(&outcomes[CUT_IN_TWO], text, sizeof text));
}

static json_t *json_outcome(const struct outcome *o)
{
    json_t *violations = json_array();
    for (uint32_t bit = 1; bit <= o->violations; bit <<= 1)
        if (o->violations & bit)
            json_array_append_new(violations, json_string(el_violation_name((enum el_violation)bit)));
    return json_pack("{s:I, s:I, s:b, s:o, s:o}", "messages", (json_int_t)o->messages, "turnaround",
                     (json_int_t)o->turnaround, "agreed", o->agreed, "leader",
                     o->agreed ? json_integer((json_int_t)o->leader) : json_null(), "violations", violations);
}

static json_t *json_row(const struct el_algorithm *algorithm, const struct outcome outcomes[STORIES])
{
    json_t *row = json_pack("{s:s}", "algorithm", algorithm->name);
    for (int i = 0; i < STORIES; i++)
        json_object_set_new(row, story_keys[i], outcomes[i].ran ? json_outcome(&outcomes[i]) : json_null());
    return row;
}

static int compare(uint64_t nodes, uint64_t initiator, bool json)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    json_t *rows = json ? json_array() : NULL;
    if (!json) {
        printf("%llu nodes, %llu leads and is lost; T = one message delay.\n\n", (unsigned long long)nodes,
               (unsigned long long)nodes);
        printf("%-20s%-32s%-32s   %s\n", "", "  it dies, and one notices", "  it dies, and all notice",
               nodes < 3 ? "" : "the upper third is cut off");
        printf("%-20s%10s%8s%8s%6s%10s%8s%8s%6s\n", "", "messages", "T", "leader", "safe", "messages", "T",
               "leader", "safe");
    }
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++) {
        struct outcome outcomes[STORIES];
        for (int which = 0; which < STORIES && ok; which++)
            ok = run_story(all[i], which, nodes, initiator, &outcomes[which]);
        if (!ok) break;
        if (json) {
            json_array_append_new(rows, json_row(all[i], outcomes));
        } else {
            write_row(all[i], outcomes);
        }
    }
    if (json) {
        json_dumpf(rows, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(rows);
    }
    return ok ? cli_finish("compare", stdout, CLI_YES) : cli_out_of_memory("compare");
}

static bool read_count(const char *text, uint64_t *number)
{
    char *end = NULL;
    if (!text || text[0] < '0' || text[0] > '9') return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0';
}

int cli_compare(int argc, char **argv)
{
    uint64_t nodes = NODES_DEFAULT, initiator = 1;
    bool json = false;
    for (int at = 1; at < argc; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--help") == 0) {
            puts(
                "Usage: elector compare [--nodes N] [--initiator ID] [--output text|json]\n\n"
                "Runs every algorithm through the same stories: the highest of N nodes leads; it dies and one node\n"
                "notices (ID, otherwise 1); it dies and every detector reports it after 2 T; the upper third of the\n"
                "nodes, the leader among them, is cut off and every detector reports that. 'safe' says that what the\n"
                "algorithm promises held; after the cut the last column says what became of the promises.");
            return cli_finish("compare", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &at, "nodes", &value)) {
            if (!read_count(value, &nodes) || nodes < 2 || nodes > NODES_MAX)
                return cli_usage_error("compare", "--nodes takes a number from 2 to %d", NODES_MAX);
        } else if (cli_option(argc, argv, &at, "initiator", &value)) {
            if (!read_count(value, &initiator))
                return cli_usage_error("compare", "--initiator takes the id of a node");
        } else if (cli_option(argc, argv, &at, "output", &value)) {
            if (!cli_output("compare", value, &json)) return CLI_USAGE;
        } else {
            return cli_usage_error("compare", "unknown option %s; see `elector compare --help`", argv[at]);
        }
    }
    if (initiator < 1 || initiator >= nodes)
        return cli_usage_error(
            "compare", "--initiator %llu: the one who notices is from 1 to %llu, since %llu dies",
            (unsigned long long)initiator, (unsigned long long)nodes - 1, (unsigned long long)nodes);
    return compare(nodes, initiator, json);
}
