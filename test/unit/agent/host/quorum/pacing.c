/* Beats and their answers: in how few letters, when answers wait, and when nobody waits for them. */
#include "agent/recorder/recorder.h"
#include "lib/host/session_groups.h"

enum { BEAT_MS = 150, ROUNDS = 100 };

static const char *const names[] = {"one", "two", "three"};

/* Group i is wanted by host i + 1, if that bit is set. */
static void open_led(unsigned leaders)
{
    open_world(3);
    for (unsigned i = 0; i < 3; i++) {
        const unsigned group = watch(names[i]);
        if (leaders >> i & 1) stand((el_node)i + 1, group, true, 0);
    }
    pass(4000);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(leader_of(i), leaders >> i & 1 ? i + 1 : 0);
}

static struct quorum_peer *peer_of(el_node node, el_node peer)
{
    return &world.hosts[node].host->sessions->peers[peer - 1];
}

/* That an answer to this peer waits, or that none does. */
static void go_on_until(const struct session *s, el_node peer, bool waits)
{
    const uint64_t end = world.now + 1000 * MS;
    while (waits != (s->answers[peer - 1].kind != 0)) assert_true(step(end));
}

/* ---- How many ---- */

static void count_a_round(unsigned leaders, uint64_t delay_max_ms, uint64_t letters)
{
    open_led(leaders);
    world.delay_max = delay_max_ms * MS; /* from 1 ms on */
    pass(2000);
    const uint64_t sent = world.sent;
    pass((uint64_t)BEAT_MS * ROUNDS);
    assert_in_range(world.sent - sent, letters * (ROUNDS - 2), letters * (ROUNDS + 2));
    close_world();
}

static void with_one_leader_a_pair_takes_two_letters_a_beat(void **state)
{
    for (unsigned i = 0; i < 3; i++) count_a_round(1u << i, 5, 6);
}

static void with_no_leader_a_pair_takes_two_letters_a_beat(void **state)
{
    count_a_round(0, 5, 6);
}

/* One that leads and follows is answered by itself, and so is each of those who do by each other. */
static void with_more_leaders_only_their_answers_take_more(void **state)
{
    count_a_round(3, 1, 8);
    count_a_round(5, 1, 8);
    count_a_round(6, 1, 8);
    count_a_round(7, 1, 10);
}

/* A witness has no beats for its answers to go with, and does not let them wait. */
static void who_does_not_beat_answers_at_once(void **state)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++) world.hosts[node].config.members[2].role = CONFIG_WITNESS;
    start_all();
    pass(3000);
    for (unsigned i = 0; i < ROUNDS; i++) {
        pass(7);
        assert_int_equal(world.hosts[3].host->sessions->answers[0].kind, 0);
        assert_true(peer_of(1, 3)->lease && peer_of(1, 3)->linked);
    }
    close_world();
}

/* They send each other greetings, and no beat by which one could be missed. */
static void two_witnesses_hear_each_other(void **state)
{
    prepare_world(3, 0);
    for (el_node node = 1; node <= 3; node++)
        for (unsigned i = 1; i < 3; i++) world.hosts[node].config.members[i].role = CONFIG_WITNESS;
    start_all();
    pass(3000);
    for (unsigned i = 0; i < ROUNDS; i++) {
        pass(1000);
        assert_true(host_hears(world.hosts[2].host, 3) && host_hears(world.hosts[3].host, 2));
        assert_true(host_hears(world.hosts[2].host, 1) && host_hears(world.hosts[1].host, 2));
    }
    die(3);
    pass(2500);
    assert_false(host_hears(world.hosts[2].host, 3));
    close_world();
}

/* ---- When ---- */

/* Two milliseconds there and back; a beat later the next one is asked for. */
static void a_leader_is_answered_at_once(void **state)
{
    const uint64_t least = (1000 - BEAT_MS - 2) * MS;
    for (unsigned leaders = 1; leaders < 8; leaders++) {
        open_led(leaders);
        for (unsigned ms = 0; ms < 1000; ms++) {
            pass(1);
            for (unsigned i = 0; i < 3; i++) {
                if (!(leaders >> i & 1)) continue;
                const struct hosted *h = &world.hosts[i + 1];
                for (el_node voter = 1; voter <= 3; voter++)
                    assert_true(h->host->sessions->timers[QUORUM_LEASE][voter] - clock_of(h) >= least);
            }
        }
        close_world();
    }
}

/* What waits comes in the end: who leads nothing is promised, and linked, all the time. */
static void all_stay_promised(uint32_t twice)
{
    bool has_waited = false;
    open_led(0);
    world.twice = twice;
    for (unsigned ms = 0; ms < 3000; ms++) {
        pass(1);
        for (el_node node = 1; node <= 3; node++)
            for (el_node peer = 1; peer <= 3; peer++) {
                if (peer == node) continue;
                has_waited = has_waited || world.hosts[node].host->sessions->answers[peer - 1].kind;
                assert_true(peer_of(node, peer)->lease && peer_of(node, peer)->linked);
            }
    }
    assert_true(has_waited);
    close_world();
}

