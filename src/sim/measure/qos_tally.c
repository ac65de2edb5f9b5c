/* Keeping the book of suspicions, and what follows from its sums. */
#include <stdlib.h>

#include "sim/measure/qos.h"

static const sim_time hour = UINT64_C(3600000000000);

static sim_time *entry(const struct sim_book *book, el_node node, el_node peer)
{
    return &book->since[(size_t)(node - 1) * book->count + (peer - 1)];
}

bool sim_book_open(struct sim_book *book, struct sim_qos *qos, uint32_t count, sim_time from, sim_time until)
{
    const size_t pairs = (size_t)count * count;
    *book = (struct sim_book){qos, count, from, until, malloc(pairs * sizeof *book->since)};
    for (size_t i = 0; book->since && i < pairs; i++) book->since[i] = SIM_NEVER;
    return book->since != NULL;
}

void sim_book_free(struct sim_book *book)
{
    free(book->since);
    book->since = NULL;
}

/* Only what lies within the time watched; a mistake of no length within it counts. */
static void book_mistake(struct sim_book *book, sim_time began, sim_time ended)
{
    if (began >= book->until || ended < book->from || (ended == book->from && began < ended)) return;
    if (began < book->from) began = book->from;
    if (ended > book->until) ended = book->until;
    book->qos->mistakes++;
    book->qos->mistaken += ended - began;
}

void sim_book_verdict(void *context, sim_time now, el_node node, el_node peer, bool suspected)
{
    struct sim_book *book = context;
    sim_time *since = entry(book, node, peer);
    if (!suspected && *since != SIM_NEVER) book_mistake(book, *since, now);
    *since = suspected ? now : SIM_NEVER;
}

void sim_book_close(struct sim_book *book)
{
    for (el_node node = 1; node <= book->count; node++)
        for (el_node peer = 1; peer <= book->count; peer++)
            if (*entry(book, node, peer) != SIM_NEVER)
                book_mistake(book, *entry(book, node, peer), book->until);
}

bool sim_book_all_noticed(const struct sim_book *book, el_node peer)
{
    for (el_node node = 1; node <= book->count; node++)
        if (node != peer && *entry(book, node, peer) == SIM_NEVER) return false;
    return true;
}

void sim_book_crash(struct sim_book *book, el_node peer, el_node survivor, sim_time crashed)
{
    struct sim_qos *qos = book->qos;
    const sim_time since = *entry(book, survivor, peer);
    if (since == SIM_NEVER) {
        qos->unnoticed++;
        return;
    }
    const sim_time took =
        since > crashed ? since - crashed : 0; /* it was suspected already, and rightly from then on */
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
