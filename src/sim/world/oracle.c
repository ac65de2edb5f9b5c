/*
 * The oracles check the algorithm's claims from the nodes' views alone: exclusivity after every event,
 * agreement and best rank at rest. Each keeps a few counters that are updated for one node at a time, so a
 * check costs the same for a million nodes. Only claims are checked, and what the plan expects to be violated;
 * the number of simultaneous leaders and of deposed leaders is counted for every algorithm.
 */
#include "sim/internal.h"

static bool claims(const struct sim_world *world, uint32_t claim)
{
    return ((world->algorithm->claims | world->plan->judged) & claim) != 0;
}

/* ---- Keeping count ---- */

static void count_out(struct sim_world *world, el_node node)
{
    const struct sim_node *n = &world->nodes[node];
    if (n->role == EL_LEADER) world->leader_count--;
    if (n->leader == EL_NOBODY) {
        world->leaderless_count--;
    } else {
        world->nodes[n->leader].followers--;
    }
}

static void count_in(struct sim_world *world, el_node node)
{
    const struct sim_node *n = &world->nodes[node];
    if (n->role == EL_LEADER) world->leader_count++;
    if (n->leader == EL_NOBODY) {
        world->leaderless_count++;
    } else {
        world->nodes[n->leader].followers++;
    }
}

static el_node best_alive(struct sim_world *world)
{
    const struct el_cluster *cluster = &world->cluster;
    if (world->best_known) return world->best;
    world->best = EL_NOBODY;
    for (el_node node = 1; node <= cluster->count; node++)
        if (world->nodes[node].alive && el_may_lead(cluster, node) && el_outranks(cluster, node, world->best))
            world->best = node;
    world->best_known = true;
    return world->best;
}

/* ---- Reporting ---- */

static void report(struct sim_world *world, enum el_violation kind, const el_node *nodes, uint32_t count,
                   uint32_t total)
{
    struct sim_result *result = &world->result;
    result->violation_kinds |= kind;
    if (result->violation_count > 0) { /* report the same violation once */
        const struct sim_violation *last = NULL;
        for (uint32_t i = 0; i < result->violation_count; i++)
            if (result->violations[i].kind == kind) last = &result->violations[i];
        bool same = last != NULL && last->total == total;
        for (uint32_t i = 0; same && i < count; i++) same = last->nodes[i] == nodes[i];
        if (same) return;
    }
    if (result->violation_count == SIM_VIOLATIONS_MAX) return;
    struct sim_violation *violation = &result->violations[result->violation_count];
    *violation = (struct sim_violation){.kind = kind, .time = world->now, .node_count = count, .total = total};
    for (uint32_t i = 0; i < count; i++) violation->nodes[i] = nodes[i];
    violation->record = sim_record(world, (struct sim_record){.what = SIM_VIOLATED,
                                                              .node = count ? nodes[0] : EL_NOBODY,
                                                              .number = result->violation_count});
    result->violation_count++;
}

void sim_oracle_report_those(struct sim_world *world, enum el_violation kind,
                             bool (*test)(struct sim_world *, el_node))
{
    el_node nodes[SIM_NODES_NAMED_MAX];
    uint32_t named = 0, total = 0;
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        if (!world->nodes[node].alive || !test(world, node)) continue;
        if (named < SIM_NODES_NAMED_MAX) nodes[named++] = node;
        total++;
    }
    if (total) report(world, kind, nodes, named, total);
}

/* ---- After every event ---- */

/* True if the node leads and its claim has not expired: a paused leader's claim expires before its view
 * changes. */
static bool is_leading(struct sim_world *world, el_node node)
{
    const struct sim_office *office = &world->offices[node];
    if (world->nodes[node].role != EL_LEADER) return false;
    if (office->timer == EL_NO_TIMER) return true;
    return sim_timer_left(world, (struct sim_key_of_timer){node, SIM_ELECTION, office->timer, office->slot}) >
           0;
}

static uint32_t count_leading(struct sim_world *world)
{
    uint32_t leading = 0;
    if (world->leader_count <= 1) return world->leader_count;
    for (el_node node = 1; node <= world->plan->cluster.count; node++)
        leading += world->nodes[node].alive && is_leading(world, node);
    return leading;
}

static void judge_exclusion(struct sim_world *world)
{
    const uint32_t leading = count_leading(world);
    if (leading > world->result.leaders_max) world->result.leaders_max = leading;
    if (leading > 1 && claims(world, EL_CLAIMS_ONE_LEADER))
        sim_oracle_report_those(world, EL_TWO_LEADERS, is_leading);
}

