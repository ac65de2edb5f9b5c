/* The state file when it is damaged, cut or half written: it survives, or knows that it does not. */
#define _GNU_SOURCE
#include "lib/host/state_files.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("record when damaged", tests, make_folder, remove_folder);
}
