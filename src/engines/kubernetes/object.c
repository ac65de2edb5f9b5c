/* A group's Lease as last seen, and what is to be asked of the API server next. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log/log.h"
#include "engines/kubernetes/internal.h"

enum { RELEASED_S = 1, USUAL_DURATION_S = 15, NAME_MAX_SHOWN = 63 };
static const uint64_t clocks_differ =
    10 * NS_PER_S; /* at a first look, which has only the holder's clock to go by */

static bool is_ours(const struct object *p)
{
    return p->exists && p->lease.holder[0] && strcmp(p->lease.holder, p->k->identity) == 0;
}

static bool is_free(const struct object *p)
{
    return !p->exists || !p->lease.holder[0];
}

/* How long its holder may count on it. */
static uint64_t duration_ns(const struct object *p)
{
    return (p->lease.duration_s ? p->lease.duration_s : USUAL_DURATION_S) * NS_PER_S;
}

/* ---- To the machine ---- */

/* The holder says how long it counts on the Lease: candidates wait as long, if that is longer than our own time. */
static void set_lease_time(const struct object *p)
{
    const bool is_anothers = !is_free(p) && !is_ours(p);
    const uint64_t own = engine_ttl(p->k->engine), its = duration_ns(p);
    engine_set_time(p->k->engine, "lease", is_anothers && its > own ? its : own);
}

static struct el_msg about(const struct object *p, uint8_t kind)
{
    struct el_msg msg = {.kind = kind, .epoch = p->version};
    msg.subject = is_free(p) ? ENGINE_STORE : is_ours(p) ? ENGINE_SELF : ENGINE_OTHERS;
    msg.extra[1] = is_free(p)           ? 0
                   : is_ours(p)         ? p->token
                   : p->lease.has_token ? p->lease.token
                                        : p->holder_since;
    return msg;
}

static void tell(struct object *p, struct el_msg msg)
{
    p->told = p->version;
    set_lease_time(p);
    engine_answer(p->group, msg);
}

static void answer(struct object *p, uint8_t kind)
{
    struct el_msg msg = about(p, kind);
    msg.more = p->request.more;
    msg.extra[0] = p->request.extra[0];
    p->request.kind = 0;
    tell(p, msg);
}

/* ---- To those who look ---- */

static bool is_late(const struct object *p, uint64_t now)
{
    const uint64_t duration = duration_ns(p);
    return now > p->seen_ns && now - p->seen_ns > duration + duration / 10;
}

/* MEMBER_656c6563-...: ours have a uuid that begins with "elec". Others are called as they call themselves. */
static void name_holder(const char *holder, char name[NAME_MAX_SHOWN + 1])
{
    enum { UUID = 36 };
    const char *mark = strrchr(holder, '_');
    const bool is_elector = mark && strlen(mark + 1) == UUID && strncmp(mark + 1, "656c6563-", 9) == 0;
    size_t size = is_elector ? (size_t)(mark - holder) : strlen(holder);
    if (size > NAME_MAX_SHOWN) size = NAME_MAX_SHOWN;
    while (size && size < strlen(holder) && ((unsigned char)holder[size] & 0xc0) == 0x80) size--;
    memcpy(name, holder, size);
    name[size] = '\0';
}

static void show(struct object *p, uint64_t now)
{
    char name[NAME_MAX_SHOWN + 1];
    struct engine_candidate queue[2];
    uint32_t count = 0;
    p->is_shown_late = is_late(p, now);
    if (!is_free(p) && !p->is_shown_late) {
        name_holder(p->lease.holder, name);
        queue[count++] = (struct engine_candidate){name, p->lease.value,
                                                   is_ours(p)           ? p->token
                                                   : p->lease.has_token ? p->lease.token
                                                                        : 0,
                                                   is_ours(p)};
    }
    if (engine_group_stands(p->group) && !(count && is_ours(p)))
        queue[count++] = (struct engine_candidate){engine_member(p->k->engine), "", 0, true};
    engine_observed(p->group, queue, count);
}

void object_settle_age(struct object *p, uint64_t now)
{
    if (p->is_known && !is_free(p) && !p->is_shown_late && is_late(p, now)) p->is_news = true;
}

/* ---- What the store said ---- */

