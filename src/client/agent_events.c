/* What the agent says: events, and answers to requests. All of it is checked before it is believed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/agent_engine.h"
#include "client/deadline_view.h"

enum { CANDIDATES_MAX = 256 }; /* more members than a cluster can have */

static elector_status nonsense(struct agent *a, const char *what)
{
    snprintf(a->json_lines.reason, sizeof a->json_lines.reason,
             "the agent at %s sent %s; is it of another version?", a->json_lines.path, what);
    return agent_lost(a);
}

/* ---- Events ---- */

/* null: there is no lease. */
static bool read_deadline(const json_t *event, uint64_t *deadline_ns)
{
    *deadline_ns = ENGINE_NEVER;
    return json_is_null(json_object_get(event, "deadline_ns")) ||
           json_lines_number(event, "deadline_ns", 1, deadline_ns);
}

static bool read_token(const json_t *event, uint64_t *token)
{
    return json_lines_number(event, "token", 1, token) && *token < ENGINE_TOKEN_END;
}

/* Absent, or without a page: lease events will renew the term. */
static bool read_slot(const struct agent *a, const json_t *event, uint32_t *slot)
{
    uint64_t number;
    *slot = ENGINE_NO_SLOT;
    if (!a->has_page || !json_object_get(event, "slot")) return true;
    if (!json_lines_number(event, "slot", 0, &number) || number >= DEADLINE_SLOTS) return false;
    *slot = (uint32_t)number;
    return true;
}

/* Null or absent: no leader. The texts are borrowed from the object. */
static bool read_leader(const json_t *from, elector_leader *leader)
{
    const json_t *who = json_object_get(from, "leader"), *value = json_object_get(from, "value");
    *leader = (elector_leader){.size = sizeof *leader, .name = "", .value = ""};
    if (who && !json_is_null(who)) {
        leader->name = json_lines_text(from, "leader", ELECTOR_NAME_MAX);
        if (!leader->name || !read_token(from, &leader->token)) return false;
    }
    if (value && !json_is_null(value)) {
        const char *text = json_lines_text(from, "value", ELECTOR_VALUE_MAX);
        if (!text) return false;
        if (leader->name[0]) leader->value = text;
    }
    return true;
}

static bool hear_leader(struct agent *a, const json_t *event, const char *group)
{
    elector_leader leader;
    if (!read_leader(event, &leader)) return false;
    engine_leader(a->base.owner, group, &leader);
    return true;
}

/* False: a field is missing or of the wrong kind. */
static bool hear_event(struct agent *a, const json_t *event, const char *name)
{
    elector *owner = a->base.owner;
    const char *group = json_lines_text(event, "group", ELECTOR_GROUP_MAX),
               *text = json_lines_text(event, "reason", 127), *cause = json_lines_text(event, "cause", 127);
    uint64_t token = 0, deadline_ns = 0;
    uint32_t slot;
    const bool moves = strcmp(name, "lease") == 0, begins = strcmp(name, "elected") == 0;
    const bool stops = strcmp(name, "stop") == 0, ends = strcmp(name, "lost") == 0;
    if (strcmp(name, "leader") == 0) return group && hear_leader(a, event, group);
    if (!moves && !begins && !stops && !ends) return true; /* an event of a later version */
    if (!group || !read_token(event, &token)) return false;
    if (!text) text = "the agent did not say why";
    const elector_reason reason = engine_reason(text);
    if (ends) {
        engine_lost(owner, group, token, reason, cause ? cause : text, reason != ELECTOR_REASON_RESIGNED);
        return true;
    }
    if (!read_deadline(event, &deadline_ns) || !read_slot(a, event, &slot)) return false;
    if (moves) engine_lease(owner, group, token, deadline_ns);
    if (begins) engine_elected(owner, group, token, deadline_ns, slot);
    if (stops) engine_stop(owner, group, token, deadline_ns, reason, text);
    return true;
}

/* ---- Answers ---- */

/* False: the agent has sent a page that we cannot use. */
static bool take_page(struct agent *a, bool is_given)
{
    const int fd = json_lines_take_passed(&a->json_lines);
    a->has_page = is_given && fd >= 0 && engine_page(a->base.owner, fd);
    if (fd >= 0) close(fd);
    return a->has_page || !is_given;
}

/* If the agent's page is unusable (another version), says hello again without one, so that lease events
 * come. */
static void hear_hello(struct agent *a, const json_t *answer)
{
    uint64_t version = 0;
    const char *member = json_lines_text(answer, "member", ELECTOR_NAME_MAX),
               *cluster = json_lines_text(answer, "cluster", ELECTOR_NAME_MAX);
    a->hello = 0;
    if (!json_lines_number(answer, "version", 1, &version) || version != 1) {
        snprintf(a->json_lines.reason, sizeof a->json_lines.reason,
                 "the agent at %s speaks another version of the protocol, not 1", a->json_lines.path);
        agent_lost(a);
    } else if (!take_page(a, json_is_true(json_object_get(answer, "page")))) {
        (void)agent_greet(a, false);
    } else {
        size_t i;
        const json_t *lack;
        engine_declare_realtime(a->base.owner, json_is_true(json_object_get(answer, "realtime")));
        engine_declare_store(a->base.owner, json_is_string(json_object_get(answer, "engine")));
        engine_declare_lack(a->base.owner, NULL);
        json_array_foreach(json_object_get(answer, "lacks"), i, lack)
        {
            if (json_is_string(lack)) engine_declare_lack(a->base.owner, json_string_value(lack));
        }
        engine_connected(a->base.owner, member ? member : "", cluster ? cluster : "");
    }
}

