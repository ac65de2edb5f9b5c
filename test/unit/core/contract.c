/* What algorithm files are written with: ranks, sets, the ring, the words; and what each must say of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/registry.h"
#include "core/machine.h"
#include "sim/world/world.h"

/* ---- Ranks ---- */

static void the_attribute_comes_before_the_id(void **state)
{
    static const struct {
        struct el_rank a, b;
        bool above;
    } cases[] = {
        {{0, 1}, {0, 2}, false},         {{0, 2}, {0, 1}, true},
        {{1, 1}, {0, 2}, true},          {{0, 2}, {1, 1}, false},
        {{1, 1}, {1, 1}, false},         {{UINT64_MAX, 0}, {UINT64_MAX - 1, UINT64_MAX}, true},
        {{0, UINT64_MAX}, {0, 0}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(el_rank_above(cases[i].a, cases[i].b), cases[i].above);
}

static void without_ids_the_position_is_the_id(void **state)
{
    const struct el_cluster plain = {.count = 3};
    assert_int_equal(el_id(&plain, 3), 3);
    assert_int_equal(el_rank_of(&plain, 2).attribute, 0);
    assert_int_equal(el_rank_of(&plain, 2).id, 2);
}

static void a_rank_is_the_attribute_and_the_id(void **state)
{
    static const uint64_t ids[] = {30, 10, 20}, attributes[] = {5, 9, 5};
    const struct el_cluster cluster = {.count = 3, .ids = ids, .attributes = attributes};
    assert_int_equal(el_id(&cluster, 1), 30);
    assert_int_equal(el_rank_of(&cluster, 2).attribute, 9);
    assert_int_equal(el_rank_of(&cluster, 2).id, 10);
    assert_true(el_outranks(&cluster, 2, 1));
    assert_true(el_outranks(&cluster, 1, 3)); /* a tie, which the id breaks */
    assert_false(el_outranks(&cluster, 3, 1));
    assert_false(el_outranks(&cluster, 1, 1));
}

static void anybody_outranks_nobody(void **state)
{
    const struct el_cluster plain = {.count = 3};
    assert_true(el_outranks(&plain, 1, EL_NOBODY));
    assert_false(el_outranks(&plain, EL_NOBODY, 1));
    assert_false(el_outranks(&plain, EL_NOBODY, EL_NOBODY));
}

static void a_claimed_rank_is_what_travelled_and_the_subjects_id(void **state)
{
    static const uint64_t ids[] = {30, 10}, attributes[] = {1, 1};
    const struct el_cluster cluster = {.count = 2, .ids = ids, .attributes = attributes};
    const struct el_config cfg = {&cluster, 1};
    const struct el_msg msg = {.subject = 2, .rank = 77};
    assert_int_equal(el_claimed_rank(&cfg, &msg).attribute, 77);
    assert_int_equal(el_claimed_rank(&cfg, &msg).id, 10);
}

static void only_candidates_may_lead(void **state)
{
    static const uint8_t roles[] = {EL_ORDINARY, EL_CANDIDATE};
    const struct el_cluster all = {.count = 2}, some = {.count = 2, .roles = roles};
    assert_true(el_may_lead(&all, 1));
    assert_false(el_may_lead(&some, 1));
    assert_true(el_may_lead(&some, 2));
}

static void a_place_in_line_counts_those_above(void **state)
{
    static const uint64_t attributes[] = {5, 9, 5, 0};
    const struct el_cluster cluster = {.count = 4, .attributes = attributes};
    assert_int_equal(el_place(&cluster, 2, EL_NOBODY), 0);
    assert_int_equal(el_place(&cluster, 3, EL_NOBODY), 1);
    assert_int_equal(el_place(&cluster, 1, EL_NOBODY), 2);
    assert_int_equal(el_place(&cluster, 4, EL_NOBODY), 3);
    assert_int_equal(el_place(&cluster, 4, 2), 2); /* one that is gone leaves its place */
    assert_int_equal(el_place(&cluster, 2, 4), 0);
    assert_int_equal(el_place(&cluster, 2, 2), 0);
}

static void the_best_of_a_set_is_in_it(void **state)
{
    static const uint64_t ids[] = {9, 5, 7};
    const struct el_cluster plain = {.count = 64}, few = {.count = 3, .ids = ids};
    assert_int_equal(el_best_of(&plain, UINT64_MAX), 64);
    assert_int_equal(el_best_of(&plain, 0), EL_NOBODY);
    assert_int_equal(el_best_of(&plain, el_bit(1) | el_bit(63)), 63);
    assert_int_equal(el_best_of(&few, el_bit(1) | el_bit(2) | el_bit(3)), 1);
    assert_int_equal(el_best_of(&few, el_bit(2) | el_bit(3)), 3);
    assert_int_equal(el_best_of(&few, ~UINT64_C(7)), EL_NOBODY); /* members that do not exist */
}

/* ---- Sets ---- */

static void sets_reach_across_words(void **state)
{
    static const uint32_t counts[] = {1, 62, 63, 64, 65, 127, 128, 1000};
    assert_int_equal(el_set_words(63), 1);
    assert_int_equal(el_set_words(64), 2);
    assert_int_equal(el_set_words(127), 2);
    assert_int_equal(el_set_words(128), 3);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t set[20] = {0};
        const uint32_t count = counts[i];
        set[el_set_words(count)] = 0xABCD; /* not its own */
        for (el_node node = 1; node <= count; node++) {
            assert_false(el_set_has(set, node));
            el_set_add(set, node);
            el_set_add(set, node);
            assert_true(el_set_has(set, node));
            if (node < count) assert_false(el_set_has(set, node + 1));
        }
        for (el_node node = 1; node <= count; node += 2) el_set_remove(set, node);
        for (el_node node = 1; node <= count; node++) assert_int_equal(el_set_has(set, node), node % 2 == 0);
        assert_int_equal(set[0] & 1, 0); /* nobody's */
        el_set_clear(set, count);
        for (el_node node = 1; node <= count; node++) assert_false(el_set_has(set, node));
        assert_int_equal(set[el_set_words(count)], 0xABCD);
    }
}

static void a_bit_is_a_position(void **state)
{
    assert_int_equal(el_bit(1), 1);
    assert_int_equal(el_bit(64), UINT64_C(1) << 63);
}

/* ---- The ring ---- */

static const uint32_t ring_counts[] = {1, 2, 3, 63, 64, 65, 66, 1000};
enum { RINGS = sizeof ring_counts / sizeof *ring_counts };

static el_node clockwise(el_node node, uint32_t steps, uint32_t count)
{
    return (node - 1 + steps) % count + 1;
}

static void the_next_is_the_neighbour(void **state)
{
    for (size_t i = 0; i < RINGS; i++) {
        const uint32_t count = ring_counts[i];
        const struct el_cluster cluster = {.count = count};
        for (el_node self = 1; self <= count; self += 1 + count / 7) {
            const struct el_config cfg = {&cluster, self};
            for (uint32_t k = 0; k < count; k++)
                assert_int_equal(el_ring_next(&cfg, 0, clockwise(self, k, count)),
                                 clockwise(self, k + 1, count));
        }
    }
}

static void the_gone_are_skipped_as_far_as_one_can_see(void **state)
{
    for (size_t i = 0; i < RINGS; i++) {
        const uint32_t count = ring_counts[i];
        const struct el_cluster cluster = {.count = count};
        const struct el_config cfg = {&cluster, count / 2 + 1};
        uint64_t gone = 0;
        for (uint32_t k = 1; k < count; k++) {
            const el_node peer = clockwise(cfg.self, k, count);
            const bool in_sight = k <= EL_RING_SIGHT;
            assert_false(el_ring_gone(&cfg, gone, peer));
            gone = el_ring_mark(&cfg, gone, peer, true);
            assert_int_equal(el_ring_gone(&cfg, gone, peer), in_sight);
            const el_node next = clockwise(cfg.self, in_sight ? k + 1 : EL_RING_SIGHT + 1, count);
            assert_int_equal(el_ring_next(&cfg, gone, cfg.self), next);
            assert_int_equal(el_ring_next(&cfg, gone, peer), clockwise(cfg.self, k + 1, count));
        }
        assert_false(el_ring_gone(&cfg, UINT64_MAX, cfg.self));
        for (uint32_t k = 1; k < count; k++) {
            const el_node peer = clockwise(cfg.self, k, count);
            gone = el_ring_mark(&cfg, gone, peer, false);
            assert_false(el_ring_gone(&cfg, gone, peer));
        }
        assert_int_equal(gone, 0);
    }
}

static void with_sixty_four_dead_successors_the_sixty_fifth_is_next(void **state)
{
    static const struct {
        uint32_t count;
        el_node next;
    } cases[] = {{64, 1}, {65, 1}, {66, 66}, {1000, 66}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct el_cluster cluster = {.count = cases[i].count};
        const struct el_config cfg = {&cluster, 1};
        assert_int_equal(el_ring_next(&cfg, UINT64_MAX, 1), cases[i].next);
    }
}

static void a_peer_out_of_sight_cannot_be_marked(void **state)
{
    const struct el_cluster cluster = {.count = 1000};
    const struct el_config cfg = {&cluster, 10};
    assert_int_equal(el_ring_mark(&cfg, 0, 74, true), UINT64_C(1) << 63);
    assert_int_equal(el_ring_mark(&cfg, 0, 75, true), 0);
    assert_int_equal(el_ring_mark(&cfg, UINT64_MAX, 75, false), UINT64_MAX);
    assert_false(el_ring_gone(&cfg, UINT64_MAX, 75));
}

/* ---- The view ---- */

static void a_view_says_who_leads_before_what_is_under_way(void **state)
{
    const struct el_cluster cluster = {.count = 3};
    const struct el_config cfg = {&cluster, 2};
    static const struct {
        el_node leader;
        bool electing;
        enum el_role role;
    } cases[] = {{2, true, EL_LEADER},    {2, false, EL_LEADER},  {3, true, EL_FOLLOWER},
                 {3, false, EL_FOLLOWER}, {0, true, EL_ELECTING}, {0, false, EL_IDLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct el_view view;
        el_view_of(&view, &cfg, cases[i].leader, cases[i].electing, 9);
        assert_int_equal(view.role, cases[i].role);
        assert_int_equal(view.leader, cases[i].leader);
        assert_int_equal(view.term, 9);
        assert_int_equal(view.timer, EL_NO_TIMER);
    }
}

/* ---- Words ---- */

static void every_violation_has_its_own_name(void **state)
{
    for (uint32_t a = 1; a < EL_VIOLATIONS_END; a <<= 1) {
        assert_string_not_equal(el_violation_name((enum el_violation)a), "?");
        for (uint32_t b = 1; b < a; b <<= 1)
            assert_string_not_equal(el_violation_name((enum el_violation)a),
                                    el_violation_name((enum el_violation)b));
    }
    assert_string_equal(el_violation_name((enum el_violation)0), "?");
    assert_string_equal(el_violation_name((enum el_violation)EL_VIOLATIONS_END), "?");
}

static void every_fault_has_its_own_name(void **state)
{
    for (uint32_t a = 1; a < EL_FAULTS_END; a <<= 1) {
        assert_string_not_equal(el_fault_name((enum el_fault)a), "?");
        for (uint32_t b = 1; b < a; b <<= 1)
            assert_string_not_equal(el_fault_name((enum el_fault)a), el_fault_name((enum el_fault)b));
    }
    assert_string_equal(el_fault_name(EL_FAULTS_END), "?");
    assert_string_equal(el_fault_name((enum el_fault)0), "?");
}

static void every_answer_has_its_own_text(void **state)
{
    for (uint32_t a = EL_PERFORMED; a <= EL_UNDER_WAY; a++) {
        assert_string_not_equal(el_answer_text((enum el_answer)a), "?");
        for (uint32_t b = EL_PERFORMED; b < a; b++)
            assert_string_not_equal(el_answer_text((enum el_answer)a), el_answer_text((enum el_answer)b));
    }
    assert_string_equal(el_answer_text((enum el_answer)(EL_UNDER_WAY + 1)), "?");
}

static void every_note_has_a_text(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t note = 0; note < all[i]->note_count; note++) {
            assert_string_equal(el_note_text(all[i], note), all[i]->notes[note].text);
            assert_string_not_equal(el_note_text(all[i], note), "?");
        }
        assert_string_equal(el_note_text(all[i], all[i]->note_count), "?");
        assert_non_null(strstr(el_note_text(all[i], EL_NOTE_MALFORMED), "malformed"));
        assert_non_null(strstr(el_note_text(all[i], EL_NOTE_DECLINED), "declines"));
        assert_string_equal(el_note_text(all[i], EL_NOTE_DECLINED + 1), "?");
    }
}

