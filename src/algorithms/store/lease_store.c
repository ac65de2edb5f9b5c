/* One Lease object with a version: reads, writes that may fail, watches. See lease_store.h. */
#include "algorithms/store/lease_store.h"

static struct el_msg about(const struct lease_store *me, const struct el_config *cfg, uint8_t kind)
{
    struct el_msg msg = {.kind = kind, .subject = me->holder ? me->holder : cfg->self, .epoch = me->version};
    msg.extra[1] = me->acquired;
    return msg;
}

static void answer(const struct lease_store *me, const struct el_config *cfg, const struct el_msg *m,
                   uint8_t kind, struct el_outbox *out)
{
    struct el_msg msg = about(me, cfg, kind);
    msg.more = m->more;
    msg.extra[0] = m->extra[0];
    el_send(out, cfg, m->from, msg);
}

/* A renewal changes only the version. A holder that does not lead yet says so, and acquires the lease anew. */
static void replace(struct lease_store *me, const struct el_config *cfg, el_node holder, bool anew,
                    struct el_outbox *out)
{
    me->version++;
    if (holder == me->holder && !anew) return;
    me->acquired = me->version;
    me->holder = holder == cfg->self ? EL_NOBODY : holder;
    el_note(out, me->holder ? LEASE_STORE_WRITES : LEASE_STORE_EMPTIES, me->holder, me->version);
}

static void on_put(struct lease_store *me, uint64_t *watchers, const struct el_config *cfg,
                   const struct el_msg *m, struct el_outbox *out)
{
    if (m->epoch != me->version) {
        el_note(out, LEASE_STORE_REFUSES, m->from, me->version);
        answer(me, cfg, m, LEASE_CONFLICT, out);
        return;
    }
    replace(me, cfg, m->subject, m->flags, out);
    answer(me, cfg, m, LEASE_SAVED, out);
    for (el_node node = 1; node < store_of(cfg); node++)
        if (node != m->from && el_set_has(watchers, node)) el_send(out, cfg, node, about(me, cfg, LEASE_EVENT));
}

void lease_store_message(struct lease_store *me, uint64_t *watchers, const struct el_config *cfg,
                         const struct el_msg *m, struct el_outbox *out)
{
    if (me->silent || me->version >= EL_EPOCH_MAX / 2) return;
    if (m->kind == LEASE_PUT && (m->subject == m->from || m->subject == cfg->self)) {
        on_put(me, watchers, cfg, m, out);
    } else if (m->kind == LEASE_GET) {
        if (m->flags) el_set_add(watchers, m->from);
        answer(me, cfg, m, LEASE_GOT, out);
    }
}

void lease_store_start(struct lease_store *me, uint64_t *watchers, const struct el_config *cfg,
                       const struct el_start *start, struct el_outbox *out)
{
    if (start->how == EL_RESTORED) {
        el_note(out, LEASE_STORE_RETURNS, 0, 0);
        el_set_clear(watchers, cfg->cluster->count);
        return;
    }
    el_save(out, (struct el_durable){.epoch = 1});
    if (start->how == EL_LOST) {
        el_note(out, LEASE_STORE_HAS_LOST, 0, 0);
        me->silent = me->unset = 1;
    } else if (start->incumbent && start->incumbent != cfg->self) {
        me->version = me->acquired = 1;
        me->holder = start->incumbent;
    }
}

void lease_store_fact(struct lease_store *me, uint64_t wall_clock_ms, el_duration wait, struct el_outbox *out)
{
    if (!me->unset) return;
    me->unset = 0;
    me->version = store_revision_after(wall_clock_ms);
    el_arm(out, LEASE_STORE_SILENCE, 0, wait, wait);
}

void lease_store_silence(struct lease_store *me, struct el_outbox *out)
{
    me->silent = 0;
    el_note(out, LEASE_STORE_SERVES, 0, 0);
}
