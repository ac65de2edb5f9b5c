/* elector history: the past leaders of a group, as one agent knows them. */
#include <inttypes.h>
#include <string.h>

#include "cli/cluster/history_query.h"
#include "cli/table.h"

static void write_help(void)
{
    fputs(
        "Usage: elector history GROUP [-n N] [--url URL] [--output text|json]\n\n"
        "Prints the leaders of GROUP that this agent has seen, also before its restart, the oldest first: when (UTC), token,\n"
        "how the leadership began and ended, how long it lasted, and how long there was no leader before it.\n\n"
        "  began: elected (it asked for votes), pushed (it was given them unasked), handed over, seen (only its claim)\n"
        "  ended: resigned, no-quorum, worker gone, handed over, lease ran out, deposed (as the leader's own agent tells\n"
        "         it); agent ended (it was killed, and ended at the latest at its restart); released, obituary, let go,\n"
        "         lost sight, followed (as others see it, until they are told)\n\n"
        "  -n, --last N           the last N, 1 to 64 (16)\n"
        "  --url URL              unix:PATH, an agent's socket ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n"
        "  --output text|json     json: the agent's answer as one object\n\n"
        "Exit codes: 0 printed; 1 nobody has led, or there is no such group; 2 usage; 3 no agent.\n",
        stdout);
}

static const char *span_of(const json_t *tenure, const char *name, char text[PAST_SPAN])
{
    uint64_t us;
    return json_lines_number(tenure, name, 0, &us) ? history_query_span(us, text) : "-";
}

/* Of one that ended before the agent started, nobody may know when. */
static const char *length_of(const json_t *tenure, char text[PAST_SPAN + 8])
{
    char span[PAST_SPAN];
    const bool is_most = json_is_true(json_object_get(tenure, "led_at_most"));
    snprintf(text, PAST_SPAN + 8, "%s%s", is_most ? "at most " : "", span_of(tenure, "led_us", span));
    return text;
}

static void add_row(struct cli_table *table, const json_t *tenure)
{
    char when[PAST_TIME], ago[PAST_SPAN], led[PAST_SPAN + 8], nobody[PAST_SPAN], token[32] = "?";
    const char *leader = json_lines_text(tenure, "leader", 255), *began = json_lines_text(tenure, "began", 64),
               *ended = json_lines_text(tenure, "ended", 64);
    uint64_t number;
    if (json_lines_number(tenure, "token", 0, &number)) snprintf(token, sizeof token, "%" PRIu64, number);
    cli_table_add(table,
                  (const char *[]){history_query_time(tenure, "at", when), span_of(tenure, "age_us", ago),
                                   leader ? leader : "?", token, began ? began : "?", ended ? ended : "leads",
                                   length_of(tenure, led), span_of(tenure, "nobody_us", nobody)});
}

static int write_table(const json_t *answer)
{
    static const char *const heads[] = {"SINCE", "AGO",   "LEADER",  "TOKEN",
                                        "BEGAN", "ENDED", "LED FOR", "NOBODY BEFORE"};
    const json_t *tenures = json_object_get(answer, "tenures");
    const char *group = json_lines_text(answer, "group", 255);
    struct cli_table table = {.columns = sizeof heads / sizeof *heads};
    char since[PAST_TIME];
    size_t i;
    json_t *tenure;
    if (json_array_size(tenures) == 0) {
        fputs("Nobody has led ", stdout);
        cli_cell(group ? group : "it", 0);
        printf(" as far as this agent remembers, since %s.\n", history_query_time(answer, "since", since));
        return CLI_NO;
    }
    cli_table_add(&table, heads);
    json_array_foreach(tenures, i, tenure)
    {
        add_row(&table, tenure);
    }
    return cli_table_write(&table) ? CLI_YES : cli_out_of_memory("history");
}

int cli_history(int argc, char **argv)
{
    struct history_query p = {.verb = "history", .run = cli_history};
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("history", stdout, CLI_YES);
    }
    int code = history_query_read(&p, argc, argv, true);
    json_t *answer = code == CLI_YES ? history_query_ask(&p, &code) : NULL;
    if (!answer) return code;
    if (p.json) {
        cli_put_json(answer, stdout, JSON_COMPACT);
        putchar('\n');
        if (json_array_size(json_object_get(answer, "tenures")) == 0) code = CLI_NO;
    } else {
        code = write_table(answer);
    }
    json_decref(answer);
    return cli_finish("history", stdout, code);
}
