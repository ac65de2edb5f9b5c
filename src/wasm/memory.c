/*
 * The four memory functions that a compiler may call by itself, for a target without libc. Plain byte loops
 * are enough: the core copies a few dozen bytes at a time. Built freestanding, so that the compiler does not
 * turn a loop into a call of the same function.
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < size; i++) t[i] = f[i];
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) {
        for (size_t i = 0; i < size; i++) t[i] = f[i];
    } else {
        for (size_t i = size; i > 0; i--) t[i - 1] = f[i - 1];
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    unsigned char *t = to;
    for (size_t i = 0; i < size; i++) t[i] = (unsigned char)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}