static void who_leads_nothing_is_answered_with_the_next_beat(void **state)
{
    all_stay_promised(0);
}

/* A beat that comes twice is promised for once; the second answer takes no promise's place. */
static void an_answer_that_waits_is_not_lost_to_a_copy(void **state)
{
    all_stay_promised(100);
}

static uint64_t echo;

static bool notes_echo(const struct payload_entry *entry)
{
    if (entry->type == PAYLOAD_SESSION && entry->msg.kind == QUORUM_ACK && entry->msg.to == 2)
        echo = entry->msg.aux;
    return true;
}

static bool reads_answers(struct letter *letter)
{
    if (letter->from == 1) strip(letter, notes_echo);
    return true;
}

/* The promise began when the beat was heard: what was asked for since, and refused, it does not answer. */
static void an_answer_says_later_what_it_would_have_said_at_once(void **state)
{
    open_led(0);
    const struct session *s = world.hosts[1].host->sessions;
    go_on_until(s, 2, true);
    const uint64_t heard = s->answers[1].aux;
    assert_int_equal(heard, peer_of(1, 2)->seen);
    peer_of(1, 2)->seen++;
    world.takes = reads_answers;
    go_on_until(s, 2, false);
    assert_int_equal(echo, heard);
    close_world();
}

/* One write, one beat there, one answer back; with the next beat, the first promise. */
static void strangers_meet_without_waiting(void **state)
{
    open_world(3);
    pass(6);
    for (el_node node = 1; node <= 3; node++)
        for (el_node peer = 1; peer <= 3; peer++) assert_true(peer == node || peer_of(node, peer)->linked);
    pass(BEAT_MS);
    for (el_node node = 1; node <= 3; node++)
        for (el_node peer = 1; peer <= 3; peer++) assert_true(peer_of(node, peer)->lease);
    close_world();
}

static void who_comes_back_is_met_within_a_beat(void **state)
{
    for (unsigned phase = 0; phase < BEAT_MS; phase += 10) {
        open_led(0);
        pass(phase);
        die(2);
        pass(20);
        start(2);
        pass(BEAT_MS + 5);
        assert_true(peer_of(1, 2)->linked && peer_of(3, 2)->linked);
        assert_true(peer_of(2, 1)->linked && peer_of(2, 3)->linked);
        close_world();
    }
}

/* ---- What goes wrong ---- */

static void a_leader_stays_though_one_letter_in_seven_is_lost(void **state)
{
    for (unsigned leaders = 1; leaders < 8; leaders++) {
        open_led(leaders);
        world.loss = 15;
        pass(60000);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(leader_of(i), leaders >> i & 1 ? i + 1 : 0);
            assert_int_equal(world.watched[i].begun, leaders >> i & 1);
        }
        close_world();
    }
}

static unsigned lose;

/* Of what host 1 says to host 2, the next few are lost. */
static bool loses_some(struct letter *letter)
{
    if (letter->from != 1 || letter->to != 2 || lose == 0) return true;
    lose--;
    return false;
}

/* Three of its datagrams in a row are lost, and those who follow it still know who leads. */
static void who_leads_is_known_though_three_letters_are_lost(void **state)
{
    open_led(1);
    world.takes = loses_some;
    for (unsigned time = 0; time < 20; time++) {
        lose = 3;
        for (unsigned ms = 0; ms < 1500; ms++) {
            pass(1);
            assert_true(peer_of(2, 1)->recent);
        }
        assert_int_equal(lose, 0);
    }
    assert_int_equal(world.watched[0].begun, 1);
    close_world();
}

/* Who beat last, and how often. */
static struct {
    uint64_t last, least;
    unsigned times;
} beats[4];

static el_node sender;

static bool note_beats(const struct payload_entry *entry)
{
    if (entry->type != PAYLOAD_SESSION || entry->msg.kind != QUORUM_BEAT || beats[sender].last == world.now)
        return true;
    const uint64_t gap = world.now - beats[sender].last;
    if (beats[sender].times++ && gap < beats[sender].least) beats[sender].least = gap;
    beats[sender].last = world.now;
    return true;
}

static bool counts_beats(struct letter *letter)
{
    sender = letter->from;
    strip(letter, note_beats);
    return true;
}

