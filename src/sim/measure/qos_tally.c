/* The tally of suspicions, and the means that follow from its sums. */
#include <stdlib.h>

#include "sim/measure/qos.h"

static const sim_time hour = UINT64_C(3600000000000);

static sim_time *entry(const struct sim_tally *tally, el_node node, el_node peer)
{
    return &tally->since[(size_t)(node - 1) * tally->count + (peer - 1)];
}

bool sim_tally_open(struct sim_tally *tally, struct sim_qos *qos, uint32_t count, sim_time from, sim_time until)
{
    const size_t pairs = (size_t)count * count;
    *tally = (struct sim_tally){qos, count, from, until, malloc(pairs * sizeof *tally->since)};
    for (size_t i = 0; tally->since && i < pairs; i++) tally->since[i] = SIM_NEVER;
    return tally->since != NULL;
}

void sim_tally_free(struct sim_tally *tally)
{
    free(tally->since);
    tally->since = NULL;
}

/* Counts only the part within the time watched; a mistake of length 0 within it counts too. */
static void tally_mistake(struct sim_tally *tally, sim_time began, sim_time ended)
{
    if (began >= tally->until || ended < tally->from || (ended == tally->from && began < ended)) return;
    if (began < tally->from) began = tally->from;
    if (ended > tally->until) ended = tally->until;
    tally->qos->mistakes++;
    tally->qos->mistaken += ended - began;
}

void sim_tally_verdict(void *context, sim_time now, el_node node, el_node peer, bool suspected)
{
    struct sim_tally *tally = context;
    sim_time *since = entry(tally, node, peer);
    if (!suspected && *since != SIM_NEVER) tally_mistake(tally, *since, now);
    *since = suspected ? now : SIM_NEVER;
}

void sim_tally_close(struct sim_tally *tally)
{
    for (el_node node = 1; node <= tally->count; node++)
        for (el_node peer = 1; peer <= tally->count; peer++)
            if (*entry(tally, node, peer) != SIM_NEVER)
                tally_mistake(tally, *entry(tally, node, peer), tally->until);
}

bool sim_tally_all_noticed(const struct sim_tally *tally, el_node peer)
{
    for (el_node node = 1; node <= tally->count; node++)
        if (node != peer && *entry(tally, node, peer) == SIM_NEVER) return false;
    return true;
}

void sim_tally_crash(struct sim_tally *tally, el_node peer, el_node survivor, sim_time crashed)
{
    struct sim_qos *qos = tally->qos;
    const sim_time since = *entry(tally, survivor, peer);
    if (since == SIM_NEVER) {
        qos->unnoticed++;
        return;
    }
    const sim_time took =
        since > crashed ? since - crashed : 0; /* suspected before the crash, and correctly from then on */
    qos->noticed++;
    qos->detection_sum += took;
    if (took > qos->detection_max) qos->detection_max = took;
}

/* ---- Means ---- */

sim_time sim_qos_detection(const struct sim_qos *qos)
{
    return qos->noticed ? qos->detection_sum / qos->noticed : 0;
}

sim_time sim_qos_recurrence(const struct sim_qos *qos)
{
    return qos->mistakes ? qos->watched / qos->mistakes : 0;
}

sim_time sim_qos_duration(const struct sim_qos *qos)
{
    return qos->mistakes ? qos->mistaken / qos->mistakes : 0;
}

double sim_qos_mistakes_per_hour(const struct sim_qos *qos)
{
    return qos->watched ? (double)qos->mistakes * (double)hour / (double)qos->watched : 0;
}

double sim_qos_accuracy(const struct sim_qos *qos)
{
    return qos->watched ? (double)(qos->watched - qos->mistaken) / (double)qos->watched : 0;
}

double sim_qos_messages_per_second(const struct sim_qos *qos)
{
    return qos->node_time ? (double)qos->messages * 1e9 / (double)qos->node_time : 0;
}
