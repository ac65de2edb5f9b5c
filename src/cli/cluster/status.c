/* elector status: prints the groups of an agent as a table. */
#define _GNU_SOURCE /* nanosleep */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cluster/status.h"
#include "client/engine.h"

struct request {
    const char *group, *url;
    bool json, watches;
};

static void write_help(void)
{
    fputs(
        "Usage: elector status [GROUP | --members] [--watch] [--url URL] [--output text|json]\n\n"
        "Prints what an agent knows of each group (or of GROUP only): the leader and its token, the time left on the\n"
        "lease, how many voters count there (heard, with the same settings), the longest failover, and the candidates\n"
        "with their priorities.\n\n"
        "  --members              the members instead, as by `elector members`\n"
        "  --watch                print it again every second, until interrupted\n"
        "  --url URL              unix:PATH, an agent's socket; file:PATH, a lock on this host, for one GROUP;\n"
        "                         etcd://HOST/PREFIX, zookeeper://HOST/PATH or kubernetes:///NAMESPACE, a store\n"
        "                         (elector help engines). Default: $ELECTOR_URL, else unix:/run/elector/agent.sock\n"
        "  --output text|json     json: the agent's answer as one object\n\n"
        "Exit codes: 0 every group has a leader; 1 some group has no leader, or there is no such group; 2 usage;\n"
        "3 no agent.\n",
        stdout);
}

/* ---- The table ---- */

static void write_cell(const char *text, int width)
{
    cli_cell(text, width);
    putchar(' ');
}

static void write_ms_cell(const json_t *object, const char *name, int width)
{
    char text[32] = "-";
    uint64_t ms;
    if (json_lines_number(object, name, 0, &ms)) snprintf(text, sizeof text, "%" PRIu64 " ms", ms);
    write_cell(text, width);
}

/* "2 of 3". The agent's own member, if not listed, counts as a voter that is heard. */
static void count_voters(const json_t *status, char *text, size_t size)
{
    const char *self = json_lines_text(status, "member", 255);
    size_t i, voters = 0, reachable = 0;
    bool listed = false;
    json_t *member;
    json_array_foreach(json_object_get(status, "members"), i, member)
    {
        const char *name = json_lines_text(member, "name", 255), *role = json_lines_text(member, "role", 64);
        const bool is_self = name && self && strcmp(name, self) == 0;
        if (is_self) listed = true;
        if (!role || strcmp(role, "observer") == 0 || strcmp(role, "candidate") == 0) continue;
        voters++;
        reachable += is_self || json_is_true(json_object_get(member, "reachable"));
    }
    if (!listed && self) voters++, reachable++;
    snprintf(text, size, voters ? "%zu of %zu" : "-", reachable, voters);
}

/* "2 of 3": the voters that are heard and have the same settings for this group. An agent of an earlier version does not
 * tell; then all that are heard. */
static const char *voters_of(const json_t *group, const char *heard, char *text, size_t size)
{
    uint64_t votes, counted;
    if (!json_lines_number(group, "votes", 1, &votes) ||
        !json_lines_number(group, "votes_counted", 0, &counted))
        return heard;
    snprintf(text, size, "%" PRIu64 " of %" PRIu64, counted, votes);
    return text;
}

/* "a=100 b=100 c=0": the candidates with their current priorities, if known; "-" if there are none. */
static void write_standing(const json_t *group)
{
    const json_t *standing = json_object_get(group, "standing"), *one;
    size_t i;
    if (json_array_size(standing) == 0) fputs("-", stdout);
    json_array_foreach(standing, i, one)
    {
        const char *member = json_lines_text(one, "member", 255);
        uint64_t priority;
        char text[300];
        if (json_lines_number(one, "priority", 0, &priority))
            snprintf(text, sizeof text, "%s=%" PRIu64, member ? member : "?", priority);
        else /* a store has none, and a candidate does not know that of another */
            snprintf(text, sizeof text, "%s", member ? member : "?");
        write_cell(text, 0);
    }
}

static void write_row(const json_t *group, const json_t *status, const char *voters)
{
    char token[32] = "-", counted[48];
    uint64_t number;
    const char *leader = json_lines_text(group, "leader", 255), *name = json_lines_text(group, "group", 255);
    if (leader && json_lines_number(group, "token", 1, &number))
        snprintf(token, sizeof token, "%" PRIu64, number);
    write_cell(name ? name : "?", 20);
    write_cell(leader ? leader : "nobody", 12);
    write_cell(token, 16);
    write_ms_cell(group, "lease_left_ms", 10);
    write_cell(voters_of(group, voters, counted, sizeof counted), 8);
    write_ms_cell(json_object_get(group, "worst_failover_ms") ? group : status, "worst_failover_ms", 14);
    write_standing(group);
    putchar('\n');
}

