/* elector algorithms: the table, or one algorithm's idea, assumptions, guarantees and weaknesses. */
#include <jansson.h>
#include <string.h>

#include "cli/cli.h"
#include "elector/core.h"

enum { PAGE_WIDTH = 88 };

struct word {
    uint32_t bit;
    const char *text;
};

static const struct word needs[] = {
    {EL_NEEDS_FIFO, "links keep order"},
    {EL_NEEDS_RELIABLE, "links lose nothing"},
    {EL_NEEDS_TIMELY, "messages and processes keep to their time bounds"},
    {EL_NEEDS_HOP_ACKS, "a sender learns that a hop failed (a refused connection)"},
};

static const struct word claims[] = {
    {EL_CLAIMS_ONE_LEADER, "never two leaders at one instant"},
    {EL_CLAIMS_AGREEMENT, "at rest, every live process names the same live leader"},
    {EL_CLAIMS_BEST, "which is the best-ranked live candidate"},
    {EL_CLAIMS_ONE_PER_TERM, "never two leaders of one term, at whatever times"},
    {EL_CLAIMS_STABLE, "a leader that all members hear stays, even if a member returns or calls an election"},
    {EL_CLAIMS_RISING, "terms rise: each leader's term is above every earlier leader's"},
    {EL_CLAIMS_ONE_DECISION, "never two decisions under one number"},
    {EL_CLAIMS_IN_ORDER, "first come, first served: the leader has the first key in the store"},
    {EL_CLAIMS_GROUPS, "at rest, each process follows a process that leads; there may be many groups"},
};

/* Text broken at spaces, each line after the first indented. */
static void write_wrapped(const char *text, int indent)
{
    int column = indent;
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + (int)length > PAGE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        fwrite(text, 1, length, stdout);
        column += (int)length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void write_words(const char *title, const struct word *words, size_t count, uint32_t bits)
{
    for (size_t i = 0; i < count; i++) {
        if (!(bits & words[i].bit)) continue;
        printf("  %-12s%s\n", title, words[i].text);
        title = "";
    }
}

static void write_bits(uint32_t bits, const char *(*name)(uint32_t), char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t bit = 1; bit <= bits && used < size; bit <<= 1)
        if (bits & bit) used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name(bit));
}

static const char *fault_name(uint32_t bit)
{
    return el_fault_name((enum el_fault)bit);
}

static const char *violation_name(uint32_t bit)
{
    return el_violation_name((enum el_violation)bit);
}

static void write_weaknesses(const struct el_algorithm *a)
{
    const char *title = "Broken by";
    for (uint32_t i = 0; i < a->break_count; i++) {
        char text[512];
        write_bits(a->breaks[i].faults, fault_name, text, sizeof text);
        printf("  %-12s", title);
        write_wrapped(text, 14);
        printf("%16s", "");
        write_wrapped(a->breaks[i].why, 16);
        write_bits(a->breaks[i].violations, violation_name, text, sizeof text);
        printf("%16s→ ", "");
        write_wrapped(text, 18);
        title = "";
    }
}

static void write_options(const struct el_algorithm *a)
{
    const char *title = "Options";
    for (uint32_t i = 0; i < a->option_count; i++) {
        const struct el_option *o = &a->options[i];
        static const char *const shapes[] = {
            [EL_FLAG] = "on|off", [EL_NUMBER] = "N",       [EL_DURATION] = "T",        [EL_MEMBERS] = "ID,…",
            [EL_ROLES] = "ID,…",  [EL_OBSERVERS] = "ID,…", [EL_VOTELESS_LIST] = "ID,…"};
        char head[96];
        snprintf(head, sizeof head, "%s%s=%s", a->view ? "--set " : "", o->name,
                 o->kind == EL_CHOICE ? o->choices : shapes[o->kind]);
        printf("  %-12s%s", title, head);
        if (o->preset) printf("  (%s)", o->preset);
        printf("\n%16s%s\n", "", o->help);
        title = "";
    }
}

static void write_side(const struct el_algorithm *a, const struct el_part parts[3])
{
    for (int i = 0; i < 3 && parts[i].times; i++) {
        printf("%s", i ? " + " : "");
        if (parts[i].times > 1) printf("%u × ", parts[i].times);
        printf("%s", el_part_name(a, &parts[i]));
    }
}

static void write_inequalities(const struct el_algorithm *a)
{
    const char *title = "Must hold";
    for (uint32_t i = 0; i < a->inequality_count; i++) {
        printf("  %-12s", title);
        write_side(a, a->inequalities[i].less);
        printf(" < ");
        write_side(a, a->inequalities[i].more);
        printf("\n%16s(otherwise ", "");
        char why[256];
        snprintf(why, sizeof why, "%s)", a->inequalities[i].why);
        write_wrapped(why, 16);
        title = "";
    }
}

static void write_list(const char *title, const char *const *names, uint32_t count)
{
    if (count == 0) return;
    printf("  %-12s", title);
    for (uint32_t i = 0; i < count; i++) printf("%s%s", i ? ", " : "", names[i]);
    putchar('\n');
}

