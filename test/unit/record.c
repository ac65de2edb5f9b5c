/* The state file: what it keeps through crashes, what it takes for lost, and what it refuses to touch. */
#define _GNU_SOURCE
#include "agent/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/record_slot.h"

enum { FILE_SIZE = 2 * RECORD_SLOT };

static char folder[] = "/tmp/elector-record-XXXXXX";
static char path[64], text[300];
static const struct record_identity me = {"a cluster's id.", 7};

/* ---- A small bench ---- */

static int make_folder(void **state)
{
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/state", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static int remove_file(void **state)
{
    unlink(path);
    return 0;
}

static void create(void)
{
    unlink(path);
    if (!record_create(path, &me, text, sizeof text)) fail_msg("%s", text);
}

static struct record *open_as(const struct record_identity *who, enum record_outcome wanted)
{
    struct record *record = NULL;
    const enum record_outcome outcome = record_open(&record, path, who, text, sizeof text);
    if (outcome != wanted) fail_msg("outcome %d, not %d: %s", (int)outcome, (int)wanted, text);
    assert_int_equal(outcome == RECORD_REFUSED, record == NULL);
    assert_int_equal(outcome == RECORD_READY, text[0] == '\0');
    assert_null(strchr(text, '\n'));
    return record;
}

static void put(struct record *record, uint64_t key, uint64_t epoch)
{
    const struct el_durable durable = {epoch, {key, ~epoch, UINT64_C(0x0102030405060708)}};
    assert_true(record_put(record, key, &durable));
}

static uint64_t epoch_of(struct record *record, uint64_t key)
{
    struct el_durable durable;
    if (!record_get(record, key, &durable)) return 0;
    assert_int_equal(durable.word[0], key);
    assert_int_equal(durable.word[1], ~durable.epoch);
    assert_int_equal(durable.word[2], UINT64_C(0x0102030405060708));
    return durable.epoch;
}

static void save(struct record *record)
{
    struct record_image *image = record_image_of(record);
    assert_non_null(image);
    assert_int_equal(record_write(record, image), 0);
    free(image);
}

static uint64_t epoch_in_file(uint64_t key, enum record_outcome wanted, bool forgot)
{
    struct record *record = open_as(&me, wanted);
    const uint64_t epoch = epoch_of(record, key);
    assert_int_equal(record_forgot(record), forgot);
    record_close(record);
    return epoch;
}

static void read_bytes(unsigned char bytes[FILE_SIZE])
{
    const int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, bytes, FILE_SIZE), FILE_SIZE);
    close(fd);
}

static void write_bytes(const void *bytes, size_t size)
{
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* Writes into the file as it is. */
static void scribble(off_t at, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, bytes, size, at), size);
    close(fd);
}

/* A file that was created, and saved `saves` times: group 5 is at epoch 100 + saves. */
static void create_and_save(uint64_t saves)
{
    create();
    struct record *record = open_as(&me, RECORD_READY);
    for (uint64_t i = 1; i <= saves; i++) {
        put(record, 5, 100 + i);
        save(record);
    }
    record_close(record);
}

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

/* ---- It survives, or knows that it does not ---- */

/* The newest is in slot 1. As far as its bytes reach, any one that is flipped leaves the older slot. */
static void a_flipped_byte_costs_at_most_the_slot_it_is_in(void **state)
{
    static unsigned char good[FILE_SIZE];
    create_and_save(1);
    struct record *record = open_as(&me, RECORD_READY);
    put(record, 5, 102);
    save(record);
    put(record, 6, 103);
    save(record);
    record_close(record);
    read_bytes(good);
    const size_t older = record_slot_size(1), newer = record_slot_size(2);
    for (size_t i = 0; i < older; i++) {
        const unsigned char flipped = good[i] ^ 0x10;
        scribble((off_t)i, &flipped, 1);
        assert_int_equal(epoch_in_file(6, RECORD_READY, false), 103);
        scribble((off_t)i, &good[i], 1);
    }
    for (size_t i = RECORD_SLOT; i < RECORD_SLOT + newer; i++) {
        const unsigned char flipped = good[i] ^ 0x01;
        scribble((off_t)i, &flipped, 1);
        assert_int_equal(epoch_in_file(6, RECORD_READY, false), 0);
        assert_int_equal(epoch_in_file(5, RECORD_READY, false), 102);
        scribble((off_t)i, &good[i], 1);
    }
    assert_int_equal(epoch_in_file(6, RECORD_READY, false), 103);
}

