/* Who may read, campaign and control, and which sections open what others have restricted. */
#define _GNU_SOURCE
#include "lib/host/configs.h"

enum { ALICE = 1001, BOB = 1002, EVE = 1003 };

static bool may(enum config_right right, const char *group, uid_t uid)
{
    return config_permits(&config, group, right, uid, NULL, 0);
}

static void only_who_is_allowed_may_campaign(void **state)
{
    const gid_t groups[] = {50, 77};
    accepts(ALL "[group x]\nallow = uid:1001, gid:77\n[group y]\n");
    assert_true(may(CONFIG_CAMPAIGN, "x", 0));
    assert_true(may(CONFIG_CAMPAIGN, "x", geteuid()));
    assert_true(may(CONFIG_CAMPAIGN, "x", ALICE));
    assert_false(may(CONFIG_CAMPAIGN, "x", EVE));
    assert_false(config_permits(&config, "x", CONFIG_CAMPAIGN, EVE, groups, 1));
    assert_true(config_permits(&config, "x", CONFIG_CAMPAIGN, EVE, groups, 2));
    assert_true(may(CONFIG_CAMPAIGN, "y", EVE));
    assert_true(may(CONFIG_CAMPAIGN, "z", EVE));
}

static void one_line_gives_what_it_always_gave(void **state)
{
    accepts(ALL "[group x]\nallow = uid:1001\n");
    assert_true(may(CONFIG_CONTROL, "x", ALICE));
    assert_false(may(CONFIG_CONTROL, "x", EVE));
    assert_true(may(CONFIG_READ, "x", EVE));
    assert_true(config_is_public(&config, "x"));
}

static void reading_campaigning_and_deposing_are_three_rights(void **state)
{
    accepts(ALL "[group x]\nallow = uid:1001\nallow-control = uid:1002\nallow-read = gid:77\n");
    assert_true(may(CONFIG_CAMPAIGN, "x", ALICE));
    assert_false(may(CONFIG_CONTROL, "x", ALICE));
    assert_true(may(CONFIG_CONTROL, "x", BOB));
    assert_false(may(CONFIG_CAMPAIGN, "x", BOB));
    assert_true(may(CONFIG_READ, "x", ALICE)); /* who may do more may read */
    assert_true(may(CONFIG_READ, "x", BOB));
    assert_false(may(CONFIG_READ, "x", EVE));
    const gid_t readers = 77;
    assert_true(config_permits(&config, "x", CONFIG_READ, EVE, &readers, 1));
    assert_false(config_permits(&config, "x", CONFIG_CAMPAIGN, EVE, &readers, 1));
    assert_false(config_is_public(&config, "x"));
    assert_true(config_is_public(&config, "y"));
}

static void who_may_not_read_may_not_campaign_by_default(void **state)
{
    accepts(ALL "[group x]\nallow-read = uid:1001\n");
    assert_true(may(CONFIG_CAMPAIGN, "x", ALICE));
    assert_true(may(CONFIG_CONTROL, "x", ALICE));
    assert_false(may(CONFIG_CAMPAIGN, "x", EVE));
    assert_false(may(CONFIG_CONTROL, "x", EVE));
}

/* A section for its times alone used to open its group to everybody. */
static void a_section_does_not_open_what_it_does_not_mention(void **state)
{
    accepts(ALL "[group x]\nlease = 2s\n[group web/*]\nallow = uid:1002\n[group web/shop]\nlease = 2s\n"
                "[group *]\nallow = uid:1001\nallow-read = uid:1001\n");
    assert_true(may(CONFIG_CAMPAIGN, "x", ALICE));
    assert_false(may(CONFIG_CAMPAIGN, "x", EVE));
    assert_false(may(CONFIG_READ, "x", EVE));
    assert_true(may(CONFIG_CAMPAIGN, "web/shop", BOB));
    assert_false(may(CONFIG_CAMPAIGN, "web/shop", ALICE));
    assert_true(may(CONFIG_READ, "web/shop", ALICE)); /* each right by itself */
    assert_false(may(CONFIG_READ, "web/shop", EVE));
}

