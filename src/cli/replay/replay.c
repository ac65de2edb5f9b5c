/* elector replay: runs recordings of agents through the same code again, and compares its outputs with the recorded ones. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "agent/seal/seal.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/lab/page.h"
#include "cli/replay/recordings.h"
#include "sim/output/export.h"
#include "sim/output/transcript.h"

typedef int writer(FILE *out, const struct sim_world *world);

struct request {
    const char *group; /* NULL: the only one */
    char only[CONFIG_NAME_MAX + 1];
    const char *output; /* "report": no export */
    writer *write;
    bool is_page; /* what is written goes into the laboratory page */
    bool beats;
    uint32_t how; /* as of recorder_replay() */
    const char *paths[RECORDINGS_RUNS_MAX];
    uint32_t path_count;
};

static void write_help(void)
{
    fputs(
        "Usage: elector replay [--group GROUP] [--output FORMAT] [--beats] [--unfinished] [--trusted] FILE...\n\n"
        "Replays recordings of agents (`recorder` in their configuration; files STATE.flight, and STATE.flight.1 of the\n"
        "incarnation before) through the same code, and compares the outputs with the recorded ones. Recordings of\n"
        "several members are put on one clock and checked: one leader to a token, tokens that rise, and no leader\n"
        "before the previous one's lease has expired.\n\n"
        "  --output report        the findings (default)\n"
        "  --output text          a transcript of one group, as by `elector sim`\n"
        "  --output jsonl, mermaid, shiviz, svg\n"
        "                         the same in the formats of `elector sim`; the findings go to standard error\n"
        "  --output page          a page that shows the group forwards and backwards, with the causes: redirect it to a\n"
        "                         file, and open that in a browser\n"
        "  --group GROUP          the group to show; needed if the recordings have leaders of several\n"
        "  --beats                also show the messages that members exchange for all groups together\n"
        "  --unfinished           also replay a call that did not return, if there is one: it may end this process too\n"
        "  --trusted              also replay a recording that begins in the middle of groups of other algorithms than\n"
        "                         quorum: their state cannot be checked, and a forged one could do harm\n\n"
        "Exit codes: 0 outputs are the same and promises hold; 1 outputs differ, or a promise was broken; 2 usage;\n"
        "3 a recording is unreadable or damaged.\n",
        stdout);
}

/* ---- Findings ---- */

static void write_run(FILE *out, const struct recordings_story *story, const struct recordings_run *run)
{
    const struct config *config = recorder_config(run->tape);
    const struct recorder_report *report = &run->report;
    const uint64_t ms = (report->ended - report->began) / NS_PER_MS;
    fprintf(out,
            "%s: %s of %s, %" PRIu64 ".%03" PRIu64 " s, %" PRIu64 " inputs, %" PRIu64 " messages: ", run->path,
            config->members[config->self - 1].name, config->cluster, ms / 1000, ms % 1000, report->inputs,
            report->sent);
    fputs(report->verdict == RECORDER_AGREES     ? "agrees"
          : report->verdict == RECORDER_DIVERGES ? "DIVERGES at "
                                                 : "DAMAGED at ",
          out);
    fputs(report->text, out);
    if (report->flags & RECORDER_FULL) fputs("; it was full then", out);
    if (report->unfinished)
        fprintf(out, "; its last call (%s) had not returned: the agent still ran, or died in it",
                report->unfinished);
    if (!run->is_placed) fputs("; nothing tells what its clock said, so it is judged by itself", out);
    if (run->is_placed && run->doubt && story->run_count > 1)
        fprintf(out, "; its clock is known to %" PRIu64 " us", run->doubt / 1000 + 1);
    fputc('\n', out);
}

static const char *member_of(const struct recordings_story *story, const struct recordings_claim *claim)
{
    const struct recordings_run *run = &story->runs[claim->run];
    return recorder_config(run->tape)->members[run->self - 1].name;
}

static void write_violation(FILE *out, const struct recordings_story *story,
                            const struct recordings_violation *v)
{
    const struct recordings_claim *one = &v->one, *other = &v->other;
    const char *first = member_of(story, one), *second = member_of(story, other);
    fprintf(out, "VIOLATED: group %s: ", one->name);
    switch (v->wrong) {
    case RECORDINGS_SAME_TOKEN:
        if (other->name[0])
            fprintf(out, "%s and %s both led with token %" PRIu64 "\n", first, second, one->token);
        else
            fprintf(out, "%s led with token %" PRIu64 ", and %s took another for its leader\n", first,
                    one->token, second);
        break;
    case RECORDINGS_TOKEN_FELL:
        fprintf(out, "%s led with token %" PRIu64 ", and after it %s with %" PRIu64 "\n", first, one->token,
                second, other->token);
        break;
    case RECORDINGS_OVERLAP:
        fprintf(out,
                "%s had until %" PRIu64 ".%06" PRIu64 " s with token %" PRIu64 ", and %s led from %" PRIu64
                ".%06" PRIu64 " s with %" PRIu64 "\n",
                first, one->ended / NS_PER_S, one->ended / NS_PER_US % 1000000, one->token, second,
                other->began / NS_PER_S, other->began / NS_PER_US % 1000000, other->token);
        break;
    }
}

