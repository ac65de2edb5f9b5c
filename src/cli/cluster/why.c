/* elector why: explains the last change of leader, as one agent has seen it. */
#include <inttypes.h>
#include <string.h>

#include "cli/cluster/history_query.h"

static void write_help(void)
{
    fputs(
        "Usage: elector why GROUP [--url URL] [--output text|json]\n\n"
        "Explains the last change of GROUP's leader from its first cause on, as this agent has seen it: what happened,\n"
        "when (in microseconds since the cause), how long each step took, who voted and who refused. Agents see\n"
        "different parts: ask the old leader's agent for the cause, and the new leader's for the votes.\n\n"
        "  --url URL              unix:PATH, an agent's socket ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n"
        "  --output text|json     json: the agent's answer as one object\n\n"
        "Exit codes: 0 printed; 1 nothing has changed, or there is no such group; 2 usage; 3 no agent.\n",
        stdout);
}

static void write_name(const json_t *object, const char *name)
{
    const char *text = json_lines_text(object, name, 255);
    cli_cell(text ? text : "?", 0);
}

static uint64_t number_of(const json_t *object, const char *name)
{
    uint64_t number = 0;
    (void)json_lines_number(object, name, 0, &number);
    return number;
}

/* The cause as a clause that follows "until". */
static const char *end_in_words(const json_t *before)
{
    static const char *const words[][2] = {
        {"resigned", "it resigned"},
        {"no-quorum", "no majority renewed its lease"},
        {"worker gone", "its worker was gone"},
        {"handed over", "it handed over"},
        {"lease ran out", "its lease ran out"},
        {"deposed", "a later leader was heard"},
        {"released", "it released those who had voted for it"},
        {"obituary", "its death was confirmed"},
        {"let go", "it said that it leads no more"},
        {"lost sight", "it was lost from sight"},
    };
    const char *ended = json_lines_text(before, "ended", 64);
    for (size_t i = 0; ended && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], ended) == 0) return words[i][1];
    return "another led";
}

static void write_head(const json_t *answer)
{
    const json_t *before = json_object_get(answer, "before"), *after = json_object_get(answer, "after");
    char when[PAST_TIME], span[PAST_SPAN];
    uint64_t nobody_us;
    write_name(answer, "group");
    if (json_is_object(after)) {
        fputs(": ", stdout);
        write_name(after, "leader");
        printf(" leads with token %" PRIu64 ", since %s UTC", number_of(after, "token"),
               history_query_time(after, "at", when));
        printf(" (%s ago).\n", history_query_span(number_of(after, "age_us"), span));
    } else {
        fputs(": nobody leads.\n", stdout);
    }
    if (!json_is_object(before)) {
        puts("Nobody is known to have led before.");
        return;
    }
    fputs("Before, ", stdout);
    write_name(before, "leader");
    printf(" led with token %" PRIu64 " for %s%s, until %s", number_of(before, "token"),
           json_is_true(json_object_get(before, "led_at_most")) ? "at most " : "",
           history_query_span(number_of(before, "led_us"), span), end_in_words(before));
    if (json_lines_text(before, "detail", 255)) {
        fputs(" (", stdout);
        write_name(before, "detail");
        putchar(')');
    }
    putchar('.');
    if (json_is_object(after) && json_lines_number(after, "nobody_us", 0, &nobody_us)) /* null: not known */
        printf(" Nobody led for %s.", history_query_span(nobody_us, span));
    putchar('\n');
}

/* 1234567 as 1,234,567. */
static const char *grouped(uint64_t number, const char *sign, char text[32])
{
    char plain[24];
    const int size = snprintf(plain, sizeof plain, "%" PRIu64, number);
    int used = snprintf(text, 32, "%s", sign);
    for (int i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0) text[used++] = ',';
        text[used++] = plain[i];
    }
    text[used] = '\0';
    return text;
}

static void write_steps(const json_t *answer)
{
    const json_t *steps = json_object_get(answer, "steps");
    uint64_t before = 0, left_out = number_of(answer, "left_out"), us, times;
    size_t i;
    json_t *step;
    printf("\n%12s %12s  ", "MICROSECONDS", "STEP");
    fputs("AS SEEN BY ", stdout);
    write_name(answer, "member");
    putchar('\n');
    json_array_foreach(steps, i, step)
    {
        char at[32], after[32] = "";
        const char *text = json_lines_text(step, "text", 1024);
        us = number_of(step, "us");
        times = number_of(step, "times");
        if (i && us >= before) (void)grouped(us - before, "+", after);
        if (left_out && i == json_array_size(steps) / 2)
            printf("%12s %12s  (%" PRIu64 " more are left out)\n", "...", "", left_out);
        printf("%12s %12s  ", grouped(us, "", at), after);
        cli_cell(text ? text : "?", 0);
        if (times > 1) printf(" (%" PRIu64 " times)", times);
        putchar('\n');
        before = us;
    }
}

int cli_why(int argc, char **argv)
{
    struct history_query p = {.verb = "why", .run = cli_why};
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("why", stdout, CLI_YES);
    }
    int code = history_query_read(&p, argc, argv, false);
    json_t *answer = code == CLI_YES ? history_query_ask(&p, &code) : NULL;
    if (!answer) return code;
    const bool is_told = json_array_size(json_object_get(answer, "steps")) > 0;
    if (p.json) {
        cli_put_json(answer, stdout, JSON_COMPACT);
        putchar('\n');
    } else if (is_told) {
        write_head(answer);
        write_steps(answer);
    } else {
        write_name(answer, "group");
        puts(": nothing has changed as far as this agent remembers.");
    }
    json_decref(answer);
    return cli_finish("why", stdout, is_told ? CLI_YES : CLI_NO);
}
