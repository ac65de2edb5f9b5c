/* elector resign: asks another client, which leads a group here or elsewhere, to give up. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "client/engine.h"
#include "client/json_lines.h"

static void write_help(void)
{
    fputs(
        "Usage: elector resign GROUP [--url URL]\n\n"
        "Asks the client that leads GROUP, on whichever host, to give up. It is told to stop its work, and loses\n"
        "leadership when it has stopped, or when its lease expires, which is renewed for as long as it needs. It stays a candidate, ranked behind its equals.\n"
        "Returns when the request is accepted. Ask any agent with a vote: it passes the request on to the leader's,\n"
        "and waits up to 2 s for the answer. Your right to ask (allow-control) is checked by the agent that you ask.\n\n"
        "  --url URL       unix:PATH, an agent's socket ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n\n"
        "Exit codes: 0 accepted; 1 refused; 2 usage; 3 no agent, or no answer of the leader's.\n",
        stdout);
}

static int refuse(const char *text, elector_status status)
{
    fprintf(stderr, "elector resign: %s\n", text);
    return cli_status_code(status);
}

static int ask(struct json_lines *w, const char *url, const char *group)
{
    char text[400];
    json_t *answer = NULL;
    elector_status status = json_lines_connect(w, url);
    if (status != ELECTOR_OK) return refuse(w->reason, status);
    json_t *request = json_pack("{si ss ss sb}", "id", 1, "op", "resign", "group", group, "force", 1);
    status = json_lines_ask(w, request, engine_until(LINES_ANSWER_MS), &answer);
    json_lines_close(w);
    if (status != ELECTOR_OK) return refuse(w->reason, status);
    if (json_is_true(json_object_get(answer, "ok"))) {
        printf("%s is being given up, as soon as its leader has stopped\n", group);
        json_decref(answer);
        return CLI_YES;
    }
    const elector_status refusal = json_lines_refusal(answer, text, sizeof text);
    json_decref(answer);
    return refuse(text, refusal);
}

int cli_resign(int argc, char **argv)
{
    const char *group = NULL, *url = engine_usual_url(), *value;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("resign", stdout, CLI_YES);
    }
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error("resign", "--url needs unix:PATH");
            url = value;
        } else if (argv[i][0] == '-' || group) {
            return cli_unknown("resign", cli_resign, argv[i]);
        } else {
            group = argv[i];
        }
    }
    if (!group) return cli_usage_error("resign", "from which group? Try: elector resign billing");
    if (engine_url_flaw(url)) return cli_usage_error("resign", "'%.200s': %s", url, engine_url_flaw(url));
    if (!engine_speaks_lines(url))
        return cli_usage_error(
            "resign", "%s: only an agent can be asked, unix:PATH; end the holder of a lock instead", url);
    struct json_lines *w = malloc(sizeof *w);
    if (!w) return cli_out_of_memory("resign");
    const int status = ask(w, url, group);
    free(w);
    return cli_finish("resign", stdout, status);
}