static void watch_beats(unsigned leaders, uint64_t delay)
{
    prepare_world(3, leaders);
    for (el_node node = 1; node <= 3; node++) world.hosts[node].rate = MILLION + 3000 * node - 6000;
    world.delay_min = delay * MS;
    world.delay_max = (delay + 1) * MS;
    start_all();
    for (unsigned i = 0; i < 3; i++) (void)watch(names[i]);
    pass(20000); /* by clocks like these nobody beats in another's time any more */
    memset(beats, 0, sizeof beats);
    for (el_node node = 1; node <= 3; node++) beats[node].least = UINT64_MAX;
    world.takes = counts_beats;
    for (unsigned i = 0; i < 3; i++)
        if (leaders >> i & 1) stand((el_node)i + 1, i, true, 0);
    pass(4000);
}

/* However long letters take, and whoever leads: nobody is driven to beat more often than an interval asks for. */
static void nobody_drives_anybody(void **state)
{
    for (unsigned leaders = 0; leaders < 8; leaders++)
        for (uint64_t delay = 1; delay < BEAT_MS / 2; delay += 12) {
            watch_beats(leaders, delay);
            for (el_node node = 1; node <= 3; node++) beats[node].times = 0;
            pass((uint64_t)BEAT_MS * ROUNDS);
            for (el_node node = 1; node <= 3; node++) {
                assert_true(beats[node].least >= BEAT_MS * MS * 49 / 100);
                assert_in_range(beats[node].times, ROUNDS * 9 / 10, ROUNDS * 21 / 20);
            }
            close_world();
        }
}

static bool is_no_answer(const struct payload_entry *entry)
{
    return entry->type != PAYLOAD_SESSION || entry->msg.kind != QUORUM_ACK;
}

static bool never_answers_1(struct letter *letter)
{
    if (letter->from == 2 && letter->to == 1) strip(letter, is_no_answer);
    return counts_beats(letter);
}

/* Host 2 leads, and host 1 is never promised anything by it: it asks to be answered at once, and is not followed. */
static void who_is_in_need_and_leads_nothing_is_not_followed(void **state)
{
    for (uint64_t delay = 1; delay < BEAT_MS / 2; delay += 12) {
        watch_beats(2, delay);
        world.takes = never_answers_1;
        pass(3000);
        assert_false(peer_of(1, 2)->lease);
        for (el_node node = 1; node <= 3; node++) beats[node].times = 0;
        pass((uint64_t)BEAT_MS * ROUNDS);
        for (el_node node = 1; node <= 3; node++)
            assert_in_range(beats[node].times, ROUNDS * 9 / 10, ROUNDS * 21 / 20);
        assert_int_equal(leader_of(1), 2);
        close_world();
    }
}

/* ---- In a recording ---- */

/* Host 1, packed and unpacked, knows what waits and whom it follows; host 2 leads, or nobody does. */
static void what_waits_is_packed(void **state)
{
    static uint8_t bytes[1 << 16];
    for (unsigned leaders = 0; leaders <= 2; leaders += 2) {
        open_led(leaders);
        struct hosted *h = &world.hosts[1];
        const struct session *s = h->host->sessions;
        go_on_until(s, 3, true);
        struct recorder_bytes b = {bytes, bytes + sizeof bytes, false};
        assert_true(host_pack(h->host, &b));
        struct host *again = host_new(&h->config, h->record, hooks_of(h));
        b = (struct recorder_bytes){bytes, b.at, false};
        assert_true(host_unpack(again, &b, true));
        assert_memory_equal(again->sessions->answers, s->answers, sizeof s->answers);
        assert_int_equal(s->urgent, leaders);
        assert_int_equal(again->sessions->urgent, s->urgent);
        assert_int_equal(again->sessions->hurried, s->hurried);
        host_free(again);
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_one_leader_a_pair_takes_two_letters_a_beat),
        cmocka_unit_test(with_no_leader_a_pair_takes_two_letters_a_beat),
        cmocka_unit_test(with_more_leaders_only_their_answers_take_more),
        cmocka_unit_test(who_does_not_beat_answers_at_once),
        cmocka_unit_test(two_witnesses_hear_each_other),
        cmocka_unit_test(a_leader_is_answered_at_once),
        cmocka_unit_test(who_leads_nothing_is_answered_with_the_next_beat),
        cmocka_unit_test(an_answer_that_waits_is_not_lost_to_a_copy),
        cmocka_unit_test(an_answer_says_later_what_it_would_have_said_at_once),
        cmocka_unit_test(strangers_meet_without_waiting),
        cmocka_unit_test(who_comes_back_is_met_within_a_beat),
        cmocka_unit_test(a_leader_stays_though_one_letter_in_seven_is_lost),
        cmocka_unit_test(who_leads_is_known_though_three_letters_are_lost),
        cmocka_unit_test(nobody_drives_anybody),
        cmocka_unit_test(who_is_in_need_and_leads_nothing_is_not_followed),
        cmocka_unit_test(what_waits_is_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