static int write_table(const json_t *status, const char *store)
{
    char voters[48];
    size_t i;
    json_t *group;
    const json_t *groups = json_object_get(status, "groups");
    int code = CLI_YES;
    count_voters(status, voters, sizeof voters);
    if (json_array_size(groups) == 0 && store[0]) {
        fprintf(
            stderr,
            "elector status: no group is known here, by this engine of %s. Of stores only etcd below a prefix and "
            "Kubernetes are searched; otherwise name a group\n",
            store);
        return CLI_CANNOT_TELL;
    }
    if (json_array_size(groups) == 0) {
        puts("No groups: nobody has campaigned or observed here, or not for long.");
        return CLI_YES;
    }
    printf("%-20s %-12s %-16s %-10s %-8s %-14s %s\n", "GROUP", "LEADER", "TOKEN", "LEASE LEFT", "VOTERS",
           "WORST FAILOVER", "CANDIDATES");
    json_array_foreach(groups, i, group)
    {
        write_row(group, status, voters);
        if (!json_is_string(json_object_get(group, "leader"))) code = CLI_NO;
    }
    return code;
}

/* `store`: "" if an agent or a lock has answered. */
static int write_status(const json_t *status, const struct request *r, const char *store)
{
    size_t i;
    json_t *group;
    int code = CLI_YES;
    if (!r->json) return write_table(status, store);
    json_array_foreach(json_object_get(status, "groups"), i, group)
    {
        if (!json_is_string(json_object_get(group, "leader"))) code = CLI_NO;
    }
    cli_put_json(status, stdout, JSON_COMPACT);
    putchar('\n');
    return code;
}

/* ---- Asking ---- */

static int complain(const char *text, elector_status status)
{
    fprintf(stderr, "elector status: %s\n", text);
    return cli_status_code(status);
}

enum { GROUPS_MAX = 1 << 20 }; /* as many as an agent can have */

/* Adds the groups of one more line. False if they cannot all be the groups of one agent. */
static bool add_line(json_t *all, const json_t *line)
{
    json_t *groups = json_object_get(line, "groups"), *sum = json_object_get(all, "groups");
    uint64_t worst = 0, slower;
    if (!json_is_array(groups) || json_array_size(sum) + json_array_size(groups) > GROUPS_MAX ||
        json_array_extend(sum, groups) != 0)
        return false;
    (void)json_lines_number(all, "worst_failover_ms", 0, &worst);
    if (json_lines_number(line, "worst_failover_ms", worst, &slower))
        json_object_set_new(all, "worst_failover_ms", json_integer((json_int_t)slower));
    return true;
}

static json_t *ask_from(const char *group, uint64_t from)
{
    json_t *request = json_pack("{si ss}", "id", 1, "op", "status");
    if (request && group) json_object_set_new(request, "group", json_string(group));
    if (request && !group) json_object_set_new(request, "from", json_integer((json_int_t)from));
    return request;
}

/* Asks for the page after `last`. An agent that does not know pages sends all lines after one request. */
static elector_status next_line(struct json_lines *w, const json_t *last, uint64_t *from, json_t **line)
{
    uint64_t next;
    if (!json_object_get(last, "next")) return json_lines_hear(w, engine_until(LINES_ANSWER_MS), line);
    if (!json_lines_number(last, "next", *from + 1, &next)) return ELECTOR_LOST; /* they would never end */
    *from = next;
    return json_lines_ask(w, ask_from(NULL, next), engine_until(LINES_ANSWER_MS), line);
}

/* Whether it can be a line of this status. Only a page may be without groups: it leads on to the next. */
static bool is_good(json_t *all, const json_t *last, const json_t *line)
{
    const bool is_page = json_object_get(last, "next") != NULL;
    return (is_page || json_array_size(json_object_get(line, "groups")) > 0) && add_line(all, line);
}

elector_status cli_ask_status(struct json_lines *w, const char *group, json_t **all)
{
    uint64_t from = 0;
    elector_status status = json_lines_ask(w, ask_from(group, 0), engine_until(LINES_ANSWER_MS), all);
    json_t *last = status == ELECTOR_OK ? json_incref(*all) : NULL;
    while (status == ELECTOR_OK && json_is_true(json_object_get(last, "more"))) {
        json_t *line = NULL;
        w->reason[0] = '\0';
        status = next_line(w, last, &from, &line);
        if (status == ELECTOR_OK && !is_good(*all, last, line)) status = ELECTOR_LOST;
        if (status == ELECTOR_LOST && !w->reason[0])
            snprintf(w->reason, sizeof w->reason,
                     "the agent at %s sent a status that does not end; is it an agent?", w->path);
        json_decref(last);
        last = line;
    }
    json_decref(last);
    json_object_del(*all, "id");
    json_object_del(*all, "more");
    json_object_del(*all, "next");
    return status;
}