/* The first group of a status, if there is one. False: a field is missing or wrong. */
static bool read_candidates(const json_t *standing, struct queued *ticket)
{
    elector_candidate found[CANDIDATES_MAX];
    size_t count = 0, i;
    const json_t *one;
    json_array_foreach(standing, i, one)
    {
        const char *member = json_lines_text(one, "member", ELECTOR_NAME_MAX);
        const bool is_known = json_object_get(one, "priority") != NULL;
        uint64_t priority = 0;
        if (!member || count == CANDIDATES_MAX) return false;
        if (is_known && !json_lines_number(one, "priority", 0, &priority)) return false;
        found[count++] = (elector_candidate){.member = member, .priority = priority};
    }
    return ticket_set_candidates(ticket, found, count);
}

/* The answer to `status`, which elector_leader_of() and elector_candidates() send. False: a field is missing or
 * wrong. */
static bool read_status(const json_t *answer, struct queued *ticket)
{
    elector_leader leader = {.name = "", .value = ""};
    const json_t *groups = json_object_get(answer, "groups"), *known = json_array_get(groups, 0);
    const char *name = json_lines_text(known, "group", ELECTOR_GROUP_MAX);
    if (!json_is_array(groups)) return false;
    if (known && (!name || strcmp(name, ticket->group) != 0)) return false;
    if (known && !read_leader(known, &leader)) return false;
    if (ticket->done.call == ELECTOR_CALL_CANDIDATES)
        return read_candidates(json_object_get(known, "standing"), ticket);
    return ticket_set_leader(ticket, &leader);
}

static bool is_look(const struct queued *ticket)
{
    return ticket->group[0] &&
           (ticket->done.call == ELECTOR_CALL_NONE || ticket->done.call == ELECTOR_CALL_CANDIDATES);
}

static void complete(struct agent *a, const json_t *answer)
{
    struct queued *ticket = a->first;
    char text[400] = "";
    elector_status status = ELECTOR_OK;
    if (json_is_false(json_object_get(answer, "ok"))) {
        const char *error = json_lines_text(answer, "error", 64);
        status = json_lines_refusal(answer, text, sizeof text);
        if (ticket->done.call == ELECTOR_CALL_UNOBSERVE && error && strcmp(error, "unknown-op") == 0)
            status = ELECTOR_OK; /* the agent tells on, and tell_leader() drops it */
    } else if (is_look(ticket) && !read_status(answer, ticket)) {
        nonsense(a, "a status with a field missing or wrong");
        return; /* closing the engine completes the ticket */
    }
    a->first = ticket->next;
    if (!a->first) a->last = NULL;
    ticket->next = NULL;
    engine_done(a->base.owner, ticket, status, text);
}

/* An error without an id: the agent turns us away, or could not parse our request. */
static void hear_refusal(struct agent *a, const json_t *line)
{
    const elector_status status = json_lines_turned_away(&a->json_lines, line);
    engine_declare_store(a->base.owner, json_is_string(json_object_get(line, "engine")));
    agent_lost(a);
    if (status == ELECTOR_INVALID) engine_is_in_vain(a->base.owner);
}

/* Answers to `alive`, `stopped`, and ids that we never used, are ignored. */
static void hear_answer(struct agent *a, const json_t *line)
{
    const json_t *id = json_object_get(line, "id");
    const uint64_t number = json_is_integer(id) ? (uint64_t)json_integer_value(id) : 0;
    const bool to_hello = a->hello && number == a->hello;
    if ((!id || to_hello) && json_is_false(json_object_get(line, "ok")))
        hear_refusal(a, line);
    else if (to_hello)
        hear_hello(a, line);
    else if (a->first && number == a->first->done.id)
        complete(a, line);
}

bool agent_owes_answer(const struct agent *a)
{
    return a->hello || a->first;
}

int agent_hear(struct agent *a)
{
    json_t *line;
    const int got = json_lines_read(&a->json_lines, &line);
    if (got < 0) agent_lost(a);
    if (got <= 0) return got;
    const json_t *event = json_object_get(line, "event");
    a->heard_ns = clock_boottime_ns();
    if (json_is_string(event)) {
        if (!hear_event(a, line, json_string_value(event)))
            nonsense(a, "an event with a field missing or wrong");
    } else if (event || !json_is_boolean(json_object_get(line, "ok"))) {
        nonsense(a, "a line that is neither an answer nor an event");
    } else {
        hear_answer(a, line);
    }
    json_decref(line);
    return engine_is_gone(a->base.owner) ? -1 : 1;
}
