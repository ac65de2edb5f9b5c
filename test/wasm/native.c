/*
 * What the native core says, for module.js to be compared with: fingerprints, the wire form there and
 * back, what decoding refuses, the algorithms and detectors by name, and phi.
 */
#include <stdio.h>
#include <string.h>

#include "detectors/phi.h"
#include "elector/core.h"

/* The same small generator as in module.js; any bytes would do. */
static uint32_t seed = 2026;

static uint8_t byte(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint8_t)(seed >> 24);
}

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) bytes[i] = byte();
}

static void print(const char *what, const uint8_t *bytes, size_t size)
{
    printf("%s ", what);
    for (size_t i = 0; i < size; i++) printf("%02x", bytes[i]);
    printf("\n");
}

static void fingerprints(void)
{
    uint8_t bytes[200];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        fill(bytes, size);
        const struct el_hash hash = el_fingerprint(bytes, size);
        printf("fingerprint %zu %016llx%016llx\n", size, (unsigned long long)hash.high,
               (unsigned long long)hash.low);
    }
}

static void payload_forms(void)
{
    for (int i = 0; i < 100; i++) {
        uint8_t memory[sizeof(struct el_msg)], wire[EL_WIRE_SIZE];
        struct el_msg msg, back;
        fill(memory, sizeof memory);
        memory[14] = memory[15] = 0; /* spare */
        memcpy(&msg, memory, sizeof msg);
        el_encode(&msg, wire);
        print("encode", wire, sizeof wire);
        memset(&back, 0, sizeof back);
        const enum el_wire verdict = el_decode(wire, sizeof wire, &back);
        memcpy(memory, &back, sizeof memory);
        printf("decode %d", (int)verdict);
        print("", memory, sizeof memory);
        wire[i % 4] = byte();
        printf("damaged %d\n", (int)el_decode(wire, sizeof wire, &back));
        printf("short %d\n", (int)el_decode(wire, byte() % EL_WIRE_SIZE, &back));
    }
}

static void algorithms(void)
{
    uint32_t count;
    const struct el_algorithm *const *all = el_algorithms(&count);
    printf("algorithms %u\n", count);
    for (uint32_t i = 0; i < count; i++)
        printf("algorithm %s %s\n", all[i]->name,
               el_algorithm_named(all[i]->name) == all[i] ? "found" : "lost");
    printf("algorithm no-such %s\n", el_algorithm_named("no-such") ? "found" : "none");
}

static void detectors(void)
{
    uint32_t count;
    const struct el_algorithm *const *all = el_detectors(&count);
    printf("detectors %u\n", count);
    for (uint32_t i = 0; i < count; i++)
        printf("detector %s %s\n", all[i]->name, el_detector_named(all[i]->name) == all[i] ? "found" : "lost");
}

/* Of any size: small ones are as likely as large ones. */
static uint64_t number(void)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | byte();
    return word >> byte() % 64;
}

static void suspicions(void)
{
    for (int i = 0; i < 1000; i++) {
        const uint64_t elapsed = number(), mean = number(), deviation = number();
        printf("phi %llu %llu %llu %u\n", (unsigned long long)elapsed, (unsigned long long)mean,
               (unsigned long long)deviation, el_phi_thousandths(elapsed, mean, deviation));
    }
    for (uint64_t y = 0; y < 8000; y += 7)
        printf("phi %llu %u\n", (unsigned long long)y, el_phi_thousandths(y, 3000, 1000));
}

int main(void)
{
    fingerprints();
    payload_forms();
    algorithms();
    detectors();
    suspicions();
    return 0;
}
