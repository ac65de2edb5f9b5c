/* URLs of engines: what is accepted, and that each mistake has a sentence of its own. */
#define _GNU_SOURCE /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engines/url.h"

static struct engine_url url;
static char text[URL_TEXT];

static void reads_hosts_path_and_options(void **state)
{
    assert_true(url_parse(&url, "etcd://a,b:1,[::1]:65535,[fe80::2]/shop/x?ttl=5s&ca=%2Fa%20b", 2379, text));
    assert_string_equal(url.scheme, "etcd");
    assert_int_equal(url.host_count, 4);
    assert_string_equal(url.hosts[0], "a");
    assert_int_equal(url.ports[0], 2379);
    assert_string_equal(url.hosts[1], "b");
    assert_int_equal(url.ports[1], 1);
    assert_string_equal(url.hosts[2], "::1");
    assert_int_equal(url.ports[2], 65535);
    assert_string_equal(url.hosts[3], "fe80::2");
    assert_int_equal(url.ports[3], 2379);
    assert_string_equal(url.path, "shop/x");
    assert_string_equal(url_option(&url, "ttl"), "5s");
    assert_string_equal(url_option(&url, "ca"), "/a b");
    assert_null(url_option(&url, "none"));
}

static void needs_neither_host_nor_path(void **state)
{
    assert_true(url_parse(&url, "etcd:///ns", 1, text));
    assert_int_equal(url.host_count, 0);
    assert_string_equal(url.path, "ns");
    assert_true(url_parse(&url, "etcd://h", 1, text));
    assert_string_equal(url.path, "");
}

static void says_what_is_wrong(void **state)
{
    static const char *const wrong[][2] = {
        {"etcd:h", "expected SCHEME://"},
        {"etcd://h:0", "from 1 to 65535"},
        {"etcd://h:65536", "from 1 to 65535"},
        {"etcd://h:1x", "from 1 to 65535"},
        {"etcd://h:", "from 1 to 65535"},
        {"etcd://[::1", "without ']'"},
        {"etcd://[::1]x", "after ']'"},
        {"etcd://a,,b", "names no host"},
        {"etcd://a b", "a host is a name or an address"},
        {"etcd://h?x", "NAME=VALUE"},
        {"etcd://h?x=1&x=2", "occurs twice"},
        {"etcd://h?x=%4", "two hexadecimal digits"},
        {"etcd://h?x=%00", "two hexadecimal digits"},
        {"etcd://h/%zz", "two hexadecimal digits"},
        {"etcd://u:secret@h", "no user and password in a URL"},
        {"etcd://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "at most 16"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(url_parse(&url, wrong[i][0], 1, text));
        if (!strstr(text, wrong[i][1])) fail_msg("%s: '%s'", wrong[i][0], text);
        if (strstr(text, "secret")) fail_msg("it tells the password: %s", text);
    }
}

static void refuses_what_is_too_long(void **state)
{
    static char endless[URL_SIZE + 1];
    memset(endless, 'a', sizeof endless - 1);
    memcpy(endless, "etcd://", 7);
    assert_false(url_parse(&url, endless, 1, text));
    assert_non_null(strstr(text, "too long"));
    endless[URL_SIZE - 1] = '\0';
    assert_true(url_parse(&url, endless, 1, text));
}

static void names_unknown_options(void **state)
{
    static const char *const own[] = {"ca", NULL};
    assert_true(url_parse(&url, "etcd://h?ttl=5s&ca=x", 1, text));
    assert_true(url_knows(&url, url_common_options, own, text));
    assert_true(url_parse(&url, "etcd://h?tll=5s", 1, text));
    assert_false(url_knows(&url, url_common_options, own, text));
    assert_non_null(strstr(text, "no option 'tll'; there are ttl member ca"));
}

static bool secret_of(const char *bytes, mode_t mode, char secret[16])
{
    char path[] = "/tmp/elector-url-XXXXXX";
    const int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fputs(bytes, file);
    (void)fchmod(fd, mode);
    fclose(file);
    const bool is_read = url_read_secret(path, secret, 16, text);
    remove(path);
    return is_read;
}

static void reads_secrets_that_are_kept(void **state)
{
    char secret[16];
    assert_true(secret_of("open\nrest", 0600, secret));
    assert_string_equal(secret, "open");
    assert_false(secret_of("open\n", 0640, secret));
    assert_non_null(strstr(text, "chmod 600"));
    assert_false(secret_of("\n", 0600, secret));
    assert_false(secret_of("0123456789abcdef", 0600, secret));
    assert_false(url_read_secret("/dev/null", secret, sizeof secret, text));
    assert_non_null(strstr(text, "no regular file"));
    assert_false(url_read_secret("/none", secret, sizeof secret, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_hosts_path_and_options), cmocka_unit_test(needs_neither_host_nor_path),
        cmocka_unit_test(says_what_is_wrong),           cmocka_unit_test(refuses_what_is_too_long),
        cmocka_unit_test(names_unknown_options),        cmocka_unit_test(reads_secrets_that_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
