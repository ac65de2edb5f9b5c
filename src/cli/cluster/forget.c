/* elector forget: an agent no longer lists a group that nobody uses. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "client/engine.h"
#include "client/json_lines.h"

static void write_help(void)
{
    fputs(
        "Usage: elector forget GROUP [--url URL]\n\n"
        "Lets this agent drop GROUP, which nobody leads and nobody stands for: a job that ran once. It does so by itself\n"
        "after `forget-after` (elector.conf(5), one hour). If somebody stands again, the group is back, and its tokens go\n"
        "on rising. `elector history GROUP` still tells its past.\n\n"
        "  --url URL       unix:PATH, an agent's socket ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n\n"
        "Exit codes: 0 forgotten; 1 refused: it is in use, or not known; 2 usage; 3 no agent.\n",
        stdout);
}

static int complain(const char *text, elector_status status)
{
    fprintf(stderr, "elector forget: %s\n", text);
    return cli_status_code(status);
}

static int ask(struct json_lines *w, const char *url, const char *group)
{
    char text[400];
    json_t *answer = NULL;
    elector_status status = json_lines_connect(w, url);
    if (status != ELECTOR_OK) return complain(w->reason, status);
    status = json_lines_ask(w, json_pack("{si ss ss}", "id", 1, "op", "forget", "group", group),
                            engine_until(LINES_ANSWER_MS), &answer);
    json_lines_close(w);
    if (status != ELECTOR_OK) return complain(w->reason, status);
    const bool is_done = json_is_true(json_object_get(answer, "ok"));
    if (!is_done) status = json_lines_refusal(answer, text, sizeof text);
    json_decref(answer);
    if (is_done) printf("%s is no longer listed by this agent\n", group);
    return is_done ? CLI_YES : complain(text, status);
}

int cli_forget(int argc, char **argv)
{
    const char *group = NULL, *url = engine_usual_url(), *value;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("forget", stdout, CLI_YES);
    }
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error("forget", "--url needs unix:PATH");
            url = value;
        } else if (argv[i][0] == '-' || group) {
            return cli_unknown("forget", cli_forget, argv[i]);
        } else {
            group = argv[i];
        }
    }
    if (!group) return cli_usage_error("forget", "which group? Try: elector forget nightly");
    if (engine_url_flaw(url)) return cli_usage_error("forget", "'%.200s': %s", url, engine_url_flaw(url));
    if (!engine_speaks_lines(url))
        return cli_usage_error("forget",
                               "%s: only an agent lists groups, unix:PATH; remove a lock's file instead", url);
    struct json_lines *w = malloc(sizeof *w);
    if (!w) return cli_out_of_memory("forget");
    const int code = ask(w, url, group);
    free(w);
    return cli_finish("forget", stdout, code);
}
