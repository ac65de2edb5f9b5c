/* Preloaded into an agent: SIGUSR2 lets the thread that hears it run in a circle, for ever, without a system call. */
#include <signal.h>

static void run_in_a_circle(int number)
{
    (void)number;
    for (volatile unsigned turns = 0;; turns++) {}
}

__attribute__((constructor)) static void listen_to_order(void)
{
    (void)signal(SIGUSR2, run_in_a_circle);
}