static void changed(struct object *p)
{
    p->version++;
    p->is_known = p->is_news = true;
    p->is_stale = p->is_wanted = false;
    p->seen_ns = clock_boottime_ns();
}

/* At a first look a Lease that was renewed long ago, even if clocks differ, has no leader to be shown. The machine does not go by it. */
static uint64_t age_at_first_look(const struct lease *lease)
{
    const uint64_t now = clock_wall_ns(), renewed = lease->renewed_us * NS_PER_US;
    return renewed && now > renewed + clocks_differ ? now - renewed - clocks_differ : 0;
}

static void say_replaced(const struct object *p, const struct lease *lease)
{
    const bool is_another = strcmp(lease->uid, p->lease.uid) != 0;
    log_event(LOG_WARN_LEVEL, engine_group_name(p->group), "its Lease %s: tokens go on above %" PRIu64,
              is_another ? "was deleted and made anew" : "was taken back to an earlier resourceVersion",
              p->highest);
}

/*
 * Newer is what has a higher resourceVersion; and what was asked for after all that we know, even if it has a lower one: then the
 * store was restored. An event is never that new.
 */
static bool is_newer(const struct object *p, const struct lease *lease, uint64_t sent_version)
{
    if (!p->is_known || lease->version > p->lease.version) return true;
    if (sent_version != p->version) return false;
    return !p->exists || lease->version < p->lease.version || strcmp(lease->uid, p->lease.uid) != 0;
}

static bool adopt(struct object *p, const json_t *object, uint64_t sent_version)
{
    struct lease lease;
    const char *wrong;
    if (!lease_read(object, &lease, &wrong)) {
        engine_trouble(p->k->engine, "the Lease %.100s of namespace %s is unusable: %s",
                       engine_group_name(p->group), p->k->namespace, wrong);
        p->not_before = clock_boottime_ns() + NS_PER_S;
        return false;
    }
    if (!is_newer(p, &lease, sent_version)) {
        if (sent_version == p->version || lease.version == p->lease.version) p->is_stale = p->is_wanted = false;
        return true;
    }
    const bool was_known = p->is_known,
               is_same_holder = p->exists && strcmp(lease.holder, p->lease.holder) == 0;
    const bool is_replaced =
        p->lease.uid[0] && (strcmp(lease.uid, p->lease.uid) != 0 || lease.version < p->lease.version);
    if (is_replaced) say_replaced(p, &lease);
    if (!is_same_holder) p->holder_since = lease.version;
    if (lease.token > p->highest) p->highest = lease.token;
    if (p->object) json_decref(p->object);
    p->object = json_incref((json_t *)(uintptr_t)object);
    p->lease = lease;
    p->exists = true;
    changed(p);
    const uint64_t age = was_known ? 0 : age_at_first_look(&lease);
    p->seen_ns = age < p->seen_ns ? p->seen_ns - age : 0;
    return true;
}

void object_take(struct object *p, const json_t *object, uint64_t sent_version)
{
    (void)adopt(p, object, sent_version);
    if (p->request.kind == LEASE_GET && sent_version != UINT64_MAX && !p->is_stale && p->is_known)
        answer(p, LEASE_GOT);
}

void object_take_missing(struct object *p, uint64_t sent_version)
{
    if (sent_version != UINT64_MAX && sent_version != p->version) {
        p->is_stale = true; /* something came meanwhile */
        return;
    }
    if (p->object) json_decref(p->object);
    p->object = NULL;
    if (p->exists || !p->is_known) {
        p->exists = false;
        changed(p);
    }
    p->is_stale = p->is_wanted = false;
    if (p->request.kind == LEASE_GET && sent_version != UINT64_MAX) answer(p, LEASE_GOT);
}

void object_saved(struct object *p, const struct call *call, const json_t *object)
{
    if (call->acquires) {
        p->token = call->acquires;
        if (p->token > p->highest) p->highest = p->token;
    }
    if (!adopt(p, object, call->version)) {
        p->is_stale = true;
        return;
    }
    if (call->value_of && p->value && p->value_of == call->value_of) {
        free(p->value);
        p->value = NULL;
    }
    /* An event of a later write may have come before this answer: then the version that the machine wrote is not the last. */
    struct lease lease;
    const char *wrong;
    const bool is_last = lease_read(object, &lease, &wrong) && p->exists && lease.version == p->lease.version;
    if (is_last && call->is_request && p->request.kind == LEASE_PUT) answer(p, LEASE_SAVED);
}

