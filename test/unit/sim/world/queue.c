/* The queue: by time, then by class, then by arrival, whether through the lane or through the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/world/queue.h"
#include "sim/world/random.h"

enum { MANY = 20000, CLASSES = SIM_TIMERS + 1 };

/* The number of an event travels in its cause. */
static void push(struct sim_queue *queue, sim_time time, unsigned class, uint64_t number)
{
    const struct sim_event event = {.time = time, .class = (uint8_t) class, .cause = number};
    assert_true(sim_queue_push(queue, &event));
}

static uint64_t pop(struct sim_queue *queue)
{
    struct sim_event event;
    assert_true(sim_queue_pop(queue, &event));
    return event.cause;
}

static void is_empty(struct sim_queue *queue)
{
    struct sim_event event = {.cause = 77};
    assert_false(sim_queue_pop(queue, &event));
    assert_int_equal(event.cause, 77);
    sim_queue_free(queue);
}

static void an_empty_queue_has_nothing(void **state)
{
    struct sim_queue queue = {0};
    is_empty(&queue);
    push(&queue, 1, SIM_TIMERS, 1);
    assert_int_equal(pop(&queue), 1);
    is_empty(&queue);
}

static void the_earlier_comes_first(void **state)
{
    struct sim_queue queue = {0};
    push(&queue, 30, SIM_TIMERS, 3);
    push(&queue, 10, SIM_TIMERS, 1);
    push(&queue, 20, SIM_TIMERS, 2);
    for (uint64_t i = 1; i <= 3; i++) assert_int_equal(pop(&queue), i);
    is_empty(&queue);
}

static void at_one_instant_the_class_decides(void **state)
{
    struct sim_queue queue = {0};
    for (unsigned class = CLASSES; class -- > 0;) push(&queue, 5, class, class);
    push(&queue, 4, SIM_TIMERS, 100);
    push(&queue, 6, SIM_FAULTS, 101);
    assert_int_equal(pop(&queue), 100);
    for (unsigned class = 0; class < CLASSES; class ++) assert_int_equal(pop(&queue), class);
    assert_int_equal(pop(&queue), 101);
    is_empty(&queue);
}

static void in_one_class_the_order_of_arrival_decides(void **state)
{
    for (unsigned class = 0; class < CLASSES; class ++) {
        struct sim_queue queue = {0};
        for (uint64_t i = 0; i < 200; i++) push(&queue, 5, class, i);
        for (uint64_t i = 0; i < 200; i++) assert_int_equal(pop(&queue), i);
        is_empty(&queue);
    }
}

static void a_message_that_is_early_overtakes_the_lane(void **state)
{
    struct sim_queue queue = {0};
    push(&queue, 10, SIM_MESSAGES, 2);
    push(&queue, 20, SIM_MESSAGES, 4);
    push(&queue, 5, SIM_MESSAGES, 1);  /* does not fit the lane */
    push(&queue, 10, SIM_MESSAGES, 3); /* nor this one, which comes after its equal */
    push(&queue, 20, SIM_MESSAGES, 5);
    for (uint64_t i = 1; i <= 5; i++) assert_int_equal(pop(&queue), i);
    is_empty(&queue);
}

static void the_lane_turns_around(void **state)
{
    struct sim_queue queue = {0};
    uint64_t in = 0, out = 0;
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 3; i++, in++) push(&queue, in, SIM_MESSAGES, in);
        for (int i = 0; i < 2; i++, out++) assert_int_equal(pop(&queue), out);
    }
    for (; out < in; out++) assert_int_equal(pop(&queue), out);
    is_empty(&queue);
}

static void a_whole_event_comes_out_as_it_went_in(void **state)
{
    struct sim_queue queue = {0};
    for (int heap = 0; heap < 2; heap++) {
        const struct sim_event in = {.time = 9,
                                     .cause = 8,
                                     .type = SIM_DELIVERY,
                                     .class = heap ? SIM_REQUESTS : SIM_MESSAGES,
                                     .node = 7,
                                     .incarnation = 6,
                                     .command = 5,
                                     .msg = {.from = 1, .to = 2, .subject = 3, .kind = 4, .more = UINT64_MAX}};
        struct sim_event out;
        assert_true(sim_queue_push(&queue, &in));
        assert_true(sim_queue_pop(&queue, &out));
        assert_true(out.time == in.time && out.cause == in.cause && out.type == in.type &&
                    out.class == in.class && out.node == in.node && out.incarnation == in.incarnation &&
                    out.command == in.command);
        assert_memory_equal(&out.msg, &in.msg, sizeof in.msg);
    }
    is_empty(&queue);
}

/* ---- Against a plain sorted list ---- */

struct expected {
    sim_time time;
    unsigned class;
    uint64_t number;
};

static int compare(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void many_events_come_out_sorted(void **state)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct sim_random dice;
        sim_random_seed(&dice, seed, 0);
        struct sim_queue queue = {0};
        struct expected *list = calloc(MANY, sizeof *list);
        assert_non_null(list);
        for (uint64_t i = 0; i < MANY; i++) {
            list[i] = (struct expected){.time = sim_random_below(&dice, seed % 2 ? MANY : 50), .number = i};
            list[i].class = (unsigned)sim_random_below(&dice, CLASSES);
            push(&queue, list[i].time, list[i].class, i);
        }
        qsort(list, MANY, sizeof *list, compare);
        for (uint64_t i = 0; i < MANY; i++) assert_int_equal(pop(&queue), list[i].number);
        is_empty(&queue);
        free(list);
    }
}

/* As the simulator uses it: what is pushed is never before what was popped. */
static void pushing_and_popping_interleave(void **state)
{
    enum { HELD = 300 };
    struct sim_random dice;
    sim_random_seed(&dice, 11, 0);
    struct sim_queue queue = {0};
    struct expected held[HELD];
    uint64_t number = 0, count = 0;
    sim_time now = 0;
    for (int round = 0; round < MANY; round++) {
        if (count < HELD && (count == 0 || sim_random_below(&dice, 2))) {
            const bool fixed = sim_random_below(&dice, 2) != 0; /* most messages take the same time */
            struct expected *e = &held[count++];
            *e = (struct expected){.time = now + (fixed ? 10 : sim_random_below(&dice, 20))};
            e->number = number++;
            e->class = fixed ? SIM_MESSAGES : (unsigned)sim_random_below(&dice, CLASSES);
            push(&queue, e->time, e->class, e->number);
        } else {
            uint64_t first = 0;
            for (uint64_t i = 1; i < count; i++)
                if (compare(&held[i], &held[first]) < 0) first = i;
            assert_int_equal(pop(&queue), held[first].number);
            now = held[first].time;
            held[first] = held[--count];
        }
    }
    while (count--) pop(&queue);
    is_empty(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_queue_has_nothing),
        cmocka_unit_test(the_earlier_comes_first),
        cmocka_unit_test(at_one_instant_the_class_decides),
        cmocka_unit_test(in_one_class_the_order_of_arrival_decides),
        cmocka_unit_test(a_message_that_is_early_overtakes_the_lane),
        cmocka_unit_test(the_lane_turns_around),
        cmocka_unit_test(a_whole_event_comes_out_as_it_went_in),
        cmocka_unit_test(many_events_come_out_sorted),
        cmocka_unit_test(pushing_and_popping_interleave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