/* The leader of each term is remembered for ever, with its incarnation. */
static void judge_term(struct sim_world *world, el_node node)
{
    const uint64_t term = world->offices[node].term;
    const el_node high = (el_node)(term >> 32), low = (el_node)term;
    const uint64_t claimed = (uint64_t)world->nodes[node].incarnation << 32 | node;
    const uint64_t before = sim_map_get(&world->terms, high, low);
    if (before == claimed) return;
    if (before != 0) {
        const el_node nodes[] = {(el_node)before, node};
        report(world, EL_SAME_TERM, nodes, 2, 2);
    }
    if (!sim_map_set(&world->terms, high, low, claimed)) world->result.out_of_memory = true;
}

void sim_oracle_decision(struct sim_world *world, el_node node, const void *state)
{
    struct el_decision is = {0};
    world->algorithm->decided(state, &is);
    if (!is.number || !claims(world, EL_CLAIMS_ONE_DECISION)) return;
    const el_node high = (el_node)(is.number >> 32), low = (el_node)is.number;
    const uint64_t before = sim_map_get(&world->terms, high, low);
    if (before && before != is.value) report(world, EL_TWO_DECISIONS, &node, 1, 1);
    if (!before && !sim_map_set(&world->terms, high, low, is.value)) world->result.out_of_memory = true;
}

/* A term that is not above all earlier ones is no fencing token. */
static void judge_rise(struct sim_world *world, el_node node)
{
    const uint64_t term = world->offices[node].term;
    if (term <= world->highest_term && claims(world, EL_CLAIMS_RISING))
        report(world, EL_TOKEN_FELL, &node, 1, 1);
    if (term > world->highest_term) world->highest_term = term;
}

/* The store's own view names the first of the queue, and its key. */
static void judge_turn(struct sim_world *world, el_node node)
{
    const el_node store = world->cluster.count;
    struct el_view first = {0};
    if (!world->algorithm->store || !claims(world, EL_CLAIMS_IN_ORDER) || !world->nodes[store].alive) return;
    const struct el_config cfg = {&world->cluster, store};
    world->algorithm->view(sim_state(&world->machines[SIM_ELECTION], store), &cfg, &first);
    if (first.leader && first.term < world->offices[node].term) report(world, EL_OUT_OF_TURN, &node, 1, 1);
}

static void take_office(struct sim_world *world, el_node node, const struct el_view *view, bool led)
{
    struct sim_office *office = &world->offices[node];
    const bool anew = !led || office->term != view->term;
    if (anew) office->since = world->now;
    if (anew && world->broken_count) world->result.elected_apart++;
    office->term = view->term;
    office->timer = view->timer;
    office->slot = view->slot;
    if (claims(world, EL_CLAIMS_ONE_PER_TERM)) judge_term(world, node);
    if (anew) judge_rise(world, node);
    if (anew) judge_turn(world, node);
    judge_exclusion(world);
}

/* True if no fault so far kept the leader from being heard in time. Otherwise members may rightly replace
 * it. */
static bool was_well_connected(const struct sim_world *world)
{
    const uint32_t excuses =
        EL_PARTITIONS | EL_LOSSES | EL_PAUSES | EL_DRIFTS | EL_LATENESS | EL_FALSE_SUSPICIONS;
    if (world->result.faults & excuses) return false;
    if (world->plan->script == SIM_BY_STEPS && world->stage.fired) return false; /* timing is unknown */
    return !world->algorithm->majority || sim_majority_possible(world);
}

static void leave_office(struct sim_world *world, el_node node)
{
    struct sim_office *office = &world->offices[node];
    if (office->settled && !office->asked) {
        world->result.deposed++;
        if (claims(world, EL_CLAIMS_STABLE) && was_well_connected(world))
            report(world, EL_DEMOTED, &node, 1, 1);
    }
    office->asked = office->settled = false;
}

void sim_oracle_view(struct sim_world *world, el_node node, const struct el_view *view)
{
    const bool led = world->nodes[node].role == EL_LEADER;
    count_out(world, node);
    world->nodes[node].leader = view->leader;
    world->nodes[node].role = (uint8_t)view->role;
    count_in(world, node);
    if (view->role == EL_LEADER) {
        take_office(world, node, view, led);
    } else if (led) {
        leave_office(world, node);
    }
    const el_node leader = view->leader;
    if (leader && world->nodes[leader].followers == world->alive_count &&
        world->nodes[leader].role == EL_LEADER)
        world->offices[leader].settled = true;
}

void sim_oracle_step_begins(struct sim_world *world, el_node node)
{
    struct sim_office *office = &world->offices[node];
    office->lapsed = world->nodes[node].role == EL_LEADER && !is_leading(world, node) ? office->term : 0;
}