/* ---- What is asked next ---- */

static uint64_t next_token(const struct object *p)
{
    uint64_t token = p->lease.version;
    if (p->lease.token > token) token = p->lease.token;
    if (p->highest > token) token = p->highest;
    return token + 1;
}

static uint64_t wall_us(void)
{
    return clock_wall_ns() / NS_PER_US;
}

static void update(struct object *p, const struct lease_change *change, struct call call)
{
    call.verb = VERB_UPDATE;
    (void)kubernetes_call(p, &call, lease_changed(p->object, change));
}

static void empty_holder(struct object *p, bool is_request)
{
    const struct lease_change change = {
        .holder = "", .duration_s = RELEASED_S, .now_us = wall_us(), .least = p->highest};
    update(p, &change, (struct call){.is_request = is_request});
}

static void hold(struct object *p)
{
    const bool acquires = p->request.flags != 0;
    const struct lease_change change = {.holder = p->k->identity,
                                        .duration_s = p->k->ttl_s,
                                        .now_us = wall_us(),
                                        .token = acquires ? next_token(p) : 0,
                                        .least = p->token};
    if (acquires && change.token >= LEASE_TOKEN_MAX) {
        engine_trouble(p->k->engine,
                       "the Lease %.100s: its annotation elector/token is too high for another token",
                       engine_group_name(p->group));
        p->not_before = clock_boottime_ns() + NS_PER_S;
        return;
    }
    p->may_hold = true;
    update(p, &change, (struct call){.is_request = true, .acquires = change.token});
}

static void put(struct object *p)
{
    const bool gives_back = p->request.subject == ENGINE_STORE;
    if (p->request.epoch != p->version)
        answer(p, LEASE_CONFLICT);
    else if (!p->exists && gives_back)
        answer(p, LEASE_SAVED);
    else if (!p->exists)
        (void)kubernetes_call(p, &(struct call){.verb = VERB_CREATE}, lease_new(engine_group_name(p->group)));
    else if (gives_back)
        empty_holder(p, true);
    else
        hold(p);
}

static void write_value(struct object *p)
{
    const struct lease_change change = {.holder = p->k->identity,
                                        .duration_s = p->k->ttl_s,
                                        .now_us = wall_us(),
                                        .least = p->token,
                                        .value = p->value};
    if (is_ours(p) && p->token == p->value_of && engine_group_stands(p->group)) {
        update(p, &change, (struct call){.value_of = p->value_of});
        return;
    }
    free(p->value); /* of a tenure that is over */
    p->value = NULL;
}

static void read_it(struct object *p)
{
    (void)kubernetes_call(p, &(struct call){.verb = VERB_GET}, NULL);
}

static void begin_next(struct object *p)
{
    const bool is_certain = p->is_known && !p->is_stale;
    if (p->withdraws && is_certain && !is_ours(p)) p->withdraws = p->may_hold = false;
    const bool has_work = p->withdraws || p->request.kind || p->value;
    const bool must_look = p->is_stale || (p->withdraws && !is_certain);
    if (must_look || (!p->withdraws && p->request.kind == LEASE_GET) || (!has_work && p->is_wanted))
        read_it(p);
    else if (p->withdraws)
        empty_holder(p, false);
    else if (p->request.kind == LEASE_PUT)
        put(p);
    else if (p->value)
        write_value(p);
}

void object_work(struct object *p, uint64_t now, bool may_call)
{
    if (p->is_news) {
        p->is_news = false;
        show(p, now);
        if (p->told != p->version && engine_group_stands(p->group)) tell(p, about(p, LEASE_EVENT));
    }
    if (!may_call || p->call || p->k->flights >= KUBERNETES_FLIGHTS) return;
    if (now < p->not_before) {
        kubernetes_go_on_in(p->k, (p->not_before - now) / NS_PER_MS + 1);
        return;
    }
    begin_next(p);
}

void object_free(struct object *p)
{
    kubernetes_cancel(p->call);
    json_decref(p->object);
    free(p->value);
    free(p);
}
