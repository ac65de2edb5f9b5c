/* The state file: what it keeps, and what it refuses to touch. */
#define _GNU_SOURCE
#include "lib/host/state_files.h"

/* ---- It keeps ---- */

static void a_created_file_says_that_nothing_was_promised(void **state)
{
    create();
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_size, FILE_SIZE);
}

static void creating_replaces_nothing(void **state)
{
    create_and_save(1);
    assert_false(record_create(path, &me, text, sizeof text));
    assert_non_null(strstr(text, "there is a state file already"));
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 101);
}

static void what_was_put_and_written_is_read(void **state)
{
    create();
    struct record *record = open_as(&me, RECORD_READY);
    static const uint64_t keys[] = {9, 1, UINT64_MAX, 5, 7, 2};
    for (uint64_t i = 0; i < 6; i++) put(record, keys[i], 10 + i);
    put(record, 5, 99);
    for (uint64_t i = 0; i < 6; i++) assert_int_equal(epoch_of(record, keys[i]), i == 3 ? 99 : 10 + i);
    save(record);
    put(record, 1, 1234); /* and this was not */
    record_close(record);
    record = open_as(&me, RECORD_READY);
    for (uint64_t i = 0; i < 6; i++) assert_int_equal(epoch_of(record, keys[i]), i == 3 ? 99 : 10 + i);
    assert_int_equal(epoch_of(record, 3), 0);
    record_close(record);
}

static void slots_are_written_in_turn_also_after_a_restart(void **state)
{
    static unsigned char before[FILE_SIZE], after[FILE_SIZE];
    create();
    read_bytes(before);
    for (int i = 0; i < 7; i++) {
        struct record *record = open_as(&me, RECORD_READY);
        put(record, 5, 100 + (uint64_t)i);
        save(record);
        record_close(record);
        read_bytes(after);
        const size_t kept = (size_t)i % 2; /* creating filled slot 0 */
        assert_memory_equal(before + kept * RECORD_SLOT, after + kept * RECORD_SLOT, RECORD_SLOT);
        memcpy(before, after, FILE_SIZE);
    }
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 106);
}

/* The host may make images that it never writes: the newest on disk must be spared all the same. */
static void an_image_that_was_skipped_does_not_upset_the_turns(void **state)
{
    static unsigned char before[FILE_SIZE], after[FILE_SIZE];
    create_and_save(1); /* into slot 1 */
    struct record *record = open_as(&me, RECORD_READY);
    for (int i = 0; i < 4; i++) {
        const size_t newest = 1 - (size_t)i % 2;
        read_bytes(before);
        free(record_image_of(record));
        put(record, 5, 200 + (uint64_t)i);
        save(record);
        read_bytes(after);
        assert_memory_equal(before + newest * RECORD_SLOT, after + newest * RECORD_SLOT, RECORD_SLOT);
    }
    record_close(record);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 203);
}

static void an_older_image_does_not_replace_a_newer_one(void **state)
{
    static unsigned char before[FILE_SIZE], after[FILE_SIZE];
    create();
    struct record *record = open_as(&me, RECORD_READY);
    put(record, 5, 1);
    struct record_image *older = record_image_of(record);
    put(record, 5, 2);
    save(record);
    read_bytes(before);
    assert_int_equal(record_write(record, older), 0);
    read_bytes(after);
    assert_memory_equal(before, after, FILE_SIZE);
    free(older);
    record_close(record);
}

static void a_thousand_writes_are_all_found(void **state)
{
    create();
    struct record *record = open_as(&me, RECORD_READY);
    for (uint64_t i = 1; i <= 1000; i++) {
        put(record, 5, i);
        if (i % 3 == 0) put(record, 1000 + i, i);
        save(record);
        if (i % 50) continue;
        record_close(record);
        record = open_as(&me, RECORD_READY);
        assert_int_equal(epoch_of(record, 5), i);
    }
    assert_int_equal(epoch_of(record, 1000 + 999), 999);
    record_close(record);
}

static void all_groups_fit_and_no_more(void **state)
{
    create();
    struct record *record = open_as(&me, RECORD_READY);
    for (uint64_t i = 0; i < RECORD_GROUPS_MAX; i++) put(record, 1 + i * 7919 % 65521, i + 1);
    const struct el_durable durable = {1, {0}};
    assert_false(record_put(record, 70000, &durable));
    put(record, 1, 77); /* one that is there */
    save(record);
    save(record);
    record_close(record);
    record = open_as(&me, RECORD_READY);
    for (uint64_t i = 1; i < RECORD_GROUPS_MAX; i++)
        assert_int_equal(epoch_of(record, 1 + i * 7919 % 65521), i + 1);
    assert_int_equal(epoch_of(record, 1), 77);
    record_close(record);
}

struct errand {
    struct record *record;
    struct record_image *image;
    int error;
};

static void *write_in_thread(void *argument)
{
    struct errand *errand = argument;
    errand->error = record_write(errand->record, errand->image);
    return NULL;
}

static void another_thread_writes_while_this_one_goes_on(void **state)
{
    create();
    struct record *record = open_as(&me, RECORD_READY);
    for (uint64_t i = 1; i <= 50; i++) {
        put(record, 5, i);
        struct errand errand = {record, record_image_of(record), -1};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_in_thread, &errand), 0);
        put(record, 5, 1000 + i);
        put(record, 100 + i, i);
        pthread_join(thread, NULL);
        assert_int_equal(errand.error, 0);
        free(errand.image);
    }
    record_close(record);
    record = open_as(&me, RECORD_READY);
    assert_int_equal(epoch_of(record, 5), 50);
    assert_int_equal(epoch_of(record, 149), 49);
    assert_int_equal(epoch_of(record, 150), 0);
    record_close(record);
}

