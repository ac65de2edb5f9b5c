/* The table of verbs. */
#include <string.h>

#include "base/closest.h"
#include "base/descriptors.h"
#include "cli/cli.h"

/* A row without a name is a heading. */
static const struct cli_verb verbs[] = {
    {NULL, "To have one leader", NULL},
    {"run", "run a command while this host leads", cli_run},
    {"campaign", "be a candidate, print a line when elected, lead until stopped", cli_campaign},
    {"observe", "print who leads, and each change", cli_observe},
    {"status", "print an agent's groups as a table", cli_status},
    {"history", "print past leaders of a group, and how each began and ended", cli_history},
    {"why", "explain the last change of leader: events, times, votes", cli_why},
    {"transfer", "ask a group's leader to hand over to a chosen member", cli_transfer},
    {"resign", "ask the leader of a group to give up, on whichever host", cli_resign},
    {"forget", "no longer list a group that nobody uses", cli_forget},
    {NULL, "To run a cluster", NULL},
    {"init", "write the files of a new cluster: configuration, keys, state", cli_init},
    {"keygen", "generate a member's keys, or print a public key", cli_keygen},
    {"agent", "run this host's member of a cluster", cli_agent},
    {"members", "print the members: who is heard, which votes count, what is pending", cli_members},
    {"plan", "print a configuration's guarantees: failover, failures, drift", cli_plan},
    {"replay", "replay, merge and check recordings of agents", cli_replay},
    {"doctor", "diagnose a member, and say what to do", cli_doctor},
    {NULL, "To understand elections", NULL},
    {"lab", "serve a page that shows elections, forwards and backwards", cli_lab},
    {"algorithms", "list the elections, or explain one", cli_algorithms},
    {"sim", "run an election in virtual time, and count messages", cli_sim},
    {"compare", "compare all algorithms on the same trials", cli_compare},
    {"detect", "measure failure detectors, simulated or on recorded arrivals", cli_detect},
    {"check", "explore every state that a small cluster can reach", cli_check},
    {"demo", "watch three elections, explained", cli_demo},
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
    fputs("\n  help         print a document: elector help TOPIC; or a verb's options\n"
          "  --help       this text; after a verb, that verb's options\n"
          "  --version    the version\n\n"
          "Topics:\n",
          out);
    cli_write_topics(out);
    fputs("\n"
          "Exit codes: 0 yes; 1 no; 2 usage error; 3 cannot tell. See `elector VERB --help`.\n\n"
          "Try:  elector run billing -- ./worker\n"
          "      elector sim chang-roberts --ids 3,32,5,80,6,12 --initiator 3\n",
          out);
}

static const struct cli_verb *find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].name && strcmp(name, verbs[i].name) == 0) return &verbs[i];
    return NULL;
}

static void offer_verbs(struct closest *closest)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (verbs[i].name) closest_offer(closest, verbs[i].name, strlen(verbs[i].name));
    closest_offer(closest, "help", 4);
}

/* A verb's own help; a document of the same name is told below it. */
static int help_verb(const struct cli_verb *verb, char *name)
{
    char option[] = "--help";
    char *words[] = {name, option, NULL};
    const int code = verb->run(2, words);
    if (code == CLI_YES && cli_has_topic(name)) printf("\nMore: elector help docs/%s.md\n", name);
    return cli_finish("help", stdout, code);
}

static int help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || (argc == 2 && strcmp(argv[1], "help") == 0)) {
        write_help(stdout);
        return cli_finish("help", stdout, CLI_YES);
    }
    const struct cli_verb *verb = find(argv[1]);
    if (argc > 2) return cli_usage_error("help", "one verb or topic at a time, not also '%s'", argv[2]);
    if (verb) return help_verb(verb, argv[1]);
    if (cli_has_topic(argv[1])) return cli_help_topic(argv[1]);
    struct closest closest = closest_to(argv[1]);
    offer_verbs(&closest);
    cli_offer_topics(&closest);
    return cli_usage_error("help", "there is no verb or topic '%s'%s `elector help` lists them", argv[1],
                           cli_meant(&closest));
}

int main(int argc, char **argv)
{
    if (!descriptors_fill_standard()) return CLI_CANNOT_TELL;
    if (argc < 2) {
        write_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        write_help(stdout);
        return cli_finish("help", stdout, CLI_YES);
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("elector " ELECTOR_VERSION);
        return cli_finish("version", stdout, CLI_YES);
    }
    if (strcmp(argv[1], "help") == 0) return help(argc - 1, argv + 1);
    const struct cli_verb *verb = find(argv[1]);
    if (verb) return verb->run(argc - 1, argv + 1);
    if (strcmp(argv[1], "guardian") == 0)
        return cli_guardian(argc - 1, argv + 1); /* started by the agent only */
    struct closest closest = closest_to(argv[1]);
    offer_verbs(&closest);
    fprintf(stderr, "elector: there is no verb '%s'%s `elector --help` lists them\n", argv[1],
            cli_meant(&closest));
    return CLI_USAGE;
}
