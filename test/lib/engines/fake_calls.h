/* Calls to etcd, for tests of files that make them: they wait until the test answers. To be included once, in place of etcd/call.c
 * and of the pump. */
#ifndef ELECTOR_TEST_LIB_ENGINES_FAKE_CALLS_H
#define ELECTOR_TEST_LIB_ENGINES_FAKE_CALLS_H

#include "engines/etcd/internal.h"
#include "lib/engines/fake_engine.h"

enum { FAKE_CALLS = 16 };

struct fake_call {
    char path[64];
    char *body;
    void *context;
    void (*done)(struct etcd *, void *, enum etcd_outcome, const json_t *, int, const char *);
    bool is_answered;
};
static struct fake_call fake_calls[FAKE_CALLS];
static unsigned fake_called; /* how many there were */

bool etcd_call(struct etcd *etcd, const char *path, json_t *body, void *context,
               void (*done)(struct etcd *, void *, enum etcd_outcome, const json_t *, int, const char *))
{
    struct fake_call *call = &fake_calls[fake_called++ % FAKE_CALLS];
    (void)etcd;
    free(call->body);
    *call = (struct fake_call){.body = json_dumps(body, JSON_COMPACT), .context = context, .done = done};
    snprintf(call->path, sizeof call->path, "%s", path);
    json_decref(body);
    return true;
}

/* `number` from 0, in the order in which they were made. `text` is the answer in JSON. */
static inline void fake_done(struct etcd *etcd, unsigned number, const char *text)
{
    struct fake_call *call = &fake_calls[number % FAKE_CALLS];
    json_t *answer = json_loads(text, 0, NULL);
    call->is_answered = true;
    call->done(etcd, call->context, ETCD_DONE, answer, 0, "");
    json_decref(answer);
}

static inline void fake_refused(struct etcd *etcd, unsigned number, int code, const char *message)
{
    struct fake_call *call = &fake_calls[number % FAKE_CALLS];
    call->is_answered = true;
    call->done(etcd, call->context, ETCD_REFUSED, NULL, code, message);
}

/* Those that wait get no answer: their contexts are freed. */
static inline void fake_calls_fail(struct etcd *etcd)
{
    for (unsigned i = 0; i < FAKE_CALLS; i++)
        if (fake_calls[i].done && !fake_calls[i].is_answered)
            fake_calls[i].done(etcd, fake_calls[i].context, ETCD_FAILED, NULL, 0, "");
}

static inline void fake_calls_end(void)
{
    for (unsigned i = 0; i < FAKE_CALLS; i++) free(fake_calls[i].body);
    memset(fake_calls, 0, sizeof fake_calls);
    fake_called = 0;
}

void etcd_go_on(struct etcd *etcd)
{
    (void)etcd;
}

void etcd_go_on_in(struct etcd *etcd, uint64_t ms)
{
    (void)etcd, (void)ms;
}

bool etcd_refused(struct etcd *etcd, uint32_t server, int code, const char *message)
{
    (void)etcd, (void)server;
    fake_say("refused %d %s", code, message);
    return false;
}

#endif
