/*
 * What the log and the peers are told of changes waits for some milliseconds: those who are to lead, or to be told that they do
 * not, hear of it first. To lay out a line and a statement takes longer than to win an election, and on a busy host the new
 * leader gets a processor only when its agent waits.
 */
#define _GNU_SOURCE
#include <string.h>

#include "agent/serve/internal.h"
#include "base/clock.h"

/* Tells the peers what this member alone knows of a change. */
static void state(const struct serve *serve, const char *group, const struct history_statement *statement)
{
    static const uint8_t kinds[] = {[HISTORY_STATES_BEGINNING] = EXCHANGE_BEGAN,
                                    [HISTORY_STATES_END] = EXCHANGE_ENDED,
                                    [HISTORY_STATES_GAP] = EXCHANGE_GAP};
    struct payload_entry entry = {
        .flags = kinds[statement->what], .term = statement->token, .span = statement->span_ns};
    snprintf(entry.text, sizeof entry.text, "%s", group);
    snprintf(entry.value, sizeof entry.value, "%s", statement->text);
    if (serve->exchange) exchange_state(serve->exchange, &entry, statement->at_ns);
}

void serve_tell_now(struct serve *serve)
{
    for (uint32_t i = 0; i < serve->untold_count; i++) {
        const struct serve_untold *one = &serve->untold[i];
        if (one->states)
            state(serve, one->group, &one->statement);
        else if (serve->on_step)
            serve->on_step(serve->on_step_context, one->step, one->group, &one->entry);
    }
    serve->untold_count = 0;
}

void serve_settle_later(struct serve *serve, const char *group, const struct history_entry *change)
{
    if (!serve->on_step || serve->unsettled_count == SERVE_UNSETTLED_MAX) return;
    struct serve_unsettled *one =
        &serve->unsettled[(serve->unsettled_first + serve->unsettled_count++) % SERVE_UNSETTLED_MAX];
    one->at_ns = host_clock(serve->host);
    one->change = *change;
    memcpy(one->group, group, strlen(group) + 1);
}

/* Returns when the next one will be settled; UINT64_MAX: none waits. */
static uint64_t tell_settled(struct serve *serve, uint64_t now_ns)
{
    for (; serve->unsettled_count; serve->unsettled_count--) {
        struct serve_unsettled *one = &serve->unsettled[serve->unsettled_first];
        if (now_ns < one->at_ns + HISTORY_SETTLED_S * NS_PER_S)
            return one->at_ns + HISTORY_SETTLED_S * NS_PER_S;
        history_complete(serve->leaderships.history, &one->change);
        serve->on_step(serve->on_step_context, SERVE_LEADER_SETTLED, one->group, &one->change);
        serve->unsettled_first = (serve->unsettled_first + 1) % SERVE_UNSETTLED_MAX;
    }
    return UINT64_MAX;
}

uint64_t serve_tell(struct serve *serve, uint64_t now_ns)
{
    if (serve->untold_count && now_ns >= serve->untold_until_ns) serve_tell_now(serve);
    const uint64_t settled = tell_settled(serve, now_ns);
    return serve->untold_count && serve->untold_until_ns < settled ? serve->untold_until_ns : settled;
}

/* If many change at once, all but the last few are told at once. */
static struct serve_untold *next_place(struct serve *serve, const char *group)
{
    if (serve->untold_count == SERVE_UNTOLD_MAX) serve_tell_now(serve);
    if (serve->untold_count == 0)
        serve->untold_until_ns = host_clock(serve->host) + SERVE_UNTOLD_MS * NS_PER_MS;
    struct serve_untold *one = &serve->untold[serve->untold_count++];
    memcpy(one->group, group, strlen(group) + 1);
    return one;
}

void serve_tell_later(struct serve *serve, const char *group, enum serve_step step,
                      const struct history_entry *entry)
{
    if (!serve->on_step) return;
    struct serve_untold *one = next_place(serve, group);
    one->states = false;
    one->step = step;
    one->entry = *entry;
}

void serve_state_later(struct serve *serve, const char *group, const struct history_statement *statement)
{
    if (!serve->exchange) return;
    struct serve_untold *one = next_place(serve, group);
    one->states = true;
    one->statement = *statement;
}
