/* See beliefs.h. */
#include "sim/output/beliefs.h"

#include <string.h>

enum { ROWS_MAX = 12, NODES_WIDTH = 20 };

struct belief {
    struct el_view view;
    bool is_alive;
    uint32_t count;
    char nodes[64]; /* as many ids as fit */
};

const char *sim_role_name(enum el_role role)
{
    static const char *const names[] = {
        [EL_IDLE] = "idle", [EL_ELECTING] = "electing", [EL_FOLLOWER] = "follower", [EL_LEADER] = "leader"};
    return names[role];
}

static bool is_same(const struct belief *a, const struct belief *b)
{
    if (!a->is_alive || !b->is_alive) return a->is_alive == b->is_alive;
    return a->view.leader == b->view.leader && a->view.role == b->view.role && a->view.term == b->view.term;
}

static void add_node(struct belief *belief, uint64_t id)
{
    const size_t used = strlen(belief->nodes);
    char text[24];
    snprintf(text, sizeof text, belief->count ? ", %llu" : "%llu", (unsigned long long)id);
    belief->count++;
    if (used + strlen(text) + sizeof ", …" <= sizeof belief->nodes)
        memcpy(belief->nodes + used, text, strlen(text) + 1);
    else if (used == 0 || strcmp(belief->nodes + used - strlen("…"), "…") != 0)
        memcpy(belief->nodes + used, ", …", sizeof ", …");
}

/* False: there are too many different beliefs. */
static bool add(struct belief rows[], uint32_t *count, const struct belief *seen, uint64_t id)
{
    uint32_t row = 0;
    while (row < *count && !is_same(&rows[row], seen)) row++;
    if (row == ROWS_MAX) return false;
    if (row == *count) rows[(*count)++] = *seen;
    add_node(&rows[row], id);
    return true;
}

static void write_row(FILE *out, const struct sim_world *world, const struct belief *row)
{
    const struct el_cluster *cluster = &sim_world_plan(world)->cluster;
    const el_node leader = row->view.leader;
    char names[48] = "nobody";
    if (!row->is_alive) {
        fprintf(out, "    %-*s  dead\n", NODES_WIDTH, row->nodes);
        return;
    }
    if (leader)
        snprintf(names, sizeof names, "%llu%s", (unsigned long long)el_id(cluster, leader),
                 sim_world_alive(world, leader) ? "" : ", dead");
    fprintf(out, "    %-*s  %-8s  %-12s  %llu\n", NODES_WIDTH, row->nodes, sim_role_name(row->view.role), names,
            (unsigned long long)row->view.term);
}

void sim_write_beliefs(FILE *out, const struct sim_world *world)
{
    const struct el_cluster *cluster = &sim_world_plan(world)->cluster;
    struct belief rows[ROWS_MAX] = {0};
    uint32_t count = 0, left_out = 0;
    for (el_node node = 1; node <= cluster->count; node++) {
        struct belief seen = {0};
        seen.is_alive = sim_world_view(world, node, &seen.view);
        left_out += !add(rows, &count, &seen, el_id(cluster, node));
    }
    fprintf(out, "    %-*s  %-8s  %-12s  term\n", NODES_WIDTH, "node", "role", "names");
    for (uint32_t row = 0; row < count; row++) write_row(out, world, &rows[row]);
    if (left_out) fprintf(out, "    … and %u more, which believe other things\n", left_out);
}