/* ---- The registry ---- */

/* Rings, then meshes without a majority, then majorities; Elector's own comes last. */
static void they_come_in_teaching_order(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    assert_true(count > 0);
    for (uint32_t i = 1; i < count; i++) {
        assert_true(!all[i]->ring || all[i - 1]->ring);
        assert_true(all[i]->majority || !all[i - 1]->majority);
        for (uint32_t k = 0; k < i; k++) assert_string_not_equal(all[i]->name, all[k]->name);
    }
    assert_string_equal(all[count - 1]->name, "quorum");
}

static void each_is_found_by_its_name(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) assert_ptr_equal(el_algorithm_named(all[i]->name), all[i]);
}

static void nobody_else_is_found(void **state)
{
    static const char *const names[] = {"", "bull", "bullyy", "Bully", "bully ", "rafts", "ring", "ring-basi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_null(el_algorithm_named(names[i]));
}

static void says(const char *text)
{
    assert_non_null(text);
    assert_true(strlen(text) > 0);
    assert_null(strchr(text, '?'));
}

static void each_says_what_it_is(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct el_algorithm *a = all[i];
        says(a->name);
        says(a->summary);
        says(a->idea);
        says(a->reference);
        assert_null(strchr(a->summary, '\n'));
        assert_int_not_equal(a->claims, 0);
        assert_int_not_equal(a->break_count, 0);
        for (uint32_t k = 0; k < a->break_count; k++) {
            says(a->breaks[k].why);
            assert_in_range(a->breaks[k].faults, 1, EL_FAULTS_END - 1);
            assert_in_range(a->breaks[k].violations, 1, EL_VIOLATIONS_END - 1);
        }
    }
}

