/* What a service manager wants to know, by the protocol of sd_notify(3). Without one nothing happens. */
#ifndef ELECTOR_AGENT_SYSTEMD_H
#define ELECTOR_AGENT_SYSTEMD_H

#include <stdint.h>

void systemd_notify(const char *state); /* READY=1, STOPPING=1, WATCHDOG=1, STATUS=… */
/* How often it wants to hear WATCHDOG=1, in ns; 0: never. */
uint64_t systemd_watchdog_ns(void);

#endif
