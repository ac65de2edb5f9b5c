/* Datagrams in flight, the first to arrive first. */
#ifndef ELECTOR_TEST_LIB_HOST_LETTERS_H
#define ELECTOR_TEST_LIB_HOST_LETTERS_H

#include <stdlib.h>
#include <string.h>

#include "agent/peer/payload.h"

struct letter {
    uint64_t at, order;
    el_node from, to;
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
};

struct mail {
    struct letter **letters; /* a heap */
    size_t count, room;
    uint64_t order;
};

static inline bool comes_before(const struct letter *a, const struct letter *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static inline void mail_post(struct mail *mail, const struct letter *letter)
{
    if (mail->count == mail->room) {
        mail->room = mail->room ? 2 * mail->room : 256;
        mail->letters = realloc(mail->letters, mail->room * sizeof(struct letter *));
        assert_non_null(mail->letters);
    }
    struct letter *copy = malloc(sizeof *copy);
    assert_non_null(copy);
    *copy = *letter;
    copy->order = ++mail->order;
    size_t at = mail->count++;
    for (; at && comes_before(copy, mail->letters[(at - 1) / 2]); at = (at - 1) / 2)
        mail->letters[at] = mail->letters[(at - 1) / 2];
    mail->letters[at] = copy;
}

/* The caller frees it. */
static inline struct letter *mail_take(struct mail *mail)
{
    struct letter *first = mail->letters[0], *last = mail->letters[--mail->count];
    size_t at = 0;
    for (size_t child = 1; child < mail->count; child = 2 * at + 1) {
        if (child + 1 < mail->count && comes_before(mail->letters[child + 1], mail->letters[child])) child++;
        if (comes_before(last, mail->letters[child])) break;
        mail->letters[at] = mail->letters[child];
        at = child;
    }
    mail->letters[at] = last;
    return first;
}

static inline void mail_free(struct mail *mail)
{
    while (mail->count) free(mail_take(mail));
    free(mail->letters);
    *mail = (struct mail){0};
}

static inline void letter_strip(struct letter *letter, uint64_t members,
                                bool (*keeps)(const struct payload_entry *))
{
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    struct payload rest;
    payload_begin(&rest, members);
    while (payload_next(letter->bytes, letter->size, &at, &entry) == PAYLOAD_ENTRY)
        if (keeps(&entry)) assert_true(payload_add(&rest, &entry));
    memcpy(letter->bytes, rest.bytes, rest.size);
    letter->size = rest.size;
}

#endif
