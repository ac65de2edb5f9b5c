/*
 * One lease for all groups. Its number is ours: so it can be revoked even if the answer to its grant is lost. A machine's OPEN
 * or RENEW starts the machine's timer; so it is answered only by a grant or keep-alive that was sent after it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/clock.h"
#include "base/log/log.h"
#include "engines/etcd/internal.h"

static bool opens(const struct etcd_group *g)
{
    return g->request.kind == STORE_OPEN;
}

/* What waits now will be answered by the call that is about to be sent. */
static void join(struct etcd *etcd)
{
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        if (opens(g)) g->request_joined = true;
        if (g->renewal.kind) g->renewal_joined = true;
    }
}

static void answer_joined(struct etcd *etcd)
{
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        if (opens(g) && g->request_joined) {
            g->session = etcd->session;
            etcd_answer(g, true, 0);
        }
        if (g->renewal.kind && g->renewal_joined) etcd_answer_renewal(g, g->session == etcd->session);
    }
}

static void unjoin(struct etcd *etcd)
{
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g))
        g->request_joined = g->renewal_joined = false;
}

void etcd_lease_is_lost(struct etcd *etcd)
{
    if (etcd->lease_state == LEASE_NONE) return;
    etcd->lease_state = LEASE_NONE;
    etcd->has_named = etcd->beats = false;
    unjoin(etcd);
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        g->withdraws = g->has_key = false; /* our keys ended with it */
        if (!engine_group_stands(g->group) || g->session != etcd->session) continue;
        if (g->renewal.kind) etcd_answer_renewal(g, false);
        if (g->request.kind && !opens(g))
            etcd_answer(g, false, 0);
        else if (!opens(g))
            etcd_tell(g, etcd->lease); /* it looks, and learns that its session is gone */
    }
    log_event(LOG_WARN_LEVEL, NULL,
              "etcd says that our lease %" PRIx64 " has ended: standing again with a new one", etcd->lease);
    etcd_go_on(etcd);
}

/* ---- Calls about a lease ---- */

/* An answer may come after its lease was lost, or after the next one was asked for: of that one it says nothing. */
static bool call_for_lease(struct etcd *etcd, const char *path, json_t *body,
                           void (*done)(struct etcd *, void *, enum etcd_outcome, const json_t *, int,
                                        const char *))
{
    return etcd_call(etcd, path, body, (void *)(uintptr_t)etcd->session, done);
}

static bool is_present(const struct etcd *etcd, const void *context, enum etcd_lease state)
{
    return (uintptr_t)context == etcd->session && etcd->lease_state == state;
}

/* ---- Grant ---- */

/* etcd looks for leases that are over every 500 ms, and ends them in batches. */
static const el_duration late_expiry = NS_PER_S;

void etcd_bound_failover(struct etcd *etcd, uint64_t ttl_s)
{
    engine_set_worst_failover(etcd->engine, ttl_s * NS_PER_S + late_expiry);
}

static void on_granted(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                       int code, const char *message)
{
    const uint64_t asked = engine_ttl(etcd->engine) / NS_PER_S, granted = etcd_number(answer, "TTL");
    if (!is_present(etcd, context, LEASE_GRANTING)) return;
    etcd->lease_state = LEASE_NONE;
    if (outcome == ETCD_REFUSED) {
        (void)etcd_refused(etcd, etcd->at, code, message);
    } else if (outcome == ETCD_DONE && granted < asked) {
        engine_trouble(etcd->engine,
                       "etcd granted a lease of %" PRIu64 " s instead of %" PRIu64 " s: give ttl=", granted,
                       asked);
        etcd->not_before = clock_boottime_ns() + NS_PER_S;
    } else if (outcome == ETCD_DONE) {
        etcd->lease_state = LEASE_ALIVE;
        etcd_bound_failover(etcd, granted);
        engine_trouble_is_over(etcd->engine);
        answer_joined(etcd);
    }
    etcd_go_on(etcd);
}

