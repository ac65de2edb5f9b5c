/* bench-engines URL COUNT: one client stands for that many groups, and prints after how many milliseconds it leads all. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "elector.h"

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void count(void *context, const elector_event *event)
{
    if (event->type == ELECTOR_ELECTED) ++*(long *)context;
}

int main(int argc, char **argv)
{
    long led = 0;
    const long wanted = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    const double began = now_ms();
    elector *e;
    if (wanted <= 0 || elector_open(argv[1], &e) != ELECTOR_OK) return 3;
    elector_on_event(e, count, &led);
    for (long i = 0; i < wanted; i++) {
        char group[40];
        snprintf(group, sizeof group, "many-%ld", i);
        if (elector_campaign(e, group, NULL, 0, NULL) > ELECTOR_TIMEOUT) return 2;
    }
    while (led < wanted && elector_wait(e, -1) == ELECTOR_OK) {}
    printf("%.1f\n", now_ms() - began);
    elector_close(e);
    return led == wanted ? 0 : 1;
}
