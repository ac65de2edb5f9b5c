/* What the files of records share. */
#ifndef ELECTOR_ALGORITHMS_MEMBERS_INTERNAL_H
#define ELECTOR_ALGORITHMS_MEMBERS_INTERNAL_H

#include "algorithms/members/record.h"

static inline bool members_same(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t i = 0;
    while (i < size && a[i] == b[i]) i++;
    return i == size;
}

static inline bool members_may_vote(uint8_t role)
{
    return role == MEMBERS_VOTER || role == MEMBERS_WITNESS;
}

/* ---- What its parts may be (valid.c) ---- */

bool members_member_is_valid(const struct members_member *member);
bool members_place_is_valid(const struct members_place *place);
bool members_token_is_valid(const struct members_token *token);
bool members_setting_is_valid(const struct members_setting *setting);
/* They have an address in common, or a host name and port. */
bool members_places_meet(const struct members_place *a, const struct members_place *b);

/* ---- Settings (settings.c) ---- */

bool members_settings_are_valid(const struct members_record *record);
enum members_answer members_set(struct members_record *record, const struct members_setting *setting);

#endif
