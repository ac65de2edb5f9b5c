/* elector observe: prints who leads, and a line for each change. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "cli/cli.h"
#include "elector.h"

static void write_help(void)
{
    fputs(
        "Usage: elector observe [GROUP] [--url URL] [--output text|json]\n\n"
        "Prints the leader of GROUP (or of all groups) and then a line for every change, until interrupted.\n\n"
        "  --url URL              unix:PATH, an agent's socket; file:PATH, a lock on this host, for one GROUP;\n"
        "                         etcd://HOST/PREFIX, zookeeper://HOST/PATH or kubernetes:///NAMESPACE, a store\n"
        "                         (elector help engines). Default: $ELECTOR_URL, else unix:/run/elector/agent.sock\n"
        "  --output text|json     json: one object a line, with group, leader (null: nobody), token, value\n\n"
        "Exit codes: 1 refused; 2 usage; 3 no agent, or the connection was lost.\n",
        stdout);
}

static void write_json(const elector_event *event)
{
    const elector_leader *l = event->leader;
    json_t *object = json_pack("{ss ss* sI ss}", "group", event->group, "leader", l->name[0] ? l->name : NULL,
                               "token", (json_int_t)l->token, "value", l->value);
    if (object && !l->name[0]) json_object_set_new(object, "leader", json_null());
    if (object) cli_put_json(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

struct observer {
    bool json;
    elector_status status; /* why the agent declined; ELECTOR_OK: it did not */
    char why[512];
};

static void tell(void *context, const elector_event *event)
{
    struct observer *o = context;
    const elector_leader *l = event->leader;
    if (event->type == ELECTOR_DONE && event->status != ELECTOR_OK && event->status != ELECTOR_LOST) {
        o->status = event->status;
        snprintf(o->why, sizeof o->why, "%s", event->text);
    }
    if (event->type != ELECTOR_NEW_LEADER) return;
    if (o->json) {
        write_json(event);
    } else {
        cli_put_plain(event->group);
        fputs(l->name[0] ? " is led by " : " is led by nobody", stdout);
        cli_put_plain(l->name);
        if (l->name[0]) printf(" token %" PRIu64, l->token);
        if (l->value[0]) fputs(" at ", stdout);
        cli_put_plain(l->value);
        putchar('\n');
    }
    fflush(stdout);
}

int cli_observe(int argc, char **argv)
{
    const char *group = NULL, *url = NULL, *value;
    struct observer o = {0};
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("observe", stdout, CLI_YES);
    }
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error("observe", "--url needs unix:PATH or file:PATH");
            url = value;
        } else if (cli_option(argc, argv, &i, "output", &value)) {
            if (!cli_output("observe", value, &o.json)) return CLI_USAGE;
        } else if (argv[i][0] == '-' || group) {
            return cli_unknown("observe", cli_observe, argv[i]);
        } else {
            group = argv[i];
        }
    }
    elector *e;
    elector_status status = elector_open(url, &e);
    if (status == ELECTOR_OK) {
        elector_on_event(e, tell, &o);
        status = elector_observe(e, group);
    }
    while ((status == ELECTOR_OK || status == ELECTOR_INTERRUPTED) && o.status == ELECTOR_OK && !ferror(stdout))
        status = elector_wait(e, -1);
    if (o.status != ELECTOR_OK) status = o.status;
    if (!ferror(stdout)) fprintf(stderr, "elector observe: %s\n", o.why[0] ? o.why : elector_message(e));
    elector_close(e);
    return cli_finish("observe", stdout, cli_status_code(status));
}
