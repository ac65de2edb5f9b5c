/*
 * Bytes as a change of the membership, which voters get from members: never beyond the bytes, and what is accepted is what
 * encoding makes of it. A change that is accepted is carried out on a record of three, and the result is refused or a
 * record that decoding takes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/members/record.h"

static struct members_member member(uint16_t number, uint8_t name)
{
    struct members_member m = {
        .number = number, .role = MEMBERS_VOTER, .since = number, .name_size = 1, .keys = 1};
    m.name[0] = name;
    m.key[0][0] = (uint8_t)number;
    m.place.addresses = 1;
    m.place.address[0] = (struct members_address){.size = 6, .bytes = {10, 0, 0, (uint8_t)number, 0, 7}};
    return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t cluster[MEMBERS_CLUSTER] = {7};
    static struct members_record record, next, back;
    static struct members_change change;
    static uint8_t again[MEMBERS_BYTES_MAX], once_more[MEMBERS_BYTES_MAX];
    if (!members_decode_change(&change, data, size)) return 0;
    if (members_encode_change(&change, again) != size || memcmp(again, data, size) != 0) abort();
    const struct members_member members[] = {member(1, 'a'), member(2, 'b'), member(3, 'c')};
    if (!members_first(&record, cluster, members, 3)) abort();
    if (members_apply(&record, 1, true, &change, &next) != MEMBERS_DONE) return 0;
    const uint32_t bytes = members_encode(&next, again);
    if (!members_decode(&back, again, bytes) || members_encode(&back, once_more) != bytes) abort();
    if (memcmp(again, once_more, bytes) != 0) abort();
    return 0;
}
