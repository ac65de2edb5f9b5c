/* An algorithm without an election, for runs that only measure a failure detector. */
#include "core/machine.h"
#include "sim/measure/qos.h"

static void view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    (void)state;
    el_view_of(view, cfg, EL_NOBODY, false, 0);
}

static const char *const kinds[] = {NULL};

const struct el_algorithm sim_watcher = {
    .name = "watcher",
    .summary = "elects nobody",
    .idea = "Nothing is sent and nobody is elected; a failure detector beside it is all that happens.",
    .reference = "none",
    .kinds = kinds,
    .beats = true, /* there is no election to call */
    .outbox_fixed = 1,
    .view = view,
};
