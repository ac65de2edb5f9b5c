/* Connects host and seal to the outside: clock, random numbers, disk, socket, clients, log, history and
 * metrics. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "agent/internal.h"
#include "agent/peer/payload.h"
#include "agent/peer/udp.h"
#include "base/clock.h"
#include "base/kernel/realtime.h"
#include "base/log/log.h"

struct writing {
    uv_work_t work;
    struct agent *agent;
    struct record_image *image;
    int error;
    uint64_t took_ns;
};

/* ---- Hooks of the host ---- */

static uint64_t host_asks_now(void *context)
{
    (void)context;
    return clock_boottime_ns();
}

/* Draws 32 at a time, because elections wait for them. No secret is made of them. */
uint64_t agent_random(struct agent *agent)
{
    if (agent->drawn_left == 0) {
        randombytes_buf(agent->drawn, sizeof agent->drawn);
        agent->drawn_left = sizeof agent->drawn / sizeof *agent->drawn;
    }
    return agent->drawn[--agent->drawn_left];
}

static uint64_t host_asks_random(void *context)
{
    return agent_random(context);
}

static uint64_t host_asks_wall(void *context)
{
    (void)context;
    return clock_wall_ns() / NS_PER_MS;
}

static void host_sends(void *context, el_node to, const uint8_t *payload, size_t size)
{
    struct agent *agent = context;
    seal_send(agent->seal, clock_boottime_ns(), to, payload, size);
}

static void write_record(uv_work_t *work)
{
    struct writing *writing = work->data;
    const uint64_t began = clock_boottime_ns();
    realtime_join(); /* when this is done, the loop may spin until this thread has left libuv's uv_async_send() */
    writing->error = record_write(writing->agent->record, writing->image);
    writing->took_ns = clock_boottime_ns() - began;
}

static void wrote_record(uv_work_t *work, int status)
{
    struct writing *writing = work->data;
    struct agent *agent = writing->agent;
    const int error = status ? EIO : writing->error;
    const uint64_t version = writing->image->version;
    history_write(agent->history, clock_boottime_ns(), writing->took_ns);
    metrics_observe(&agent->metrics.fsyncs, writing->took_ns);
    if (agent->has_warned_of_disk && !error)
        log_event(LOG_INFO_LEVEL, NULL, "wrote the state file after %llu s: elections go on",
                  (unsigned long long)(writing->took_ns / NS_PER_S));
    agent->metrics.writes_since_ns = 0;
    agent->has_warned_of_disk = false;
    free(writing->image);
    free(writing);
    if (error)
        log_event(LOG_ERROR_LEVEL, NULL, "cannot write the state file %s: %s; resigning all groups and exiting",
                  agent->config->state, strerror(error));
    host_saved(agent->host, version, error);
    if (error && agent->serve) serve_failed(agent->serve, "disk");
    if (error) agent_finish(agent, AGENT_DISK_FAILED);
}

static void host_saves(void *context, struct record_image *image)
{
    struct agent *agent = context;
    struct writing *writing = calloc(1, sizeof *writing);
    if (!writing) abort(); /* nothing that needs this write was sent, so a restart is safe */
    *writing = (struct writing){.agent = agent, .image = image};
    writing->work.data = writing;
    agent->metrics.writes_since_ns = clock_boottime_ns();
    if (uv_queue_work(&agent->loop, &writing->work, write_record, wrote_record) != 0) abort();
}

void agent_watch_disk(struct agent *agent, uint64_t now)
{
    const uint64_t since = agent->metrics.writes_since_ns;
    if (since == 0 || agent->has_warned_of_disk || now < since + AGENT_DISK_HANGS_AFTER_S * NS_PER_S) return;
    agent->has_warned_of_disk = true;
    log_event(
        LOG_WARN_LEVEL, NULL,
        "the disk has not written the state file %s for %d s: this member keeps what it leads, and wins and "
        "grants only what needs no write, until it has",
        agent->config->state, (int)AGENT_DISK_HANGS_AFTER_S);
}

static void host_changed(void *context, struct host_group *group)
{
    struct agent *agent = context;
    if (agent->serve) serve_changed(agent->serve, group);
}

static void host_renews(void *context, uint32_t cell)
{
    struct agent *agent = context;
    if (agent->serve) serve_renewed(agent->serve, cell);
}

static void host_notes(void *context, struct host_group *group, const struct host_note *note)
{
    const struct agent *agent = context;
    char text[256];
    history_note(agent->history, clock_boottime_ns(), group ? history_group(host_name(group)) : 0, note);
    if (!log_is_verbose()) return;
    host_note_text(agent->config, note, text, sizeof text);
    log_event(LOG_DEBUG_LEVEL, group ? host_name(group) : NULL, "%s", text);
}

static void host_heard_of(void *context, struct host_group *group, const struct el_msg *msg)
{
    const struct agent *agent = context;
    history_hear(agent->history, clock_boottime_ns(), history_group(host_name(group)), host_algorithm(group),
                 msg);
}

static void host_warns(void *context, struct host_group *group, const char *text)
{
    (void)context;
    log_event(LOG_WARN_LEVEL, group ? host_name(group) : NULL, "%s", text);
}

static void host_was_answered(void *context, el_node peer, uint64_t round_trip_ns)
{
    struct agent *agent = context;
    metrics_observe(&agent->metrics.peers[peer - 1].round_trips, round_trip_ns);
}

static void host_refused(void *context, el_node peer)
{
    struct agent *agent = context;
    agent->metrics.peers[peer - 1].refused++;
}

