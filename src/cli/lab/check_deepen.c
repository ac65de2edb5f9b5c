/*
 * A question without bounds may never close. Its search goes from level to level for most of the budget. The rest goes to a
 * second search that looks further: bounded by terms if timers may fire at any moment, otherwise by time. Each bound that
 * closes is followed by the next.
 */
#include "base/clock.h"
#include "cli/lab/check.h"

/* Links must not keep order: soup and rounds take messages in any order. */
static bool can_go_further(const struct check_request *request)
{
    const struct check_config *config = &request->config;
    const bool is_bounded = config->terms || config->depth || config->flight || config->horizon ||
                            config->late || config->rounds || config->rates;
    return !is_bounded && config->seconds > 0 && config->properties & check_always &&
           !(config->algorithm->needs & (EL_NEEDS_FIFO | EL_NEEDS_HOP_ACKS | EL_NEEDS_TIMELY));
}

/*
 * With timers at any moment: terms up to the bound, and any loss and duplication. That contains what was asked, and has
 * fewer worlds, since nothing is ever taken out of flight. With ticks: so many of them, in rounds.
 */
static struct check_config bounded(const struct check_request *request, uint64_t bound)
{
    struct check_config config = request->config;
    config.properties &= check_always;
    if (request->further.in_rounds) {
        config.rounds = true;
        config.horizon = (uint32_t)bound;
    } else {
        config.budget[CHECK_LOSE] = config.budget[CHECK_DUPLICATE] = CHECK_ANY;
        config.terms = ((bound + 1) << config.algorithm->term_shift) - 1;
    }
    return config;
}

static uint64_t next_bound(const struct check_further *further)
{
    enum { TICKS_FIRST = 8, TICKS_MAX = 32768 };
    if (!further->in_rounds) return further->bound + 1;
    return further->bound == 0 ? TICKS_FIRST : further->bound < TICKS_MAX ? 2 * further->bound : 0;
}

/* A counterexample in rounds is one of the question: rounds only leave orders out. It becomes the answer. */
static void adopt(struct check_request *request, struct check_result *result, struct check_result *found)
{
    const struct check_config config = bounded(request, request->further.next);
    check_result_free(result);
    *result = *found;
    request->config.rounds = config.rounds;
    request->config.horizon = config.horizon;
    request->further.was_tried = false;
}

/* True if the next bound was exhausted, and nothing broke. */
static bool exhausts_next(struct check_request *request, double seconds, struct check_result *result)
{
    struct check_further *further = &request->further;
    struct check_config config = bounded(request, further->next);
    struct check_result deeper;
    config.seconds = seconds;
    check_run(&config, &deeper);
    if (deeper.verdict == CHECK_BROKEN && further->in_rounds) {
        adopt(request, result, &deeper);
        return false;
    }
    const bool holds = deeper.verdict == CHECK_HOLDS;
    snprintf(further->why, sizeof further->why, "%s",
             deeper.verdict == CHECK_BROKEN ? "it breaks, by faults that were not asked about" : deeper.text);
    if (holds) {
        further->bound = further->next;
        further->states = deeper.has_led ? deeper.states : 0;
    }
    check_result_free(&deeper);
    return holds;
}

static double now(void)
{
    return (double)clock_monotonic_ns() / (double)NS_PER_S;
}

static void go_further(struct check_request *request, double seconds, struct check_result *result)
{
    struct check_further *further = &request->further;
    const double end = now() + seconds;
    further->was_tried = true;
    while ((further->next = next_bound(further)) != 0 && exhausts_next(request, end - now(), result))
        if (now() >= end) break;
}

void check_deepen(struct check_request *request, struct check_result *result)
{
    struct check_config config = request->config;
    const bool can = can_go_further(request);
    if (can) config.seconds *= 0.6;
    check_run(&config, result);
    if (!can || result->verdict != CHECK_STOPPED || *config.interrupt) return;
    request->further.in_rounds = config.time == CHECK_TICKS;
    go_further(request, request->config.seconds - result->seconds, result);
}
