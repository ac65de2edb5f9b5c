/*
 * See certificate.h. RFC 5280: Certificate is a SEQUENCE that begins with the SEQUENCE tbsCertificate: [0] version (optional), serial,
 * algorithm, issuer, validity. validity is a SEQUENCE of two times, and the second is the end.
 */
#define _GNU_SOURCE
#include "engines/fetch/certificate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

enum { PEM_MAX = 64 << 10, SEQUENCE = 0x30, VERSION = 0xa0, UTC_TIME = 0x17, GENERALIZED_TIME = 0x18 };

struct part {
    uint8_t tag;
    const uint8_t *bytes;
    size_t size;
};

/* Takes the next part off `from`. False: it is malformed. */
static bool take(struct part *from, struct part *out)
{
    const uint8_t *at = from->bytes;
    size_t left = from->size, length;
    if (left < 2) return false;
    out->tag = at[0];
    length = at[1];
    at += 2;
    left -= 2;
    if (length & 0x80) {
        const size_t count = length & 0x7f;
        if (count == 0 || count > 3 || count > left) return false;
        length = 0;
        for (size_t i = 0; i < count; i++) length = length << 8 | at[i];
        at += count;
        left -= count;
    }
    if (length > left) return false;
    out->bytes = at;
    out->size = length;
    from->bytes = at + length;
    from->size = left - length;
    return true;
}

static bool take_sequence(struct part *from, struct part *out)
{
    return take(from, out) && out->tag == SEQUENCE;
}

static bool is_number(const struct part *text, size_t digits)
{
    for (size_t i = 0; i < digits; i++)
        if (text->bytes[i] < '0' || text->bytes[i] > '9') return false;
    return true;
}

static int pair_at(const struct part *text, size_t at)
{
    return 10 * (text->bytes[at] - '0') + text->bytes[at + 1] - '0';
}

/* YYMMDDHHMMSSZ until 2049, then YYYYMMDDHHMMSSZ. */
static int64_t read_time(const struct part *text)
{
    const size_t century = text->tag == GENERALIZED_TIME ? 2 : 0;
    if ((text->tag != UTC_TIME && !century) || text->size != century + 13 || !is_number(text, century + 12) ||
        text->bytes[century + 12] != 'Z')
        return 0;
    const int of_century = pair_at(text, century), usual = of_century < 50 ? 20 : 19;
    const int year = 100 * (century ? pair_at(text, 0) : usual) + of_century;
    struct tm parts = {.tm_year = year - 1900,
                       .tm_mon = pair_at(text, century + 2) - 1,
                       .tm_mday = pair_at(text, century + 4),
                       .tm_hour = pair_at(text, century + 6),
                       .tm_min = pair_at(text, century + 8),
                       .tm_sec = pair_at(text, century + 10)};
    const time_t end = timegm(&parts);
    return end > 0 ? end : 0;
}

static int64_t read_end(struct part whole)
{
    struct part certificate, body, part;
    if (!take_sequence(&whole, &certificate) || !take_sequence(&certificate, &body)) return 0;
    if (body.size && body.bytes[0] == VERSION && !take(&body, &part)) return 0;
    for (int i = 0; i < 3; i++) /* serial, algorithm, issuer */
        if (!take(&body, &part)) return 0;
    struct part validity;
    if (!take_sequence(&body, &validity) || !take(&validity, &part) || !take(&validity, &part)) return 0;
    return read_time(&part);
}

int64_t certificate_end(const char *pem)
{
    static const char head[] = "-----BEGIN CERTIFICATE-----";
    const char *first = strstr(pem, head);
    const char *last = first ? strstr(first, "-----END CERTIFICATE-----") : NULL;
    if (!last || last - first > PEM_MAX) return 0;
    first += sizeof head - 1;
    const size_t room = (size_t)(last - first);
    uint8_t *bytes = malloc(room + 1);
    size_t size = 0;
    int64_t end = 0;
    if (bytes && sodium_base642bin(bytes, room, first, room, " \r\n\t", &size, NULL,
                                   sodium_base64_VARIANT_ORIGINAL) == 0)
        end = read_end((struct part){.bytes = bytes, .size = size});
    free(bytes);
    return end;
}

int64_t certificate_file_end(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(PEM_MAX + 1) : NULL;
    int64_t end = 0;
    if (text) {
        text[fread(text, 1, PEM_MAX, file)] = '\0';
        end = certificate_end(text);
    }
    free(text);
    if (file) fclose(file);
    return end;
}
