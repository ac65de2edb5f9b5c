/* Which proxy of the environment a URL goes through. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "engines/fetch/proxy.h"

static const char *const variables[] = {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
                                        "all_proxy",  "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
static char text[300];

static int forget_all(void **state)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    return 0;
}

static const char *of(const char *url)
{
    return proxy_of(url, text, sizeof text) ? text : "none";
}

static void the_scheme_chooses_the_variable(void **state)
{
    assert_string_equal(of("https://a:2379/v3"), "none");
    setenv("https_proxy", "http://10.0.0.9:3128", 1);
    assert_string_equal(of("https://a:2379/v3"), "http://10.0.0.9:3128 (https_proxy)");
    assert_string_equal(of("http://a:2379/v3"), "none");
    setenv("all_proxy", "10.0.0.8:1", 1);
    assert_string_equal(of("http://a:2379/v3"), "10.0.0.8:1 (all_proxy)");
    assert_string_equal(of("https://a:2379/v3"), "http://10.0.0.9:3128 (https_proxy)");
}

static void http_proxy_in_capitals_is_a_header_of_cgi(void **state)
{
    setenv("HTTP_PROXY", "http://10.0.0.9:3128", 1);
    assert_string_equal(of("http://a/"), "none");
    setenv("HTTPS_PROXY", "http://10.0.0.9:3128", 1);
    assert_string_equal(of("https://a/"), "http://10.0.0.9:3128 (HTTPS_PROXY)");
}

static void hides_user_and_password(void **state)
{
    setenv("https_proxy", "http://me:se@cret@10.0.0.9:3128", 1);
    assert_string_equal(of("https://a/"), "http://10.0.0.9:3128 (https_proxy)");
}

static void no_proxy_excepts_hosts_and_domains(void **state)
{
    setenv("https_proxy", "p:1", 1);
    setenv("no_proxy", "10.0.0.1, example.org,.inner", 1);
    assert_string_equal(of("https://10.0.0.1:2379/"), "none");
    assert_string_equal(of("https://10.0.0.10:2379/"), "p:1 (https_proxy)");
    assert_string_equal(of("https://a.EXAMPLE.org/"), "none");
    assert_string_equal(of("https://notexample.org/"), "p:1 (https_proxy)");
    assert_string_equal(of("https://b.inner/"), "none");
    setenv("no_proxy", "::1", 1);
    assert_string_equal(of("https://[::1]:2379/"), "none");
    setenv("no_proxy", "*", 1);
    assert_string_equal(of("https://a/"), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_scheme_chooses_the_variable, forget_all),
        cmocka_unit_test_setup(http_proxy_in_capitals_is_a_header_of_cgi, forget_all),
        cmocka_unit_test_setup(hides_user_and_password, forget_all),
        cmocka_unit_test_setup(no_proxy_excepts_hosts_and_domains, forget_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
