/*
 * A counterexample as a scenario of `elector sim`. The checker forgets what makes no difference: the age of
 * equal messages, messages to nodes that stay dead, moot messages. A script must name them, so this file
 * keeps track of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lab/check.h"

struct script {
    FILE *out;
    const struct check_request *request;
    struct el_msg *flight; /* as the simulator has them: in the order of sending */
    uint32_t count, room;
    bool dead[CHECK_NODES_MAX + 1];
};

static uint64_t id_of(const struct script *script, el_node node)
{
    return node ? el_id(&script->request->plan.cluster, node) : 0;
}

/* ---- What is in flight ---- */

static void put(struct script *script, const struct el_msg *msg)
{
    if (script->count == script->room) {
        const uint32_t room = script->room ? 2 * script->room : 64;
        struct el_msg *flight = realloc(script->flight, room * sizeof *flight);
        if (!flight) return; /* out of memory: the script is incomplete, and `elector sim` will refuse a step */
        script->flight = flight;
        script->room = room;
    }
    script->flight[script->count++] = *msg;
}

static bool is_like(const struct el_msg *a, const struct el_msg *b)
{
    return a->from == b->from && a->to == b->to && a->kind == b->kind;
}

/* The oldest equal message; *place is its place among those that look the same in a script. */
static uint32_t find(const struct script *script, const struct el_msg *msg, uint32_t *place)
{
    *place = 1;
    for (uint32_t i = 0; i < script->count; i++) {
        if (!is_like(&script->flight[i], msg)) continue;
        if (memcmp(&script->flight[i], msg, sizeof *msg) == 0) return i;
        ++*place;
    }
    *place = 1;
    return UINT32_MAX;
}

static void take(struct script *script, uint32_t at)
{
    if (at >= script->count || !script->flight) return;
    script->count--;
    memmove(script->flight + at, script->flight + at + 1, (script->count - at) * sizeof *script->flight);
}

/* Writes the fate of a message and which message it is. */
static void write_fate(struct script *script, const char *fate, const struct el_msg *msg)
{
    uint32_t place = 1;
    const uint32_t at = find(script, msg, &place);
    fprintf(script->out, "%s %" PRIu64 ">%" PRIu64 " %s", fate, id_of(script, msg->from),
            id_of(script, msg->to), script->request->plan.algorithm->kinds[msg->kind]);
    if (place > 1) fprintf(script->out, " #%u", place);
    if (strcmp(fate, "copy") == 0)
        put(script, msg);
    else
        take(script, at);
}

/* ---- Moves ---- */

static void write_timer(const struct script *script, const struct check_move *move)
{
    fprintf(script->out, "fire %" PRIu64 " %s", id_of(script, move->node),
            script->request->plan.algorithm->timers[move->timer]);
    if (move->slot) fprintf(script->out, ":%" PRIu64, id_of(script, move->slot));
}

static void write_event(struct script *script, const struct check_move *move)
{
    FILE *out = script->out;
    const uint64_t node = id_of(script, move->node), peer = id_of(script, move->peer);
    switch (move->type) {
    case CHECK_START: fprintf(out, "start %" PRIu64, node); return;
    case CHECK_CALL: fprintf(out, "campaign %" PRIu64, node); return;
    case CHECK_DELIVER: write_fate(script, "deliver", &move->msg); return;
    case CHECK_RETURN: write_fate(script, "return", &move->msg); return;
    case CHECK_DROP: write_fate(script, "lose", &move->msg); return;
    case CHECK_FIRE: write_timer(script, move); return;
    case CHECK_TELL_SUSPECT: fprintf(out, "suspect %" PRIu64 ":%" PRIu64, node, peer); return;
    case CHECK_TELL_TRUST: fprintf(out, "trust %" PRIu64 ":%" PRIu64, node, peer); return;
    case CHECK_DIE: fprintf(out, "crash %" PRIu64, node); return;
    case CHECK_REVIVE: fprintf(out, "restart %" PRIu64 "%s", node, move->wiped ? " wiped" : ""); return;
    case CHECK_STOP: fprintf(out, "pause %" PRIu64, node); return;
    case CHECK_GO_ON: fprintf(out, "resume %" PRIu64, node); return;
    case CHECK_ASK_RESIGN: fprintf(out, "resign %" PRIu64, node); return;
    case CHECK_ASK_TRANSFER: fprintf(out, "transfer %" PRIu64 " %" PRIu64, node, peer); return;
    case CHECK_INSTALL:
        fprintf(out, "fact %" PRIu64 ":%s=%" PRIu64, node,
                script->request->plan.algorithm->facts[script->request->plan.algorithm->record_fact],
                move->value);
        return;
    case CHECK_BREAK:
    case CHECK_PUT_OFF: return;
    case CHECK_TICK: fprintf(out, "wait %gms", (double)script->request->config.tick / 1e6); return;
    }
}

