/* elector members: the members of the cluster as one agent knows them, and what is pending. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cluster/status.h"
#include "cli/table.h"
#include "client/engine.h"

struct request {
    const char *url;
    bool json, watches;
};

static void write_help(void)
{
    fputs(
        "Usage: elector members [--watch] [--url URL] [--output text|json]\n\n"
        "Prints the members of the cluster, as the agent asked knows them: role, whether and when each was heard, version,\n"
        "the beginning of its public key as configured here, address. Then how many votes count, how many are needed, and\n"
        "how many more may fail. Last what is pending: members that do not count until their files are the same; voters that\n"
        "have just started, and grant nothing for one promise; keys of this agent's file that wait for its restart. If only\n"
        "some group sections differ, it names those in which no majority counts. A store keeps no members, and says so.\n\n"
        "  --watch                print it again every second, until interrupted\n"
        "  --url URL              unix:PATH, an agent's socket ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n"
        "  --output text|json     json: the agent's answer as one object\n\n"
        "Exit codes: 0 a majority of the votes counts in every group; 1 not so; 2 usage; 3 no agent.\n",
        stdout);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_lines_text(object, name, 255);
    return text ? text : "-";
}

static uint64_t number_of(const json_t *object, const char *name)
{
    uint64_t number;
    return json_lines_number(object, name, 0, &number) ? number : 0;
}

/* ---- The table ---- */

/* How long ago; "never" if it was not heard since the agent began. */
static const char *heard_of(const json_t *member, bool is_self, char *text, size_t size)
{
    uint64_t ms;
    if (is_self) return "this agent";
    if (!json_lines_number(member, "heard_ms", 0, &ms)) return "never";
    if (ms < 10000)
        snprintf(text, size, "%" PRIu64 " ms ago", ms);
    else
        snprintf(text, size, "%" PRIu64 " s ago", ms / 1000);
    return text;
}

static void add_member(struct cli_table *table, const json_t *member, const char *self)
{
    char heard[32], number[24] = "-";
    const json_t *reachable = json_object_get(member, "reachable");
    const bool is_self = strcmp(text_of(member, "name"), self) == 0;
    const bool is_unknown = json_is_null(reachable); /* they have no session */
    const char *state = json_object_get(member, "speaks")    ? "REFUSED"
                        : json_object_get(member, "differs") ? "DIFFERS"
                        : is_self || json_is_true(reachable) ? "here"
                        : is_unknown                         ? "-"
                                                             : "SILENT";
    if (number_of(member, "id")) snprintf(number, sizeof number, "%" PRIu64, number_of(member, "id"));
    cli_table_add(table, (const char *[]){text_of(member, "name"), number, text_of(member, "role"), state,
                                          is_unknown ? "-" : heard_of(member, is_self, heard, sizeof heard),
                                          text_of(member, "version"), text_of(member, "key"),
                                          text_of(member, "address")});
}

static bool write_members(const json_t *answer)
{
    static const char *const heads[] = {"MEMBER", "ID", "ROLE", "STATE", "HEARD", "VERSION", "KEY", "ADDRESS"};
    struct cli_table table = {.columns = sizeof heads / sizeof *heads};
    size_t i;
    json_t *member;
    cli_table_add(&table, heads);
    json_array_foreach(json_object_get(answer, "members"), i, member)
    {
        add_member(&table, member, text_of(answer, "member"));
    }
    return cli_table_write(&table);
}

/* ---- Below it ---- */

/* Those that count in the groups in which the fewest do. An agent of an earlier version tells only those that count in all. */
static uint64_t least_counted(const json_t *answer)
{
    const json_t *list = json_object_get(answer, "differing"), *one;
    uint64_t least = list ? number_of(answer, "votes_elsewhere") : number_of(answer, "votes_counted");
    size_t i;
    json_array_foreach(list, i, one)
    {
        if (number_of(one, "votes_counted") < least) least = number_of(one, "votes_counted");
    }
    return least;
}

static bool has_majority(const json_t *answer)
{
    const uint64_t majority = number_of(answer, "majority");
    return majority > 0 && least_counted(answer) >= majority;
}