static void a_byte_flipped_in_each_slot_is_a_loss(void **state)
{
    static unsigned char good[FILE_SIZE];
    create_and_save(2);
    read_bytes(good);
    for (size_t i = 0; i < record_slot_size(1); i++) {
        unsigned char *bytes = good;
        bytes[i] ^= 0x80;
        bytes[RECORD_SLOT + i] ^= 0x80;
        write_bytes(bytes, FILE_SIZE);
        bytes[i] ^= 0x80;
        bytes[RECORD_SLOT + i] ^= 0x80;
        assert_int_equal(epoch_in_file(5, RECORD_LOST, true), 0);
    }
}

static void a_truncated_file_is_lost_wherever_it_was_cut(void **state)
{
    static unsigned char good[FILE_SIZE];
    create_and_save(3);
    read_bytes(good);
    for (size_t size = 0; size < FILE_SIZE; size += size < 2 * record_slot_size(1) ? 1 : 40009) {
        write_bytes(good, size);
        assert_int_equal(epoch_in_file(5, RECORD_LOST, true), 0);
    }
    write_bytes(good, FILE_SIZE - 1);
    assert_int_equal(epoch_in_file(5, RECORD_LOST, true), 0);
    write_bytes(good, FILE_SIZE);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 103);
}

static void zeros_are_a_loss(void **state)
{
    static const unsigned char zeros[FILE_SIZE];
    static const size_t sizes[] = {0, 1, 4096, RECORD_SLOT, FILE_SIZE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_bytes(zeros, sizes[i]);
        assert_int_equal(epoch_in_file(5, RECORD_LOST, true), 0);
    }
}

static void a_write_that_was_cut_off_leaves_the_one_before(void **state)
{
    for (int saves = 1; saves <= 2; saves++) {
        for (size_t part = 0; part <= record_slot_size(2); part += 3) {
            create_and_save((uint64_t)saves);
            struct record *record = open_as(&me, RECORD_READY);
            put(record, 5, 200);
            put(record, 6, 201);
            struct record_image *image = record_image_of(record);
            scribble(saves == 1 ? 0 : RECORD_SLOT, image->bytes, part < image->size ? part : image->size);
            record_close(record);
            free(image);
            const uint64_t found = epoch_in_file(5, RECORD_READY, false);
            assert_int_equal(found, part < record_slot_size(2) ? 100 + saves : 200);
        }
    }
}

/* The slot that is damaged is the one to be written next; then both are good again. */
static void after_a_damaged_slot_the_good_one_is_spared(void **state)
{
    static unsigned char before[FILE_SIZE], after[FILE_SIZE];
    create_and_save(3); /* the newest is in slot 1 */
    scribble(RECORD_SLOT + 60, "x", 1);
    read_bytes(before);
    struct record *record = open_as(&me, RECORD_READY);
    assert_int_equal(epoch_of(record, 5), 102);
    put(record, 5, 300);
    save(record);
    record_close(record);
    read_bytes(after);
    assert_memory_equal(before, after, RECORD_SLOT);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 300);
}

