/* `elector doctor` with the URL of a store: whether its engine is there, and whether the store answers it. */
#include <stdlib.h>

#include "cli/cluster/doctor/doctor.h"
#include "cli/cluster/status.h"
#include "client/engine.h"
#include "client/json_lines.h"

static elector_status ask_hello(struct json_lines *w, json_t **answer)
{
    return json_lines_ask(w, json_pack("{si ss si}", "id", 1, "op", "hello", "version", 1),
                          engine_until(LINES_ANSWER_MS), answer);
}

static void tell(struct doctor *d, const json_t *hello, const json_t *status, const char *path)
{
    const char *store = json_lines_text(hello, "engine", 63), *member = json_lines_text(hello, "member", 255);
    size_t led = 0, i;
    const json_t *group, *groups = json_object_get(status, "groups");
    json_array_foreach(groups, i, group) led += json_is_string(json_object_get(group, "leader"));
    doctor_say(d, FINE, "engine", "elector-engine was found and started; this host is %s to others",
               member ? member : "?");
    doctor_say(d, FINE, "store", "%s answers at %s; %zu of %zu known groups have a leader",
               store ? store : "it", path, led, json_array_size(groups));
}

void doctor_check_store(struct doctor *d, const char *url)
{
    char text[400];
    json_t *hello = NULL, *status = NULL;
    struct json_lines *w = calloc(1, sizeof *w);
    if (!w) return;
    elector_status got = json_lines_connect(w, url);
    if (got == ELECTOR_OK) got = ask_hello(w, &hello);
    const bool is_served = got == ELECTOR_OK && json_is_true(json_object_get(hello, "ok"));
    if (is_served) got = cli_ask_status(w, NULL, &status);
    if (got == ELECTOR_OK && !is_served) (void)json_lines_refusal(hello, text, sizeof text);
    if (is_served && got == ELECTOR_OK)
        tell(d, hello, status, w->path);
    else
        doctor_say(d, WRONG, "store", "%s", got == ELECTOR_OK ? text : w->reason);
    json_lines_close(w);
    json_decref(hello);
    json_decref(status);
    free(w);
}
