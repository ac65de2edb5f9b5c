/* See candidates.h. */
#include "agent/serve/leadership/candidates.h"

#include <stddef.h>
#include <string.h>

struct leadership_candidate *candidate_at(const struct leadership *o, uint32_t piece)
{
    return slab_at(&o->all->slab, piece);
}

struct leadership_candidate *candidate_find(const struct leadership *o, const void *client)
{
    struct leadership_candidate *c = candidate_at(o, o->candidates);
    while (c && c->client != client) c = candidate_at(o, c->next);
    return c;
}

struct leadership_options *candidate_options(const struct leadership *o, const struct leadership_candidate *c)
{
    return slab_at(&o->all->slab, c->options);
}

uint64_t candidate_priority(const struct leadership *o, const struct leadership_candidate *c)
{
    const struct leadership_options *options = candidate_options(o, c);
    return options ? options->priority : 0;
}

uint32_t candidate_preempt_after(const struct leadership *o, const struct leadership_candidate *c)
{
    const struct leadership_options *options = candidate_options(o, c);
    return options ? options->preempt_after_ms : 0;
}

const char *candidate_value(const struct leadership *o, const struct leadership_candidate *c)
{
    const struct leadership_options *options = candidate_options(o, c);
    return options ? options->value : "";
}

static uint32_t units_with(const char *value)
{
    return slab_units(offsetof(struct leadership_options, value) + strlen(value) + 1);
}

static bool make_options(struct leadership *o, struct leadership_candidate *c, const char *value)
{
    c->options = slab_take(&o->all->slab, units_with(value));
    if (c->options) memcpy(candidate_options(o, c)->value, value, strlen(value));
    return c->options != 0;
}

void candidate_free(struct leadership *o, uint32_t piece)
{
    const struct leadership_candidate *c = candidate_at(o, piece);
    slab_give_back(&o->all->slab, c->options, units_with(candidate_value(o, c)));
    slab_give_back(&o->all->slab, piece, slab_units(sizeof *c));
}

/* 0: out of memory. */
uint32_t candidate_new(struct leadership *o, void *client, uint64_t priority, const char *value)
{
    const uint32_t piece = slab_take(&o->all->slab, slab_units(sizeof(struct leadership_candidate)));
    if (!piece) return 0;
    struct leadership_candidate *c = candidate_at(o, piece);
    c->client = client;
    if (priority == 0 && value[0] == '\0') return piece;
    if (make_options(o, c, value)) {
        candidate_options(o, c)->priority = priority;
        return piece;
    }
    candidate_free(o, piece);
    return 0;
}

/* By falling priority, after those of the same priority. */
void candidate_insert(struct leadership *o, uint32_t piece)
{
    struct leadership_candidate *c = candidate_at(o, piece);
    const bool did_wait = leadership_waits(o);
    uint32_t *at = &o->candidates;
    while (*at && candidate_priority(o, candidate_at(o, *at)) >= candidate_priority(o, c))
        at = &candidate_at(o, *at)->next;
    c->next = *at;
    *at = piece;
    o->candidate_count++;
    leadership_count_waiting(o, did_wait);
}

/* Its piece; 0: it is not in the list. */
uint32_t candidate_take_out(struct leadership *o, const struct leadership_candidate *c)
{
    uint32_t *at = &o->candidates;
    while (*at && candidate_at(o, *at) != c) at = &candidate_at(o, *at)->next;
    const uint32_t piece = *at;
    if (!piece) return 0;
    const bool did_wait = leadership_waits(o);
    *at = c->next;
    o->candidate_count--;
    leadership_count_waiting(o, did_wait);
    return piece;
}

/* Its place among those of the same priority stays, unless the priority changes. */
bool candidate_change(struct leadership *o, struct leadership_candidate *c, uint64_t priority,
                      const char *value)
{
    const struct leadership_candidate before = *c;
    const struct leadership_options *was = candidate_options(o, &before);
    const struct leadership_options kept = was ? *was : (struct leadership_options){0};
    const uint32_t units = units_with(candidate_value(o, &before));
    if (!make_options(o, c, value)) {
        c->options = before.options;
        return false;
    }
    struct leadership_options *options = candidate_options(o, c);
    options->priority = priority;
    options->preempt_after_ms = kept.preempt_after_ms;
    options->stop_within_ms = kept.stop_within_ms;
    if (before.options) slab_give_back(&o->all->slab, before.options, units);
    if (priority != kept.priority) candidate_insert(o, candidate_take_out(o, c));
    return true;
}

/* The options of a client that has entered, made if `is_needed`. NULL: it has none, or memory runs out. */
static struct leadership_options *options_for(struct leadership *o, const void *client, bool is_needed)
{
    struct leadership_candidate *c = candidate_find(o, client);
    if (!c || (!c->options && (!is_needed || !make_options(o, c, "")))) return NULL;
    return candidate_options(o, c);
}

void leadership_set_preempt_after(struct leadership *o, const void *client, uint32_t ms)
{
    struct leadership_options *options = options_for(o, client, ms > 0);
    if (!options) return;
    options->preempt_after_ms = ms;
    host_be_patient(o->group, candidate_preempt_after(o, candidate_at(o, o->candidates)));
}

void leadership_set_stop_within(struct leadership *o, const void *client, uint64_t ms)
{
    struct leadership_options *options = options_for(o, client, ms > 0);
    if (options) options->stop_within_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

size_t leadership_value_size(const struct leadership *o, const void *client)
{
    const struct leadership_candidate *c = candidate_find(o, client);
    return c ? strlen(candidate_value(o, c)) : 0;
}