elector_status cli_ask_engine(struct json_lines *w, char *engine, size_t size)
{
    json_t *hello = NULL;
    const elector_status status =
        json_lines_ask(w, json_pack("{si ss si}", "id", 0, "op", "hello", "version", 1),
                       engine_until(LINES_ANSWER_MS), &hello);
    const char *name = json_lines_text(hello, "engine", 63);
    snprintf(engine, size, "%s", name ? name : "");
    json_decref(hello);
    return status;
}

static int ask_agent(struct json_lines *w, const struct request *r)
{
    char text[400], store[64] = "";
    json_t *all = NULL;
    elector_status status = json_lines_connect(w, r->url);
    int code;
    if (status != ELECTOR_OK) return complain(w->reason, status);
    status = cli_ask_status(w, r->group, &all);
    if (status == ELECTOR_OK && json_array_size(json_object_get(all, "groups")) == 0 && !r->json)
        (void)cli_ask_engine(w, store, sizeof store); /* what that means depends on who answers */
    json_lines_close(w);
    if (status != ELECTOR_OK) {
        code = complain(w->reason, status);
    } else if (json_is_true(json_object_get(all, "ok"))) {
        code = write_status(all, r, store);
    } else {
        status = json_lines_refusal(all, text, sizeof text);
        code = complain(text, status);
    }
    json_decref(all);
    return code;
}

/* With a lock instead of an agent there is one group, and neither voters nor a lease. */
static int ask_lock(const struct request *r)
{
    elector *e;
    const elector_leader *l;
    elector_status status = elector_open(r->url, &e);
    if (status == ELECTOR_OK) status = elector_leader_of(e, r->group ? r->group : "", 1000, &l);
    if (status != ELECTOR_OK) {
        const int code = complain(elector_message(e), status);
        elector_close(e);
        return code;
    }
    json_t *all = json_pack("{sb s[{ss ss* sI ss}]}", "ok", 1, "groups", "group", r->group, "leader",
                            l->name[0] ? l->name : NULL, "token", (json_int_t)l->token, "value", l->value);
    if (all && !l->name[0])
        json_object_set_new(json_array_get(json_object_get(all, "groups"), 0), "leader", json_null());
    elector_close(e);
    if (!all) return cli_out_of_memory("status");
    const int code = write_status(all, r, "");
    json_decref(all);
    return code;
}

static int ask(const struct request *r)
{
    if (!engine_speaks_lines(r->url)) return ask_lock(r);
    struct json_lines *w = malloc(sizeof *w);
    if (!w) return cli_out_of_memory("status");
    const int code = ask_agent(w, r);
    free(w);
    return code;
}

bool cli_watch_on(bool json)
{
    if (fflush(stdout) != 0) return false;
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    fputs(isatty(STDOUT_FILENO) ? "\033[H\033[J" : json ? "" : "\n", stdout);
    return true;
}

int cli_status(int argc, char **argv)
{
    struct request r = {.url = engine_usual_url()};
    const char *value;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("status", stdout, CLI_YES);
    }
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value)
                return cli_usage_error(
                    "status",
                    "--url needs unix:PATH, file:PATH or the URL of a store, such as etcd://HOST:PORT");
            r.url = value;
        } else if (cli_option(argc, argv, &i, "output", &value)) {
            if (!cli_output("status", value, &r.json)) return CLI_USAGE;
        } else if (strcmp(argv[i], "--members") == 0) {
            memmove(&argv[i], &argv[i + 1], (size_t)(argc - i) * sizeof *argv); /* the NULL at the end too */
            return cli_members(argc - 1, argv);
        } else if (strcmp(argv[i], "--watch") == 0) {
            r.watches = true;
        } else if (argv[i][0] == '-' || r.group) {
            return cli_unknown("status", cli_status, argv[i]);
        } else {
            r.group = argv[i];
        }
    }
    if (engine_url_flaw(r.url)) return cli_usage_error("status", "'%.200s': %s", r.url, engine_url_flaw(r.url));
    if (!engine_speaks_lines(r.url) && !r.group)
        return cli_usage_error("status",
                               "which group? %s has no list of groups; try: elector status billing --url %s",
                               r.url, r.url);
    int code = ask(&r);
    while (r.watches && cli_watch_on(r.json)) code = ask(&r);
    return cli_finish("status", stdout, code);
}
