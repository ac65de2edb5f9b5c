/* elector demo: an election, the leader's crash, the next election, each beside the literature's counts. */
#include <string.h>

#include "cli/cli.h"
#include "sim/output/transcript.h"

struct setting {
    const char *key, *value;
};

struct act {
    const char *title;
    const char *tale;
    struct setting settings[8];
    const char *prediction; /* what the literature says */
    uint64_t messages, turnaround;
};

/* The ring of the lectures has N = 6; 80 is the greatest, 6 its successor, 3 three hops before it. */
static const struct act acts[] = {
    {"An election on the ring",
     "Six processes stand in a ring and send clockwise. 3 calls an election: its claim is outbid on the way,\n"
     "and the greatest one comes home to its owner.",
     {{"algorithm", "chang-roberts"}, {"ids", "3,32,5,80,6,12"}, {"initiator", "3"}},
     "d + 2N = 3 + 12, one after the other (Chang and Roberts, 1979; 3 stands d = 3 hops before the winner)",
     15,
     15},
    {"The leader dies in the middle of it",
     "The same ring, but 80 dies just after its claim has left. Its claim would circle for ever; a failure\n"
     "detector notices after two delays, the ring closes over 80, and those who took part start over.",
     {{"algorithm", "chang-roberts"},
      {"ids", "3,32,5,80,6,12"},
      {"initiator", "3"},
      {"crash", "80@3.5"},
      {"detect", "2"}},
     NULL,
     0,
     0},
    {"The bully: P5 leads and dies, P2 notices",
     "Everybody knows everybody. P2 asks all above it; whoever is alive answers and asks those above in turn;\n"
     "who hears nothing from above for two delays is the highest alive.",
     {{"algorithm", "bully"}, {"nodes", "5"}, {"leader", "5"}, {"crash", "5@0"}, {"initiator", "2"}},
     "(k+1)² + N − 2 = 9 + 3, in 4 T (Garcia-Molina, 1982; k = 2 live processes above P2)",
     12,
     4},
};

static int play(const struct act *act, struct sim_style style)
{
    struct sim_settings settings = {0};
    struct sim_plan plan;
    struct sim_error error;
    bool ok = true;
    for (const struct setting *s = act->settings; s->key && ok; s++)
        ok = sim_settings_add(&settings, s->key, s->value, 0, 0);
    if (!ok || sim_plan_build(&plan, &settings, &error) != 0) {
        sim_settings_free(&settings);
        return cli_out_of_memory("demo");
    }
    printf("%s%s%s\n%s\n\n", style.colour ? "\033[1m" : "", act->title, style.colour ? "\033[0m" : "",
           act->tale);
    struct sim_world *world = sim_world_new(&plan, SIM_KEEP_ALL);
    int status = CLI_CANNOT_TELL;
    if (world) {
        const struct sim_result *result = sim_world_run(world);
        sim_write_transcript(stdout, world, style);
        putchar('\n');
        sim_write_summary(stdout, world, result, style);
        sim_write_violations(stdout, world, result, style);
        status = result->violation_kinds ? CLI_NO : CLI_YES;
        if (act->prediction) {
            const bool as_predicted =
                result->sent[0] == act->messages && result->turnaround == act->turnaround * plan.unit;
            printf("  literature  %llu messages, %llu T: %s\n              %s\n",
                   (unsigned long long)act->messages, (unsigned long long)act->turnaround,
                   as_predicted ? "as measured" : "NOT as measured", act->prediction);
            if (!as_predicted) status = CLI_NO;
        }
        putchar('\n');
        sim_world_free(world);
    } else {
        cli_out_of_memory("demo");
    }
    sim_plan_free(&plan);
    sim_settings_free(&settings);
    return status;
}

int cli_demo(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        puts(
            "Usage: elector demo\n\nShows three elections: on a ring, after the leader's crash, and by the bully,\n"
            "with message counts beside those that the literature predicts.");
        return cli_finish("demo", stdout, CLI_YES);
    }
    if (argc > 1) return cli_usage_error("demo", "unknown option %s; it takes none", argv[1]);
    int status = CLI_YES;
    for (size_t i = 0; i < sizeof acts / sizeof *acts && status == CLI_YES; i++)
        status = play(&acts[i], cli_style());
    if (status == CLI_YES)
        puts("Next: elector compare; elector algorithms bully; elector sim --help; the stories in scenarios/.");
    return cli_finish("demo", stdout, status);
}