static void each_has_complete_tables(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct el_algorithm *a = all[i];
        assert_in_range(a->kind_count, 1, SIM_KINDS_MAX - 1); /* the simulator counts by kind */
        assert_in_range(a->note_count, 1, 64);                /* and keeps the notes it saw in one word */
        assert_null(a->kinds[0]);
        for (uint32_t k = 1; k <= a->kind_count; k++) says(a->kinds[k]);
        for (uint32_t k = 1; k <= a->kind_count; k++) assert_null(strchr(a->kinds[k], ' '));
        assert_int_equal(a->set_kinds & ~((2u << a->kind_count) - 2), 0);
        for (uint32_t k = 0; k < a->timer_count; k++) says(a->timers[k]);
        for (uint32_t k = 0; k < a->note_count; k++) {
            says(a->notes[k].name);
            says(a->notes[k].text);
        }
        for (uint32_t k = 0; k < a->option_count; k++) {
            says(a->options[k].name);
            says(a->options[k].help);
            assert_true(a->options[k].kind != EL_CHOICE || a->options[k].choices);
        }
    }
}

static void names_in_one_table_differ(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct el_algorithm *a = all[i];
        for (uint32_t k = 1; k <= a->kind_count; k++)
            for (uint32_t m = 1; m < k; m++) assert_string_not_equal(a->kinds[k], a->kinds[m]);
        for (uint32_t k = 0; k < a->note_count; k++)
            for (uint32_t m = 0; m < k; m++) assert_string_not_equal(a->notes[k].name, a->notes[m].name);
        for (uint32_t k = 0; k < a->timer_count; k++)
            for (uint32_t m = 0; m < k; m++) assert_string_not_equal(a->timers[k], a->timers[m]);
        for (uint32_t k = 0; k < a->option_count; k++)
            for (uint32_t m = 0; m < k; m++) assert_string_not_equal(a->options[k].name, a->options[m].name);
    }
}

