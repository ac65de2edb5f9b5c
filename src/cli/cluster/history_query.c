/* See history_query.h. */
#include "cli/cluster/history_query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "client/engine.h"

enum { LAST_MAX = 64 };

static bool read_last(const char *text, uint64_t *last)
{
    return units_number(text, LAST_MAX, last) && *last >= 1;
}

int history_query_read(struct history_query *p, int argc, char **argv, bool takes_last)
{
    const char *value;
    for (int i = 1; i < argc; i++) {
        if (cli_option(argc, argv, &i, "url", &value)) {
            if (!value) return cli_usage_error(p->verb, "--url needs unix:PATH: only an agent knows the past");
            p->url = value;
        } else if (cli_option(argc, argv, &i, "output", &value)) {
            if (!cli_output(p->verb, value, &p->json)) return CLI_USAGE;
        } else if (takes_last && strcmp(argv[i], "-n") == 0) {
            if (++i == argc || !read_last(argv[i], &p->last))
                return cli_usage_error(p->verb, "-n needs a number from 1 to %d", LAST_MAX);
        } else if (takes_last && cli_option(argc, argv, &i, "last", &value)) {
            if (!value || !read_last(value, &p->last))
                return cli_usage_error(p->verb, "--last needs a number from 1 to %d", LAST_MAX);
        } else if (argv[i][0] == '-' || p->group) {
            return cli_unknown(p->verb, p->run, argv[i]);
        } else {
            p->group = argv[i];
        }
    }
    if (!p->group) return cli_usage_error(p->verb, "which group? Try: elector %s billing", p->verb);
    if (!p->url) p->url = engine_usual_url();
    if (engine_url_flaw(p->url))
        return cli_usage_error(p->verb, "'%.200s': %s", p->url, engine_url_flaw(p->url));
    if (!engine_speaks_lines(p->url))
        return cli_usage_error(p->verb, "%s is no agent, and only an agent knows the past: --url unix:PATH",
                               p->url);
    return CLI_YES;
}

static json_t *complain(const struct history_query *p, const char *text, elector_status status, int *code)
{
    fprintf(stderr, "elector %s: %s\n", p->verb, text);
    *code = cli_status_code(status);
    return NULL;
}

json_t *history_query_ask(const struct history_query *p, int *code)
{
    struct json_lines *w = malloc(sizeof *w);
    char text[sizeof w->reason];
    json_t *answer = NULL, *request = json_pack("{si ss ss}", "id", 1, "op", p->verb, "group", p->group);
    if (!w || !request) {
        *code = cli_out_of_memory(p->verb);
        free(w);
        json_decref(request);
        return NULL;
    }
    if (p->last) json_object_set_new(request, "last", json_integer((json_int_t)p->last));
    elector_status status = json_lines_connect(w, p->url);
    if (status == ELECTOR_OK) {
        status = json_lines_ask(w, request, engine_until(LINES_ANSWER_MS), &answer);
        json_lines_close(w);
    } else {
        json_decref(request);
    }
    snprintf(text, sizeof text, "%s", w->reason);
    free(w);
    if (status == ELECTOR_OK && json_is_true(json_object_get(answer, "ok"))) {
        json_object_del(answer, "id");
        return answer;
    }
    if (status == ELECTOR_OK) status = json_lines_refusal(answer, text, sizeof text);
    json_decref(answer);
    return complain(p, text, status, code);
}

/* ---- Writing ---- */

const char *history_query_span(uint64_t us, char text[PAST_SPAN])
{
    const uint64_t s = us / 1000000;
    if (us == 0)
        snprintf(text, PAST_SPAN, "less than 1 µs");
    else if (us < 1000)
        snprintf(text, PAST_SPAN, "%" PRIu64 " µs", us);
    else if (us < 1000000)
        snprintf(text, PAST_SPAN, "%" PRIu64 ".%03" PRIu64 " ms", us / 1000, us % 1000);
    else if (s < 60)
        snprintf(text, PAST_SPAN, "%" PRIu64 ".%02" PRIu64 " s", s, us % 1000000 / 10000);
    else if (s < 3600)
        snprintf(text, PAST_SPAN, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(text, PAST_SPAN, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
    else
        snprintf(text, PAST_SPAN, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s / 3600 % 24);
    return text;
}

const char *history_query_time(const json_t *object, const char *name, char text[PAST_TIME])
{
    const char *at = json_lines_text(object, name, 27);
    snprintf(text, PAST_TIME, "?");
    if (at && strlen(at) == 27) snprintf(text, PAST_TIME, "%.10s %.12s", at, at + 11);
    return text;
}
