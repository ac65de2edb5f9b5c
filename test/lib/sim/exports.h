/*
 * For tests of the export writers: some runs, a function that runs one and returns a writer's text, and a small
 * XML reader.
 */
#ifndef ELECTOR_TEST_LIB_SIM_EXPORTS_H
#define ELECTOR_TEST_LIB_SIM_EXPORTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/output/export.h"

enum { SETTINGS_MAX = 16 };

/* Settings as a user would type them: key, value, key, value ... NULL. */
typedef const char *story[2 * SETTINGS_MAX + 1];

static const story ring = {"algorithm", "chang-roberts", "ids", "3,32,5,80,6,12", "initiator", "3", NULL};
static const story busy_ring = {"algorithm", "chang-roberts", "ids", "3,32,5,80,6,12",
                                "initiator", "all",           NULL};
static const story endless_ring = {"algorithm", "chang-roberts", "ids",    "3,32,5,80,6,12", "initiator",
                                   "3",         "crash",         "80@3.5", "horizon",        "30",
                                   NULL};
static const story bully = {"algorithm", "bully", "nodes",     "5", "leader", "5",
                            "crash",     "5@0",   "initiator", "2", NULL};
static const story split = {"algorithm", "bully",       "nodes",     "5",   "leader", "5",
                            "partition", "1,2,3|4,5@1", "initiator", "1@2", NULL};
static const story lossy = {"algorithm", "multicast", "nodes", "5",        "initiator", "3", "loss", "0.2",
                            "dup",       "0.3",       "delay", "0.5..1.5", "seed",      "7", NULL};
static const story paused = {"algorithm", "bully",  "nodes",     "4",   "leader", "4",
                             "pause",     "4@1..6", "initiator", "1@2", NULL};
static const story comeback = {"algorithm", "invitation", "nodes", "5",      "initiator", "all", "crash",
                               "3@2",       "restart",    "3@30",  "detect", "1",         NULL};
static const story interrupted = {"algorithm", "bully", "nodes", "6", "initiator", "1", "until", "1.5", NULL};
static const story alone = {"algorithm", "ring-basic", "nodes", "1", "initiator", "all", NULL};
static const story crowd = {"algorithm", "bully", "nodes", "100", "initiator", "1", NULL};
static const story scripted_ring = {"algorithm", "chang-roberts",
                                    "nodes",     "3",
                                    "script",    "steps",
                                    "step",      "campaign 3",
                                    "step",      "crash 3",
                                    "step",      "deliver 3>1 Election",
                                    "step",      "deliver 1>2 Election",
                                    "step",      "return 2>3 Election",
                                    "step",      "loop",
                                    "step",      "deliver 2>1 Election",
                                    "step",      "copy 1>2 Election",
                                    "step",      "deliver 1>2 Election",
                                    "step",      "return 2>3 Election",
                                    "step",      "lose 1>2 Election",
                                    NULL};
static const story asked = {"algorithm", "raft",          "nodes",    "3",    "leader",   "1",
                            "fact",      "2:log-index=4", "resource", "3",    "transfer", "2@5,3@500",
                            "jump",      "1@2=+1",        "until",    "1000", NULL};

static const story *const stories[] = {&ring,  &busy_ring,     &endless_ring, &bully,       &split,
                                       &lossy, &paused,        &comeback,     &interrupted, &alone,
                                       &crowd, &scripted_ring, &asked};
enum { STORIES = sizeof stories / sizeof *stories };

struct run {
    struct sim_settings settings;
    struct sim_plan plan;
    struct sim_world *world;
    const struct sim_trace *trace;
};

static inline void begin(struct run *run, const story told)
{
    struct sim_error error;
    *run = (struct run){0};
    for (int i = 0; told[i]; i += 2) assert_true(sim_settings_add(&run->settings, told[i], told[i + 1], 0, 0));
    if (sim_plan_build(&run->plan, &run->settings, &error) != 0) fail_msg("%s", error.text);
}

static inline void finish(struct run *run)
{
    run->world = sim_world_new(&run->plan, SIM_KEEP_ALL);
    assert_non_null(run->world);
    sim_world_run(run->world);
    run->trace = sim_world_trace(run->world);
}

static inline void tell(struct run *run, const story told)
{
    begin(run, told);
    finish(run);
}

static inline void forget(struct run *run)
{
    sim_world_free(run->world);
    sim_plan_free(&run->plan);
    sim_settings_free(&run->settings);
}

typedef int writer(FILE *out, const struct sim_world *world);

/* What the writer writes; the caller frees it. */
static inline char *text_of(writer *write, const struct run *run)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(write(file, run->world), 0);
    const long size = ftell(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static inline int count(const char *text, const char *part)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) found++;
    return found;
}

static inline int count_records(const struct run *run, enum sim_what what)
{
    int found = 0;
    for (uint64_t i = 1; i <= run->trace->count; i++) found += sim_trace_at(run->trace, i)->what == what;
    return found;
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

/* ---- XML, by hand ---- */

enum { DEPTH_MAX = 16 };

static inline void assert_entities(const char *text)
{
    for (const char *at = text; (at = strchr(at, '&')); at++)
        if (strncmp(at, "&amp;", 5) != 0 && strncmp(at, "&lt;", 4) != 0 && strncmp(at, "&gt;", 4) != 0 &&
            strncmp(at, "&quot;", 6) != 0 && strncmp(at, "&#39;", 5) != 0)
            fail_msg("a bare & before %.40s", at);
}

/* The end of a tag, past its attributes, in which a < is never bare. */
static inline const char *tag_end(const char *at)
{
    for (bool quoted = false; quoted || *at != '>'; at++) {
        if (!*at || *at == '<') fail_msg("a tag that does not end");
        if (*at == '"') quoted = !quoted;
    }
    return at;
}

static inline void assert_well_formed(const char *text)
{
    const char *open[DEPTH_MAX] = {NULL};
    size_t depth = 0, elements = 0;
    assert_entities(text);
    for (const char *at = text; (at = strchr(at, '<')); elements++) {
        const char *name = ++at, *end = tag_end(at);
        at = end;
        if (*name == '?' || end[-1] == '/') continue;
        if (*name != '/') {
            assert_true(depth < DEPTH_MAX);
            open[depth++] = name;
            continue;
        }
        const size_t length = (size_t)(end - name) - 1;
        if (depth == 0) {
            fail_msg("</%.*s> closes nothing", (int)length, name + 1);
            return;
        }
        depth--;
        if (!open[depth] || strncmp(open[depth], name + 1, length) != 0 || !strchr(" >", open[depth][length]))
            fail_msg("</%.*s> closes <%.20s", (int)length, name + 1, open[depth]);
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 10);
}

#endif