static void tell_claim(struct sim_world *world, el_node node)
{
    const struct sim_office *office = &world->offices[node];
    const struct sim_timer *bound =
        sim_timer_armed(world, (struct sim_key_of_timer){node, SIM_ELECTION, office->timer, office->slot});
    if (bound) world->claim_listener(world->claim_context, world->trace.count, node, bound->deadline);
}

/* An expired claim, noticed or not, must not be renewed: leading again needs a new term. */
void sim_oracle_step_ends(struct sim_world *world, el_node node)
{
    const struct sim_office *office = &world->offices[node];
    if (world->nodes[node].role != EL_LEADER || office->timer == EL_NO_TIMER) return;
    judge_exclusion(world);
    if (office->lapsed && office->lapsed == office->term && is_leading(world, node) &&
        claims(world, EL_CLAIMS_RISING))
        report(world, EL_TOKEN_FELL, &node, 1, 1);
    if (world->claim_listener) tell_claim(world, node);
}

void sim_oracle_died(struct sim_world *world, el_node node)
{
    count_out(world, node);
    world->nodes[node].leader = EL_NOBODY;
    world->nodes[node].role = EL_IDLE;
    world->alive_count--;
    if (node == world->best) world->best_known = false;
}

void sim_oracle_born(struct sim_world *world, el_node node)
{
    count_in(world, node);
    world->alive_count++;
    world->best_known = false;
}

/* ---- At rest ---- */

static bool knows_no_leader(struct sim_world *world, el_node node)
{
    return world->nodes[node].leader == EL_NOBODY;
}

static bool follows_the_dead(struct sim_world *world, el_node node)
{
    const el_node leader = world->nodes[node].leader;
    return leader != EL_NOBODY && !world->nodes[leader].alive;
}

/* True if the node follows one that does not lead; or, if there must be one leader, not the common one. */
static bool follows_another(struct sim_world *world, el_node node)
{
    const el_node leader = world->nodes[node].leader;
    if (leader == EL_NOBODY || !world->nodes[leader].alive) return false;
    if (world->nodes[leader].leader != leader) return true;
    return claims(world, EL_CLAIMS_AGREEMENT) &&
           world->nodes[leader].followers + world->leaderless_count < world->alive_count;
}

static bool is_passed_over(struct sim_world *world, el_node node)
{
    return node == best_alive(world);
}

void sim_oracle_find_agreement(struct sim_world *world)
{
    struct sim_result *result = &world->result;
    result->agreed = false;
    result->leader = EL_NOBODY;
    if (world->leaderless_count > 0 || world->alive_count == 0) return;
    el_node first = 1;
    while (!world->nodes[first].alive) first++;
    const el_node leader = world->nodes[first].leader;
    if (world->nodes[leader].followers != world->alive_count) return;
    result->agreed = true;
    result->leader = leader;
}

void sim_oracle_judge_rest(struct sim_world *world)
{
    sim_oracle_find_agreement(world);
    if (world->alive_count == 0) return;
    if (!claims(world, EL_CLAIMS_AGREEMENT | EL_CLAIMS_GROUPS)) return;
    if (world->algorithm->majority && (world->broken_count || !sim_majority_possible(world))) {
        sim_majority_judge(world);
        return;
    }
    const bool perfect = world->result.agreed && world->nodes[world->result.leader].alive &&
                         world->nodes[world->result.leader].leader == world->result.leader;
    if (!perfect) sim_oracle_report_those(world, EL_DEAD_LEADER, follows_the_dead);
    if (!world->called) return; /* nobody has asked for a leader yet */
    if (!perfect) {
        /* With no candidate alive, having no leader is right. */
        if (best_alive(world) != EL_NOBODY) sim_oracle_report_those(world, EL_NO_LEADER, knows_no_leader);
        sim_oracle_report_those(world, EL_DISAGREEMENT, follows_another);
    } else if (claims(world, EL_CLAIMS_BEST) && world->result.leader != best_alive(world)) {
        sim_oracle_report_those(world, EL_NOT_BEST, is_passed_over);
    }
}

void sim_oracle_endless(struct sim_world *world)
{
    report(world, EL_ENDLESS, NULL, 0, 0);
}

void sim_oracle_goes_round(struct sim_world *world, uint64_t step, uint64_t record)
{
    const uint32_t place = world->result.violation_count;
    sim_oracle_endless(world);
    if (world->result.violation_count == place) return; /* the list is full */
    world->result.violations[place].step = step;
    world->result.violations[place].since = record;
}
