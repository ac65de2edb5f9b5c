/* Shared by agent.c, reload.c and wiring.c. */
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
    bool has_warned_of_disk;
    int socket, timer;
    int generation;        /* generation_open() */
    uint64_t clock_offset; /* generation_clock_jumped() */
    uint64_t renewed_at;   /* when a jump of the clock last renewed the channels */
    uint64_t wakes_at;     /* the timer's setting; 0: not set */
    uint64_t drawn[32];
    uint32_t drawn_left;
    uv_loop_t loop;
    uv_poll_t on_socket, on_timer, on_generation;
    uv_prepare_t before_waiting;
    uv_signal_t on_signal[4];
    struct agent_reading *reading; /* of the configuration, in another thread; NULL: none */
    uv_poll_t *on_reading;
    uint64_t names_at,
        names_wait;   /* when names may be looked up next, and after how long again; 0: none is missed */
    bool reads_again; /* SIGHUP came while it was being read */
    uint64_t watchdog, watchdog_at;
    bool is_leaving, is_done;
    uint64_t leave_by;
    int code;
};

void agent_finish(struct agent *, int code);

/* reload.c */
void agent_reload(struct agent *); /* on SIGHUP; returns at once */
/* Looks up, beside the loop, the names of members that are not heard. */
void agent_watch_names(struct agent *, uint64_t now);
void agent_stop_reload(struct agent *); /* before the loop ends; does not wait for the thread */

/* A write of the state file that takes longer than this is in the log. */
enum { AGENT_DISK_HANGS_AFTER_S = 1 };

/* wiring.c: connects host and seal to the outside */
struct host_hooks agent_host_hooks(struct agent *);
struct seal_hooks agent_seal_hooks(struct agent *);
/* Warns once if the disk has not taken the state file for long. */
void agent_watch_disk(struct agent *, uint64_t now);

#endif
