/* The protocol of sd_notify(3) with the service manager. Without a service manager these do nothing. */
#ifndef ELECTOR_AGENT_SYSTEMD_H
#define ELECTOR_AGENT_SYSTEMD_H

#include <stdint.h>

/* READY=1, STOPPING=1, WATCHDOG=1, STATUS=… All but READY=1 are dropped if the service manager does not read. */
void systemd_notify(const char *state);
/* How often to send WATCHDOG=1, in ns: half of the service manager's timeout; 0: never. */
uint64_t systemd_watchdog_ns(void);

#endif