static int write_report(FILE *out, const struct recordings_story *story)
{
    int code = CLI_YES;
    for (uint32_t i = 0; i < story->run_count; i++) {
        const enum recorder_verdict verdict = story->runs[i].report.verdict;
        write_run(out, story, &story->runs[i]);
        if (verdict == RECORDER_DIVERGES) code = CLI_NO;
        if (verdict == RECORDER_DAMAGED && code == CLI_YES) code = CLI_CANNOT_TELL;
    }
    for (uint32_t i = 0; i < story->violation_count && i < sizeof story->violations / sizeof *story->violations;
         i++)
        write_violation(out, story, &story->violations[i]);
    if (story->violation_count) {
        fprintf(out, "%u promises broken in %zu term%s of office\n", story->violation_count, story->claim_count,
                story->claim_count == 1 ? "" : "s");
        return CLI_NO;
    }
    fprintf(
        out,
        "%zu term%s of office: one leader to a token, tokens rise, nobody before the last one's time was over\n",
        story->claim_count, story->claim_count == 1 ? "" : "s");
    return code;
}

/* ---- Reading ---- */

static bool is_same_cluster(const struct config *a, const struct config *b)
{
    if (memcmp(a->cluster_id, b->cluster_id, sizeof a->cluster_id) != 0 || a->member_count != b->member_count)
        return false;
    for (uint32_t i = 0; i < a->member_count; i++)
        if (a->members[i].id != b->members[i].id || strcmp(a->members[i].name, b->members[i].name) != 0)
            return false;
    return true;
}

static int load(struct recordings_story *story, const struct request *request)
{
    char text[512];
    for (uint32_t i = 0; i < request->path_count; i++) {
        struct recordings_run *run = &story->runs[i];
        *run = (struct recordings_run){.path = request->paths[i],
                                       .tape = recorder_load(request->paths[i], text, sizeof text)};
        if (!run->tape) {
            fprintf(stderr, "elector replay: %s\n", text);
            return CLI_CANNOT_TELL;
        }
        story->run_count++;
        run->self = recorder_config(run->tape)->self;
        if (is_same_cluster(recorder_config(story->runs[0].tape), recorder_config(run->tape))) continue;
        fprintf(
            stderr,
            "elector replay: %s: is of another cluster, or of other members, than %s; replay it separately\n",
            run->path, story->runs[0].path);
        return CLI_CANNOT_TELL;
    }
    return CLI_YES;
}

static int listen_to_all(struct recordings_story *story, const struct request *request)
{
    for (uint32_t i = 0; i < story->run_count; i++) recordings_replay_run(story, i, request->how);
    recordings_merge(story);
    recordings_judge(story);
    return story->is_out_of_memory ? cli_out_of_memory("replay") : CLI_YES;
}

static int understand(struct recordings_story *story, const struct request *request)
{
    int code = load(story, request);
    if (code != CLI_YES) return code;
    story->beats = request->beats;
    story->wanted = request->group;
    if (request->write && request->group)
        story->group = seal_group_key(recorder_config(story->runs[0].tape)->cluster_id, request->group);
    code = listen_to_all(story, request);
    if (code != CLI_YES || !request->group || story->has_wanted) return code;
    if (story->known[0])
        return cli_usage_error("replay", "no recording has a group '%s'; there is '%s', for instance",
                               request->group, story->known);
    return cli_usage_error("replay", "no recording has a group '%s', or any other", request->group);
}

/* ---- Exports ---- */

static int write_text(FILE *out, const struct sim_world *world)
{
    sim_write_transcript(out, world, cli_style());
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}

/* The only group that had a leader. NULL, with a message, if there are several. */
static const char *only_group(const struct recordings_story *story)
{
    const char *name = NULL;
    for (size_t i = 0; i < story->claim_count; i++) {
        if (name && strcmp(name, story->claims[i].name) != 0) {
            fprintf(stderr,
                    "elector replay: %s and %s had leaders, and perhaps others; choose one with --group\n",
                    name, story->claims[i].name);
            return NULL;
        }
        name = story->claims[i].name;
    }
    if (!name) fputs("elector replay: no group had a leader; name one with --group\n", stderr);
    return name;
}

