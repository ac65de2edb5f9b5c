/* What the history tells survives the agent, and a file that is damaged harms nothing. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/history/file.h"
#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"
#include "base/clock.h"
#include "core/bytes.h"
#include "lib/scratch.h"

enum { A = 1, B, C };
#define S NS_PER_S

static struct config config;
static struct history *history;
static struct journal_place here;
static uint64_t group, now;
static char file[128], text[5000];

static void begin_again(void)
{
    history_free(history);
    history = history_new(&config, now);
    assert_non_null(history);
}

static int begin(void **state)
{
    config = (struct config){.cluster = "shop", .member_count = 3, .self = B};
    for (uint32_t i = 0; i < 3; i++)
        snprintf(config.members[i].name, sizeof config.members[i].name, "%c", 'a' + (int)i);
    group = history_group("billing");
    now = 1000 * S;
    here = (struct journal_place){.members = 7, .boot = {1}, .boot_ns = now, .wall_ns = 5000000 * S};
    begin_again();
    snprintf(file, sizeof file, "%s/elector-history-%d", scratch_memory(), (int)getpid());
    unlink(file);
    return 0;
}

static int finish(void **state)
{
    history_free(history);
    history = NULL;
    unlink(file);
    return 0;
}

static void lead_of(uint64_t of, el_node before, el_node leader, uint64_t token)
{
    const struct history_change change = {.group = of,
                                          .before = before,
                                          .leader = leader,
                                          .token = token,
                                          .heard_ns = UINT64_MAX,
                                          .nobody_ns = before || !leader ? UINT64_MAX : 3 * NS_PER_MS};
    struct history_statement list[HISTORY_STATEMENTS_MAX];
    uint32_t count;
    (void)history_lead(history, now, &change, list, &count);
    now += S;
}

static void note(uint32_t number, uint64_t first, uint64_t second)
{
    history_note(history, now, group, &(struct host_note){&el_quorum, number, {first, second}});
    now += NS_PER_MS;
}

/* a leads; then b, which resigns; then c. */
static void live(void)
{
    lead_of(group, EL_NOBODY, A, 10);
    note(QUORUM_BURIES, A, 1);
    lead_of(group, A, EL_NOBODY, 0);
    note(QUORUM_STANDS, 20, 0);
    lead_of(group, EL_NOBODY, B, 20);
    history_leadership(history, now, group, HISTORY_RESIGNED, EL_NOBODY, NULL);
    note(QUORUM_RESIGNS, 20, 0);
    history_leadership(history, now, group, HISTORY_TOLD_LOST, EL_NOBODY, "resigned");
    lead_of(group, B, EL_NOBODY, 0);
    lead_of(group, EL_NOBODY, C, 30);
}

/* Head and records, as in the file. */
static uint8_t *journal(size_t *size)
{
    uint8_t *records = journal_take(history, true, size);
    assert_non_null(records);
    uint8_t *bytes = malloc(JOURNAL_HEAD + *size);
    journal_head(&here, bytes);
    memcpy(bytes + JOURNAL_HEAD, records, *size);
    free(records);
    *size += JOURNAL_HEAD;
    return bytes;
}

static enum journal_outcome read_again(const uint8_t *bytes, size_t size)
{
    begin_again();
    here.wall_ns += now - here.boot_ns;
    here.boot_ns = now;
    return journal_read(history, &here, bytes, size);
}