/* "nobody can be elected in [group work] until 1 more counts there; elsewhere 3 count" */
static void write_lacks(const json_t *answer, uint64_t majority)
{
    const json_t *list = json_object_get(answer, "differing"), *one;
    const uint64_t elsewhere = number_of(answer, "votes_elsewhere"), lacks = majority - least_counted(answer);
    size_t i, lacking = 0;
    fputs("nobody can be elected", stdout);
    json_array_foreach(list, i, one)
    {
        if (elsewhere < majority || number_of(one, "votes_counted") >= majority) continue;
        fputs(lacking++ ? ", [group " : " in [group ", stdout);
        cli_put_plain(text_of(one, "section"));
        putchar(']');
    }
    printf(" until %" PRIu64 " more count%s", lacks, lacks == 1 ? "s" : "");
    if (lacking) printf(" there; elsewhere %" PRIu64 " count", elsewhere);
    putchar('\n');
}

static void write_votes(const json_t *answer)
{
    const uint64_t counted = number_of(answer, "votes_counted"), majority = number_of(answer, "majority");
    printf("%" PRIu64 " of %" PRIu64 " votes count%s; %" PRIu64 " elect; ", counted, number_of(answer, "votes"),
           counted < majority && json_object_get(answer, "differing") ? " in all groups" : "", majority);
    if (has_majority(answer))
        printf("%" PRIu64 " more may fail\n", least_counted(answer) - majority);
    else
        write_lacks(answer, majority);
}

/* "lease of [group work] is 1s here and 2s in WHERE". An agent of an earlier version does not tell the values. */
static void write_difference(const json_t *one, const char *where)
{
    cli_put_plain(text_of(one, "what"));
    if (!json_object_get(one, "ours")) {
        fputs(" differs", stdout);
        return;
    }
    fputs(" is ", stdout);
    cli_put_plain(text_of(one, "ours"));
    fputs(" here and ", stdout);
    cli_put_plain(text_of(one, "theirs"));
    printf(" %s", where);
}

/* A member whose messages this agent cannot read, or the other way round. */
static bool write_speaks(const json_t *member, const json_t *answer)
{
    if (!json_object_get(member, "speaks")) return false;
    fputs("pending: ", stdout);
    cli_put_plain(text_of(member, "name"));
    fputs(" does not count: it speaks version ", stdout);
    cli_put_plain(text_of(member, "speaks"));
    fputs(" of the messages between agents, and this agent version ", stdout);
    cli_put_plain(text_of(answer, "speaks"));
    puts("; install the same version of elector on both");
    return true;
}

/* A member that is heard and does not count in some group. */
static bool write_differs(const json_t *member)
{
    const json_t *list = json_object_get(member, "differs"), *one;
    size_t i;
    if (!list) return false;
    fputs("pending: ", stdout);
    cli_put_plain(text_of(member, "name"));
    fputs(" does not count where it differs: ", stdout);
    json_array_foreach(list, i, one)
    {
        if (i) fputs("; ", stdout);
        write_difference(one, "there");
    }
    puts("; make the files the same, and restart its agent");
    return true;
}

/* A voter that has just started, and may have forgotten a promise. */
static bool write_silent(const json_t *member)
{
    const uint64_t ms = number_of(member, "silent_ms");
    const bool is_lost = json_is_true(json_object_get(member, "lost_record"));
    if (!ms && !is_lost) return false;
    fputs("pending: ", stdout);
    cli_put_plain(text_of(member, "name"));
    fputs(is_lost ? " has no record of its promises, and grants nothing"
                  : " has just started, and grants nothing",
          stdout);
    if (ms) printf(" for %" PRIu64 ".%" PRIu64 " s more", (ms + 99) / 1000, (ms + 99) / 100 % 10);
    puts(!is_lost ? ""
         : ms     ? ", and until enough voters have told it what it may have promised"
                  : " until enough voters have told it what it may have promised");
    return true;
}

static void write_pending(const json_t *answer)
{
    size_t i;
    json_t *one;
    bool is_any = false;
    json_array_foreach(json_object_get(answer, "members"), i, one)
    {
        if (write_speaks(one, answer) || write_differs(one)) is_any = true;
        if (write_silent(one)) is_any = true;
    }
    json_array_foreach(json_object_get(answer, "restart"), i, one)
    {
        fputs("pending: ", stdout);
        write_difference(one, "in the file");
        puts("; restart this agent to use it");
        is_any = true;
    }
    if (!is_any) puts("nothing is pending");
}

static int write_text(const json_t *answer)
{
    if (!write_members(answer)) return cli_out_of_memory("members");
    write_votes(answer);
    write_pending(answer);
    return has_majority(answer) ? CLI_YES : CLI_NO;
}