static void write_one(const struct el_algorithm *a)
{
    printf("%s: %s\n\n  ", a->name, a->summary);
    write_wrapped(a->idea, 2);
    printf("\n  %-12s", "Paper");
    write_wrapped(a->reference, 14);
    write_words("Needs", needs, sizeof needs / sizeof *needs, a->needs);
    if (a->count_max) printf("  %-12sat most %u members\n", "Limit", a->count_max);
    write_words("Promises", claims, sizeof claims / sizeof *claims, a->claims);
    write_weaknesses(a);
    write_options(a);
    if (!a->view) printf("%14s(as in --detector %s:%s=…)\n", "", a->name, a->options[0].name);
    write_inequalities(a);
    write_list("Is told", a->facts, a->fact_count);
    if (a->view)
        printf("  %-12s%s\n", "Hand-over",
               a->on_request ? "on request, or declined with a reason" : "declined: it knows none");
    write_list("Messages", a->kinds + 1, a->kind_count);
}

static json_t *json_words(const struct word *words, size_t count, uint32_t bits)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (bits & words[i].bit) json_array_append_new(list, json_string(words[i].text));
    return list;
}

static json_t *json_bits(uint32_t bits, const char *(*name)(uint32_t))
{
    json_t *list = json_array();
    for (uint32_t bit = 1; bit <= bits; bit <<= 1)
        if (bits & bit) json_array_append_new(list, json_string(name(bit)));
    return list;
}

static json_t *json_algorithm(const struct el_algorithm *a)
{
    json_t *breaks = json_array(), *options = json_array(), *messages = json_array();
    for (uint32_t i = 0; i < a->break_count; i++)
        json_array_append_new(breaks,
                              json_pack("{s:o, s:o, s:s}", "faults", json_bits(a->breaks[i].faults, fault_name),
                                        "violations", json_bits(a->breaks[i].violations, violation_name), "why",
                                        a->breaks[i].why));
    for (uint32_t i = 0; i < a->option_count; i++)
        json_array_append_new(options, json_pack("{s:s, s:s?, s:s}", "name", a->options[i].name, "preset",
                                                 a->options[i].preset, "help", a->options[i].help));
    for (uint32_t kind = 1; kind <= a->kind_count; kind++)
        json_array_append_new(messages, json_string(a->kinds[kind]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I}", "name", a->name, "summary",
                     a->summary, "idea", a->idea, "reference", a->reference, "needs",
                     json_words(needs, sizeof needs / sizeof *needs, a->needs), "promises",
                     json_words(claims, sizeof claims / sizeof *claims, a->claims), "broken_by", breaks,
                     "options", options, "messages", messages, "members_max", (json_int_t)a->count_max);
}

static void write_json(json_t *root)
{
    cli_put_json(root, stdout, JSON_INDENT(2));
    json_decref(root);
    putchar('\n');
}

static void write_table(bool json)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    json_t *list = json ? json_array() : NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (json) {
            json_array_append_new(list, json_algorithm(all[i]));
        } else {
            printf("  %-21s%s\n", all[i]->name, all[i]->summary);
        }
    }
    if (json) {
        write_json(list);
    } else {
        puts("\nand, to stand beside any of them, the failure detectors\n");
        const struct el_algorithm *const *detectors = el_detectors(&count);
        for (uint32_t i = 0; i < count; i++) printf("  %-21s%s\n", detectors[i]->name, detectors[i]->summary);
        puts("\n`elector algorithms NAME` explains one; `elector sim NAME --nodes 6` runs it.");
    }
}

int cli_algorithms(int argc, char **argv)
{
    bool json = false;
    const struct el_algorithm *one = NULL;
    for (int at = 1; at < argc; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--help") == 0) {
            puts("Usage: elector algorithms [NAME] [--output text|json]\n\n"
                 "Lists the elections of this build, or explains one: idea, paper, requirements, promises,\n"
                 "weaknesses and options. Failure detectors are explained the same way.");
            return cli_finish("algorithms", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &at, "output", &value)) {
            if (!cli_output("algorithms", value, &json)) return CLI_USAGE;
        } else if (argv[at][0] == '-') {
            return cli_unknown("algorithms", cli_algorithms, argv[at]);
        } else {
            if (one) return cli_usage_error("algorithms", "one algorithm at a time, not also '%s'", argv[at]);
            one = el_algorithm_named(argv[at]);
            if (!one) one = el_decider_named(argv[at]);
            if (!one) one = el_detector_named(argv[at]);
            if (!one)
                return cli_usage_error("algorithms",
                                       "there is no algorithm '%s'%s `elector algorithms` lists them", argv[at],
                                       cli_meant_algorithm(argv[at]));
        }
    }
    if (!one) {
        write_table(json);
    } else if (json) {
        write_json(json_algorithm(one));
    } else {
        write_one(one);
    }
    return cli_finish("algorithms", stdout, CLI_YES);
}