static void told(char *to, size_t room)
{
    struct history_tenure list[8];
    const uint32_t count = history_tenures(history, group, list, 8);
    size_t used = 0;
    to[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(
            to + used, room - used, "%u %llu %lld %lld %s %s\n", list[i].leader,
            (unsigned long long)list[i].token, (long long)(list[i].began_ns - now) / 1000000,
            list[i].ended_ns ? (long long)(list[i].ended_ns - now) / 1000000 : 1,
            history_beginning_word(list[i].began), list[i].ended_ns ? history_end_word(list[i].ended) : "-");
}

static void tenures_survive_as_they_were(void **state)
{
    char before[1000], after[1000];
    size_t size;
    live();
    lead_of(group, C, EL_NOBODY, 0);
    told(before, sizeof before);
    uint8_t *bytes = journal(&size);
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    told(after, sizeof after);
    assert_string_equal(after, before);
    assert_non_null(strstr(after, "2 20"));
    assert_non_null(strstr(after, "resigned"));
    free(bytes);
}

static void why_is_told_after_a_restart(void **state)
{
    struct history_story before, after;
    char one[HISTORY_TEXT], other[HISTORY_TEXT];
    size_t size;
    live();
    lead_of(group, C, EL_NOBODY, 0);
    assert_true(history_tell(history, group, &before));
    uint8_t *bytes = journal(&size);
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    assert_true(history_tell(history, group, &after));
    assert_true(before.count > 0);
    assert_int_equal(after.count, before.count);
    for (uint32_t i = 0; i < after.count; i++) {
        history_sentence(&config, &before.steps[i], one);
        history_sentence(&config, &after.steps[i], other);
        assert_string_equal(one, other);
    }
    free(bytes);
}

static void what_was_open_is_closed_by_what_is_known(void **state)
{
    size_t size;
    lead_of(group, EL_NOBODY, B, 20);
    uint8_t *bytes = journal(&size);
    now += 60 * S;
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    told(text, sizeof text);
    assert_string_equal(text, "2 20 -61000 0 seen agent ended\n");
    free(bytes);
}

static void another_that_leads_on_has_led_all_the_time(void **state)
{
    size_t size;
    lead_of(group, EL_NOBODY, C, 30);
    uint8_t *bytes = journal(&size);
    now += 10 * S;
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    lead_of(group, EL_NOBODY, C, 30);
    told(text, sizeof text);
    assert_non_null(strstr(text, "3 30 -12000 1 "));
    assert_null(strchr(strchr(text, '\n') + 1, '\n'));
    free(bytes);
}

/* The host was started again: its CLOCK_BOOTTIME begins at 0, and what was before is before that. */
static void a_member_tells_again_what_it_has_stated(void **state)
{
    struct history_statement list[HISTORY_STATEMENTS_MAX];
    size_t size;
    live();
    assert_int_equal(history_restate(history, group, list), 0); /* its peers have it */
    uint8_t *bytes = journal(&size);
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    assert_int_equal(history_restate(history, history_group("another"), list), 0);
    assert_int_equal(history_restate(history, group, list), 3); /* the newest first */
    assert_int_equal(list[0].what, HISTORY_STATES_GAP);
    assert_int_equal(list[0].token, 30);
    assert_int_equal(list[1].what, HISTORY_STATES_END);
    assert_int_equal(list[1].token, 20);
    assert_string_equal(list[1].text, "resigned");
    assert_int_equal(list[2].what, HISTORY_STATES_BEGINNING);
    assert_string_equal(list[2].text, "elected");
    free(bytes);
}

/* All agents were down: when a tenure ended meanwhile, only its own agent knows. */
static void the_length_of_what_ended_meanwhile_is_a_bound(void **state)
{
    struct history_tenure list[8];
    size_t size;
    live(); /* c leads */
    uint8_t *bytes = journal(&size);
    now += 90 * S;
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    assert_int_equal(history_tenures(history, group, list, 8), 3);
    assert_false(list[0].is_led_at_most || list[1].is_led_at_most);
    assert_true(list[2].is_led_at_most);
    const struct history_statement end = {
        .what = HISTORY_STATES_END, .token = 30, .span_ns = 2 * S, .text = "resigned"};
    history_hear_statement(history, C, group, &end);
    assert_int_equal(history_tenures(history, group, list, 8), 3);
    assert_false(list[2].is_led_at_most);
    assert_int_equal(list[2].ended_ns - list[2].began_ns, 2 * S);
    free(bytes);
}

static void times_survive_a_boot_of_the_host(void **state)
{
    struct history_tenure list[8];
    size_t size;
    live();
    uint8_t *bytes = journal(&size);
    const uint64_t wall = here.wall_ns + (now - here.boot_ns) + 3600 * S;
    here = (struct journal_place){.members = 7, .boot = {2}, .boot_ns = 30 * S, .wall_ns = wall};
    now = 30 * S;
    begin_again();
    assert_int_equal(journal_read(history, &here, bytes, size), JOURNAL_READ);
    const uint32_t count = history_tenures(history, group, list, 8);
    assert_int_equal(count, 3);
    assert_int_equal((now - list[2].began_ns) / S, 3601);
    assert_true((int64_t)list[0].began_ns < 0);
    assert_int_equal((list[2].began_ns - list[1].began_ns) / S, 2);
    lead_of(group, EL_NOBODY, B, 40);
    assert_int_equal(history_tenures(history, group, list, 8), 4);
    assert_int_equal(list[3].began_ns, 30 * S);
    free(bytes);
    bytes = journal(&size); /* and a second time */
    assert_int_equal(read_again(bytes, size), JOURNAL_READ);
    assert_int_equal(history_tenures(history, group, list, 8), 4);
    assert_int_equal((list[3].began_ns - list[2].began_ns) / S, 3601);
    free(bytes);
}

static void other_members_and_other_notes_begin_anew(void **state)
{
    size_t size;
    live();
    uint8_t *bytes = journal(&size);
    here.members = 8;
    assert_int_equal(read_again(bytes, size), JOURNAL_OTHER);
    told(text, sizeof text);
    assert_string_equal(text, "");
    free(bytes);
}

/* Wherever the file ends, each whole record before is read, and the one that is cut off is told of. */
static void the_last_record_may_be_cut_off_anywhere(void **state)
{
    enum { FRAME = 6 }; /* length and checksum before the body of a record */
    size_t size, whole = JOURNAL_HEAD, records = 0, had = 0;
    live();
    uint8_t *bytes = journal(&size);
    for (size_t cut = JOURNAL_HEAD; cut <= size; cut++) {
        const bool is_whole = cut == whole;
        assert_int_equal(read_again(bytes, cut), is_whole ? JOURNAL_READ : JOURNAL_CUT);
        const size_t held = history->changes.count + history->steps.count + history->stated_count;
        told(text, sizeof text);
        if (is_whole) {
            assert_true(held >= had);
            had = held;
            records += cut > JOURNAL_HEAD;
            whole += cut < size ? FRAME + (size_t)el_get(bytes + cut, 2) : 0;
        }
        assert_int_equal(held, had);
    }
    assert_true(whole == size && records >= 10 && had >= 10);
    for (size_t cut = 1; cut < JOURNAL_HEAD; cut++) assert_int_equal(read_again(bytes, cut), JOURNAL_DAMAGED);
    free(bytes);
}

/* A flipped bit is found. With the checksum made right again, it may only tell strange things. */
static void hostile_bytes_are_refused_or_harmless(void **state)
{
    struct history_story story;
    char sentence[HISTORY_TEXT];
    size_t size;
    live();
    uint8_t *bytes = journal(&size);
    size_t record = JOURNAL_HEAD, next = JOURNAL_HEAD;
    for (size_t at = 0; at < size; at++) {
        if (at == next) {
            record = at;
            next = at + 6 + (size_t)el_get(bytes + at, 2);
        }
        const bool is_length = at >= JOURNAL_HEAD && at < record + 2; /* then the rest may count as cut off */
        bytes[at] ^= 0x85;
        const enum journal_outcome outcome = read_again(bytes, size);
        if (outcome == JOURNAL_READ) assert_true(is_length);
        bytes[at] ^= 0x85;
    }
    for (unsigned flip = 1; flip < 256; flip = flip * 5 / 2 + 1)
        for (record = JOURNAL_HEAD; record < size;) {
            const size_t length = (size_t)el_get(bytes + record, 2);
            for (size_t at = 0; at < length; at++) {
                uint8_t *body = bytes + record + 6;
                body[at] ^= (uint8_t)flip;
                el_put(bytes + record + 2, el_fingerprint(body, length).low & UINT32_MAX, 4);
                if (read_again(bytes, size) == JOURNAL_READ) {
                    told(text, sizeof text);
                    (void)history_tell(history, group, &story);
                    for (uint32_t i = 0; i < story.count; i++)
                        history_sentence(&config, &story.steps[i], sentence);
                }
                body[at] ^= (uint8_t)flip;
                el_put(bytes + record + 2, el_fingerprint(body, length).low & UINT32_MAX, 4);
            }
            record += 6 + length;
        }
    free(bytes);
}

/* ---- The file ---- */

static struct history_file *open_file(void)
{
    begin_again();
    struct history_file *f = history_file_open(file, history, 7, text, sizeof text);
    assert_non_null(f);
    return f;
}

static void the_file_has_all_that_was_written_in_pieces(void **state)
{
    struct history_tenure list[8];
    now = clock_boottime_ns();
    struct history_file *f = open_file();
    assert_string_equal(text, "");
    for (uint32_t i = 0; i < 50; i++) {
        lead_of(group, EL_NOBODY, A, 10 + i);
        lead_of(group, A, EL_NOBODY, 0);
        assert_false(history_file_write(f, history, now, text, sizeof text));
    }
    history_file_close(f, history, 5000);
    f = open_file();
    assert_string_equal(text, "");
    assert_int_equal(history_tenures(history, group, list, 8), 8);
    assert_int_equal(list[7].token, 59);
    history_file_close(f, history, 5000);
}

static void a_file_that_is_cut_off_is_named_and_read(void **state)
{
    struct stat status;
    now = clock_boottime_ns();
    struct history_file *f = open_file();
    lead_of(group, EL_NOBODY, A, 10);
    lead_of(group, A, B, 20);
    history_file_close(f, history, 5000);
    assert_true(stat(file, &status) == 0 && truncate(file, status.st_size - 1) == 0);
    f = open_file();
    assert_non_null(strstr(text, "the history ends within a record, which is left out; the rest is read"));
    told(text, sizeof text);
    assert_non_null(strstr(text, "1 10 "));
    history_file_close(f, history, 5000);
    f = open_file(); /* written anew, without the rest of that record */
    assert_string_equal(text, "");
    history_file_close(f, history, 5000);
}

static void a_damaged_file_is_named_and_begun_anew(void **state)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("this is no history\n", out);
    fclose(out);
    struct history_file *f = open_file();
    assert_non_null(strstr(text, "the history is damaged; beginning it anew"));
    lead_of(group, EL_NOBODY, A, 10);
    history_file_close(f, history, 5000);
    f = open_file();
    assert_string_equal(text, "");
    told(text, sizeof text);
    assert_non_null(strstr(text, "1 10 "));
    history_file_close(f, history, 5000);
}

