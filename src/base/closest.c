/* See closest.h. The distance is that of optimal string alignment. */
#include "base/closest.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
    unsigned rows[3][CLOSEST_MAX + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *now = rows[i % 3];
        const unsigned *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

struct closest closest_to(const char *word)
{
    return (struct closest){.word = word, .distance = (unsigned)strlen(word) / 3 + 2};
}

void closest_offer(struct closest *c, const char *candidate, size_t length)
{
    const size_t size = strlen(c->word);
    if (size == 0 || size > CLOSEST_MAX || length == 0 || length > CLOSEST_MAX) return;
    const unsigned d = distance(c->word, size, candidate, length);
    if (d >= c->distance || d >= length || (size_t)d * 2 > (size < length ? length : size)) return;
    c->distance = d;
    memcpy(c->best, candidate, length);
    c->best[length] = '\0';
}