static void each_has_the_handlers_that_it_needs(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct el_algorithm *a = all[i];
        assert_non_null(a->on_start);
        assert_non_null(a->on_message);
        assert_non_null(a->on_campaign);
        assert_non_null(a->view);
        assert_int_equal(a->on_unsent != NULL, (a->needs & EL_NEEDS_HOP_ACKS) != 0);
        assert_int_equal(a->on_timer != NULL, a->timer_count > 0);
        assert_true(a->ring || !(a->needs & EL_NEEDS_HOP_ACKS)); /* only a ring has somebody to skip */
    }
}

static void sizes_grow_with_the_cluster(void **state)
{
    const struct el_algorithm a = {
        .state_bytes = 24, .state_sets = 2, .state_per_member = 16, .outbox_fixed = 5, .outbox_per_member = 3};
    assert_int_equal(el_state_size(&a, 1), 24 + 2 * 8 + 16);
    assert_int_equal(el_state_size(&a, 63), 24 + 2 * 8 + 63 * 16);
    assert_int_equal(el_state_size(&a, 64), 24 + 2 * 16 + 64 * 16);
    assert_int_equal(el_state_size(&a, UINT32_MAX),
                     24 + UINT64_C(2) * (UINT32_MAX / 64 + 1) * 8 + UINT64_C(16) * UINT32_MAX);
    assert_int_equal(el_outbox_bound(&a, 1), 8);
    assert_int_equal(el_outbox_bound(&a, UINT32_MAX), 5 + UINT64_C(3) * UINT32_MAX);
}

