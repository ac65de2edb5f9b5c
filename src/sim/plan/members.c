/* The members of a plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sim/plan/builder.h"

/* ---- Who takes part ---- */

static int read_algorithm(struct builder *b, const char *value)
{
    b->plan->algorithm = el_algorithm_named(value);
    if (!b->plan->algorithm) b->plan->algorithm = el_decider_named(value);
    if (b->plan->algorithm) return 0;
    return build_fail_at(b, value, "there is no algorithm of that name; `elector algorithms` lists them");
}

static int read_nodes(struct builder *b, const char *value)
{
    uint64_t count = 0;
    if (build_read_whole(b, value, &count) != 0) return -1;
    if (count == 0) return build_fail_at(b, value, "an election needs at least one node");
    if (count > BUILD_COUNT_MAX) return build_fail_at(b, value, "at most %u nodes", (unsigned)BUILD_COUNT_MAX);
    b->plan->cluster.count = (uint32_t)count;
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int refuse_duplicate_ids(struct builder *b, const uint64_t *ids, size_t count)
{
    uint64_t *sorted = malloc(count * sizeof *sorted);
    if (!sorted) return build_out_of_memory(b);
    memcpy(sorted, ids, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_ids);
    int status = 0;
    for (size_t i = 1; i < count && status == 0; i++)
        if (sorted[i] == sorted[i - 1])
            status = build_fail_at(b, NULL, "the id %llu occurs twice; ids must differ",
                                   (unsigned long long)sorted[i]);
    free(sorted);
    return status;
}

static int read_ids(struct builder *b, const char *value)
{
    uint64_t *ids = NULL;
    size_t count = 0;
    bool more = true;
    const char *at = value;
    int status = 0;
    while (status == 0 && more) {
        skip_space(&at);
        uint64_t *id = build_one_more(&ids, &count, sizeof *ids);
        if (!id) {
            status = build_out_of_memory(b);
        } else if (!units_read_number(&at, id)) {
            status = build_fail_at(b, at, "expected ids separated by commas, not '%.20s'", at);
        } else if (*id >= EL_EPOCH_MAX || count > BUILD_COUNT_MAX) {
            status =
                build_fail_at(b, at, "ids are below 2^53, and there are at most %u", (unsigned)BUILD_COUNT_MAX);
        } else {
            status = build_read_more(b, &at, &more);
        }
    }
    if (status == 0) status = refuse_duplicate_ids(b, ids, count);
    if (status != 0) {
        free(ids);
        return -1;
    }
    b->plan->cluster.ids = b->plan->ids = ids;
    b->plan->cluster.count = (uint32_t)count;
    return 0;
}

static int read_attr(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    if (!plan->attributes) plan->attributes = calloc(plan->cluster.count, sizeof *plan->attributes);
    if (!plan->attributes) return build_out_of_memory(b);
    plan->cluster.attributes = plan->attributes;
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        uint64_t attribute = 0;
        if (build_read_node(b, &at, &node) != 0) return -1;
        if (!parse_char(&at, '=') || !units_read_number(&at, &attribute) || attribute >= EL_EPOCH_MAX)
            return build_fail_at(b, at, "expected ID=VALUE with a whole number below 2^53 as VALUE");
        plan->attributes[node - 1] = attribute;
        if (build_read_more(b, &at, &more) != 0) return -1;
    }
    return 0;
}

static int read_ordinary(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    if (plan->algorithm->roleless)
        return build_fail_at(b, value, "in %s every member may lead; candidate-ordinary has ordinary members",
                             plan->algorithm->name);
    if (!plan->roles) plan->roles = calloc(plan->cluster.count, 1); /* all candidates */
    if (!plan->roles) return build_out_of_memory(b);
    plan->cluster.roles = plan->roles;
    bool more = true;
    for (const char *at = value; more;) {
        el_node node = EL_NOBODY;
        if (build_read_node(b, &at, &node) != 0 || build_read_more(b, &at, &more) != 0) return -1;
        plan->roles[node - 1] = EL_ORDINARY;
    }
    return 0;
}

