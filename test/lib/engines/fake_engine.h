/*
 * An engine for tests of its adapters: groups by name, and what an adapter tells the engine, as text. To be included once, in place
 * of the engines room's own objects.
 */
#ifndef ELECTOR_TEST_LIB_ENGINES_FAKE_ENGINE_H
#define ELECTOR_TEST_LIB_ENGINES_FAKE_ENGINE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/engine.h"

struct host_group {
    char name[64];
    bool stands;
    void *data;
    struct host_group *next;
    struct el_msg told; /* the last that the machine was told */
};

static struct host_group *fake_groups;
static char fake_text[4096];

__attribute__((format(printf, 1, 2))) static inline void fake_say(const char *format, ...)
{
    const size_t used = strlen(fake_text);
    va_list arguments;
    va_start(arguments, format);
    if (used) snprintf(fake_text + used, sizeof fake_text - used, "; ");
    vsnprintf(fake_text + strlen(fake_text), sizeof fake_text - strlen(fake_text), format, arguments);
    va_end(arguments);
}

/* What was said since the last call. */
static inline const char *fake_said(void)
{
    static char said[sizeof fake_text];
    memcpy(said, fake_text, sizeof said);
    fake_text[0] = '\0';
    return said;
}

static inline struct host_group *fake_group(const char *name)
{
    struct host_group **at = &fake_groups;
    while (*at && strcmp((*at)->name, name) != 0) at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof **at)) == NULL) abort();
    snprintf((*at)->name, sizeof(*at)->name, "%s", name);
    return *at;
}

static inline void fake_end(void)
{
    for (struct host_group *group = fake_groups, *next; group; group = next) {
        next = group->next;
        free(group);
    }
    fake_groups = NULL;
    fake_text[0] = '\0';
}

/* ---- What the engine does ---- */

struct host_group *engine_known(const struct engine *engine, const char *name)
{
    (void)engine;
    for (struct host_group *group = fake_groups; group; group = group->next)
        if (strcmp(group->name, name) == 0) return group;
    return NULL;
}

/* As the real one, it refuses what is no name of a group. */
struct host_group *engine_meet(struct engine *engine, const char *name)
{
    (void)engine;
    return *name && strlen(name) < sizeof fake_groups->name && !strchr(name, ' ') ? fake_group(name) : NULL;
}

struct host_group *engine_next_group(const struct engine *engine, const struct host_group *after)
{
    (void)engine;
    return after ? after->next : fake_groups;
}

const char *engine_group_name(const struct host_group *group)
{
    return group->name;
}

bool engine_group_stands(const struct host_group *group)
{
    return group->stands;
}

void *engine_group_data(const struct host_group *group)
{
    return group->data;
}

void engine_group_set_data(struct host_group *group, void *data)
{
    group->data = data;
}

const char *engine_member(const struct engine *engine)
{
    (void)engine;
    return "me";
}

static el_duration fake_ttl = 5 * UINT64_C(1000000000);

el_duration engine_ttl(const struct engine *engine)
{
    (void)engine;
    return fake_ttl;
}

void engine_set_time(struct engine *engine, const char *option, el_duration time)
{
    (void)engine;
    fake_say("%s=%" PRIu64 "s", option, time / UINT64_C(1000000000));
}

void engine_answer(struct host_group *group, struct el_msg msg)
{
    group->told = msg;
    fake_say("%s: tell %u", group->name, msg.kind);
}

void engine_observed(struct host_group *group, const struct engine_candidate *queue, uint32_t count)
{
    fake_say("%s:", group->name);
    for (uint32_t i = 0; i < count; i++)
        snprintf(fake_text + strlen(fake_text), sizeof fake_text - strlen(fake_text), " %s%s %" PRIu64 "%s%s",
                 queue[i].name, queue[i].is_ours ? "*" : "", queue[i].token, queue[i].value[0] ? " " : "",
                 queue[i].value);
}

void engine_trouble(struct engine *engine, const char *format, ...)
{
    char text[ENGINE_TEXT];
    va_list arguments;
    (void)engine;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fake_say("trouble %s", text);
}

void engine_trouble_is_over(struct engine *engine)
{
    (void)engine;
}

void engine_hears_store(struct engine *engine)
{
    (void)engine;
}

void engine_is_ready(struct engine *engine)
{
    (void)engine;
    fake_say("ready");
}

void engine_has_left(struct engine *engine)
{
    (void)engine;
    fake_say("left");
}

void engine_set_worst_failover(struct engine *engine, el_duration time)
{
    (void)engine, (void)time;
}

#endif
