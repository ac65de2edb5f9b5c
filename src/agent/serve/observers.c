/* Who observes which group: a list for each group, so that a change costs nothing for those who observe others. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/serve/internal.h"

static const uint32_t AWAITED = UINT32_MAX;

struct observation {
    struct observation *before, *after; /* of the same group, or in the bucket of names of groups to come */
    struct observation *next;           /* of the same client */
    struct connection *by;
    uint32_t number; /* of the leadership; AWAITED: there is none yet */
    char name[];     /* of a group that is awaited */
};

static uint32_t bucket_of(const char *name)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash % SERVE_AWAITED_BUCKETS;
}

static void link_to(struct observation **first, struct observation *one)
{
    one->before = NULL;
    one->after = *first;
    if (*first) (*first)->before = one;
    *first = one;
}

static void unlink_from(struct observation **first, struct observation *one)
{
    *(one->before ? &one->before->after : first) = one->after;
    if (one->after) one->after->before = one->before;
}

static bool make_room(struct serve *serve, uint32_t number)
{
    uint32_t room = serve->observers_room ? serve->observers_room : 64;
    if (number < serve->observers_room) return true;
    while (room <= number) room *= 2;
    struct observation **observers = realloc(serve->observers, room * sizeof(struct observation *));
    if (!observers) return false;
    memset(observers + serve->observers_room, 0, (room - serve->observers_room) * sizeof(struct observation *));
    serve->observers = observers;
    serve->observers_room = room;
    return true;
}

static struct observation *add(struct connection *c, const char *name)
{
    struct observation *one = calloc(1, sizeof *one + strlen(name) + 1);
    if (!one) return NULL;
    memcpy(one->name, name, strlen(name) + 1);
    one->by = c;
    one->next = c->observations;
    c->observations = one;
    c->user->taken[USER_OBSERVED]++;
    return one;
}

bool serve_observe(struct connection *c, const struct leadership *o)
{
    const bool has_room = make_room(c->serve, o->number) && number_set_add(&c->observed, o->number);
    struct observation *one = has_room ? add(c, "") : NULL;
    if (!one) return false;
    one->number = o->number;
    link_to(&c->serve->observers[o->number], one);
    return true;
}

bool serve_awaits(const struct connection *c, const char *group)
{
    const struct observation *one = c->serve->awaited[bucket_of(group)];
    while (one && (one->by != c || strcmp(one->name, group) != 0)) one = one->after;
    return one != NULL;
}

bool serve_await(struct connection *c, const char *group)
{
    struct observation *one = add(c, group);
    if (!one) return false;
    one->number = AWAITED;
    link_to(&c->serve->awaited[bucket_of(group)], one);
    c->awaited_count++;
    return true;
}

bool serve_observe_all(struct connection *c)
{
    const struct leaderships *leaderships = &c->serve->leaderships;
    for (uint32_t i = 0; i < leaderships->count; i++)
        if (!leadership_is_free(leadership_at(leaderships, i)) && !number_set_add(&c->leader_waits, i))
            return false;
    if (c->observes_all) return true;
    c->observes_all = true;
    c->user->observes_all++;
    c->next_of_all = c->serve->observers_of_all;
    c->serve->observers_of_all = c;
    c->serve->observers_of_all_count++;
    return true;
}

static void leave_all(struct connection *c)
{
    struct connection **at = &c->serve->observers_of_all;
    if (!c->observes_all) return;
    while (*at != c) at = &(*at)->next_of_all;
    *at = c->next_of_all;
    c->serve->observers_of_all_count--;
    c->user->observes_all--;
    c->observes_all = false;
}

/* `at`: where the client's list refers to it. */
static void end_observation(struct connection *c, struct observation **at)
{
    struct serve *serve = c->serve;
    struct observation *one = *at;
    *at = one->next;
    unlink_from(one->number == AWAITED ? &serve->awaited[bucket_of(one->name)] : &serve->observers[one->number],
                one);
    c->user->taken[USER_OBSERVED]--;
    if (one->number == AWAITED)
        c->awaited_count--;
    else
        number_set_remove(&c->observed, one->number);
    free(one);
}

void serve_stop_observing(struct connection *c)
{
    leave_all(c);
    while (c->observations) end_observation(c, &c->observations);
    number_set_clear(&c->observed);
}

void serve_unobserve(struct connection *c, const char *group)
{
    const struct leadership *o = serve_find_leadership(c->serve, group);
    struct observation **at = &c->observations;
    while (*at &&
           (o ? (*at)->number != o->number : (*at)->number != AWAITED || strcmp((*at)->name, group) != 0))
        at = &(*at)->next;
    if (*at) end_observation(c, at);
    if (o && !c->observes_all) number_set_remove(&c->leader_waits, o->number);
}

void serve_unobserve_all(struct connection *c)
{
    leave_all(c);
    for (uint32_t i = number_set_next(&c->leader_waits, 0); i != NUMBER_SET_NONE;
         i = number_set_next(&c->leader_waits, i + 1))
        if (!number_set_has(&c->observed, i)) number_set_remove(&c->leader_waits, i);
}

bool serve_meet(struct serve *serve, const struct leadership *o)
{
    struct observation **bucket = &serve->awaited[bucket_of(host_name(o->group))];
    for (struct observation *one = *bucket, *after; one; one = after) {
        after = one->after;
        if (strcmp(one->name, host_name(o->group)) != 0) continue;
        if (!make_room(serve, o->number) || !number_set_add(&one->by->observed, o->number)) return false;
        unlink_from(bucket, one);
        one->number = o->number;
        one->by->awaited_count--;
        link_to(&serve->observers[o->number], one);
    }
    return true;
}

void serve_tell_observers(struct serve *serve, const struct leadership *o)
{
    for (struct connection *c = serve->observers_of_all; c; c = c->next_of_all)
        connection_coalesce(c, &c->leader_waits, o);
    if (o->number >= serve->observers_room) return;
    for (struct observation *one = serve->observers[o->number]; one; one = one->after)
        connection_coalesce(one->by, &one->by->leader_waits, o);
}
