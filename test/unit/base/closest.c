/* The word that somebody may have meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/closest.h"

static const char *meant(const char *word)
{
    static const char *const all[] = {"status",   "why",  "run", "resign",  "replay",
                                      "transfer", "init", "sim", "campaign"};
    static struct closest closest;
    closest = closest_to(word);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) closest_offer(&closest, all[i], strlen(all[i]));
    return closest.best;
}

static void finds_a_word_with_a_slip(void **state)
{
    assert_string_equal(meant("stauts"), "status"); /* swapped */
    assert_string_equal(meant("statu"), "status");  /* one less */
    assert_string_equal(meant("stattus"), "status");
    assert_string_equal(meant("xtatus"), "status");
    assert_string_equal(meant("rnu"), "run");
    assert_string_equal(meant("tranfser"), "transfer");
    assert_string_equal(meant("campain"), "campaign");
}

static void finds_nothing_in_other_words(void **state)
{
    assert_string_equal(meant("frobnicate"), "");
    assert_string_equal(meant("x"), "");
    assert_string_equal(meant(""), "");
    char longer[200] = "";
    memset(longer, 's', sizeof longer - 1);
    assert_string_equal(meant(longer), "");
}

static void prefers_the_closest(void **state)
{
    struct closest closest = closest_to("--last");
    closest_offer(&closest, "--fast", 6);
    closest_offer(&closest, "--last N", 6); /* the first six bytes of it */
    closest_offer(&closest, "--list", 6);
    assert_string_equal(closest.best, "--last");
    assert_int_equal(closest.distance, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_a_word_with_a_slip),
                                       cmocka_unit_test(finds_nothing_in_other_words),
                                       cmocka_unit_test(prefers_the_closest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
