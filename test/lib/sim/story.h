/* A story that chance tells, as the text of a plan: "raft; nodes 3; crash 2@7.5". */
#ifndef ELECTOR_TEST_LIB_SIM_STORY_H
#define ELECTOR_TEST_LIB_SIM_STORY_H

#include "lib/sim/bench.h"

static struct {
    struct sim_random dice;
    unsigned nodes;
    char text[BENCH_TEXT];
} story;

/* A run of as many members as `least` to `most`; what is told of it is still to come. */
static inline void begin_story(uint64_t run, uint64_t stream, unsigned least, unsigned most)
{
    sim_random_seed(&story.dice, run, stream);
    story.nodes = least + below(&story.dice, most - least + 1);
    story.text[0] = '\0';
}

__attribute__((format(printf, 1, 2))) static inline void tell(const char *format, ...)
{
    const size_t used = strlen(story.text);
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(story.text + used, sizeof story.text - used, format, arguments);
    va_end(arguments);
    assert_in_range(length, 0, sizeof story.text - used - 1);
}

static inline bool one_in(unsigned n)
{
    return below(&story.dice, n) == 0;
}

static inline unsigned member(void)
{
    return below(&story.dice, story.nodes) + 1;
}

#endif
