/*
 * The agent's socket: what docs/socket-protocol.md says, for at most CONTROL_CONNECTIONS_MAX clients at a time. Nothing
 * grows with what a client sends or fails to read. It calls host_tick() before it does anything to the host, so whoever
 * runs the loop asks the host anew when it is due each time that the loop goes round.
 */
#ifndef ELECTOR_AGENT_SERVE_SOCKET_H
#define ELECTOR_AGENT_SERVE_SOCKET_H

#include <uv.h>

#include "agent/guardian/guardian_client.h"
#include "agent/host/host.h"
#include "agent/metrics/metrics.h"

enum { CONTROL_CONNECTIONS_MAX = CONFIG_CLIENTS_MAX };

struct control;

/* Listens. Both are borrowed. NULL with one line: what, where, what to do. */
struct control *control_new(uv_loop_t *, const struct config *, struct host *, char *text, size_t size);
/* From now on what changes and what clients do is written there, and told from there. Borrowed. */
struct chronicle;
void control_set_chronicle(struct control *, struct chronicle *);
/* Who is told what clients work at; borrowed. Before the first of them. */
void control_watch_by(struct control *, struct obituary *);
/* What changes is counted there from now on. Borrowed. */
void control_count_in(struct control *, struct metrics *);
/* For host_hooks.changed. */
void control_changed(struct control *, struct host_group *);
/* For host_hooks.renewed. */
void control_renewed(struct control *, uint32_t cell);
/* Nobody here is to lead any more: whoever does is asked to stop, then it is handed over. True when nobody does; ask
 * again whenever the loop has gone round. Until control_free() the rest is served as before. */
bool control_leave(struct control *);
/* The record could not be written, `why`: everything is lost, and nothing is to be had any more. */
void control_failed(struct control *, const char *why);
/* Hangs up on everybody and takes the socket away; resigns from nothing. What it is made of goes when the loop has closed
 * its handles: run it once more. The host may go before that. */
void control_free(struct control *);

#endif
