/* A state file in a folder of its own, and functions to inspect and corrupt it. */
#ifndef ELECTOR_TEST_LIB_HOST_STATE_FILES_H
#define ELECTOR_TEST_LIB_HOST_STATE_FILES_H

#include "agent/state/record.h"

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

#include "agent/state/slot.h"

#include "lib/scratch.h"

enum { FILE_SIZE = 2 * RECORD_SLOT };

static char folder[64];
static char path[80], text[300];
static const struct record_identity me = {"a cluster's id.", 7};

/* ---- A small bench ---- */

static inline int make_folder(void **state)
{
    if (!scratch_folder(folder, sizeof folder, "record")) return -1;
    snprintf(path, sizeof path, "%s/state", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static inline int remove_file(void **state)
{
    unlink(path);
    return 0;
}

static inline void create(void)
{
    unlink(path);
    if (!record_create(path, &me, text, sizeof text)) fail_msg("%s", text);
}

static inline struct record *open_as(const struct record_identity *who, enum record_outcome wanted)
{
    struct record *record = NULL;
    const enum record_outcome outcome = record_open(&record, path, who, text, sizeof text);
    if (outcome != wanted) fail_msg("outcome %d, not %d: %s", (int)outcome, (int)wanted, text);
    assert_int_equal(outcome == RECORD_REFUSED || outcome == RECORD_IN_USE, record == NULL);
    assert_int_equal(outcome == RECORD_READY, text[0] == '\0');
    assert_null(strchr(text, '\n'));
    return record;
}

static inline void put(struct record *record, uint64_t key, uint64_t epoch)
{
    const struct el_durable durable = {epoch, {key, ~epoch, UINT64_C(0x0102030405060708)}};
    assert_true(record_put(record, key, &durable));
}

static inline uint64_t epoch_of(struct record *record, uint64_t key)
{
    struct el_durable durable;
    if (!record_get(record, key, &durable)) return 0;
    assert_int_equal(durable.word[0], key);
    assert_int_equal(durable.word[1], ~durable.epoch);
    assert_int_equal(durable.word[2], UINT64_C(0x0102030405060708));
    return durable.epoch;
}

static inline void save(struct record *record)
{
    struct record_image *image = record_image_of(record);
    assert_non_null(image);
    assert_int_equal(record_write(record, image), 0);
    free(image);
}

static inline uint64_t epoch_in_file(uint64_t key, enum record_outcome wanted, bool forgot)
{
    struct record *record = open_as(&me, wanted);
    const uint64_t epoch = epoch_of(record, key);
    assert_int_equal(record_forgot(record), forgot);
    record_close(record);
    return epoch;
}

static inline void read_bytes(unsigned char bytes[FILE_SIZE])
{
    const int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, bytes, FILE_SIZE), FILE_SIZE);
    close(fd);
}

static inline void write_bytes(const void *bytes, size_t size)
{
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* Writes into the file as it is. */
static inline void scribble(off_t at, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, bytes, size, at), size);
    close(fd);
}

/* A file that was created, and saved `saves` times: group 5 is at epoch 100 + saves. */
static inline void create_and_save(uint64_t saves)
{
    create();
    struct record *record = open_as(&me, RECORD_READY);
    for (uint64_t i = 1; i <= saves; i++) {
        put(record, 5, 100 + i);
        save(record);
    }
    record_close(record);
}

#define TEST(name) cmocka_unit_test_teardown(name, remove_file)

#endif
