/*
 * The agent's socket: what docs/socket-protocol.md says, for at most SERVE_CONNECTIONS_MAX clients at a time. Nothing
 * grows with what a client sends or fails to read. It calls host_tick() before it does anything to the host, so whoever
 * runs the loop asks the host anew when it is due each time that the loop goes round.
 */
#ifndef ELECTOR_AGENT_SERVE_SERVE_H
#define ELECTOR_AGENT_SERVE_SERVE_H

#include <uv.h>

#include "agent/guardian/guardian_client.h"
#include "agent/host/host.h"
#include "agent/metrics/metrics.h"

enum { SERVE_CONNECTIONS_MAX = CONFIG_CLIENTS_MAX };

struct serve;

/* Listens. Both are borrowed. NULL with one line: what, where, what to do. */
struct serve *serve_new(uv_loop_t *, const struct config *, struct host *, char *text, size_t size);
/* From now on what changes and what clients do is written there, and told from there. Borrowed. */
struct history;
void serve_set_history(struct serve *, struct history *);
/* Who is told what clients work at; borrowed. Before the first of them. */
void serve_watch_by(struct serve *, struct guardian_client *);
/* What changes is counted there from now on. Borrowed. */
void serve_count_in(struct serve *, struct metrics *);
/* For host_hooks.changed. */
void serve_changed(struct serve *, struct host_group *);
/* For host_hooks.renewed. */
void serve_renewed(struct serve *, uint32_t cell);
/* Nobody here is to lead any more: whoever does is asked to stop, then it is handed over. True when nobody does; ask
 * again whenever the loop has gone round. Until serve_free() the rest is served as before. */
bool serve_leave(struct serve *);
/* The record could not be written, `why`: everything is lost, and nothing is to be had any more. */
void serve_failed(struct serve *, const char *why);
/* Hangs up on everybody and takes the socket away; resigns from nothing. What it is made of goes when the loop has closed
 * its handles: run it once more. The host may go before that. */
void serve_free(struct serve *);

#endif
