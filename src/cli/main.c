/* The table of verbs. */
#include <string.h>

#include "cli/cli.h"

/* A row without a name is a heading. */
static const struct cli_verb verbs[] = {
    {NULL, "To have one leader", NULL},
    {"run", "run a command while this host leads", cli_run},
    {"campaign", "be a candidate, say when elected, hold until told to go", cli_campaign},
    {"observe", "who leads, a line for each change", cli_observe},
    {"status", "the groups of an agent in a table", cli_status},
    {"history", "who has led a group, and how it came and went", cli_history},
    {"why", "the story of the last change: what was seen, when, who voted", cli_why},
    {"transfer", "the leader of a group hands over to a member of choice", cli_transfer},
    {"resign", "whoever leads a group through this agent gives up", cli_resign},
    {NULL, "To run a cluster", NULL},
    {"init", "the files of a new cluster: configuration, keys, state", cli_init},
    {"keygen", "a member's keys: make a pair, or print the public one", cli_keygen},
    {"agent", "this host's member of a cluster", cli_agent},
    {"plan", "what a configuration promises: failover, failures, drift", cli_plan},
    {"replay", "what agents recorded, run again, put together and judged", cli_replay},
    {"doctor", "what is wrong with a member, and what to do", cli_doctor},
    {NULL, "To understand elections", NULL},
    {"algorithms", "list the elections, or explain one", cli_algorithms},
    {"sim", "run an election in virtual time, and count", cli_sim},
    {"compare", "every algorithm through the same story", cli_compare},
    {"detect", "failure detectors over one network, simulated or recorded", cli_detect},
    {"check", "every world that a small cluster can get into", cli_check},
    {"demo", "a short story in three elections", cli_demo},
};

static void write_help(FILE *out)
{
    fputs("elector: many processes, one leader, and everyone knows who\n\nUsage: elector VERB [options]\n\n",
          out);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (verbs[i].name)
            fprintf(out, "  %-12s %s\n", verbs[i].name, verbs[i].summary);
        else
            fprintf(out, "%s%s:\n", i ? "\n" : "", verbs[i].summary);
    }
    fputs("\n  --help       this text; after a verb, that verb's options\n"
          "  --version    the version\n\n"
          "Exit codes: 0 yes, expectations hold; 1 no; 2 usage; 3 cannot tell.\n\n"
          "Try:  elector run billing -- ./worker\n"
          "      elector sim chang-roberts --ids 3,32,5,80,6,12 --initiator 3\n",
          out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        write_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        write_help(stdout);
        return cli_finish("help", stdout, CLI_YES);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("elector " ELECTOR_VERSION);
        return cli_finish("version", stdout, CLI_YES);
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].name && strcmp(argv[1], verbs[i].name) == 0) return verbs[i].run(argc - 1, argv + 1);
    if (strcmp(argv[1], "guardian") == 0) return cli_guardian(argc - 1, argv + 1); /* no verb for people */
    fprintf(stderr, "elector: there is no verb '%s'; `elector --help` lists them\n", argv[1]);
    return CLI_USAGE;
}