struct host_hooks agent_host_hooks(struct agent *agent)
{
    return (struct host_hooks){.context = agent,
                               .now = host_asks_now,
                               .send = host_sends,
                               .save = host_saves,
                               .changed = host_changed,
                               .renewed = host_renews,
                               .note = host_notes,
                               .warn = host_warns,
                               .random = host_asks_random,
                               .wall_ms = host_asks_wall,
                               .answered = host_was_answered,
                               .refused = host_refused,
                               .heard = host_heard_of};
}

/* ---- Hooks of the seal ---- */

static void seal_sends(void *context, uint32_t peer, const uint8_t *datagram, size_t size)
{
    struct agent *agent = context;
    const struct config_member *to = &agent->config->members[peer - 1];
    struct metrics_peer *counted = &agent->metrics.peers[peer - 1];
    uint32_t copies = 0;
    const bool is_sent = udp_send(&agent->udp, to, datagram, size, &copies);
    counted->sent_bytes += copies * size;
    counted->unsent += !is_sent;
    if (!is_sent) log_event(LOG_DEBUG_LEVEL, NULL, "cannot send to %s: %s", to->name, strerror(errno));
}

/* A member without an address of its own is where its last datagram came from. */
static void seal_has_proof(void *context, uint32_t peer)
{
    struct agent *agent = context;
    struct config_member *member = &agent->config->members[peer - 1];
    const struct sockaddr_storage *from = agent->hearing_from;
    if (!member->is_dynamic || !from) return;
    member->via = agent->hearing_via;
    if (udp_is_same(&member->address, from)) return;
    memset(&member->address, 0, sizeof member->address);
    memcpy(&member->address, from, config_address_size(from));
    member->is_unresolved = false;
    agent_notice_address(agent, peer);
}

static void seal_delivers(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    struct agent *agent = context;
    const uint64_t now = clock_boottime_ns();
    const uint8_t version = payload_version(payload, size);
    agent->metrics.peers[peer - 1].received_bytes += agent->hearing;
    if (payload_reads(version) && !payload_may_pass(payload, size, false)) return;
    exchange_hear(agent->exchange, now, peer, version);
    if (!payload_reads(version)) return;
    if (payload_is_exchange(payload, size))
        exchange_receive(agent->exchange, now, peer, payload, size);
    else
        host_receive(agent->host, peer, payload, size);
}

static void seal_delivers_presealed(void *context, uint32_t peer, const uint8_t *payload, size_t size)
{
    struct agent *agent = context;
    if (!payload_may_pass(payload, size, true)) return;
    host_receive(agent->host, peer, payload, size); /* before the log: an heir waits for it */
    log_event(LOG_WARN_LEVEL, NULL, "the guardian of %s reports its agent dead, and its work%s ended",
              agent->config->members[peer - 1].name,
              payload[PAYLOAD_HEAD] == PAYLOAD_RELEASED ? " in some groups" : "");
}

struct seal_hooks agent_seal_hooks(struct agent *agent)
{
    return (struct seal_hooks){.context = agent,
                               .send = seal_sends,
                               .proved = seal_has_proof,
                               .deliver = seal_delivers,
                               .deliver_presealed = seal_delivers_presealed};
}

/* ---- Hooks of the exchange ---- */

static void exchange_sends(void *context, el_node to, const uint8_t *payload, size_t size)
{
    struct agent *agent = context;
    seal_send(agent->seal, clock_boottime_ns(), to, payload, size);
}

/* A peer knows best how its own tenures began and ended. */
static void exchange_stated(void *context, el_node from, const struct payload_entry *entry)
{
    const struct agent *agent = context;
    struct history_statement statement = {.token = entry->term, .span_ns = entry->span};
    if (entry->flags == EXCHANGE_BEGAN) statement.what = HISTORY_STATES_BEGINNING;
    if (entry->flags == EXCHANGE_ENDED) statement.what = HISTORY_STATES_END;
    if (entry->flags == EXCHANGE_GAP) statement.what = HISTORY_STATES_GAP;
    memcpy(statement.text, entry->value, sizeof statement.text - 1);
    const char *age = statement.what == HISTORY_STATES_BEGINNING ? strstr(statement.text, "; for ") : NULL;
    const uint64_t now = clock_boottime_ns(), ns = age ? strtoull(age + 6, NULL, 10) * NS_PER_US : UINT64_MAX;
    if (ns < now) statement.at_ns = now - ns;
    history_hear_statement(agent->history, from, history_group(entry->text), &statement);
}

static void exchange_compared(void *context, el_node from, bool differs)
{
    agent_notice_difference(context, from, differs);
}

static void exchange_understood(void *context, el_node from, bool is_understood)
{
    agent_notice_version(context, from, is_understood);
}

static enum exchange_outcome exchange_asked(void *context, el_node from, const struct payload_entry *entry)
{
    struct agent *agent = context;
    const enum exchange_outcome outcome = serve_take_forwarded(agent->serve, entry);
    agent_notice_request(agent, from, entry, outcome);
    return outcome;
}

static void exchange_answered(void *context, uint32_t request, enum exchange_outcome outcome)
{
    struct agent *agent = context;
    if (agent->serve) serve_answered(agent->serve, request, outcome);
}

struct exchange_hooks agent_exchange_hooks(struct agent *agent)
{
    return (struct exchange_hooks){.context = agent,
                                   .send = exchange_sends,
                                   .stated = exchange_stated,
                                   .compared = exchange_compared,
                                   .understood = exchange_understood,
                                   .asked = exchange_asked,
                                   .answered = exchange_answered};
}
