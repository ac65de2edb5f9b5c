/* A group: the machine that stands for it, while a client here does, and what the store tells of the others. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log/log.h"
#include "engines/internal.h"

/* ---- The machine ---- */

static uint64_t machine_asks_now(void *context)
{
    return host_now(((struct host_group *)context)->host);
}

static uint64_t machine_asks_random(void *context)
{
    const struct host *host = ((struct host_group *)context)->host;
    return host->hooks.random(host->hooks.context);
}

/* Its record need not outlive this process: a session of an earlier process has another incarnation, and ends by itself. */
static void act(void *context, struct timed_machine *machine, const struct el_action *action)
{
    struct host_group *group = context;
    const struct engine *engine = group->host->engine;
    if (action->type == EL_SEND) {
        engine->kind->ask(engine->opened, group, &action->msg);
    } else if (action->type == EL_NOTE) {
        const struct host_note note = {
            machine->algorithm, action->note, {action->values[0], action->values[1]}};
        group->host->hooks.note(group->host->hooks.context, group, &note);
    }
}

static bool start(struct host_group *group)
{
    struct host *host = group->host;
    struct el_event begin = {.type = EL_START, .start = {.how = EL_RESTORED}};
    const struct timed_machine_owner owner = {group, machine_asks_now, machine_asks_random, act};
    if (!group->machine.state &&
        !timed_machine_init(&group->machine, host->engine->kind->algorithm, &host->cluster, ENGINE_SELF, owner))
        return false;
    timed_machine_reset(&group->machine);
    begin.start.durable.epoch = group->incarnation++;
    group->stands = true;
    timed_machine_step(&group->machine, &begin);
    return true;
}

static void stop(struct host_group *group)
{
    const struct engine *engine = group->host->engine;
    group->stands = false;
    timed_machine_reset(&group->machine);
    engine->kind->withdraw(engine->opened, group);
}

uint64_t engine_group_due(const struct host_group *group)
{
    const uint64_t due = group->stands ? group->machine.next_due : UINT64_MAX;
    return group->shown_role == EL_LEADER && group->shown_deadline < due ? group->shown_deadline : due;
}

void engine_group_fire(struct host_group *group, uint64_t now)
{
    bool has_fired = false;
    while (group->stands && timed_machine_fire(&group->machine, now)) has_fired = true;
    if (has_fired || (group->shown_role == EL_LEADER && group->shown_deadline <= now)) engine_group_show(group);
}

void engine_answer(struct host_group *group, struct el_msg msg)
{
    engine_group_fire(group, host_now(group->host)); /* a timer that is overdue comes before the answer */
    if (!group->stands) return;
    msg.from = ENGINE_STORE;
    msg.to = ENGINE_SELF;
    msg.spare = 0;
    timed_machine_step(&group->machine, &(struct el_event){.type = EL_MESSAGE, .msg = msg});
    engine_group_show(group);
}

/* ---- The view ---- */

/* The first of the queue, unless it is ours: whether we lead, our machine alone says. */
static const struct engine_candidate *foreign_leader(const struct host_group *group)
{
    return group->queued && !group->queue[0].is_ours ? &group->queue[0] : NULL;
}

struct host_view host_view_of(const struct host_group *group)
{
    struct host_view shown = {
        .role = EL_ELECTING, .value = "", .deadline_ns = UINT64_MAX, .lease_end_ns = UINT64_MAX};
    uint64_t bound = 0;
    const struct el_view own =
        group->stands ? timed_machine_view(&group->machine, &bound) : (struct el_view){.role = EL_IDLE};
    const uint64_t deadline = bound > group->host->margin ? bound - group->host->margin : 0;
    const struct engine_candidate *other = foreign_leader(group);
    if (own.role == EL_LEADER && deadline > host_now(group->host)) {
        shown.role = EL_LEADER;
        shown.leader = ENGINE_SELF;
        shown.token = own.term;
        shown.lease_end_ns = bound;
        shown.deadline_ns = deadline;
        const bool has_value = group->value && group->value_token == own.term;
        shown.value = has_value ? group->value : "";
        shown.value_number = has_value ? group->value_number : 0;
    } else if (other) {
        shown.role = EL_FOLLOWER;
        shown.leader = ENGINE_OTHERS;
        shown.token = other->token;
        shown.value = other->value;
        shown.value_number = group->value_number;
    } else if (!group->stands) {
        shown.role = EL_IDLE;
    }
    return shown;
}

void engine_group_show(struct host_group *group)
{
    const struct host_view now = host_view_of(group);
    if (now.role == group->shown_role && now.leader == group->shown_leader && now.token == group->shown_token &&
        now.deadline_ns == group->shown_deadline && now.value_number == group->shown_value)
        return;
    group->shown_role = now.role;
    group->shown_leader = now.leader;
    group->shown_token = now.token;
    group->shown_deadline = now.deadline_ns;
    group->shown_value = now.value_number;
    group->host->hooks.changed(group->host->hooks.context, group);
}