static void what_is_no_file_of_its_own_is_not_touched(void **state)
{
    char other[160];
    snprintf(other, sizeof other, "%s.other", file);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_int_equal(symlink(other, file), 0);
    struct history_file *f = open_file();
    assert_non_null(strstr(text, "cannot be read as the history"));
    lead_of(group, EL_NOBODY, A, 10);
    history_file_close(f, history, 5000); /* takes the place of the link */
    struct stat now_there;
    assert_int_equal(lstat(file, &now_there), 0);
    assert_true(S_ISREG(now_there.st_mode) && (now_there.st_mode & 0777) == 0600);
    unlink(other);
}

static void who_cannot_write_says_so_once_and_goes_on(void **state)
{
    char folder[160], path[200];
    snprintf(folder, sizeof folder, "%s.folder", file);
    snprintf(path, sizeof path, "%s/history", folder);
    begin_again();
    struct history_file *f = history_file_open(path, history, 7, text, sizeof text);
    unsigned warnings = 0;
    for (uint32_t i = 0; i < 2000 && warnings == 0; i++) {
        lead_of(group, EL_NOBODY, A, 10 + i);
        warnings += history_file_write(f, history, now, text, sizeof text);
        usleep(1000);
    }
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(text, "cannot write the history"));
    assert_int_equal(mkdir(folder, 0700), 0);
    lead_of(group, EL_NOBODY, B, 5000);
    for (unsigned i = 0; i < 5000 && access(path, F_OK) != 0; i++, now += S) {
        warnings += history_file_write(f, history, now, text, sizeof text);
        lead_of(group, EL_NOBODY, A, 5000 + i);
        usleep(1000);
    }
    history_file_close(f, history, 5000);
    assert_int_equal(warnings, 1);
    begin_again();
    f = history_file_open(path, history, 7, text, sizeof text);
    assert_string_equal(text, "");
    told(text, sizeof text);
    assert_true(text[0]);
    history_file_close(f, history, 5000);
    unlink(path);
    rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tenures_survive_as_they_were),
        TEST(why_is_told_after_a_restart),
        TEST(what_was_open_is_closed_by_what_is_known),
        TEST(another_that_leads_on_has_led_all_the_time),
        TEST(a_member_tells_again_what_it_has_stated),
        TEST(the_length_of_what_ended_meanwhile_is_a_bound),
        TEST(times_survive_a_boot_of_the_host),
        TEST(other_members_and_other_notes_begin_anew),
        TEST(the_last_record_may_be_cut_off_anywhere),
        TEST(hostile_bytes_are_refused_or_harmless),
        TEST(the_file_has_all_that_was_written_in_pieces),
        TEST(a_file_that_is_cut_off_is_named_and_read),
        TEST(a_damaged_file_is_named_and_begun_anew),
        TEST(what_is_no_file_of_its_own_is_not_touched),
        TEST(who_cannot_write_says_so_once_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