static int read_leader(struct builder *b, const char *value)
{
    const char *at = value;
    if (build_read_node(b, &at, &b->plan->incumbent) != 0) return -1;
    return parse_end(&at) ? 0 : build_fail_at(b, at, "expected one leader");
}

/* "1,2,3" or "1,2,3/1,2": who votes; behind the stroke who may lead, otherwise all of them that are not ordinary. */
static int read_record(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    const struct el_cluster *cluster = &plan->cluster;
    if (!plan->algorithm->membership)
        return build_fail_at(b, value, "the members of %s never change", plan->algorithm->name);
    if (cluster->count > 64) return build_fail_at(b, value, "members that change are at most 64");
    if (plan->record_count == EL_RECORDS_MAX)
        return build_fail_at(b, value, "at most %d records follow the first", EL_RECORDS_MAX);
    struct el_record *record = build_one_more(&plan->records, &plan->record_count, sizeof *record);
    if (!record) return build_out_of_memory(b);
    *record = (struct el_record){0, 0};
    bool leads = false;
    const char *at = value;
    for (;;) {
        el_node node = EL_NOBODY;
        if (build_read_node(b, &at, &node) != 0) return -1;
        if (leads)
            record->leaders |= el_bit(node);
        else
            record->voters |= el_bit(node);
        skip_space(&at);
        if (parse_char(&at, ',')) continue;
        if (leads || !parse_char(&at, '/')) break;
        leads = true;
    }
    if (!parse_end(&at)) return build_fail_at(b, at, "did not expect '%.20s' here", at);
    for (el_node node = 1; !leads && node <= cluster->count; node++)
        if (!plan->roles || plan->roles[node - 1] != EL_ORDINARY)
            record->leaders |= record->voters & el_bit(node);
    return 0;
}

/* After the options, of which one makes members observers. */
int build_records(struct builder *b)
{
    if (build_each(b, "record", read_record) != 0) return -1;
    b->plan->cluster.records = b->plan->records;
    b->plan->cluster.record_count = (uint32_t)b->plan->record_count;
    return 0;
}

static bool incumbent_may_not_lead(const struct sim_plan *plan)
{
    return plan->incumbent && !el_may_lead(&plan->cluster, plan->incumbent);
}

int build_members(struct builder *b)
{
    if (build_once(b, "algorithm", read_algorithm) != 0) return -1;
    if (!b->plan->algorithm)
        return build_fail_at(b, NULL, "no algorithm is given; name one, for instance chang-roberts");
    const struct sim_setting *ids = build_last_of(b, "ids"), *nodes = build_last_of(b, "nodes");
    if (!ids && !nodes)
        return build_fail_at(b, NULL,
                             "how many nodes? Give --nodes N or --ids A,B,…, or in a scenario a line nodes N");
    /* The later of the two wins, so that the command line overrides a scenario. */
    const bool by_ids = !nodes || (ids && ids > nodes);
    if ((by_ids ? build_once(b, "ids", read_ids) : build_once(b, "nodes", read_nodes)) != 0) return -1;
    const uint32_t count_max = b->plan->algorithm->count_max;
    if (count_max && b->plan->cluster.count > count_max) {
        b->now = by_ids ? ids : nodes;
        return build_fail_at(b, NULL, "%s takes at most %u members", b->plan->algorithm->name, count_max);
    }
    if (build_each(b, "attr", read_attr) != 0 || build_each(b, "ordinary", read_ordinary) != 0 ||
        build_once(b, "leader", read_leader) != 0)
        return -1;
    if (incumbent_may_not_lead(b->plan)) {
        b->now = build_last_of(b, "leader");
        return build_fail_at(b, NULL, "an ordinary member never leads");
    }
    return 0;
}
