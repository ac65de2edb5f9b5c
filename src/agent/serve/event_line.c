/* Writes an event of a candidate as a line, neither by jansson nor by printf, because a new leader waits for it. Group names and
 * our reasons need no escaping. */
#define _GNU_SOURCE
#include <string.h>

#include "agent/serve/internal.h"
#include "core/machine.h"

enum { WORDS_MAX = 200, DIGITS_MAX = 20 };

static char *put_number(char *to, uint64_t number)
{
    char digits[DIGITS_MAX];
    uint32_t first = DIGITS_MAX;
    do digits[--first] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    memcpy(to, digits + first, DIGITS_MAX - first);
    return to + (DIGITS_MAX - first);
}

static char *put_word(char *to, const char *name, const char *word)
{
    return word ? stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(to, ",\""), name), "\":\""), word), "\"") : to;
}

size_t serve_write_event(const struct connection *c, const struct leadership *o,
                         const struct leadership_event *event, char line[SERVE_EVENT_MAX])
{
    static const char *const names[] = {[LEADERSHIP_ELECTED] = "elected",
                                        [LEADERSHIP_LEASE] = "lease",
                                        [LEADERSHIP_STOP] = "stop",
                                        [LEADERSHIP_LOST] = "lost"};
    el_require(!event->reason || strlen(event->reason) + (event->cause ? strlen(event->cause) : 0) < WORDS_MAX);
    char *to = stpcpy(stpcpy(line, "{\"event\":\""), names[event->type]);
    to = stpcpy(stpcpy(stpcpy(to, "\",\"group\":\""), host_name(o->group)), "\",\"token\":");
    to = put_number(to, event->token);
    if (event->type != LEADERSHIP_LOST) to = stpcpy(to, ",\"deadline_ns\":");
    if (event->type != LEADERSHIP_LOST)
        to = event->deadline_ns > INT64_MAX ? stpcpy(to, "null") : put_number(to, event->deadline_ns);
    if (event->type == LEADERSHIP_ELECTED && c->has_page && o->tenure->is_published)
        to = put_number(stpcpy(to, ",\"slot\":"), o->number);
    to = put_word(to, "reason", event->reason);
    to = put_word(to, "cause", event->reason ? event->cause : NULL);
    return (size_t)(stpcpy(to, "}") - line);
}
