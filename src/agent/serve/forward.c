/*
 * Requests to depose or hand over that concern a leader elsewhere. This agent has checked the client's rights, and passes
 * the request on to the agent of the leader (agent/exchange). The client gets the answer when it comes, or one that says
 * that none came in time.
 */
#define _GNU_SOURCE
#include <string.h>

#include "agent/exchange/exchange.h"
#include "agent/serve/internal.h"
#include "base/clock.h"

/* ---- For clients here ---- */

static const char *name_of(const struct serve *serve, el_node member)
{
    return serve->config->members[member - 1].name;
}

static struct serve_forwarded *free_place(struct serve *serve)
{
    for (uint32_t i = 0; i < SERVE_FORWARDED_MAX; i++)
        if (!serve->forwarded[i].from) return &serve->forwarded[i];
    return NULL;
}

bool serve_forward(struct connection *c, const json_t *id, const struct leadership *o,
                   enum exchange_request what, el_node to)
{
    struct serve *serve = c->serve;
    const struct host_view view = host_view_of(o->group);
    char text[200];
    if (!serve->exchange || view.leader == EL_NOBODY || view.leader == serve->config->self) return false;
    if (!config_votes(serve->config, serve->config->self)) {
        snprintf(text, sizeof text,
                 "%s leads %s, and %s %s passes no requests on: ask the agent of a voter or a witness",
                 name_of(serve, view.leader), host_name(o->group),
                 config_is_candidate(serve->config, serve->config->self) ? "a" : "an",
                 config_role_name(serve->config->members[serve->config->self - 1].role));
        serve_refuse(c, id, "not-possible", text);
        return true;
    }
    struct payload_entry entry = {
        .flags = (uint8_t)what, .heir = to, .term = view.token, .user = c->who.uid, .length = 0};
    struct serve_forwarded *place = free_place(serve);
    uint32_t request;
    entry.length = (uint8_t)snprintf(entry.text, sizeof entry.text, "%s", host_name(o->group));
    if (!place || !exchange_ask(serve->exchange, host_clock(serve->host), view.leader, &entry, &request)) {
        serve_refuse(c, id, "too-many", "too many requests wait for answers of other agents: ask again in 2 s");
        return true;
    }
    *place = (struct serve_forwarded){
        .from = c, .request = request, .to = view.leader, .what = what, .id = id ? json_deep_copy(id) : NULL};
    snprintf(place->group, sizeof place->group, "%s", host_name(o->group));
    c->forwarded++;
    c->is_forwarded = true;
    return true;
}

static void free_forwarded(struct serve_forwarded *place)
{
    place->from->forwarded--;
    json_decref(place->id);
    *place = (struct serve_forwarded){0};
}

void serve_forget_forwarded(struct connection *c)
{
    struct serve *serve = c->serve;
    for (uint32_t i = 0; i < SERVE_FORWARDED_MAX && c->forwarded; i++) {
        if (serve->forwarded[i].from != c) continue;
        exchange_forget(serve->exchange, serve->forwarded[i].request);
        free_forwarded(&serve->forwarded[i]);
    }
}

static const struct {
    enum leadership_answer answer;
    enum exchange_outcome outcome;
} outcomes[] = {
    {LEADERSHIP_DONE, EXCHANGE_GRANTED},
    {LEADERSHIP_NOT_LEADING, EXCHANGE_NOT_LEADING},
    {LEADERSHIP_UNDER_WAY, EXCHANGE_UNDER_WAY},
    {LEADERSHIP_CANNOT, EXCHANGE_CANNOT},
    {LEADERSHIP_NOT_ELIGIBLE, EXCHANGE_NOT_ELIGIBLE},
    {LEADERSHIP_NOT_STANDING, EXCHANGE_NOT_STANDING},
    {LEADERSHIP_OUT_OF_TOUCH, EXCHANGE_OUT_OF_TOUCH},
    {LEADERSHIP_LEAVING, EXCHANGE_LEAVING},
    {LEADERSHIP_FAILED, EXCHANGE_FAILED},
};
enum { OUTCOMES = sizeof outcomes / sizeof *outcomes };

static void answer(const struct serve_forwarded *place, enum exchange_outcome outcome)
{
    const struct serve *serve = place->from->serve;
    const char *leader = name_of(serve, place->to);
    char text[200];
    for (size_t i = 0; i < OUTCOMES; i++) {
        if (outcomes[i].outcome != outcome) continue;
        serve_answer_as(place->from, place->id, place->group, leader, outcomes[i].answer);
        return;
    }
    if (outcome == EXCHANGE_NO_ANSWER)
        snprintf(
            text, sizeof text,
            "%s: no answer from %s, which leads, within %d s; it may be cut off, or of an earlier version: ask its "
            "own agent",
            place->group, leader, (int)EXCHANGE_ANSWER_WITHIN_S);
    else if (outcome == EXCHANGE_TOO_MANY)
        snprintf(text, sizeof text, "%s: %s gets too many requests from this agent: ask again in a second",
                 place->group, leader);
    else
        snprintf(text, sizeof text, "%s: %s takes no requests from this member, which has no vote",
                 place->group, leader);
    serve_refuse(place->from, place->id,
                 outcome == EXCHANGE_NO_ANSWER  ? "no-answer"
                 : outcome == EXCHANGE_TOO_MANY ? "too-many"
                                                : "not-permitted",
                 text);
}

void serve_answered(struct serve *serve, uint32_t request, enum exchange_outcome outcome)
{
    for (uint32_t i = 0; i < SERVE_FORWARDED_MAX; i++) {
        struct serve_forwarded *place = &serve->forwarded[i];
        if (!place->from || place->request != request) continue;
        answer(place, outcome);
        connection_wake(place->from);
        serve_audit_answer(place->from, place->what == EXCHANGE_TRANSFER ? "transfer" : "forced resign",
                           place->group);
        free_forwarded(place);
        return;
    }
}

/* ---- For clients of other agents ---- */

enum exchange_outcome serve_take_forwarded(struct serve *serve, const struct payload_entry *entry)
{
    const bool is_name = serve && group_name_is_valid(entry->text);
    struct leadership *o = is_name ? serve_find_leadership(serve, entry->text) : NULL;
    if (!o || !o->tenure->is_held || o->tenure->token != entry->term) return EXCHANGE_NOT_LEADING;
    enum leadership_answer said = LEADERSHIP_CANNOT;
    if (entry->flags == EXCHANGE_RESIGN)
        said = leadership_depose(o);
    else if (entry->flags == EXCHANGE_TRANSFER && entry->heir && entry->heir <= serve->config->member_count)
        said = leadership_transfer(o, entry->heir);
    serve_do_chores_soon(serve);
    for (size_t i = 0; i < OUTCOMES; i++)
        if (outcomes[i].answer == said) return outcomes[i].outcome;
    return EXCHANGE_CANNOT;
}
