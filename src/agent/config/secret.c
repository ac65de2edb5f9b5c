/* Key files: base64, one key per line, readable by their owner only. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config/internal.h"

bool config_key_of(const char *text, uint8_t key[SEAL_KEY])
{
    size_t length = 0;
    const char *end = NULL;
    return sodium_base642bin(key, SEAL_KEY, text, strlen(text), NULL, &length, &end,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           *end == '\0' && length == SEAL_KEY && !sodium_is_zero(key, SEAL_KEY);
}

static bool is_private(int fd, const char *path, char *reason, size_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(reason, size, "%s: not a regular file; a key file must be one", path);
        return false;
    }
    if (status.st_mode & 077) {
        snprintf(reason, size, "%s: others may read this key file (mode %04o); chmod it to 0600 or 0400", path,
                 (unsigned)(status.st_mode & 07777));
        return false;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        snprintf(reason, size, "%s: this key file belongs to uid %u; chown it to uid %u", path,
                 (unsigned)status.st_uid, (unsigned)geteuid());
        return false;
    }
    return true;
}

/* Reads one line: a key, a comment or blank. False: it is none of these, or there are too many keys. */
static bool take_line(char *line, uint8_t (*keys)[SEAL_KEY], uint32_t most, uint32_t *count)
{
    size_t length = strcspn(line, "\r");
    line[length] = '\0';
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) line[--length] = '\0';
    line += strspn(line, " \t");
    if (*line == '\0' || *line == '#') return true;
    if (*count == most || !config_key_of(line, keys[*count])) return false;
    ++*count;
    return true;
}

static bool take_lines(char *bytes, const char *path, uint8_t (*keys)[SEAL_KEY], uint32_t most, uint32_t *count,
                       char *reason, size_t size)
{
    unsigned number = 0;
    for (char *line = bytes, *next = NULL; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        number++;
        if (take_line(line, keys, most, count)) continue;
        if (*count == most)
            snprintf(reason, size, "%s:%u: too many keys; at most %u may be here", path, number, most);
        else
            snprintf(reason, size,
                     "%s:%u: this is not a key; a key is 44 characters of base64, as `elector keygen` writes",
                     path, number);
        return false;
    }
    if (*count > 0) return true;
    snprintf(reason, size, "%s: there is no key in it; `elector keygen --out` writes one", path);
    return false;
}

const char *config_write_key(const uint8_t key[SEAL_KEY], char text[CONFIG_KEY_TEXT])
{
    char whole[sodium_base64_ENCODED_LEN(SEAL_KEY, sodium_base64_VARIANT_ORIGINAL)];
    sodium_bin2base64(whole, sizeof whole, key, SEAL_KEY, sodium_base64_VARIANT_ORIGINAL);
    snprintf(text, CONFIG_KEY_TEXT, "%.8s", whole);
    return text;
}

bool config_read_keys(const char *path, uint8_t (*keys)[SEAL_KEY], uint32_t most, uint32_t *count, char *reason,
                      size_t size)
{
    char bytes[4096] = "";
    *count = 0;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(reason, size, "%s: cannot read this key file: %s", path, strerror(errno));
        return false;
    }
    bool good = is_private(fd, path, reason, size);
    const ssize_t length = good ? read(fd, bytes, sizeof bytes) : -1;
    close(fd);
    if (good && (length < 0 || (size_t)length == sizeof bytes || memchr(bytes, '\0', (size_t)length))) {
        snprintf(reason, size, "%s: this is not a key file; `elector keygen --out` writes one", path);
        good = false;
    }
    good = good && take_lines(bytes, path, keys, most, count, reason, size);
    sodium_memzero(bytes, sizeof bytes);
    if (!good) sodium_memzero(keys, (size_t)most * SEAL_KEY);
    return good;
}
