/*
 * `elector doctor` of a store: asks the engine for its findings (`check` in docs/socket-protocol.md). An agent has none, and says so: that
 * is how it is told from an engine, whatever the URL.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cluster/doctor/doctor.h"
#include "cli/cluster/status.h"
#include "client/engine.h"
#include "client/json_lines.h"

enum { CHECK_MS = 15000 };

static elector_status ask(struct json_lines *w, json_t **answer)
{
    return json_lines_ask(w, json_pack("{si ss}", "id", 1, "op", "check"), engine_until(CHECK_MS), answer);
}

static enum verdict verdict_of(const char *name)
{
    static const char *const names[] = {"ok", "warning", "wrong"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return (enum verdict)i;
    return CANNOT_TELL;
}

/* Whether nothing was wrong. */
static bool tell_findings(struct doctor *d, const json_t *answer)
{
    const json_t *one;
    size_t i;
    bool is_well = true;
    json_array_foreach(json_object_get(answer, "checks"), i, one)
    {
        const enum verdict verdict = verdict_of(json_lines_text(one, "verdict", 16));
        const char *what = json_lines_text(one, "what", 255), *text = json_lines_text(one, "text", 1000);
        doctor_say(d, verdict, what ? what : "?", "%s", text ? text : "?");
        is_well = is_well && verdict != WRONG;
    }
    return is_well;
}

static void tell_groups(struct doctor *d, struct json_lines *w)
{
    json_t *status = NULL;
    const json_t *group;
    size_t led = 0, i;
    const bool is_told =
        cli_ask_status(w, NULL, &status) == ELECTOR_OK && json_is_true(json_object_get(status, "ok"));
    const json_t *groups = json_object_get(status, "groups");
    json_array_foreach(groups, i, group) led += json_is_string(json_object_get(group, "leader"));
    if (is_told)
        doctor_say(d, FINE, "groups", "%zu of %zu known groups have a leader", led, json_array_size(groups));
    json_decref(status);
}

static void tell(struct doctor *d, struct json_lines *w, const json_t *answer, const char *url)
{
    const char *store = json_lines_text(answer, "engine", 63), *member = json_lines_text(answer, "member", 255);
    if (engine_is_store(url))
        doctor_say(d, FINE, "engine", "elector-engine was found and started; this host is %s to others",
                   member ? member : "?");
    else
        doctor_say(d, FINE, "engine",
                   "%s serves the clients of this host by an engine of %s; it is %s to others", w->path,
                   store ? store : "a store", member ? member : "?");
    if (tell_findings(d, answer)) tell_groups(d, w);
}

enum behind doctor_behind(struct doctor *d, const char *url)
{
    char text[400];
    json_t *answer = NULL;
    const bool is_store = engine_is_store(url);
    enum behind behind = is_store ? BEHIND_STORE : BEHIND_NOBODY;
    struct json_lines *w = calloc(1, sizeof *w);
    if (!w) return behind;
    elector_status got = json_lines_connect(w, url);
    if (got == ELECTOR_OK) {
        got = ask(w, &answer);
        if (!is_store) behind = BEHIND_AGENT; /* until it says that it is an engine */
    }
    if (json_object_get(answer, "engine") && json_is_true(json_object_get(answer, "ok"))) {
        behind = BEHIND_STORE;
        doctor_check_clocks(d);
        tell(d, w, answer, url);
    } else if (is_store) {
        if (got == ELECTOR_OK) (void)json_lines_refusal(answer, text, sizeof text);
        doctor_check_clocks(d);
        doctor_say(d, WRONG, "engine", "%s", got == ELECTOR_OK ? text : w->reason);
    }
    json_lines_close(w);
    json_decref(answer);
    free(w);
    return behind;
}
