/* When a certificate ends: of openssl's, and of what is cut off or is none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "engines/fetch/certificate.h"

static const char until_2029[] = "-----BEGIN CERTIFICATE-----\n"
                                 "MIIBbDCCAROgAwIBAgIUHv8hy62vBiI0rAHFPKceYdJ2fZ8wCgYIKoZIzj0EAwIw\n"
                                 "DDEKMAgGA1UEAwwBeDAeFw0yNjExMTkyMDEzMzBaFw0yOTA1MDcyMDEzMzBaMAwx\n"
                                 "CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQo05fHfOeeEMAY\n"
                                 "c3ZfPPxMdDz+gtdXjKWT5XPVTvPNbRR9CXtQrOLgIi2AjLmamGuRoxExnem+mC1/\n"
                                 "6bpCSGINo1MwUTAdBgNVHQ4EFgQUfCtiS1HJ2g9Mh77CJoSIEaNofhUwHwYDVR0j\n"
                                 "BBgwFoAUfCtiS1HJ2g9Mh77CJoSIEaNofhUwDwYDVR0TAQH/BAUwAwEB/zAKBggq\n"
                                 "hkjOPQQDAgNHADBEAiAWtHed6Ud8B1wN89EHdTDssBv24n8iMOp8V3wJbUcHTQIg\n"
                                 "be+vZTjgOHs9Ou7CHjwV3xKVpvPwnmIvLytPjxX2VTo=\n"
                                 "-----END CERTIFICATE-----\n",
                  until_2081[] = "-----BEGIN CERTIFICATE-----\n"
                                 "MIIBbzCCARWgAwIBAgIUSSZLEzcqS3Vor0q5pIoxd8JLXQMwCgYIKoZIzj0EAwIw\n"
                                 "DDEKMAgGA1UEAwwBeDAgFw0yNjExMTkyMDEzMzBaGA8yMDgxMDgyMjIwMTMzMFow\n"
                                 "DDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKW1UxFUiYzK\n"
                                 "vmqpGksu/yqBFgmsVkfkmj6Cwmk6XHhb83H9WOAa2wV84uR7QGOL03Wv2WBo804n\n"
                                 "mij/zwjCrJajUzBRMB0GA1UdDgQWBBQ8YewXoImLYHCVB+d6PTBLhENkXjAfBgNV\n"
                                 "HSMEGDAWgBQ8YewXoImLYHCVB+d6PTBLhENkXjAPBgNVHRMBAf8EBTADAQH/MAoG\n"
                                 "CCqGSM49BAMCA0gAMEUCIEejlgi9aD9iYkbEJd5LxYCBkH7AxezBPpjwsU+FjmL/\n"
                                 "AiEAkLiaeRoHy5OJrKWjhTwE+6JAc8PZwpDgubMvKWT6FO8=\n"
                                 "-----END CERTIFICATE-----\n";

static void reads_both_sorts_of_time(void **state)
{
    assert_int_equal(certificate_end(until_2029), INT64_C(1872879210));
    assert_int_equal(certificate_end(until_2081), INT64_C(3523119210));
}

static void takes_the_first_of_many(void **state)
{
    char both[sizeof until_2029 + sizeof until_2081 + 8];
    snprintf(both, sizeof both, "Cert:%s%s", until_2081, until_2029);
    assert_int_equal(certificate_end(both), INT64_C(3523119210));
}

/* Whole groups of four letters, so that base64 is well and the certificate is cut off. */
static void what_is_cut_off_has_no_end(void **state)
{
    static const char head[] = "-----BEGIN CERTIFICATE-----\n", tail[] = "-----END CERTIFICATE-----\n";
    const size_t first = sizeof head - 1;
    for (size_t size = 0; size < 64; size += 4) {
        char cut[sizeof head + 64 + sizeof tail];
        memcpy(cut, until_2029, first + size);
        memcpy(cut + first + size, tail, sizeof tail);
        assert_int_equal(certificate_end(cut), 0);
    }
}

static void other_texts_have_none(void **state)
{
    assert_int_equal(certificate_end(""), 0);
    assert_int_equal(certificate_end("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"), 0);
    assert_int_equal(certificate_end("-----BEGIN CERTIFICATE-----\nMAA=\n"), 0);
    assert_int_equal(certificate_end("-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n"), 0);
    assert_int_equal(certificate_file_end("/none"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_sorts_of_time),
        cmocka_unit_test(takes_the_first_of_many),
        cmocka_unit_test(what_is_cut_off_has_no_end),
        cmocka_unit_test(other_texts_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
