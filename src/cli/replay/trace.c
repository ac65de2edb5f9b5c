/* Converts the story to records of the simulator. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/replay/recordings.h"
#include "sim/output/import.h"

enum { OPTIONS_MAX = 32 };

struct teller {
    struct recordings_story *story;
    struct sim_world *world;
    uint64_t epoch; /* when the story begins */
    uint64_t *told; /* [event_count]: the record of each; 0: none */
    struct {
        uint64_t record, at;
    } cause[CONFIG_MEMBERS_MAX + 1]; /* for each node, the record that its actions react to */
};

struct place { /* of an event, in the order of time */
    uint64_t at;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The record in which this message was sent: the one at the same place within the paired payload. */
static uint64_t sent_as(const struct teller *t, size_t index)
{
    const struct recordings_event *e = &t->story->events[index];
    const size_t heard = e->pair, sent = t->story->events[heard].pair;
    if (sent == 0) return 0;
    const size_t place = sent - 1 + (index - heard);
    if (place >= t->story->event_count || t->story->events[place].what != RECORDINGS_SENDS_MESSAGE) return 0;
    return t->story->events[place].pair == sent - 1 ? t->told[place] : 0;
}

static enum sim_what what_of(const struct recordings_event *e)
{
    switch ((enum recordings_what)e->what) {
    case RECORDINGS_ENDED: return SIM_CRASHED;
    case RECORDINGS_BEGAN: return SIM_RESTARTED;
    case RECORDINGS_SENDS_MESSAGE: return SIM_SENT;
    case RECORDINGS_HEARS_MESSAGE: return SIM_DELIVERED;
    case RECORDINGS_NOTES: return SIM_NOTED;
    case RECORDINGS_VIEWS: return SIM_VIEWED;
    case RECORDINGS_WRITES: return SIM_SAVED;
    case RECORDINGS_ASKED: return SIM_REQUESTED;
    case RECORDINGS_CALLED: return SIM_CAMPAIGNED;
    case RECORDINGS_SENDS:
    case RECORDINGS_HEARS: break;
    }
    return SIM_DID_NOTHING;
}

static uint64_t begin_of(const struct recordings_run *run)
{
    return run->report.began + (uint64_t)run->offset;
}

/* Whether the same member has a recording of an earlier life, or of a later one. */
static bool has_another_life(const struct recordings_story *story, uint32_t run, bool is_later)
{
    const struct recordings_run *r = &story->runs[run];
    for (uint32_t i = 0; i < story->run_count; i++) {
        const struct recordings_run *other = &story->runs[i];
        if (other->self != r->self) continue;
        if (is_later ? begin_of(other) > begin_of(r) : begin_of(other) < begin_of(r)) return true;
    }
    return false;
}

/* A recording may end because it was copied: then the member lives on, and the others' recordings end soon, too. */
static bool has_ended(const struct recordings_story *story, uint32_t run)
{
    const struct recordings_run *r = &story->runs[run];
    uint64_t last = 0;
    for (uint32_t i = 0; i < story->run_count; i++) {
        const uint64_t end = story->runs[i].report.ended + (uint64_t)story->runs[i].offset;
        if (story->runs[i].is_placed && end > last) last = end;
    }
    const uint64_t end = r->report.ended + (uint64_t)r->offset;
    return r->report.flags & RECORDER_CLOSED || last > end + NS_PER_S || has_another_life(story, run, true);
}

static bool is_worth_telling(const struct teller *t, const struct recordings_event *e, enum sim_what what)
{
    if ((what == SIM_CRASHED || what == SIM_RESTARTED) && t->story->runs[e->run].report.inputs == 0)
        return false; /* the file is a second behind, and has no time yet */
    if (what == SIM_CRASHED) return has_ended(t->story, e->run);
    if (what == SIM_RESTARTED) return has_another_life(t->story, e->run, false);
    if (what != SIM_SENT && what != SIM_DELIVERED) return what != SIM_DID_NOTHING;
    const struct sim_plan *plan = sim_world_plan(t->world);
    return e->kind >= 1 && e->kind <= plan->algorithm->kind_count && e->subject >= 1 &&
           e->subject <= plan->cluster.count;
}

static bool begins_something(enum sim_what what)
{
    return what == SIM_DELIVERED || what == SIM_REQUESTED || what == SIM_CAMPAIGNED || what == SIM_RESTARTED;
}

static bool tell(struct teller *t, size_t index)
{
    const struct recordings_event *e = &t->story->events[index];
    const el_node node = t->story->runs[e->run].self;
    const enum sim_what what = what_of(e);
    if (!is_worth_telling(t, e, what)) return true;
    struct sim_record record = {.time = e->at - t->epoch,
                                .number = e->number,
                                .values = {e->values[0], e->values[1]},
                                .node = node,
                                .peer = e->peer,
                                .subject = e->subject,
                                .note = e->note,
                                .what = (uint8_t)what,
                                .kind = e->kind,
                                .role = e->role};
    if (t->cause[node].at == e->at) record.cause = t->cause[node].record;
    if (what == SIM_DELIVERED) record.number = record.cause = sent_as(t, index);
    if (what == SIM_DELIVERED && record.number == 0) return true; /* its sender's recording is not here */
    t->told[index] = sim_import_record(t->world, &record);
    if (begins_something(what)) {
        t->cause[node].record = t->told[index];
        t->cause[node].at = e->at;
    }
    return t->told[index] != 0;
}

static bool tell_all(struct teller *t)
{
    struct recordings_story *story = t->story;
    struct place *order = calloc(story->event_count + 1, sizeof *order);
    bool is_good = order != NULL;
    for (size_t i = 0; is_good && i < story->event_count; i++)
        order[i] = (struct place){story->events[i].at, i};
    if (is_good) qsort(order, story->event_count, sizeof *order, compare);
    if (is_good && story->event_count) t->epoch = order[0].at;
    for (size_t i = 0; is_good && i < story->event_count; i++) {
        const bool is_placed = story->runs[story->events[order[i].index].run].is_placed;
        is_good = !is_placed || tell(t, order[i].index);
    }
    free(order);
    return is_good;
}

static void tell_violations(struct teller *t)
{
    static const enum el_violation kinds[] = {[RECORDINGS_SAME_TOKEN] = EL_SAME_TERM,
                                              [RECORDINGS_TOKEN_FELL] = EL_TOKEN_FELL,
                                              [RECORDINGS_OVERLAP] = EL_TWO_LEADERS};
    const struct recordings_story *story = t->story;
    for (uint32_t i = 0; i < story->violation_count && i < 16; i++) {
        const struct recordings_violation *v = &story->violations[i];
        if (v->one.group != story->group || v->other.began < t->epoch) continue;
        sim_import_violation(t->world, kinds[v->wrong], v->other.began - t->epoch, story->runs[v->one.run].self,
                             story->runs[v->other.run].self);
    }
}

struct sim_world *recordings_tell(struct recordings_story *story, const char *group, struct sim_plan *plan)
{
    static struct el_value values[OPTIONS_MAX];
    static uint64_t ids[CONFIG_MEMBERS_MAX], attributes[CONFIG_MEMBERS_MAX];
    static uint8_t roles[CONFIG_MEMBERS_MAX];
    static const char *names[CONFIG_MEMBERS_MAX];
    const struct config *config = recorder_config(story->runs[0].tape);
    const struct config_group *section = config_group_of(config, group);
    const struct el_algorithm *algorithm =
        section && section->algorithm ? section->algorithm : el_algorithm_named("quorum");
    if (algorithm->option_count > OPTIONS_MAX) return NULL;
    config_values(config->profile, section, algorithm, values);
    for (uint32_t i = 0; i < config->member_count; i++) {
        ids[i] = config->members[i].id;
        names[i] = config->members[i].name;
        roles[i] = EL_CANDIDATE;
    }
    *plan = (struct sim_plan){.algorithm = algorithm, .names = names, .unit = NS_PER_MS, .disk = {.max = 1}};
    plan->cluster = (struct el_cluster){.count = config->member_count,
                                        .ids = ids,
                                        .attributes = attributes,
                                        .roles = roles,
                                        .transmit_max = config->transmit_max,
                                        .process_max = CONFIG_PROCESS_MAX,
                                        .drift = config->drift,
                                        .options = values};
    struct teller t = {.story = story, .world = sim_import_new(plan)};
    t.told = calloc(story->event_count + 1, sizeof *t.told);
    const bool is_good = t.world && t.told && tell_all(&t);
    if (is_good) tell_violations(&t);
    free(t.told);
    if (is_good) return t.world;
    sim_world_free(t.world);
    return NULL;
}
