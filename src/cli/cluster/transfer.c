/* elector transfer: asks the leader of a group to hand over to a chosen member. */
#include <string.h>

#include "cli/cli.h"
#include "client/engine.h"

static void write_help(void)
{
    fputs(
        "Usage: elector transfer GROUP --to MEMBER [--url URL]\n\n"
        "Asks the leader of GROUP to hand over to MEMBER. The leader is told to stop its work; MEMBER leads when it has\n"
        "stopped, or when its lease expires, which is renewed for as long as the leader needs (--stop-timeout of elector\n"
        "run). Returns when the request is accepted; `elector observe GROUP` shows the rest. Ask any agent with a\n"
        "vote: it passes the request on to the leader's, and waits up to 2 s for the answer. Your right to ask\n"
        "(allow-control) is checked by the agent that you ask.\n\n"
        "  --to MEMBER     by name, as in `elector status`\n"
        "  --url URL       unix:PATH, an agent's socket ($ELECTOR_URL, else unix:/run/elector/agent.sock)\n\n"
        "Exit codes: 0 accepted; 1 refused; 2 usage; 3 no agent, or no answer of the leader's.\n",
        stdout);
}

int cli_transfer(int argc, char **argv)
{
    const char *group = NULL, *to = NULL, *url = NULL, *value;
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("transfer", stdout, CLI_YES);
    }
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error("transfer", "--url needs unix:PATH");
            url = value;
        } else if (cli_option(argc, argv, &i, "to", &value)) {
            if (!value) return cli_usage_error("transfer", "--to needs the name of a member");
            to = value;
        } else if (argv[i][0] == '-' || group) {
            return cli_unknown("transfer", cli_transfer, argv[i]);
        } else {
            group = argv[i];
        }
    }
    if (!group || !to)
        return cli_usage_error("transfer", "which group, and to whom? Try: elector transfer billing --to b");
    elector *e;
    elector_status status = elector_open(url, &e);
    if (status == ELECTOR_OK) status = engine_transfer(e, group, to);
    if (status != ELECTOR_OK) fprintf(stderr, "elector transfer: %s\n", elector_message(e));
    if (status == ELECTOR_OK)
        printf("%s is being handed over to %s, as soon as its leader has stopped\n", group, to);
    elector_close(e);
    return cli_finish("transfer", stdout, cli_status_code(status));
}
