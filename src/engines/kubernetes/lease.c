/* See lease.h. */
#define _GNU_SOURCE
#include "engines/kubernetes/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char token_key[] = "elector/token", acquired_key[] = "elector/acquired",
                  value_key[] = "elector/value";
enum { US_PER_S = 1000000 };

/* ---- Times ---- */

void lease_write_time(uint64_t us, char text[LEASE_TIME_SIZE])
{
    const time_t seconds = (time_t)(us / US_PER_S);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || parts.tm_year > 8099) {
        text[0] = '\0';
        return;
    }
    const size_t size = strftime(text, LEASE_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + size, LEASE_TIME_SIZE - size, ".%06uZ", (unsigned)(us % US_PER_S));
}

/* A number of exactly so many digits, then this character; '\0' asks for none. */
static bool take(const char **at, int digits, char then, unsigned *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9') return false;
        *number = 10 * *number + (unsigned)(**at - '0');
    }
    return !then || *(*at)++ == then;
}

static bool take_zone(const char **at, int64_t *offset_s)
{
    unsigned hours, minutes;
    const char sign = *(*at)++;
    *offset_s = 0;
    if (sign == 'Z') return true;
    if (sign != '+' && sign != '-') return false;
    if (!take(at, 2, ':', &hours) || !take(at, 2, '\0', &minutes) || hours > 23 || minutes > 59) return false;
    *offset_s = (int64_t)(hours * 3600 + minutes * 60) * (sign == '+' ? 1 : -1);
    return true;
}

bool lease_read_time(const char *text, uint64_t *us)
{
    unsigned year, month, day, hour, minute, second, fraction;
    int64_t offset_s;
    const char *at = text;
    if (!take(&at, 4, '-', &year) || !take(&at, 2, '-', &month) || !take(&at, 2, 'T', &day)) return false;
    if (!take(&at, 2, ':', &hour) || !take(&at, 2, ':', &minute) || !take(&at, 2, '.', &second)) return false;
    if (!take(&at, 6, '\0', &fraction) || !take_zone(&at, &offset_s) || *at) return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    struct tm parts = {.tm_year = (int)year - 1900,
                       .tm_mon = (int)month - 1,
                       .tm_mday = (int)day,
                       .tm_hour = (int)hour,
                       .tm_min = (int)minute,
                       .tm_sec = (int)second};
    const int64_t seconds = (int64_t)timegm(&parts) - offset_s;
    if (seconds < 0 || parts.tm_mday != (int)day) return false; /* there is no 31st of April */
    *us = (uint64_t)seconds * US_PER_S + fraction;
    return true;
}

/* ---- Reading ---- */

/* Cut to what fits, at the beginning of a character, and without bytes that a terminal would obey. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t used = strnlen(from, size);
    if (used == size) {
        used--;
        while (used && ((unsigned char)from[used] & 0xc0) == 0x80) used--;
    }
    for (size_t i = 0; i < used; i++) to[i] = (unsigned char)from[i] < ' ' || from[i] == 127 ? '?' : from[i];
    to[used] = '\0';
}

/* NULL: there is none, or it is null. False: it is something else than a string. */
static bool text_of(const json_t *object, const char *name, const char **text)
{
    const json_t *value = json_object_get(object, name);
    *text = json_string_value(value);
    return !value || json_is_null(value) || *text;
}

static bool number_of(const json_t *object, const char *name, uint64_t *number)
{
    const json_t *value = json_object_get(object, name);
    *number = json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
    return !value || json_is_null(value) || (json_is_integer(value) && json_integer_value(value) >= 0);
}

/* A decimal number from 1 to LEASE_TOKEN_MAX - 1, so that there is one above it. */
static bool read_number(const char *text, uint64_t *number)
{
    uint64_t value = 0;
    if (!text || !*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        value = 10 * value + (uint64_t)(*text - '0');
        if (value >= LEASE_TOKEN_MAX) return false;
    }
    *number = value;
    return value > 0;
}

/* A token that cannot be read is not taken for none: the next one could be lower. */
static bool read_annotations(const json_t *annotations, const char *acquired, struct lease *lease)
{
    const char *token = json_string_value(json_object_get(annotations, token_key)),
               *given = json_string_value(json_object_get(annotations, acquired_key)),
               *value = json_string_value(json_object_get(annotations, value_key));
    if (json_object_get(annotations, token_key) && !read_number(token, &lease->token)) return false;
    lease->has_token = lease->token && lease->holder[0] && given && acquired && strcmp(given, acquired) == 0;
    if (lease->has_token && value) copy_text(lease->value, sizeof lease->value, value);
    return true;
}

static bool read_spec(const json_t *spec, struct lease *lease, const char **acquired)
{
    const char *holder, *renewed;
    if (spec && !json_is_object(spec)) return false;
    if (!text_of(spec, "holderIdentity", &holder) || !text_of(spec, "renewTime", &renewed) ||
        !text_of(spec, "acquireTime", acquired) ||
        !number_of(spec, "leaseDurationSeconds", &lease->duration_s) ||
        !number_of(spec, "leaseTransitions", &lease->transitions))
        return false;
    copy_text(lease->holder, sizeof lease->holder, holder ? holder : "");
    if (renewed && !lease_read_time(renewed, &lease->renewed_us)) return false;
    lease->was_held = *acquired || lease->holder[0];
    return lease->duration_s <= INT32_MAX && lease->transitions <= INT32_MAX;
}