static void states_are_whole_words(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(all[i]->state_bytes % 8, 0);
        assert_int_equal(all[i]->state_per_member % 8, 0);
        assert_true(el_state_size(all[i], 1) > 0);
        assert_true(el_outbox_bound(all[i], 1) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_attribute_comes_before_the_id),
        cmocka_unit_test(without_ids_the_position_is_the_id),
        cmocka_unit_test(a_rank_is_the_attribute_and_the_id),
        cmocka_unit_test(anybody_outranks_nobody),
        cmocka_unit_test(a_claimed_rank_is_what_travelled_and_the_subjects_id),
        cmocka_unit_test(only_candidates_may_lead),
        cmocka_unit_test(a_place_in_line_counts_those_above),
        cmocka_unit_test(the_best_of_a_set_is_in_it),
        cmocka_unit_test(sets_reach_across_words),
        cmocka_unit_test(a_bit_is_a_position),
        cmocka_unit_test(the_next_is_the_neighbour),
        cmocka_unit_test(the_gone_are_skipped_as_far_as_one_can_see),
        cmocka_unit_test(with_sixty_four_dead_successors_the_sixty_fifth_is_next),
        cmocka_unit_test(a_peer_out_of_sight_cannot_be_marked),
        cmocka_unit_test(a_view_says_who_leads_before_what_is_under_way),
        cmocka_unit_test(every_violation_has_its_own_name),
        cmocka_unit_test(every_fault_has_its_own_name),
        cmocka_unit_test(every_answer_has_its_own_text),
        cmocka_unit_test(every_note_has_a_text),
        cmocka_unit_test(they_come_in_teaching_order),
        cmocka_unit_test(each_is_found_by_its_name),
        cmocka_unit_test(nobody_else_is_found),
        cmocka_unit_test(each_says_what_it_is),
        cmocka_unit_test(each_has_complete_tables),
        cmocka_unit_test(names_in_one_table_differ),
        cmocka_unit_test(each_has_the_handlers_that_it_needs),
        cmocka_unit_test(sizes_grow_with_the_cluster),
        cmocka_unit_test(states_are_whole_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