/* ---- What the store tells ---- */

static uint32_t next_number(uint32_t number)
{
    return number == UINT32_MAX ? 1 : number + 1;
}

static bool is_same(const struct engine_candidate *a, const struct engine_candidate *b)
{
    return a->token == b->token && a->is_ours == b->is_ours && strcmp(a->name, b->name) == 0 &&
           strcmp(a->value, b->value) == 0;
}

static const char *copy_text(char **room, const char *text)
{
    const size_t size = strlen(text) + 1;
    const char *copy = memcpy(*room, text, size);
    *room += size;
    return copy;
}

/* One block: the array, then its texts. */
static struct engine_candidate *copy_queue(const struct engine_candidate *queue, uint32_t count)
{
    size_t size = count * sizeof *queue;
    for (uint32_t i = 0; i < count; i++) size += strlen(queue[i].name) + strlen(queue[i].value) + 2;
    struct engine_candidate *copy = malloc(size ? size : 1);
    char *room = copy ? (char *)(copy + count) : NULL;
    for (uint32_t i = 0; room && i < count; i++) {
        copy[i] = queue[i];
        copy[i].name = copy_text(&room, queue[i].name);
        copy[i].value = copy_text(&room, queue[i].value);
    }
    return copy;
}

void engine_observed(struct host_group *group, const struct engine_candidate *queue, uint32_t count)
{
    const bool had = group->observed;
    const bool has_other_first =
        (count == 0) != (group->queued == 0) || (count && !is_same(&queue[0], &group->queue[0]));
    struct engine_candidate *copy = copy_queue(queue, count);
    if (!copy) return; /* what was known stays; the next change tries again */
    free(group->queue);
    group->queue = copy;
    group->queued = count;
    group->observed = true;
    if (has_other_first && !(group->shown_role == EL_LEADER))
        group->value_number = next_number(group->value_number);
    engine_group_show(group);
    if (!had && group->host->engine->serve) serve_resume(group->host->engine->serve);
}

const char *engine_leader_name(const struct host_group *group)
{
    return group->shown_leader == ENGINE_OTHERS && group->queued ? group->queue[0].name : NULL;
}

const char *engine_candidate_name(const struct host_group *group, uint32_t place)
{
    return place < group->queued ? group->queue[place].name : NULL;
}

/* ---- Requests of clients, for agent/host/host.h ---- */

void host_stand(struct host_group *group, bool stands, uint64_t priority)
{
    group->priority = stands ? priority : 0;
    if (stands == group->stands) return;
    if (!stands)
        stop(group);
    else if (!start(group))
        log_event(LOG_ERROR_LEVEL, group->name, "out of memory: cannot stand");
    engine_group_show(group);
}

enum el_answer host_resign(struct host_group *group)
{
    if (!group->stands) return EL_NOT_LEADING;
    struct timed_machine *machine = &group->machine;
    timed_machine_step(machine, &(struct el_event){.type = EL_REQUEST, .request = EL_RESIGN});
    const struct el_action *first = machine->out.actions;
    const bool declined = machine->out.count && first->type == EL_NOTE && first->note == EL_NOTE_DECLINED;
    const enum el_answer answer = declined ? (enum el_answer)first->values[1] : EL_PERFORMED;
    engine_group_show(group);
    return answer;
}

enum el_answer host_transfer(struct host_group *group, el_node to)
{
    (void)group, (void)to;
    return EL_UNKNOWN_HERE;
}

void host_proclaim(struct host_group *group, const char *value)
{
    const struct engine *engine = group->host->engine;
    const struct host_view view = host_view_of(group);
    if (view.role != EL_LEADER) return;
    char *copy = strdup(value);
    if (!copy) return;
    free(group->value);
    group->value = copy;
    group->value_token = view.token;
    group->value_number = next_number(group->value_number);
    engine->kind->proclaim(engine->opened, group, view.token, value);
    engine_group_show(group);
}

/* ---- Making and freeing ---- */

struct host_group *engine_group_make(struct host *host, const char *name, uint64_t key)
{
    struct host_group *group = calloc(1, sizeof *group);
    if (!group) return NULL;
    group->host = host;
    group->key = key;
    group->asked_ns = host_now(host);
    snprintf(group->name, sizeof group->name, "%s", name);
    group->shown_role = EL_IDLE;
    group->shown_deadline = UINT64_MAX;
    return group;
}

void engine_group_free(struct host_group *group)
{
    if (group->machine.state) timed_machine_free(&group->machine);
    free(group->queue);
    free(group->value);
    free(group);
}

/* ---- For adapters ---- */

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