/* Members have numbers on the page, as everywhere in the laboratory: says whose they are, and who was not recorded. */
static void write_about(FILE *out, const struct recordings_story *story, const char *group)
{
    const struct config *config = recorder_config(story->runs[0].tape);
    fprintf(out, "What agents of %s recorded of group %s.", config->cluster, group);
    for (el_node member = 1; member <= config->member_count; member++) {
        bool is_here = false;
        for (uint32_t i = 0; i < story->run_count; i++)
            is_here = is_here || (story->runs[i].self == member && story->runs[i].is_placed);
        fprintf(out, "%s%" PRIu64 " is %s%s", member == 1 ? " " : ", ", config->members[member - 1].id,
                config->members[member - 1].name, is_here ? "" : " (not recorded)");
    }
    fputs(".", out);
}

static int write_page(const struct recordings_story *story, const struct sim_world *world,
                      const struct request *request)
{
    char *trace = NULL, *about = NULL;
    size_t size = 0, about_size = 0;
    FILE *memory = open_memstream(&trace, &size), *words = open_memstream(&about, &about_size);
    bool is_whole = memory && request->write(memory, world) == 0;
    if (words) write_about(words, story, request->group);
    is_whole = memory && fclose(memory) == 0 && is_whole;
    is_whole = words && fclose(words) == 0 && is_whole;
    const int status = is_whole ? lab_write_page_of(stdout, request->group, about, trace, size) : -1;
    free(trace);
    free(about);
    return status;
}

static int export(struct recordings_story *story, const struct request *request)
{
    struct sim_plan plan;
    struct sim_world *world = recordings_tell(story, request->group, &plan);
    if (!world) return cli_out_of_memory("replay");
    const int status = request->is_page ? write_page(story, world, request) : request->write(stdout, world);
    sim_world_free(world);
    return status == 0 ? CLI_YES : CLI_CANNOT_TELL;
}

/* ---- The command ---- */

static bool read_output(struct request *request)
{
    static const struct {
        const char *name;
        writer *write;
    } outputs[] = {{"report", NULL},           {"text", write_text},           {"page", sim_write_jsonl},
                   {"jsonl", sim_write_jsonl}, {"mermaid", sim_write_mermaid}, {"shiviz", sim_write_shiviz},
                   {"svg", sim_write_svg}};
    for (size_t i = 0; request->output && i < sizeof outputs / sizeof *outputs; i++) {
        if (strcmp(request->output, outputs[i].name) != 0) continue;
        request->write = outputs[i].write;
        request->is_page = strcmp(request->output, "page") == 0;
        return true;
    }
    return false;
}

static int read_arguments(struct request *request, int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        if (cli_option(argc, argv, &at, "group", &request->group)) {
            if (!request->group || !group_name_is_valid(request->group))
                return cli_usage_error("replay", "--group needs the name of a group");
        } else if (cli_option(argc, argv, &at, "output", &request->output)) {
            if (!read_output(request))
                return cli_usage_error("replay",
                                       "--output is report, text, page, jsonl, mermaid, shiviz or svg");
        } else if (strcmp(argv[at], "--beats") == 0) {
            request->beats = true;
        } else if (strcmp(argv[at], "--unfinished") == 0) {
            request->how |= RECORDER_UNFINISHED;
        } else if (strcmp(argv[at], "--trusted") == 0) {
            request->how |= RECORDER_TRUSTS;
        } else if (argv[at][0] == '-') {
            return cli_unknown("replay", cli_replay, argv[at]);
        } else if (request->path_count == RECORDINGS_RUNS_MAX) {
            return cli_usage_error("replay", "at most %d recordings at a time", RECORDINGS_RUNS_MAX);
        } else {
            request->paths[request->path_count++] = argv[at];
        }
    }
    if (request->path_count == 0)
        return cli_usage_error("replay", "name a recording, such as elector.state.flight");
    return CLI_YES;
}

static int replay(struct request *request)
{
    struct recordings_story *story = calloc(1, sizeof *story);
    if (!story) return cli_out_of_memory("replay");
    int code = understand(story, request);
    if (code == CLI_YES && request->write && !request->group) { /* again, now that the group is known */
        const char *only = only_group(story);
        if (only) snprintf(request->only, sizeof request->only, "%s", only);
        code = only ? CLI_YES : CLI_USAGE;
        request->group = request->only;
        recordings_story_free(story);
        memset(story, 0, sizeof *story);
        if (code == CLI_YES) code = understand(story, request);
    }
    if (code == CLI_YES) {
        code = write_report(request->write ? stderr : stdout, story);
        const int exported = request->write ? export(story, request) : CLI_YES;
        if (exported != CLI_YES) code = exported;
    }
    recordings_story_free(story);
    free(story);
    return code;
}

int cli_replay(int argc, char **argv)
{
    struct request request = {.output = "report"};
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        write_help();
        return cli_finish("replay", stdout, CLI_YES);
    }
    int code = read_arguments(&request, argc, argv);
    if (code != CLI_YES) return code;
    if (sodium_init() < 0) return cli_out_of_memory("replay");
    return cli_finish("replay", stdout, replay(&request));
}
