/* What is told of a group's past: its leaders, and why the last change came. One line each, and never a long one. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "agent/history/history.h"
#include "agent/serve/internal.h"

static const uint64_t SECOND = 1000000000, MICROSECOND = 1000;

/* Now, by both clocks: what was written by one is told by the other, as that one runs now. */
struct clocks {
    uint64_t boot_ns, wall_ns;
};

static struct clocks read_clocks(const struct control *control)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct clocks){host_clock(control->host), (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec};
}

static json_t *wall_time(struct clocks now, uint64_t at_ns)
{
    const uint64_t wall_ns = now.wall_ns - (now.boot_ns - at_ns);
    const time_t seconds = (time_t)(wall_ns / SECOND);
    struct tm parts;
    char text[64];
    size_t used = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
    snprintf(text + used, sizeof text - used, ".%06uZ", (unsigned)(wall_ns % SECOND / MICROSECOND));
    return json_string(text);
}

static json_t *micros(uint64_t ns)
{
    return ns == UINT64_MAX ? json_null() : json_integer((json_int_t)(ns / MICROSECOND));
}

static json_t *describe(const struct control *control, struct clocks now, const struct chronicle_tenure *t)
{
    const uint64_t until = t->ended_ns ? t->ended_ns : now.boot_ns;
    if (t->leader == EL_NOBODY) return json_null();
    return json_pack("{so sI so so ss so* so so}", "leader",
                     control_text(control->config->members[t->leader - 1].name), "token", (json_int_t)t->token,
                     "at", wall_time(now, t->began_ns), "age_us", micros(now.boot_ns - t->began_ns), "began",
                     chronicle_beginning_word(t->began), "ended",
                     t->ended_ns ? json_string(chronicle_end_word(t->ended)) : json_null(), "led_us",
                     micros(until - t->began_ns), "nobody_us", micros(t->nobody_ns));
}

static json_t *begin_line(const struct control *control, const struct office *o)
{
    const struct config *config = control->config;
    return json_pack("{sb ss so}", "ok", 1, "group", host_name(o->group), "member",
                     control_text(config->members[config->self - 1].name));
}

json_t *control_history(const struct control *control, const struct office *o, uint32_t most)
{
    struct chronicle_tenure tenures[CONTROL_HISTORY_MAX];
    const struct clocks now = read_clocks(control);
    const struct chronicle *chronicle = control->offices.chronicle;
    const uint32_t count =
        chronicle ? chronicle_tenures(chronicle, chronicle_group(host_name(o->group)), tenures, most) : 0;
    json_t *line = begin_line(control, o), *list = json_array();
    for (uint32_t i = 0; list && i < count; i++)
        json_array_append_new(list, describe(control, now, &tenures[i]));
    if (line && chronicle) json_object_set_new(line, "since", wall_time(now, chronicle_since(chronicle)));
    if (line) json_object_set(line, "tenures", list);
    json_decref(list);
    return line;
}

static json_t *describe_step(const struct control *control, const struct chronicle_story *story,
                             const struct chronicle_entry *step)
{
    char text[CHRONICLE_TEXT];
    chronicle_sentence(control->config, step, text);
    json_t *object = json_pack("{sI ss so}", "us", (json_int_t)((step->at_ns - story->first_ns) / MICROSECOND),
                               "by", chronicle_kind_word(step->what), "text", control_text(text));
    if (object && step->what == CHRONICLE_NOTE)
        json_object_set_new(object, "note", json_string(step->by->notes[step->note].name));
    if (object && step->times > 1) json_object_set_new(object, "times", json_integer(step->times));
    return object;
}

json_t *control_why(const struct control *control, const struct office *o)
{
    struct chronicle_story story;
    const struct clocks now = read_clocks(control);
    const struct chronicle *chronicle = control->offices.chronicle;
    json_t *line = begin_line(control, o), *steps = json_array();
    if (!chronicle || !chronicle_tell(chronicle, chronicle_group(host_name(o->group)), &story))
        story = (struct chronicle_story){0};
    for (uint32_t i = 0; steps && i < story.count; i++)
        json_array_append_new(steps, describe_step(control, &story, &story.steps[i]));
    if (line) {
        json_object_set_new(line, "before", describe(control, now, &story.before));
        json_object_set_new(line, "after", describe(control, now, &story.after));
        json_object_set(line, "steps", steps);
        json_object_set_new(line, "left_out", json_integer(story.left_out));
    }
    json_decref(steps);
    return line;
}