static void a_missing_file_is_lost_and_stays_so_until_it_is_written(void **state)
{
    unlink(path);
    assert_int_equal(epoch_in_file(5, RECORD_LOST, true), 0);
    assert_non_null(strstr(text, "missing or damaged"));
    struct record *record = open_as(&me, RECORD_LOST);
    put(record, 5, 1);
    save(record);
    record_close(record);
    record = open_as(&me, RECORD_READY);
    assert_true(record_forgot(record));
    assert_int_equal(epoch_of(record, 5), 1);
    save(record);
    record_close(record);
    assert_int_equal(epoch_in_file(5, RECORD_READY, true), 1);
}

/* What a cut left over must not outlive the new beginning: its version would be the greater. */
static void what_was_lost_does_not_come_back(void **state)
{
    static unsigned char good[FILE_SIZE];
    create_and_save(9);
    read_bytes(good);
    write_bytes(good, FILE_SIZE - 4000);
    struct record *record = open_as(&me, RECORD_LOST);
    put(record, 5, 1);
    save(record);
    record_close(record);
    assert_int_equal(epoch_in_file(5, RECORD_READY, true), 1);
}

static void two_slots_of_one_version_are_a_loss(void **state)
{
    static unsigned char good[FILE_SIZE];
    create_and_save(2);
    read_bytes(good);
    memcpy(good + RECORD_SLOT, good, RECORD_SLOT);
    write_bytes(good, FILE_SIZE);
    assert_int_equal(epoch_in_file(5, RECORD_LOST, true), 0);
}

/* No room beyond the file's first half: a write to slot 1 fails, and so does every later one. */
static void a_write_that_failed_is_not_tried_again(void **state)
{
    create();
    const pid_t child = fork();
    if (child == 0) {
        struct record *record = NULL;
        if (record_open(&record, path, &me, text, sizeof text) != RECORD_READY) _exit(1);
        struct rlimit small, large;
        getrlimit(RLIMIT_FSIZE, &large);
        small = large;
        small.rlim_cur = RECORD_SLOT;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        struct record_image *image = record_image_of(record);
        if (record_write(record, image) != EFBIG) _exit(2);
        setrlimit(RLIMIT_FSIZE, &large);
        free(image);
        image = record_image_of(record);
        if (record_write(record, image) != EFBIG) _exit(3);
        free(image);
        record_close(record);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 0);
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

static void a_file_in_use_is_refused(void **state)
{
    create_and_save(1);
    struct record *record = open_as(&me, RECORD_READY);
    refuses(&me, "in use by another process; stop that agent first");
    record_close(record);
    assert_int_equal(epoch_in_file(5, RECORD_READY, false), 101);
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
    refuses(&me, "is no state file, and is left alone");
    struct stat status;
    stat(path, &status);
    assert_int_equal(status.st_size, 10);
    unlink(path);
    mkfifo(path, 0600);
    refuses(&me, "is no regular file");
    unlink(path);
    assert_int_equal(symlink("/tmp/elector-nowhere", path), 0);
    refuses(&me, "is a link");
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

#define TEST(name) cmocka_unit_test_teardown(name, remove_file)

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
        TEST(a_flipped_byte_costs_at_most_the_slot_it_is_in),
        TEST(a_byte_flipped_in_each_slot_is_a_loss),
        TEST(a_truncated_file_is_lost_wherever_it_was_cut),
        TEST(zeros_are_a_loss),
        TEST(a_write_that_was_cut_off_leaves_the_one_before),
        TEST(after_a_damaged_slot_the_good_one_is_spared),
        TEST(a_missing_file_is_lost_and_stays_so_until_it_is_written),
        TEST(what_was_lost_does_not_come_back),
        TEST(two_slots_of_one_version_are_a_loss),
        TEST(a_write_that_failed_is_not_tried_again),
        TEST(a_file_of_another_member_or_cluster_is_refused_and_kept),
        TEST(a_file_in_use_is_refused),
        TEST(a_file_that_others_may_write_is_refused),
        TEST(a_file_of_another_user_is_refused),
        TEST(what_is_no_state_file_is_left_alone),
        TEST(a_later_format_is_refused),
    };
    return cmocka_run_group_tests_name("record", tests, make_folder, remove_folder);
}