static void grant(struct etcd *etcd)
{
    char ttl[24], id[24];
    uint64_t number;
    randombytes_buf(&number, sizeof number);
    etcd->lease = number >> 1 | 1; /* positive, as etcd wants it */
    snprintf(ttl, sizeof ttl, "%" PRIu64, (uint64_t)(engine_ttl(etcd->engine) / NS_PER_S));
    snprintf(id, sizeof id, "%" PRIu64, etcd->lease);
    etcd->session++;
    etcd->has_named = false;
    join(etcd);
    if (call_for_lease(etcd, "/v3/lease/grant", json_pack("{ss ss}", "TTL", ttl, "ID", id), on_granted))
        etcd->lease_state = LEASE_GRANTING;
}

/* ---- Keep-alive ---- */

static void on_beaten(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                      int code, const char *message)
{
    const uint64_t ttl = etcd_number(json_object_get(answer, "result"), "TTL");
    if (!is_present(etcd, context, LEASE_ALIVE)) return;
    etcd->beats = false;
    if (outcome == ETCD_DONE && ttl == 0) {
        etcd_lease_is_lost(etcd); /* also HTTP 200: etcd leaves out what is 0 */
    } else if (outcome == ETCD_DONE) {
        engine_trouble_is_over(etcd->engine);
        answer_joined(etcd);
    } else {
        unjoin(etcd);
        if (outcome == ETCD_REFUSED && code == ETCD_NOT_FOUND)
            etcd_lease_is_lost(etcd);
        else if (outcome == ETCD_REFUSED)
            (void)etcd_refused(etcd, etcd->at, code, message);
    }
    etcd_go_on(etcd);
}

static void beat(struct etcd *etcd, uint64_t now)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRIu64, etcd->lease);
    join(etcd);
    etcd->beat_sent = now;
    etcd->beats = call_for_lease(etcd, "/v3/lease/keepalive", json_pack("{ss}", "ID", id), on_beaten);
    if (!etcd->beats) unjoin(etcd);
}

/* A renewal waits a little for those of other groups; a candidate that opens does not wait. */
void etcd_pump_lease(struct etcd *etcd, uint64_t now)
{
    bool is_wanted = false, is_urgent = false;
    for (struct etcd_group *g = etcd_next(etcd, NULL); g; g = etcd_next(etcd, g)) {
        if (g->renewal.kind && g->session != etcd->session) etcd_answer_renewal(g, false);
        is_urgent = is_urgent || opens(g);
        is_wanted = is_wanted || g->renewal.kind;
    }
    if (etcd->lease_state == LEASE_NONE && is_urgent) {
        grant(etcd);
    } else if (etcd->lease_state == LEASE_ALIVE && !etcd->beats && (is_urgent || is_wanted)) {
        const uint64_t due = etcd->beat_sent + etcd->beat_every;
        if (is_urgent || due <= now)
            beat(etcd, now);
        else
            etcd_go_on_in(etcd, (due - now) / NS_PER_MS + 1);
    }
}

/* ---- Revoke ---- */

static void on_revoked(struct etcd *etcd, void *context, enum etcd_outcome outcome, const json_t *answer,
                       int code, const char *message)
{
    enum { REFUSED_MS = 100 }; /* a right was withdrawn, perhaps: the frame gives up before long */
    (void)context, (void)answer;
    const bool is_over = outcome == ETCD_DONE || (outcome == ETCD_REFUSED && code == ETCD_NOT_FOUND);
    etcd->revokes = false;
    if (is_over)
        engine_has_left(etcd->engine);
    else if (outcome == ETCD_REFUSED && !etcd_refused(etcd, etcd->at, code, message))
        etcd_go_on_in(etcd, REFUSED_MS);
    else
        etcd_go_on(etcd);
}

void etcd_revoke(struct etcd *etcd)
{
    char id[24];
    if (etcd->revokes) return;
    if (etcd->lease_state == LEASE_NONE) {
        engine_has_left(etcd->engine);
        return;
    }
    snprintf(id, sizeof id, "%" PRIu64, etcd->lease);
    etcd->revokes = etcd_call(etcd, "/v3/lease/revoke", json_pack("{ss}", "ID", id), NULL, on_revoked);
}
