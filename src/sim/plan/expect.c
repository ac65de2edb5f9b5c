/* Expectations on a run: parsing them, and comparing them with the result. */
#include <string.h>

#include "base/units.h"
#include "sim/output/transcript.h"
#include "sim/plan/builder.h"

/* ---- Reading ---- */

static int expect_messages(struct builder *b, struct sim_expect *expect, const char *at)
{
    const struct el_algorithm *algorithm = b->plan->algorithm;
    for (uint32_t kind = 1; kind <= algorithm->kind_count; kind++) {
        const char *past = at;
        if (parse_text(&past, algorithm->kinds[kind]) && *past == ' ') {
            expect->kind = kind;
            at = past;
        }
    }
    skip_space(&at);
    expect->type = SIM_EXPECT_MESSAGES;
    if (units_read_number(&at, &expect->value) && parse_end(&at)) return 0;
    return build_fail_at(b, at, "expected [KIND] N with a kind of message of %s", algorithm->name);
}

/* The claim that this violation breaks; 0: it needs none. */
static uint32_t claim_of(uint32_t violation)
{
    switch (violation) {
    case EL_TWO_LEADERS: return EL_CLAIMS_ONE_LEADER;
    case EL_SAME_TERM: return EL_CLAIMS_ONE_PER_TERM;
    case EL_TOKEN_FELL: return EL_CLAIMS_RISING;
    case EL_TWO_DECISIONS: return EL_CLAIMS_ONE_DECISION;
    case EL_OUT_OF_TURN: return EL_CLAIMS_IN_ORDER;
    case EL_NOT_BEST: return EL_CLAIMS_BEST | EL_CLAIMS_AGREEMENT;
    case EL_DEMOTED: return EL_CLAIMS_STABLE;
    case EL_ENDLESS: return 0;
    default: return EL_CLAIMS_AGREEMENT;
    }
}

static int expect_violation(struct builder *b, struct sim_expect *expect, const char *at)
{
    expect->type = SIM_EXPECT_VIOLATION;
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1)
        if (strcmp(el_violation_name((enum el_violation)kind), at) == 0) expect->kind = kind;
    b->plan->judged |= claim_of(expect->kind);
    if (expect->kind) return 0;
    return build_fail_at(
        b, at,
        "a violation is two-leaders, same-term, two-decisions, disagreement, no-leader, dead-leader, not-best, demoted, token-fell, "
        "out-of-turn or endless");
}

enum { AT_REST = EL_DISAGREEMENT | EL_NO_LEADER | EL_DEAD_LEADER };

/* The checker's properties: the claim to judge, and the violations that break it. */
static const struct {
    const char *name;
    uint32_t claim, violations;
    bool by_agreement; /* broken if not all live nodes follow one live leader in the end */
} properties[] = {
    {"one-leader", EL_CLAIMS_ONE_LEADER, EL_TWO_LEADERS, false},
    {"one-per-term", EL_CLAIMS_ONE_PER_TERM, EL_SAME_TERM, false},
    {"tokens-rise", EL_CLAIMS_RISING, EL_TOKEN_FELL, false},
    {"one-decision", EL_CLAIMS_ONE_DECISION, EL_TWO_DECISIONS, false},
    {"in-order", EL_CLAIMS_IN_ORDER, EL_OUT_OF_TURN, false},
    {"agreement", EL_CLAIMS_AGREEMENT, AT_REST, false},
    {"best", EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST, AT_REST | EL_NOT_BEST, false},
    {"groups", EL_CLAIMS_GROUPS, AT_REST, false},
    {"rests", 0, EL_ENDLESS, false},
    {"elects", 0, 0, true},
    {"led", 0, 0, true}, /* whom nobody leads, not all follow */
};

static int expect_broken(struct builder *b, struct sim_expect *expect, const char *at)
{
    expect->type = SIM_EXPECT_BROKEN;
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (strcmp(properties[i].name, at) != 0) continue;
        expect->value = i;
        expect->kind = properties[i].violations;
        b->plan->judged |= properties[i].claim;
        return 0;
    }
    return build_fail_at(b, at, "there is no property '%.20s'; `elector check --help` lists them", at);
}