/* ---- It refuses ---- */

static void refuses(const struct record_identity *who, const char *words)
{
    open_as(who, RECORD_REFUSED);
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
    assert_non_null(strstr(text, path));
}

static void a_file_of_another_member_or_cluster_is_refused_and_kept(void **state)
{
    struct record_identity other = me;
    create_and_save(2);
    other.member = 8;
    refuses(&other, "of the member with id 7, and this is 8");
    other = me;
    other.cluster_id[15] ^= 1;
    refuses(&other, "of another cluster");
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 102);
}

/* Which process that is not every file system tells. */
static void says_who_uses_it(const char *said)
{
    char by_us[64];
    snprintf(by_us, sizeof by_us, "in use by process %d", (int)getpid());
    assert_true(strstr(said, by_us) || strstr(said, "in use by another process"));
}

static void a_file_in_use_is_not_opened(void **state)
{
    create_and_save(1);
    struct record *record = open_as(&me, RECORD_READY);
    assert_null(open_as(&me, RECORD_IN_USE));
    says_who_uses_it(text);
    record_close(record);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 101);
}

static struct {
    struct record *record; /* that of the process that is about to end; it does so when it is waited for */
    unsigned waits;
} before;

static void ends_the_one_before(const char *said)
{
    says_who_uses_it(said);
    before.waits++;
    if (before.record) record_close(before.record);
    before.record = NULL;
}

static void a_file_in_use_is_waited_for(void **state)
{
    struct record *record;
    create_and_save(1);
    before.record = open_as(&me, RECORD_READY);
    before.waits = 0;
    assert_int_equal(record_await(&record, path, &me, 60000, ends_the_one_before, text, sizeof text),
                     RECORD_READY);
    assert_int_equal(before.waits, 1);
    struct record *other = NULL;
    assert_int_equal(record_await(&other, path, &me, 100, ends_the_one_before, text, sizeof text),
                     RECORD_IN_USE);
    assert_null(other);
    assert_int_equal(before.waits, 2); /* once for all tries */
    says_who_uses_it(text);
    record_close(record);
}

static void a_file_that_others_may_write_is_refused(void **state)
{
    static const mode_t modes[] = {0620, 0602, 0666, 0660};
    create_and_save(1);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod(path, modes[i]);
        refuses(&me, "others may write to the state file");
    }
    chmod(path, 0644);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 101);
}

static void a_file_of_another_user_is_refused(void **state)
{
    if (geteuid() != 0) return; /* only root can give a file away */
    create_and_save(1);
    assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
    refuses(&me, "belongs to uid 12345 and this is uid 0; run as that user, or chown it");
}

static void what_is_no_state_file_is_left_alone(void **state)
{
    write_bytes("Dear all,\n", 10);
    refuses(&me, "not a state file, left unchanged");
    struct stat status;
    stat(path, &status);
    assert_int_equal(status.st_size, 10);
    unlink(path);
    mkfifo(path, 0600);
    refuses(&me, "not a regular file");
    unlink(path);
    assert_int_equal(symlink("/tmp/elector-nowhere", path), 0);
    refuses(&me, "a symbolic link");
    unlink(path);
    mkdir(path, 0700);
    refuses(&me, "cannot open the state file");
    rmdir(path);
    struct record *record = NULL;
    assert_int_equal(record_open(&record, "/tmp/elector-nowhere/x", &me, text, sizeof text), RECORD_REFUSED);
    assert_non_null(strstr(text, "/tmp/elector-nowhere/x: cannot open the state file: No such file"));
}

static void a_later_format_is_refused(void **state)
{
    /* Whole in every way but for its format: made by encoding it, and summing anew. */
    static struct record_contents contents;
    static unsigned char bytes[FILE_SIZE];
    contents = (struct record_contents){.identity = me, .version = 3};
    record_slot_encode(&contents, bytes);
    bytes[8] = RECORD_FORMAT + 1;
    unsigned char again[RECORD_SLOT];
    memcpy(again, bytes, sizeof again);
    assert_int_equal(record_slot_decode(again, sizeof again, &contents), RECORD_SLOT_DAMAGED);
    crypto_generichash(bytes + RECORD_HEAD, RECORD_CHECKSUM, bytes, RECORD_HEAD, NULL, 0);
    write_bytes(bytes, FILE_SIZE);
    refuses(&me, "written by another version of elector");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_created_file_says_that_nothing_was_promised),
        TEST(creating_replaces_nothing),
        TEST(what_was_put_and_written_is_read),
        TEST(slots_are_written_in_turn_also_after_a_restart),
        TEST(an_image_that_was_skipped_does_not_upset_the_turns),
        TEST(an_older_image_does_not_replace_a_newer_one),
        TEST(a_thousand_writes_are_all_found),
        TEST(all_groups_fit_and_no_more),
        TEST(another_thread_writes_while_this_one_goes_on),
        TEST(a_file_of_another_member_or_cluster_is_refused_and_kept),
        TEST(a_file_in_use_is_not_opened),
        TEST(a_file_in_use_is_waited_for),
        TEST(a_file_that_others_may_write_is_refused),
        TEST(a_file_of_another_user_is_refused),
        TEST(what_is_no_state_file_is_left_alone),
        TEST(a_later_format_is_refused),
    };
    return cmocka_run_group_tests_name("record", tests, make_folder, remove_folder);
}
