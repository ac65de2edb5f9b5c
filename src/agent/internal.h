/* Shared by agent.c and wiring.c. */
#ifndef ELECTOR_AGENT_INTERNAL_H
#define ELECTOR_AGENT_INTERNAL_H

#include <uv.h>

#include "agent/agent.h"
#include "agent/guardian/guardian_client.h"
#include "agent/history/history.h"
#include "agent/host/host.h"
#include "agent/recorder/recorder.h"
#include "agent/serve/http/http.h"
#include "agent/serve/serve.h"

struct agent {
    struct config *config;
    const char *program;
    struct record *record;
    struct host *host;
    struct seal *seal;
    struct serve *serve;
    struct history *history;
    struct guardian_client *guardian;
    struct http *http; /* NULL: off */
    struct metrics metrics;
    size_t hearing; /* size of the datagram being opened, for the metrics */
    struct recorder *recorder;
    int socket, timer;
    uint64_t wakes_at; /* the timer's setting; 0: not set */
    uint64_t drawn[32];
    uint32_t drawn_left;
    uv_loop_t loop;
    uv_poll_t on_socket, on_timer;
    uv_prepare_t before_waiting;
    uv_signal_t on_signal[4];
    uint64_t watchdog, watchdog_at;
    bool is_leaving, is_done;
    uint64_t leave_by;
    int code;
};

void agent_finish(struct agent *, int code);

/* wiring.c: connects host and seal to the outside */
struct host_hooks agent_host_hooks(struct agent *);
struct seal_hooks agent_seal_hooks(struct agent *);

#endif