static int read_expect(struct builder *b, const char *value)
{
    struct sim_expect *expect = build_one_more(&b->plan->expects, &b->plan->expect_count, sizeof *expect);
    if (!expect) return build_out_of_memory(b);
    *expect = (struct sim_expect){.text = value};
    const char *at = value;
    el_node node = EL_NOBODY;
    if (strcmp(value, "agreement") == 0) {
        expect->type = SIM_EXPECT_AGREEMENT;
    } else if (strcmp(value, "no agreement") == 0) {
        expect->type = SIM_EXPECT_NO_AGREEMENT;
    } else if (strcmp(value, "no violation") == 0) {
        expect->type = SIM_EXPECT_NO_VIOLATION;
    } else if (strcmp(value, "leader none") == 0) {
        expect->type = SIM_EXPECT_LEADER;
        expect->value = SIM_NO_ID;
    } else if (parse_text(&at, "leader ")) {
        expect->type = SIM_EXPECT_LEADER;
        if (build_read_node(b, &at, &node) != 0) return -1;
        expect->value = el_id(&b->plan->cluster, node);
    } else if (parse_text(&at, "messages ")) {
        return expect_messages(b, expect, at);
    } else if (parse_text(&at, "failed-hops ")) {
        expect->type = SIM_EXPECT_FAILED_HOPS;
        return build_read_whole(b, at, &expect->value);
    } else if (parse_text(&at, "refused ")) {
        expect->type = SIM_EXPECT_REFUSED;
        return build_read_whole(b, at, &expect->value);
    } else if (parse_text(&at, "term ")) {
        expect->type = SIM_EXPECT_TERM;
        return build_read_whole(b, at, &expect->value);
    } else if (parse_text(&at, "turnaround ")) {
        expect->type = SIM_EXPECT_TURNAROUND;
        return build_read_only_time(b, at, &expect->value);
    } else if (parse_text(&at, "violation ")) {
        return expect_violation(b, expect, at);
    } else if (parse_text(&at, "broken ")) {
        return expect_broken(b, expect, at);
    } else {
        return build_fail_at(
            b, value,
            "expect one of: leader ID|none, agreement, no agreement, messages [KIND] N, failed-hops N, "
            "turnaround T, term N, refused N, violation KIND, no violation, broken PROPERTY");
    }
    return 0;
}

int build_expectations(struct builder *b)
{
    return build_each(b, "expect", read_expect);
}

/* ---- Comparing ---- */

bool sim_expectation_holds(const struct sim_plan *plan, const struct sim_result *result,
                           const struct sim_expect *expect)
{
    switch (expect->type) {
    case SIM_EXPECT_LEADER:
        if (expect->value == SIM_NO_ID) return !result->agreed;
        return result->agreed && el_id(&plan->cluster, result->leader) == expect->value;
    case SIM_EXPECT_AGREEMENT: return result->agreed;
    case SIM_EXPECT_NO_AGREEMENT: return !result->agreed;
    case SIM_EXPECT_MESSAGES: return result->sent[expect->kind] == expect->value;
    case SIM_EXPECT_FAILED_HOPS: return result->failed_hops == expect->value;
    case SIM_EXPECT_REFUSED: return result->refused == expect->value;
    case SIM_EXPECT_TERM: return result->term == expect->value;
    case SIM_EXPECT_TURNAROUND: return !sim_is_endless(result) && result->turnaround == expect->value;
    case SIM_EXPECT_VIOLATION: return (result->violation_kinds & expect->kind) != 0;
    case SIM_EXPECT_NO_VIOLATION: return result->violation_kinds == 0;
    case SIM_EXPECT_BROKEN:
        return properties[expect->value].by_agreement ? !result->is_led
                                                      : (result->violation_kinds & expect->kind) != 0;
    }
    return false;
}

uint32_t sim_unexpected_violations(const struct sim_plan *plan, const struct sim_result *result)
{
    uint32_t unexpected = result->violation_kinds;
    bool tells_one = false;
    for (size_t i = 0; i < plan->expect_count; i++)
        if (plan->expects[i].type == SIM_EXPECT_VIOLATION || plan->expects[i].type == SIM_EXPECT_BROKEN) {
            unexpected &= ~plan->expects[i].kind;
            tells_one = true;
        }
    /* A script shows one violation; other violations on the way are not its subject. */
    return plan->script && tells_one ? 0 : unexpected;
}

bool sim_expectations_hold(const struct sim_plan *plan, const struct sim_result *result)
{
    for (size_t i = 0; i < plan->expect_count; i++)
        if (!sim_expectation_holds(plan, result, &plan->expects[i])) return false;
    return sim_unexpected_violations(plan, result) == 0;
}