static int write_json(json_t *answer)
{
    json_object_del(answer, "id");
    cli_put_json(answer, stdout, JSON_COMPACT);
    putchar('\n');
    return has_majority(answer) ? CLI_YES : CLI_NO;
}

/* ---- Asking ---- */

static int complain(const char *text, elector_status status)
{
    fprintf(stderr, "elector members: %s\n", text);
    return cli_status_code(status);
}

static elector_status ask_for(struct json_lines *w, json_t *request, json_t **answer)
{
    json_decref(*answer);
    *answer = NULL;
    return json_lines_ask(w, request, engine_until(LINES_ANSWER_MS), answer);
}

static bool is_unknown(const json_t *answer)
{
    const char *error = json_lines_text(answer, "error", 64);
    return error && strcmp(error, "unknown-op") == 0;
}

/* An agent of an earlier version tells its members with each page of its groups, and does not count their votes. */
static void count_votes(json_t *answer)
{
    static const char *const of_groups[] = {"groups", "more", "next", "worst_failover_ms"};
    const char *self = text_of(answer, "member");
    size_t i, votes = 0, counted = 0;
    json_t *member;
    json_array_foreach(json_object_get(answer, "members"), i, member)
    {
        const char *role = text_of(member, "role");
        if (strcmp(role, "observer") == 0 || strcmp(role, "candidate") == 0) continue;
        votes++;
        counted += strcmp(text_of(member, "name"), self) == 0 ||
                   (json_is_true(json_object_get(member, "reachable")) && !json_object_get(member, "differs"));
    }
    json_object_set_new(answer, "votes", json_integer((json_int_t)votes));
    json_object_set_new(answer, "votes_counted", json_integer((json_int_t)counted));
    json_object_set_new(answer, "majority", json_integer((json_int_t)votes / 2 + 1));
    for (i = 0; i < sizeof of_groups / sizeof *of_groups; i++) json_object_del(answer, of_groups[i]);
}

static elector_status ask_for_members(struct json_lines *w, json_t **answer)
{
    elector_status status = ask_for(w, json_pack("{si ss}", "id", 1, "op", "members"), answer);
    if (status != ELECTOR_OK || !is_unknown(*answer)) return status;
    status = ask_for(w, json_pack("{si ss si}", "id", 2, "op", "status", "from", 0), answer);
    if (status == ELECTOR_OK && json_is_true(json_object_get(*answer, "ok"))) count_votes(*answer);
    return status;
}

static int ask_agent(struct json_lines *w, const struct request *r)
{
    char text[400];
    json_t *answer = NULL;
    elector_status status = json_lines_connect(w, r->url);
    if (status != ELECTOR_OK) return complain(w->reason, status);
    status = ask_for_members(w, &answer);
    json_lines_close(w);
    int code;
    if (status != ELECTOR_OK) {
        code = complain(w->reason, status);
    } else if (json_is_true(json_object_get(answer, "ok"))) {
        code = r->json ? write_json(answer) : write_text(answer);
    } else {
        status = json_lines_refusal(answer, text, sizeof text);
        code = complain(text, status);
    }
    json_decref(answer);
    return code;
}

static int ask(const struct request *r)
{
    struct json_lines *w = malloc(sizeof *w);
    if (!w) return cli_out_of_memory("members");
    const int code = ask_agent(w, r);
    free(w);
    return code;
}

int cli_members(int argc, char **argv)
{
    struct request r = {.url = engine_usual_url()};
    const char *value;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("members", stdout, CLI_YES);
    }
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error("members", "--url needs unix:PATH");
            r.url = value;
        } else if (cli_option(argc, argv, &i, "output", &value)) {
            if (!cli_output("members", value, &r.json)) return CLI_USAGE;
        } else if (strcmp(argv[i], "--watch") == 0) {
            r.watches = true;
        } else {
            return cli_unknown("members", cli_members, argv[i]);
        }
    }
    if (engine_url_flaw(r.url))
        return cli_usage_error("members", "'%.200s': %s", r.url, engine_url_flaw(r.url));
    if (!engine_speaks_lines(r.url))
        return cli_usage_error(
            "members", "%.200s is a lock, which has no members: only an agent has, at unix:PATH", r.url);
    int code = ask(&r);
    while (r.watches && cli_watch_on(r.json)) code = ask(&r);
    return cli_finish("members", stdout, code);
}
