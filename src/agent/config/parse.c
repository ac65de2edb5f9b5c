/*
 * Reads the file with inih, and stops at the first mistake. Section lines are handled here, because inih
 * truncates their names. Indentation has no meaning.
 */
#include "agent/config/config.h"

#include <errno.h>
#include <ini.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/internal.h"
#include "base/clock.h"

enum { SIZE_MAX_READ = 1 << 20 };

bool config_fail(struct config_reading *r, uint32_t line, const char *format, ...)
{
    if (r->failed) return false;
    r->failed = true;
    int used = line ? snprintf(r->text, r->size, "%s:%u: ", r->path, line)
                    : snprintf(r->text, r->size, "%s: ", r->path);
    if (used < 0 || (size_t)used >= r->size) return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->text + used, r->size - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Lines ---- */

static bool is_text(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7F) return false;
    return true;
}

/* Begins section "[name]", which a comment may follow. inih then sees an empty line. */
static void begin_section(struct config_reading *r, char *line)
{
    char *end = strchr(line, ']');
    const char *rest = end ? end + 1 + strspn(end + 1, " \t") : "";
    if (!end || (*rest && *rest != ';' && *rest != '#')) {
        config_fail(r, r->line, "a section is written as [agent] or [group NAME]");
    } else {
        *end = '\0';
        config_begin_section(r, line + 1);
    }
    line[0] = '\0';
}

/* The next line, trimmed. inih calls it in place of fgets; NULL ends the reading. */
static char *next_line(char *line, int room, void *stream)
{
    struct config_reading *r = stream;
    if (r->at == r->end || r->failed) return NULL;
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *from = r->at;
    r->at = end ? end + 1 : r->end;
    if (!end) end = r->end;
    r->line++;
    while (end > from && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t')) end--;
    while (from < end && (*from == ' ' || *from == '\t')) from++;
    const size_t length = (size_t)(end - from);
    line[0] = '\0';
    if (!is_text(from, length)) {
        config_fail(r, r->line, "this is not text; a configuration is a text file");
    } else if (length + 1 >= (size_t)room && *from != '#' && *from != ';') {
        config_fail(r, r->line, "a line that is no comment has at most %d characters, and this one has %zu",
                    room - 2, length);
    } else if (length + 1 < (size_t)room) {
        memcpy(line, from, length);
        line[length] = '\0';
    }
    if (line[0] == '[') begin_section(r, line);
    return line;
}

static int take(void *user, const char *section, const char *key, const char *value)
{
    (void)section;
    struct config_reading *r = user;
    return r->failed || config_read_key(r, key, value);
}

static void read_lines(struct config_reading *r)
{
    static const char bom[] = "\xEF\xBB\xBF";
    if (r->end - r->at >= 3 && memcmp(r->at, bom, 3) == 0) r->at += 3;
    const int wrong = ini_parse_stream(next_line, r, take, r);
    if (wrong < 0)
        config_fail(r, 0, "out of memory");
    else if (wrong > 0)
        config_fail(r, (uint32_t)wrong, "a line is [section], key = value, or a comment that begins with #");
}

/* ---- The whole file ---- */

static void set_defaults(struct config *config, const char *path)
{
    memset(config, 0, sizeof *config);
    snprintf(config->path, sizeof config->path, "%s", path);
    snprintf(config->socket, sizeof config->socket, "%s", "/run/elector/agent.sock");
    snprintf(config->state, sizeof config->state, "%s", "/var/lib/elector/elector.state");
    config->socket_mode = 0660;
    config->socket_per_user = 1024;
    config->candidacies_per_user = 16384;
    config->observed_per_user = 16384;
    config->value_bytes_per_user = 1 << 20;
    config->group_limit = 1 << 17;
    config->stop_timeout = 30 * NS_PER_S;
    config->forget_after = 3600 * NS_PER_S;
    config->guardian = true;
    config->seccomp = true;
    config->recorder = UINT64_C(4) << 20;
    config->drift = 10000;
    config->transmit_max = 10 * NS_PER_MS;
    config->http_is_default = config_http_of("7480", true, &config->http, NULL, 0);
    config->http_groups = 1000;
}

static bool parse(struct config *config, const char *path, const char *bytes, size_t byte_count, bool form_only,
                  bool is_patient, char *text, size_t size)
{
    if (size > 0) text[0] = '\0';
    set_defaults(config, path);
    struct config_reading *r = calloc(1, sizeof *r);
    if (!r) {
        snprintf(text, size, "out of memory");
        config_wipe(config);
        return false;
    }
    *r = (struct config_reading){.config = config,
                                 .path = path,
                                 .form_only = form_only,
                                 .is_patient = is_patient,
                                 .at = bytes,
                                 .end = bytes + byte_count,
                                 .text = text,
                                 .size = size};
    if (strlen(path) >= sizeof config->path) config_fail(r, 0, "that path is too long");
    if (!r->failed) read_lines(r);
    if (!r->failed) config_check(r);
    const bool good = !r->failed;
    free(r);
    if (!good) config_wipe(config);
    return good;
}

bool config_parse(struct config *config, const char *path, const char *bytes, size_t byte_count, bool form_only,
                  char *text, size_t size)
{
    return parse(config, path, bytes, byte_count, form_only, false, text, size);
}

static bool read_file(struct config *config, const char *path, bool is_patient, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    char *bytes = file ? malloc(SIZE_MAX_READ) : NULL;
    bool good = false;
    config_wipe(config);
    if (!file) {
        snprintf(text, size, "%s: cannot read it: %s", path, strerror(errno));
    } else if (!bytes) {
        snprintf(text, size, "out of memory");
    } else {
        const size_t count = fread(bytes, 1, SIZE_MAX_READ, file);
        if (ferror(file))
            snprintf(text, size, "%s: cannot read it: %s", path, strerror(errno));
        else if (count == SIZE_MAX_READ)
            snprintf(text, size, "%s: larger than a configuration may be (1 MiB)", path);
        else
            good = parse(config, path, bytes, count, false, is_patient, text, size);
    }
    free(bytes);
    if (file) fclose(file);
    return good;
}

bool config_read(struct config *config, const char *path, char *text, size_t size)
{
    return read_file(config, path, false, text, size);
}

bool config_read_patiently(struct config *config, const char *path, char *text, size_t size)
{
    return read_file(config, path, true, text, size);
}

void config_wipe(struct config *config)
{
    sodium_memzero(config, sizeof *config);
}

void config_forget_keys(struct config *config)
{
    sodium_memzero(config->secret_key, sizeof config->secret_key);
    sodium_memzero(config->cluster_keys, sizeof config->cluster_keys);
}

el_node config_position(const struct config *config, const char *member)
{
    for (uint32_t i = 0; i < config->member_count; i++)
        if (strcmp(config->members[i].name, member) == 0) return i + 1;
    return EL_NOBODY;
}
