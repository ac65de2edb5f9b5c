/*
 * What every election must do, whatever its algorithm: elect the best-ranked, whoever calls. The rank is the
 * pair (attribute, id), the greater is better, and the id makes ties impossible. Two claim nothing of ranks:
 * in invitation the caller gathers the others, and on Itai and Rodeh's anonymous ring nobody has one.
 *
 * Coulouris et al., Distributed Systems, section 15.3: the choice of the elected process must be unique, even
 * if several processes call elections concurrently.
 */
#include "lib/sim/bench.h"

enum { TEXT = 1024 };

/* The one after it in the registry, the first after none, none after the last; of those that go by rank. */
static const struct el_algorithm *after(const struct el_algorithm *previous)
{
    uint32_t count = 0;
    const struct el_algorithm *const *table = el_algorithms(&count);
    bool past = previous == NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (past && !table[i]->beats && !table[i]->majority) return table[i];
        if (table[i] == previous) past = true;
    }
    return NULL;
}

#define each_algorithm() \
    for (const struct el_algorithm *algorithm = after(NULL); algorithm; algorithm = after(algorithm))

/* Every caller alone, and all of them at once. */
static void whoever_calls(const struct el_algorithm *algorithm, const char *members, const unsigned *ids,
                          unsigned n, unsigned winner)
{
    const bool best = (algorithm->claims & EL_CLAIMS_BEST) != 0,
               groups = (algorithm->claims & EL_CLAIMS_GROUPS) != 0;
    for (unsigned i = 0; i < n; i++) {
        play("%s; %s; initiator %u", algorithm->name, members, ids[i]);
        kept_its_claims();
        if (best || groups) ended_on(best ? winner : ids[i]);
    }
    if (groups) return;
    play("%s; %s; initiator all", algorithm->name, members);
    kept_its_claims();
    if (best) ended_on(winner);
}

/* The members in random order, each with the attribute that `attribute_of` gives it. */
static void whatever_the_order(uint64_t seed,
                               unsigned (*attribute_of)(struct sim_random *, unsigned id, unsigned n))
{
    struct sim_random dice;
    sim_random_seed(&dice, seed, 0);
    each_algorithm()
    {
        for (unsigned n = 2; n <= SOME; n++) {
            unsigned ids[SOME], winner = 0, highest = 0;
            char members[TEXT];
            shuffle(&dice, ids, n);
            size_t used = (size_t)snprintf(members, sizeof members, "ids %s; attr ", list(ids, n, ""));
            for (unsigned i = 0; i < n; i++) {
                const unsigned attribute = attribute_of(&dice, ids[i], n);
                used += (size_t)snprintf(members + used, sizeof members - used, "%s%u=%u", i ? "," : "", ids[i],
                                         attribute);
                if (attribute > highest || (attribute == highest && ids[i] > winner)) {
                    highest = attribute;
                    winner = ids[i];
                }
            }
            whoever_calls(algorithm, members, ids, n, winner);
        }
    }
}

static unsigned all_the_same(struct sim_random *dice, unsigned id, unsigned n)
{
    return 7;
}

static unsigned none(struct sim_random *dice, unsigned id, unsigned n)
{
    return 0;
}

static unsigned against_the_id(struct sim_random *dice, unsigned id, unsigned n)
{
    return n - id;
}

static unsigned one_of_three(struct sim_random *dice, unsigned id, unsigned n)
{
    return below(dice, 3);
}

static unsigned higher_for_two_of_the_lowest(struct sim_random *dice, unsigned id, unsigned n)
{
    return id <= 2 ? 9 : 1;
}

static void one_node_leads_itself_without_a_message(void **state)
{
    each_algorithm()
    {
        play("%s; nodes 1; initiator 1", algorithm->name);
        sent_in_all(0);
        took(0);
        elected(1);
        play("%s; ids 80; attr 80=3; initiator 80@5", algorithm->name);
        sent_in_all(0);
        took(0);
        elected(80);
    }
}

static void without_attributes_the_highest_id_wins(void **state)
{
    whatever_the_order(1, none);
}

static void equal_attributes_leave_it_to_the_id(void **state)
{
    whatever_the_order(2, all_the_same);
}

static void an_attribute_comes_before_the_id(void **state)
{
    whatever_the_order(3, against_the_id);
}

static void of_two_that_share_the_best_attribute_the_higher_id_wins(void **state)
{
    whatever_the_order(4, higher_for_two_of_the_lowest);
    whatever_the_order(5, one_of_three);
}

/* Some rings are broken by a death, and say so. */
static bool outlives_its_leader(const struct el_algorithm *algorithm)
{
    for (uint32_t i = 0; i < algorithm->break_count; i++)
        if (algorithm->breaks[i].faults & EL_CRASHES && algorithm->breaks[i].violations & EL_DEAD_LEADER)
            return false;
    return true;
}

static void the_best_is_elected_again_after_its_death_and_return(void **state)
{
    each_algorithm()
    {
        if (!(algorithm->claims & EL_CLAIMS_BEST) || !outlives_its_leader(algorithm)) continue;
        for (unsigned n = 3; n <= SOME; n++) {
            play("%s; nodes %u; attr 1=9; leader 1; detect 1; crash 1@0; initiator none", algorithm->name, n);
            elected(n);
            play("%s; nodes %u; attr 1=9; leader 1; detect 1; crash 1@0; restart 1@1000; initiator none",
                 algorithm->name, n);
            ended_on(1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_leads_itself_without_a_message),
        cmocka_unit_test(without_attributes_the_highest_id_wins),
        cmocka_unit_test(equal_attributes_leave_it_to_the_id),
        cmocka_unit_test(an_attribute_comes_before_the_id),
        cmocka_unit_test(of_two_that_share_the_best_attribute_the_higher_id_wins),
        cmocka_unit_test(the_best_is_elected_again_after_its_death_and_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
