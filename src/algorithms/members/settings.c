/*
 * The settings of a record: lines `key=value`, by rising key. What they mean is the host's matter. Here a line has one way to
 * be written, and a key has one line.
 */
#include "algorithms/members/internal.h"

static bool is_text(const uint8_t *text, uint32_t size, bool is_key)
{
    for (uint32_t i = 0; i < size; i++)
        if (text[i] > '~' || text[i] < (is_key ? '!' : ' ') || (is_key && text[i] == '=')) return false;
    return true;
}

bool members_setting_is_valid(const struct members_setting *s)
{
    return s->key_size >= 1 && s->key_size <= MEMBERS_SETTING_KEY_MAX &&
           s->value_size <= MEMBERS_SETTING_VALUE_MAX && is_text(s->key, s->key_size, true) &&
           is_text(s->value, s->value_size, false);
}

/* Bytes of the line that begins at `at`, up to and with its end; and of its key. */
struct line {
    uint32_t at, size, key_size;
};

static struct line line_at(const struct members_record *r, uint32_t at)
{
    struct line line = {.at = at};
    while (at + line.size < r->settings_size && r->settings[at + line.size] != '\n') line.size++;
    while (line.key_size < line.size && r->settings[at + line.key_size] != '=') line.key_size++;
    line.size++;
    return line;
}

/* Below 0: a comes before b. */
static int compare(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size)
{
    for (uint32_t i = 0; i < a_size && i < b_size; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return a_size < b_size ? -1 : a_size > b_size;
}

static bool is_line(const struct members_record *r, struct line line)
{
    const uint8_t *text = r->settings + line.at;
    if (line.at + line.size > r->settings_size || line.key_size + 2 >= line.size) return false;
    const uint32_t value_size = line.size - line.key_size - 2;
    return line.key_size >= 1 && line.key_size <= MEMBERS_SETTING_KEY_MAX &&
           value_size <= MEMBERS_SETTING_VALUE_MAX && is_text(text, line.key_size, true) &&
           is_text(text + line.key_size + 1, value_size, false);
}

bool members_settings_are_valid(const struct members_record *r)
{
    if (r->settings_size > MEMBERS_SETTINGS_MAX) return false;
    struct line before = {0};
    for (uint32_t at = 0; at < r->settings_size; at = before.at + before.size) {
        const struct line line = line_at(r, at);
        if (!is_line(r, line)) return false;
        if (at && compare(r->settings + before.at, before.key_size, r->settings + at, line.key_size) >= 0)
            return false;
        before = line;
    }
    uint8_t any = 0;
    for (uint32_t i = r->settings_size; i < MEMBERS_SETTINGS_MAX; i++) any |= r->settings[i];
    return any == 0;
}

/* `taken` bytes at `at` give way to `given` others, which the caller writes. */
static void make_room(struct members_record *r, uint32_t at, uint32_t taken, uint32_t given)
{
    const uint32_t size = r->settings_size - taken + given;
    uint8_t *const to = r->settings + at + given, *const from = r->settings + at + taken;
    const uint32_t rest = r->settings_size - at - taken;
    for (uint32_t i = 0; i < rest && to < from; i++) to[i] = from[i];
    for (uint32_t i = rest; i > 0 && to > from; i--) to[i - 1] = from[i - 1];
    for (uint32_t i = size; i < r->settings_size; i++) r->settings[i] = 0;
    r->settings_size = size;
}

static void write_line(uint8_t *at, const struct members_setting *s)
{
    for (uint32_t i = 0; i < s->key_size; i++) at[i] = s->key[i];
    at[s->key_size] = '=';
    for (uint32_t i = 0; i < s->value_size; i++) at[s->key_size + 1 + i] = s->value[i];
    at[s->key_size + 1 + s->value_size] = '\n';
}

enum members_answer members_set(struct members_record *r, const struct members_setting *s)
{
    if (!members_setting_is_valid(s)) return MEMBERS_BAD_SETTING;
    struct line line = {0};
    int order = 1;
    while (line.at < r->settings_size) {
        line = line_at(r, line.at);
        order = compare(r->settings + line.at, line.key_size, s->key, s->key_size);
        if (order >= 0) break;
        line.at += line.size;
    }
    const bool is_there = line.at < r->settings_size && order == 0;
    const uint32_t taken = is_there ? line.size : 0,
                   given = s->value_size ? (uint32_t)s->key_size + s->value_size + 2 : 0;
    if (!is_there && given == 0) return MEMBERS_IS_SO_ALREADY;
    if (is_there && given == taken &&
        members_same(r->settings + line.at + line.key_size + 1, s->value, s->value_size))
        return MEMBERS_IS_SO_ALREADY;
    if (r->settings_size - taken + given > MEMBERS_SETTINGS_MAX) return MEMBERS_TOO_MANY_SETTINGS;
    make_room(r, line.at, taken, given);
    if (given) write_line(r->settings + line.at, s);
    return MEMBERS_DONE;
}
