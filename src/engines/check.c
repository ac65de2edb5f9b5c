/*
 * What `elector doctor` is told of a store. The adapter asks (store_kind.check), and this keeps what it found: for a second, so that
 * many who ask at once cost the store one check.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engines/internal.h"

enum { FOUND_MAX = 100, WITHIN_S = 12, SOON_DAYS = 30, DAY_S = 24 * 3600 };

/* A server's words need not be UTF-8. */
static json_t *text_of(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
    json_t *all = json_string(text);
    if (all) return all;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    return json_string(text);
}

void engine_found(struct engine *engine, enum engine_verdict verdict, const char *what, const char *format, ...)
{
    static const char *const names[] = {"ok", "warning", "wrong", "unknown"};
    char about[80], text[ENGINE_TEXT];
    va_list arguments;
    if (!engine->is_checking || json_array_size(engine->findings) >= FOUND_MAX) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(about, sizeof about, "%s", what);
    (void)json_array_append_new(engine->findings, json_pack("{ss so so}", "verdict", names[verdict], "what",
                                                            text_of(about), "text", text_of(text)));
}

void engine_found_certificate(struct engine *engine, const char *whose, int64_t end_s)
{
    char day[32] = "?";
    struct tm parts;
    const time_t end = (time_t)end_s;
    const int64_t left_s = end_s - (int64_t)(clock_wall_ns() / NS_PER_S);
    if (end_s == 0) return;
    if (gmtime_r(&end, &parts)) strftime(day, sizeof day, "%Y-%m-%d", &parts);
    if (left_s <= 0)
        engine_found(engine, ENGINE_WRONG, "certificate", "%.250s has ended on %s: renew it", whose, day);
    else
        engine_found(engine, left_s < (int64_t)SOON_DAYS * DAY_S ? ENGINE_WARN : ENGINE_FINE, "certificate",
                     "%.250s ends on %s, in %" PRId64 " days%s", whose, day, left_s / DAY_S,
                     left_s < (int64_t)SOON_DAYS * DAY_S ? ": renew it" : "");
}

void engine_has_checked(struct engine *engine)
{
    if (!engine->is_checking) return;
    engine->is_checking = false;
    engine->checked_ns = clock_boottime_ns();
    if (engine->serve) serve_resume(engine->serve);
}

const json_t *engine_findings(void *context)
{
    struct engine *engine = context;
    const uint64_t now = clock_boottime_ns();
    if (engine->is_checking) return NULL;
    if (engine->findings && now - engine->checked_ns < NS_PER_S) return engine->findings;
    json_decref(engine->findings);
    engine->findings = json_array();
    engine->is_checking = engine->findings != NULL;
    engine->checked_ns = now;
    if (engine->is_checking) engine->kind->check(engine->opened);
    return NULL;
}

uint64_t engine_check_tick(struct engine *engine, uint64_t now)
{
    const uint64_t by = engine->checked_ns + WITHIN_S * NS_PER_S;
    if (!engine->is_checking) return UINT64_MAX;
    if (now < by) return by;
    engine_found(engine, ENGINE_UNKNOWN, "store", "not all was answered within %d s", (int)WITHIN_S);
    engine_has_checked(engine);
    return UINT64_MAX;
}