static void write_step(struct script *script, const char *fate, const struct el_msg *msg)
{
    fputs("step ", script->out);
    write_fate(script, fate, msg);
    fputc('\n', script->out);
}

static void write_move(struct script *script, const struct check_move *move)
{
    if (move->kept) write_step(script, "copy", &move->msg);
    fputs("step ", script->out);
    if (move->dying >= 0) fprintf(script->out, "dying=%d ", move->dying);
    for (uint8_t i = 0; i < move->choice_count; i++)
        fprintf(script->out, "%s%u%s", i ? "," : "choosing=", move->choices[i],
                i + 1 == move->choice_count ? " " : "");
    write_event(script, move);
    fputc('\n', script->out);
    for (uint32_t i = 0; i < move->shed_count; i++) write_step(script, "lose", &move->shed[i]);
}

/* Moves without a step: a script begins after the start, and delays and cuts show by when a message is
 * delivered or lost. */
static bool goes_without_saying(const struct check_move *move)
{
    return move->type == CHECK_START || move->type == CHECK_PUT_OFF || move->type == CHECK_BREAK ||
           (move->type == CHECK_DROP && move->kept);
}

static void follow(struct script *script, const struct check_move *move)
{
    for (uint32_t i = 0; i < move->sent_count; i++) put(script, &move->sent[i]);
    if (move->type == CHECK_REVIVE) script->dead[move->node] = false;
    if (move->type == CHECK_DIE || move->dying >= 0) script->dead[move->node] = true;
}

/* The world is at rest: messages still in flight reach nobody, or make no difference. */
static void clear_away(struct script *script)
{
    while (script->count > 0) {
        const struct el_msg msg = script->flight[0];
        write_step(script, script->dead[msg.to] ? "lose" : "deliver", &msg);
    }
}

static bool is_judged_at_rest(enum check_property property)
{
    return property == CHECK_AGREEMENT || property == CHECK_BEST || property == CHECK_GROUPS;
}

void check_write_moves(FILE *out, const struct check_request *request, const struct check_result *result)
{
    const struct check_path *path = &result->path;
    struct script script = {.out = out, .request = request};
    for (uint32_t i = 0; i < path->count; i++) {
        if (i == path->loop) fputs("step loop\n", out);
        if (!goes_without_saying(&path->moves[i])) write_move(&script, &path->moves[i]);
        follow(&script, &path->moves[i]);
    }
    if (is_judged_at_rest(result->broken)) clear_away(&script);
    free(script.flight);
}

/* ---- The scenario ---- */

/* The members, as given. A script uses only the bound of a delay. */
static void write_settings(FILE *out, const struct sim_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].key, "algorithm") == 0)
            fprintf(out, "algorithm %s\n", settings->list[i].value);
    for (size_t i = 0; i < settings->count; i++) {
        const char *key = settings->list[i].key;
        if (strcmp(key, "algorithm") == 0 || strcmp(key, "initiator") == 0) continue;
        fprintf(out, "%s %s\n", strcmp(key, "delay") == 0 ? "bound" : key, settings->list[i].value);
    }
}

static void write_clocks(FILE *out, const struct check_request *request, const struct check_path *path)
{
    const struct el_cluster *cluster = &request->plan.cluster;
    const double off = (double)cluster->drift / 1e6;
    bool any = false;
    for (el_node node = 1; node <= cluster->count; node++) {
        if (path->rates[node - 1] == 1) continue;
        fprintf(out, "%s%" PRIu64 "=%g", any ? "," : "clock ", el_id(cluster, node),
                path->rates[node - 1] == 0 ? 1 - off : 1 + off);
        any = true;
    }
    if (any) fputc('\n', out);
}

void check_write_scenario(FILE *out, const struct check_request *request, const struct check_result *result)
{
    fprintf(out, "# A counterexample to \"%s\", found by elector check: ", check_property_text(result->broken));
    check_write_bounds(out, request, result);
    fputs(".\n", out);
    write_settings(out, &request->settings);
    write_clocks(out, request, &result->path);
    fprintf(out, "script %s\n", request->config.time == CHECK_TICKS ? "ticks" : "steps");
    check_write_moves(out, request, result);
    fprintf(out, "expect broken %s\n", check_property_name(result->broken));
}
