/* Answers `history` and `why` from the history, one bounded line each. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "agent/history/history.h"
#include "agent/serve/internal.h"
#include "base/clock.h"

/* Both clocks at one instant, to convert CLOCK_BOOTTIME to the present wall clock. */
struct clocks {
    uint64_t boot_ns, wall_ns;
};

static struct clocks read_clocks(const struct serve *serve)
{
    return (struct clocks){host_clock(serve->host), clock_wall_ns()};
}

static json_t *wall_time(struct clocks now, uint64_t at_ns)
{
    const uint64_t wall_ns = now.wall_ns - (now.boot_ns - at_ns);
    const time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm parts;
    char text[64];
    size_t used = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
    snprintf(text + used, sizeof text - used, ".%06uZ", (unsigned)(wall_ns % NS_PER_S / NS_PER_US));
    return json_string(text);
}

static json_t *micros(uint64_t ns)
{
    return ns == UINT64_MAX ? json_null() : json_integer((json_int_t)(ns / NS_PER_US));
}

static json_t *describe(const struct serve *serve, struct clocks now, const struct history_tenure *t)
{
    const uint64_t until = t->ended_ns ? t->ended_ns : now.boot_ns;
    if (t->leader == EL_NOBODY) return json_null();
    return json_pack("{so sI so so ss so* so so so* so*}", "leader",
                     serve_text(serve->config->members[t->leader - 1].name), "token", (json_int_t)t->token,
                     "at", wall_time(now, t->began_ns), "age_us", micros(now.boot_ns - t->began_ns), "began",
                     history_beginning_word(t->began), "ended",
                     t->ended_ns ? json_string(history_end_word(t->ended)) : json_null(), "led_us",
                     micros(until - t->began_ns), "nobody_us", micros(t->nobody_ns), "detail",
                     t->ended_ns && t->detail ? serve_text(t->detail) : NULL, "led_at_most",
                     t->ended_ns && t->is_led_at_most ? json_true() : NULL);
}

static json_t *begin_line(const struct serve *serve, const char *group)
{
    const struct config *config = serve->config;
    return json_pack("{sb ss so}", "ok", 1, "group", group, "member",
                     serve_text(config->members[config->self - 1].name));
}

bool serve_remembers(const struct serve *serve, const char *group)
{
    struct history_tenure last;
    const struct history *history = serve->leaderships.history;
    return serve_find_leadership(serve, group) ||
           (history && history_tenures(history, history_group(group), &last, 1) > 0);
}

json_t *serve_history(const struct serve *serve, const char *group, uint32_t most)
{
    struct history_tenure tenures[SERVE_HISTORY_MAX];
    const struct clocks now = read_clocks(serve);
    const struct history *history = serve->leaderships.history;
    const uint32_t count = history ? history_tenures(history, history_group(group), tenures, most) : 0;
    json_t *line = begin_line(serve, group), *list = json_array();
    for (uint32_t i = 0; list && i < count; i++) json_array_append_new(list, describe(serve, now, &tenures[i]));
    if (line && history) json_object_set_new(line, "since", wall_time(now, history_since(history)));
    if (line) json_object_set(line, "tenures", list);
    json_decref(list);
    return line;
}

static json_t *describe_step(const struct serve *serve, const struct history_story *story,
                             const struct history_entry *step)
{
    char text[HISTORY_TEXT];
    history_sentence(serve->config, step, text);
    json_t *object = json_pack("{sI ss so}", "us", (json_int_t)((step->at_ns - story->first_ns) / NS_PER_US),
                               "by", history_kind_word(step->what), "text", serve_text(text));
    if (object && step->what == HISTORY_NOTE)
        json_object_set_new(object, "note", json_string(step->by->notes[step->note].name));
    if (object && step->times > 1) json_object_set_new(object, "times", json_integer(step->times));
    return object;
}

json_t *serve_why(const struct serve *serve, const char *group)
{
    struct history_story story;
    const struct clocks now = read_clocks(serve);
    const struct history *history = serve->leaderships.history;
    json_t *line = begin_line(serve, group), *steps = json_array();
    if (!history || !history_tell(history, history_group(group), &story)) story = (struct history_story){0};
    for (uint32_t i = 0; steps && i < story.count; i++)
        json_array_append_new(steps, describe_step(serve, &story, &story.steps[i]));
    if (line) {
        json_object_set_new(line, "before", describe(serve, now, &story.before));
        json_object_set_new(line, "after", describe(serve, now, &story.after));
        json_object_set(line, "steps", steps);
        json_object_set_new(line, "left_out", json_integer(story.left_out));
    }
    json_decref(steps);
    return line;
}