bool lease_read(const json_t *object, struct lease *lease, const char **wrong)
{
    const json_t *metadata = json_object_get(object, "metadata");
    const char *name, *uid, *version, *acquired = NULL;
    *lease = (struct lease){0};
    *wrong = "it has no metadata with name, uid and resourceVersion";
    if (!text_of(metadata, "name", &name) || !text_of(metadata, "uid", &uid) ||
        !text_of(metadata, "resourceVersion", &version) || !name || !uid || !version)
        return false;
    if (strlen(name) > LEASE_NAME_MAX || strlen(uid) > LEASE_UID_MAX) return false;
    copy_text(lease->name, sizeof lease->name, name);
    copy_text(lease->uid, sizeof lease->uid, uid);
    *wrong = "its resourceVersion is no number from which a token can be made";
    if (!read_number(version, &lease->version)) return false;
    *wrong = "its spec is not that of coordination.k8s.io/v1";
    if (!read_spec(json_object_get(object, "spec"), lease, &acquired)) return false;
    *wrong = "its annotation elector/token is no number that can be a token";
    if (!read_annotations(json_object_get(metadata, "annotations"), acquired, lease)) return false;
    *wrong = NULL;
    return true;
}

bool lease_is_name(const char *name)
{
    const size_t size = strlen(name);
    if (size == 0 || size > LEASE_NAME_MAX) return false;
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) continue;
        const bool is_edge =
            i == 0 || i == size - 1 || name[i - 1] == '.' || name[i + 1] == '.'; /* of a part between dots */
        if ((c != '-' && c != '.') || is_edge) return false;
    }
    return true;
}

/* ---- Writing ---- */

json_t *lease_new(const char *name)
{
    return json_pack("{ss ss s{ss} s{}}", "apiVersion", "coordination.k8s.io/v1", "kind", "Lease", "metadata",
                     "name", name, "spec");
}

/* The object below this name, made if it is missing. Borrowed. */
static json_t *below(json_t *object, const char *name)
{
    json_t *inner = json_object_get(object, name);
    if (!json_is_object(inner) && json_object_set_new(object, name, json_object()) == 0)
        inner = json_object_get(object, name);
    return inner;
}

static bool set_text(json_t *object, const char *name, const char *text)
{
    return json_object_set_new(object, name, json_string(text)) == 0;
}

static bool set_number(json_t *object, const char *name, uint64_t number)
{
    return json_object_set_new(object, name, json_integer((json_int_t)number)) == 0;
}

/* leaseTransitions as client-go counts them: one more for each holder that is another than the last one. */
static bool set_spec(json_t *spec, const struct lease_change *change, const char *now)
{
    const char *before = json_string_value(json_object_get(spec, "holderIdentity"));
    const json_int_t transitions = json_integer_value(json_object_get(spec, "leaseTransitions"));
    const bool was_held = before || json_string_value(json_object_get(spec, "acquireTime"));
    const bool is_another = was_held && change->holder[0] && strcmp(before ? before : "", change->holder) != 0;
    const bool is_begun = change->token || !change->holder[0];
    return set_text(spec, "holderIdentity", change->holder) && set_text(spec, "renewTime", now) &&
           set_number(spec, "leaseDurationSeconds", change->duration_s) &&
           set_number(spec, "leaseTransitions", (uint64_t)(transitions + (is_another ? 1 : 0))) &&
           (!is_begun || set_text(spec, "acquireTime", now));
}

static bool set_value(json_t *annotations, const struct lease_change *change)
{
    const bool is_over = change->token || !change->holder[0] || (change->value && !change->value[0]);
    if (is_over) (void)json_object_del(annotations, value_key);
    return is_over || !change->value || set_text(annotations, value_key, change->value);
}

static bool set_token(json_t *annotations, const struct lease_change *change, const char *acquired)
{
    char text[24];
    uint64_t token = change->token, before;
    if (!token && !change->least) return true;
    if (!token && !read_number(json_string_value(json_object_get(annotations, token_key)), &before)) before = 0;
    if (!token) token = before > change->least ? before : change->least;
    snprintf(text, sizeof text, "%" PRIu64, token);
    if (!set_text(annotations, token_key, text)) return false;
    return !change->holder[0] || !acquired || set_text(annotations, acquired_key, acquired);
}

json_t *lease_changed(const json_t *object, const struct lease_change *change)
{
    char now[LEASE_TIME_SIZE];
    json_t *copy = json_deep_copy(object);
    json_t *spec = below(copy, "spec"), *annotations = below(below(copy, "metadata"), "annotations");
    lease_write_time(change->now_us, now);
    if (spec && annotations && set_text(copy, "apiVersion", "coordination.k8s.io/v1") &&
        set_text(copy, "kind", "Lease") && set_spec(spec, change, now) && set_value(annotations, change) &&
        set_token(annotations, change, json_string_value(json_object_get(spec, "acquireTime"))))
        return copy;
    json_decref(copy);
    return NULL;
}