static void everybody_is_said_in_a_word(void **state)
{
    accepts(ALL "[group x]\nallow = everybody\n[group *]\nallow = uid:1001\nallow-read = uid:1001\n");
    assert_true(may(CONFIG_CAMPAIGN, "x", EVE));
    assert_true(may(CONFIG_CONTROL, "x", EVE));
    assert_false(may(CONFIG_READ, "x", EVE));
    accepts(ALL "[group x]\nallow-read = everybody\n[group *]\nallow-read = uid:1001\n");
    assert_true(config_is_public(&config, "x"));
    assert_true(may(CONFIG_READ, "x", EVE));
}

/* ---- Warnings ---- */

static char openings[2000];

static void keep(void *context, const char *line)
{
    (void)context;
    snprintf(openings + strlen(openings), sizeof openings - strlen(openings), "%s\n", line);
}

static const char *openings_of(const char *content)
{
    accepts(content);
    openings[0] = '\0';
    config_each_opening(&config, keep, NULL);
    return openings;
}

static void a_section_that_is_more_open_is_told(void **state)
{
    assert_string_equal(openings_of(ALL "[group x]\nallow = uid:1002, uid:1001\n[group *]\nallow = uid:1001\n"),
                        "[group x] lets uid 1002 campaign, and [group *] does not; if that is not meant, "
                        "correct its `allow`\n");
    assert_non_null(
        strstr(openings_of(ALL "[group x]\nallow-read = everybody\n[group *]\nallow-read = uid:1\n"),
               "[group x] lets everybody read, and [group *] does not"));
    assert_non_null(strstr(
        openings_of(ALL "[group w/x]\nallow-control = gid:5\n[group w/*]\nallow-control = uid:5\n[group *]\n"),
        "[group w/x] lets gid 5 control, and [group w/*] does not"));
    assert_string_equal(openings_of(ALL "[group x]\nlease = 2s\n[group *]\nallow = uid:1001\n"), "");
    assert_string_equal(openings_of(ALL "[group x]\nallow = uid:1\n[group *]\nallow = uid:1, gid:1\n"), "");
    assert_string_equal(openings_of(ALL "[group x]\nallow = uid:1\n[group *]\n"), "");
    assert_string_equal(openings_of(ALL "[group x]\nallow = uid:1\n[group *]\nallow = everybody\n"), "");
}

static void a_summary_names_each_right(void **state)
{
    char *summary = NULL;
    size_t size = 0;
    accepts(ALL "[group x]\nallow-read = uid:1, gid:2\nallow-control = uid:9\nallow = everybody\n"
                "[group *]\nallow-control = uid:1\n");
    FILE *out = open_memstream(&summary, &size);
    assert_true(config_describe(&config, out));
    fclose(out);
    assert_non_null(strstr(summary, "; only 1 users and 1 groups may read; everybody may campaign; "
                                    "only 1 users and 0 groups may control\n"));
    assert_non_null(strstr(summary, "warning: [group x] lets uid 9 control, and [group *] does not"));
    free(summary);
}

static void mistakes_in_each_are_told_by_its_name(void **state)
{
    refuses(ALL "[group x]\nallow-read = alice\n",
            ":15: 'allow-read' lists user:NAME, group:NAME, uid:N and gid:N, or is everybody, not 'alice'");
    mentions(ALL "[group x]\nallow-control =\n", ":15: 'allow-control' lists user:NAME");
    mentions(ALL "[group x]\nallow-read = uid:1\nallow-read = uid:2\n", ":16: 'allow-read' was set");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_who_is_allowed_may_campaign),
        cmocka_unit_test(one_line_gives_what_it_always_gave),
        cmocka_unit_test(reading_campaigning_and_deposing_are_three_rights),
        cmocka_unit_test(who_may_not_read_may_not_campaign_by_default),
        cmocka_unit_test(a_section_does_not_open_what_it_does_not_mention),
        cmocka_unit_test(everybody_is_said_in_a_word),
        cmocka_unit_test(a_section_that_is_more_open_is_told),
        cmocka_unit_test(a_summary_names_each_right),
        cmocka_unit_test(mistakes_in_each_are_told_by_its_name),
    };
    return cmocka_run_group_tests_name("rights", tests, make_folder, remove_folder);
}
