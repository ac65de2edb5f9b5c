/* Shared by agent.c, notices.c, reload.c and wiring.c. */
#ifndef ELECTOR_AGENT_INTERNAL_H
#define ELECTOR_AGENT_INTERNAL_H

#include <uv.h>

#include "agent/agent.h"
#include "agent/exchange/exchange.h"
#include "agent/guardian/guardian_client.h"
#include "agent/history/file.h"
#include "agent/history/history.h"
#include "agent/host/host.h"
#include "agent/peer/udp.h"
#include "agent/recorder/recorder.h"
#include "agent/serve/http/http.h"
#include "agent/serve/serve.h"
#include "base/log/budget.h"

/* The kinds of lines that notices.c writes, each with a budget of its own. */
enum agent_notice {
    NOTICE_PEER,     /* lost, or back */
    NOTICE_MAJORITY, /* lost, or back */
    NOTICE_DIFFERS,  /* a peer has other settings */
    NOTICE_LEADER,   /* changed */
    NOTICE_ACCOUNT,  /* the same, as the leaders' agents tell it */
    NOTICE_LEASE,    /* this member lost it */
    NOTICE_CLIENT,   /* refused */
    NOTICE_FORWARDED,
    NOTICES
};

/* What was last logged of the peers, and the budgets. */
struct agent_notices {
    struct log_budget budgets[NOTICES];
    uint64_t began_at;
    uint64_t lost_at[CONFIG_MEMBERS_MAX]; /* when a peer that is lost was last heard; 0: it is not lost */
    bool is_known[CONFIG_MEMBERS_MAX];    /* it was heard, or was logged as missing */
    uint64_t majority_lost_at;            /* 0: it is not lost */
    bool had_majority;
};

struct agent {
    struct config *config;
    const char *program;
    uint64_t (*stall_ns)(const struct config *); /* for http_setup */
    struct record *record;
    struct host *host;
    struct seal *seal;
    struct serve *serve;
    struct history *history;
    struct history_file *history_file; /* NULL: there is none */
    struct exchange *exchange;
    struct guardian_client *guardian;
    struct http *http; /* NULL: off */
    bool must_reap;    /* a child has ended while a guardian was being started */
    struct metrics metrics;
    struct agent_notices notices;
    size_t hearing;                              /* size of the datagram being opened, for the metrics */
    const struct sockaddr_storage *hearing_from; /* its source; NULL: none is being opened */
    uint32_t hearing_via;                        /* the index of our own address that it came to */
    struct recorder *recorder;
    bool has_warned_of_disk, has_run_too_long;
    char refused[300]; /* what profile realtime works without; "": nothing */
    struct udp udp;
    int timer;
    int generation;        /* generation_open() */
    uint64_t clock_offset; /* generation_clock_jumped() */
    uint64_t renewed_at;   /* when a jump of the clock last renewed the channels */
    uint64_t wakes_at;     /* the timer's setting; 0: not set */
    uint64_t drawn[32];
    uint32_t drawn_left;
    uv_loop_t loop;
    uv_poll_t on_sockets[CONFIG_ADDRESSES_MAX], on_timer, on_generation;
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
struct exchange_hooks agent_exchange_hooks(struct agent *);
uint64_t agent_random(struct agent *);
/* Warns once if the disk has not taken the state file for long. */
void agent_watch_disk(struct agent *, uint64_t now);

/* notices.c: what an operator should read in the log of an outage. Each kind has a budget of lines. */
void agent_watch_peers(struct agent *, uint64_t now);
/* For serve_set_listener(). */
void agent_notice_step(void *context, enum serve_step, const char *group, const struct history_entry *);
void agent_notice_difference(struct agent *, el_node peer, bool differs);
void agent_notice_address(struct agent *, el_node peer);
void agent_notice_version(struct agent *, el_node peer, bool is_understood);
void agent_notice_request(struct agent *, el_node from, const struct payload_entry *, enum exchange_outcome);

#endif
