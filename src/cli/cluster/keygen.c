/* elector keygen: writes a secret key to a file, and prints its public key. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "agent/config/config.h"
#include "cli/cli.h"

enum { BASE64 = sodium_base64_ENCODED_LEN(SEAL_KEY, sodium_base64_VARIANT_ORIGINAL) };

static void write_help(void)
{
    fputs(
        "Usage: elector keygen [--out FILE]\n"
        "       elector keygen --public FILE\n\n"
        "Generates a member's keys: writes the secret key to a new file that only its owner can read, and prints the\n"
        "public key. Put the public key into every member's configuration, as `key = ` in that member's section. A\n"
        "cluster key is made in the same way; there, only the file is needed.\n\n"
        "  --out FILE       where to write the secret key (member.key); nothing is overwritten\n"
        "  --public FILE    only print the public key of the secret key in FILE\n\n"
        "Examples:\n"
        "  elector keygen --out /etc/elector/member.key\n"
        "  elector keygen --public /etc/elector/member.key\n",
        stdout);
}

static bool write_line(int fd, const char *base64)
{
    char line[BASE64 + 1];
    const int length = snprintf(line, sizeof line, "%s\n", base64);
    const bool good = write(fd, line, (size_t)length) == length && fsync(fd) == 0;
    sodium_memzero(line, sizeof line);
    return good;
}

bool cli_write_key(const char *verb, const char *path, const unsigned char *key)
{
    char base64[BASE64];
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) {
        fprintf(stderr, "elector %s: %s: exists already, and a key is never overwritten; choose another name\n",
                verb, path);
        return false;
    }
    if (fd < 0) {
        fprintf(stderr, "elector %s: %s: cannot create it: %s\n", verb, path, strerror(errno));
        return false;
    }
    sodium_bin2base64(base64, sizeof base64, key, SEAL_KEY, sodium_base64_VARIANT_ORIGINAL);
    const bool good = write_line(fd, base64);
    sodium_memzero(base64, sizeof base64);
    if (close(fd) == 0 && good) return true;
    fprintf(stderr, "elector %s: %s: cannot write it: %s\n", verb, path, strerror(errno));
    unlink(path);
    return false;
}

static void print_public(const uint8_t public_key[SEAL_KEY])
{
    char base64[BASE64];
    puts(sodium_bin2base64(base64, sizeof base64, public_key, SEAL_KEY, sodium_base64_VARIANT_ORIGINAL));
}

static int print_public_of(const char *path)
{
    uint8_t secret[1][SEAL_KEY], public_key[SEAL_KEY];
    uint32_t count = 0;
    char reason[300];
    if (!config_read_keys(path, secret, 1, &count, reason, sizeof reason)) {
        fprintf(stderr, "elector keygen: %s\n", reason);
        return CLI_CANNOT_TELL;
    }
    seal_public_of(secret[0], public_key);
    sodium_memzero(secret, sizeof secret);
    print_public(public_key);
    return CLI_YES;
}

static int make_pair(const char *path)
{
    uint8_t secret[SEAL_KEY], public_key[SEAL_KEY];
    if (!seal_keygen(secret, public_key)) {
        fputs("elector keygen: the kernel returned no random bytes; try again\n", stderr);
        return CLI_CANNOT_TELL;
    }
    const bool written = cli_write_key("keygen", path, secret);
    sodium_memzero(secret, sizeof secret);
    if (!written) return CLI_CANNOT_TELL;
    print_public(public_key);
    return CLI_YES;
}

int cli_keygen(int argc, char **argv)
{
    const char *out = NULL, *of = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL, *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            write_help();
            return cli_finish("keygen", stdout, CLI_YES);
        }
        const bool is_out = cli_option(argc, argv, &i, "out", &value);
        if (!is_out && !cli_option(argc, argv, &i, "public", &value))
            return cli_unknown("keygen", cli_keygen, word);
        if (!value || !*value) return cli_usage_error("keygen", "%s needs the name of a file", word);
        *(is_out ? &out : &of) = value;
    }
    if (out && of)
        return cli_usage_error("keygen", "--out generates keys and --public only prints one; give one of them");
    return cli_finish("keygen", stdout, of ? print_public_of(of) : make_pair(out ? out : "member.key"));
}
