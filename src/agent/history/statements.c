/*
 * What leaders' own agents say about their tenures, this one's included, and what follows from it: one story of a change at
 * all agents. A member is believed about its own tenures only, so a liar can tell lies only about itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/history/internal.h"
#include "base/clock.h"

enum { SETTLE_AT_ONCE = 64, LOOK_BACK = 256 };
static const uint64_t LATE_SIGHT = NS_PER_S / 10; /* a beginning that was seen so late was not seen */

/* ---- Keeping ---- */

static const struct history_stated *find(const struct history *c, uint64_t group, uint64_t token, el_node by,
                                         enum history_states what)
{
    const uint64_t held = c->stated_count < HISTORY_STATEMENTS ? c->stated_count : HISTORY_STATEMENTS;
    for (uint64_t back = 1; back <= held; back++) {
        const struct history_stated *s = &c->stated[(c->stated_count - back) % HISTORY_STATEMENTS];
        if (s->group == group && s->token == token && s->by == by && s->what == what) return s;
    }
    return NULL;
}

/* The number of a word of the list; -1: it is not one of this version. */
static int word_number(enum history_states what, const char *text)
{
    const size_t length = strcspn(text, ";");
    for (int i = 0; i <= (what == HISTORY_STATES_END ? (int)HISTORY_DEPOSED : (int)HISTORY_HANDED_OVER); i++) {
        const char *word = what == HISTORY_STATES_END ? history_end_word((enum history_end)i)
                                                      : history_beginning_word((enum history_beginning)i);
        if (strlen(word) == length && strncmp(word, text, length) == 0) return i;
    }
    return -1;
}

void history_hear_statement(struct history *c, el_node from, uint64_t group,
                            const struct history_statement *heard)
{
    const int word = heard->what == HISTORY_STATES_GAP ? 0 : word_number(heard->what, heard->text);
    const char *detail = strstr(heard->text, "; ");
    if (!c || word < 0 || from > c->config->member_count) return;
    const struct history_stated *known = find(c, group, heard->token, from, heard->what);
    if (known && known->word == word && known->span_ns == heard->span_ns)
        return; /* told again after a restart */
    struct history_stated *s = &c->stated[c->stated_count++ % HISTORY_STATEMENTS];
    *s = (struct history_stated){.group = group,
                                 .token = heard->token,
                                 .span_ns = heard->span_ns,
                                 .at_ns = heard->at_ns ? heard->at_ns + c->shift : 0,
                                 .by = (uint8_t)from,
                                 .what = (uint8_t)heard->what,
                                 .word = (uint8_t)word};
    if (detail) snprintf(s->detail, sizeof s->detail, "%s", detail + 2);
}

uint32_t history_restate(struct history *c, uint64_t group,
                         struct history_statement list[HISTORY_STATEMENTS_MAX])
{
    uint32_t count = 0;
    if (!c || c->restates == 0) return 0;
    c->restates--;
    for (uint64_t at = c->restated; at > 0 && count < HISTORY_STATEMENTS_MAX; at--) {
        if (c->stated_count - at >= HISTORY_STATEMENTS) break; /* overwritten since */
        const struct history_stated *s = &c->stated[(at - 1) % HISTORY_STATEMENTS];
        if (s->group != group || s->by != c->config->self) continue;
        struct history_statement *one = &list[count++];
        *one = (struct history_statement){.what = s->what, .token = s->token, .span_ns = s->span_ns};
        const char *word = s->what == HISTORY_STATES_END ? history_end_word((enum history_end)s->word)
                           : s->what == HISTORY_STATES_BEGINNING
                               ? history_beginning_word((enum history_beginning)s->word)
                               : "";
        snprintf(one->text, sizeof one->text, "%s%s%.*s", word, s->detail[0] ? "; " : "", HISTORY_DETAIL - 32,
                 s->detail);
    }
    return count;
}

/* ---- Believing ---- */

/* When the tenure of this change began: as seen here, or if it was seen late, as its leader's agent says. */
static uint64_t began_at(const struct history *c, const struct history_entry *e)
{
    const struct history_stated *began = find(c, e->group, e->token, e->who, HISTORY_STATES_BEGINNING);
    return began && began->at_ns && began->at_ns + LATE_SIGHT < e->at_ns ? began->at_ns : e->at_ns;
}

/* A leader that was cut off sees the next one late, and then states a gap that reaches into the next tenure: false. */
static bool is_gap_between(const struct history *c, const struct history_stated *gap, el_node leader)
{
    const struct history_entry *next = NULL, *last = NULL;
    for (uint32_t back = 1; back <= history_held(&c->changes) && back <= LOOK_BACK; back++) {
        const struct history_entry *e = history_back(&c->changes, back);
        if (e->group != gap->group || !e->who) continue;
        if (e->who == leader && e->token == gap->token)
            next = e;
        else if (next && e->who == gap->by && (!last || e->token == last->token))
            last = e;
        else if (next)
            break;
    }
    const struct history_stated *ended =
        last ? find(c, gap->group, last->token, gap->by, HISTORY_STATES_END) : NULL;
    return !ended || began_at(c, last) + ended->span_ns + gap->span_ns <= began_at(c, next) + LATE_SIGHT;
}

static uint64_t nobody_before(const struct history *c, uint64_t group, uint64_t token, el_node leader,
                              el_node before, uint64_t seen)
{
    const struct history_stated *gap = before ? find(c, group, token, before, HISTORY_STATES_GAP) : NULL;
    const struct history_stated *began = find(c, group, token, leader, HISTORY_STATES_BEGINNING);
    if (gap && is_gap_between(c, gap, leader)) return gap->span_ns;
    return began && began->span_ns ? began->span_ns - 1 : seen;
}

void history_correct(const struct history *c, uint64_t group, struct history_tenure *t, el_node before)
{
    const struct history_stated *began = find(c, group, t->token, t->leader, HISTORY_STATES_BEGINNING),
                                *ended = find(c, group, t->token, t->leader, HISTORY_STATES_END);
    if (began && began->word != HISTORY_SEEN) t->began = (enum history_beginning)began->word;
    if (t->nobody_ns != UINT64_MAX || before)
        t->nobody_ns = nobody_before(c, group, t->token, t->leader, before, t->nobody_ns);
    if (began && began->at_ns && began->at_ns + LATE_SIGHT < t->began_ns) t->began_ns = began->at_ns;
    if (!ended || t->ended_ns == 0) return;
    t->is_led_at_most = false;
    t->ended = (enum history_end)ended->word;
    t->ended_ns = t->began_ns + ended->span_ns;
    t->detail = ended->detail[0] ? ended->detail : NULL;
}

void history_clip(struct history_tenure *t, const struct history_tenure *next)
{
    if (t->ended_ns <= next->began_ns) return;
    t->ended_ns = next->began_ns > t->began_ns ? next->began_ns : t->began_ns;
}

void history_complete(const struct history *c, struct history_entry *change)
{
    const struct history_entry *before = NULL;
    uint8_t ended = change->ended;
    for (uint32_t back = 1; back <= history_held(&c->changes) && back <= LOOK_BACK && !before; back++) {
        const struct history_entry *e = history_back(&c->changes, back);
        if (e->group != change->group || e->number >= change->number) continue;
        if (e->who && (e->who != change->who || e->token != change->token)) before = e;
        if (!before && e->ended > ended) ended = e->ended;
    }
    const el_node leader = before ? before->who : EL_NOBODY;
    const struct history_stated *began =
        find(c, change->group, change->token, change->who, HISTORY_STATES_BEGINNING);
    const struct history_stated *end =
        before ? find(c, change->group, before->token, leader, HISTORY_STATES_END) : NULL;
    if (began && began->word != HISTORY_SEEN) change->began = began->word;
    change->nobody_ns = nobody_before(c, change->group, change->token, change->who, leader, change->nobody_ns);
    change->whom = (uint8_t)leader;
    change->ended = end ? end->word : ended;
}

/* The leader before the change at this index of the ring. */
static el_node leader_before(const struct history *c, uint64_t number, uint64_t group)
{
    const uint64_t oldest = c->changes.count - history_held(&c->changes);
    for (uint64_t i = number; i > oldest && number - i < LOOK_BACK; i--) {
        const struct history_entry *e = &c->changes.entries[(i - 1) & (c->changes.size - 1)];
        if (e->group == group && e->who) return e->who;
    }
    return EL_NOBODY;
}

void history_settle(struct history *c, uint64_t now_ns, void (*tell)(void *context, uint64_t nobody_ns),
                    void *context)
{
    const uint64_t oldest = c->changes.count - history_held(&c->changes);
    if (c->settled < oldest) c->settled = oldest; /* more than 8192 changes in 3 s: the first are not counted */
    for (uint32_t i = 0; i < SETTLE_AT_ONCE && c->settled < c->changes.count; i++, c->settled++) {
        const struct history_entry *e = &c->changes.entries[c->settled & (c->changes.size - 1)];
        if (now_ns + c->shift - e->at_ns < HISTORY_SETTLED_S * NS_PER_S) return;
        if (!e->who || e->note != HISTORY_FAILOVER || e->nobody_ns == UINT64_MAX) continue;
        tell(context, nobody_before(c, e->group, e->token, e->who, leader_before(c, c->settled, e->group),
                                    e->nobody_ns));
    }
}

/* ---- Silence ---- */

void history_lose_majority(struct history *c, uint64_t now_ns, uint64_t group, uint64_t unrenewed_ns,
                           const uint64_t *heard_ns, uint64_t late_ns, uint64_t still_ns, uint64_t differing)
{
    uint64_t silent = 0, told = 0;
    if (!c) return;
    now_ns += c->shift;
    if (still_ns < late_ns || still_ns > now_ns) still_ns = 0;
    if (still_ns)
        history_add_step(c, (struct history_entry){.what = HISTORY_LAST_HEARD,
                                                   .at_ns = now_ns - still_ns,
                                                   .group = group,
                                                   .more = still_ns,
                                                   .who = (uint8_t)c->config->self});
    for (uint32_t i = 0; i < c->config->member_count; i++) {
        const bool is_voter = config_votes(c->config, i + 1) && i + 1 != c->config->self;
        if (is_voter && heard_ns[i] > still_ns && heard_ns[i] - still_ns > late_ns) silent |= UINT64_C(1) << i;
        /* One that was not heard while this agent stood still is not known to differ. */
        const bool is_heard = still_ns == 0 || heard_ns[i] <= late_ns;
        if (!is_voter || !is_heard || unrenewed_ns == 0) differing &= ~(UINT64_C(1) << i);
    }
    for (uint32_t n = 0; n < c->config->member_count; n++) { /* the first that fell silent first */
        uint32_t first = CONFIG_MEMBERS_MAX;
        for (uint32_t i = 0; i < c->config->member_count; i++)
            if (silent >> i & 1 && !(told >> i & 1) &&
                (first == CONFIG_MEMBERS_MAX || heard_ns[i] > heard_ns[first]))
                first = i;
        if (first == CONFIG_MEMBERS_MAX) break;
        told |= UINT64_C(1) << first;
        if (heard_ns[first] <= now_ns)
            history_add_step(c, (struct history_entry){.what = HISTORY_LAST_HEARD,
                                                       .at_ns = now_ns - heard_ns[first],
                                                       .group = group,
                                                       .who = (uint8_t)(first + 1)});
    }
    for (uint32_t i = 0; i < c->config->member_count; i++)
        if ((differing & ~silent) >> i & 1)
            history_add_step(c, (struct history_entry){.what = HISTORY_LAST_HEARD,
                                                       .at_ns = now_ns,
                                                       .group = group,
                                                       .flags = 1,
                                                       .who = (uint8_t)(i + 1)});
    history_add_step(c, (struct history_entry){.what = HISTORY_NO_MAJORITY,
                                               .at_ns = now_ns,
                                               .group = group,
                                               .token = silent,
                                               .flags = still_ns > 0,
                                               .more = unrenewed_ns});
}

/* The entry about the member that was noted with this loss; NULL: there is none. */
static const struct history_entry *noted_with(const struct history *c, const struct history_entry *lost,
                                              uint32_t back, el_node member)
{
    for (uint32_t n = 1; n <= CONFIG_MEMBERS_MAX && back + n <= history_held(&c->steps); n++) {
        const struct history_entry *e = history_back(&c->steps, back + n);
        if (e->what != HISTORY_LAST_HEARD || e->group != lost->group) return NULL;
        if (e->who == member) return e;
    }
    return NULL;
}

/* "the agent of a stood still for 3121 ms, b silent for 812 ms, c never heard, d does not count" */
static void write_silent(const struct history *c, const struct history_entry *lost, uint32_t back, char *text,
                         size_t size)
{
    const el_node self = c->config->self;
    const struct history_entry *still = lost->flags ? noted_with(c, lost, back, self) : NULL;
    size_t used = 0;
    text[0] = '\0';
    if (still)
        used = (size_t)snprintf(text, size, "the agent of %s stood still for %" PRIu64 " ms",
                                c->config->members[self - 1].name, still->more / NS_PER_MS);
    for (uint32_t i = 0; i < c->config->member_count && used < size; i++) {
        const struct history_entry *last = noted_with(c, lost, back, i + 1);
        const bool is_silent = lost->token >> i & 1;
        if (!is_silent && !(last && last->flags)) continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s ", used ? ", " : "", c->config->members[i].name);
        if (used < size && !is_silent)
            used += (size_t)snprintf(text + used, size - used, "does not count");
        else if (used < size && last)
            used += (size_t)snprintf(text + used, size - used, "silent for %" PRIu64 " ms",
                                     (lost->at_ns - last->at_ns) / NS_PER_MS);
        else if (used < size)
            used += (size_t)snprintf(text + used, size - used, "never heard");
    }
    if (lost->more == 0)
        snprintf(text, size, "renewed too late for its worker");
    else if (used == 0)
        snprintf(text, size, "voters are heard, but do not answer");
}

static const struct history_entry *last_loss(const struct history *c, uint64_t group, uint64_t since,
                                             uint32_t *back)
{
    const uint32_t held = history_held(&c->steps);
    for (*back = 1; *back <= held && *back <= LOOK_BACK; ++*back) {
        const struct history_entry *e = history_back(&c->steps, *back);
        if (e->number < since) break;
        if (e->what == HISTORY_NO_MAJORITY && e->group == group) return e;
    }
    return NULL;
}

void history_write_silence(const struct history *c, uint64_t group, char text[HISTORY_TEXT])
{
    uint32_t back;
    const struct history_entry *lost = c ? last_loss(c, group, 0, &back) : NULL;
    char who[HISTORY_DETAIL];
    text[0] = '\0';
    if (!lost) return;
    write_silent(c, lost, back, who, sizeof who);
    if (lost->more == 0)
        snprintf(text, HISTORY_TEXT, "the lease was %s", who);
    else
        snprintf(text, HISTORY_TEXT, "no majority has renewed the lease for %" PRIu64 " ms: %s",
                 lost->more / NS_PER_MS, who);
}

/* ---- Stating ---- */

/* Whether this member noticed the end of its last tenure so late that the next leader may have begun long before it was seen. */
static bool is_end_noticed_late(const struct history *c, const struct history_entry *change)
{
    const struct history_entry *e = change;
    for (uint32_t back = 1; e->whom != c->config->self; back++) {
        if (back > history_held(&c->changes) || back > LOOK_BACK) return false;
        const struct history_entry *earlier = history_back(&c->changes, back);
        if (earlier->group == change->group) e = earlier;
    }
    return e->more != UINT64_MAX && e->more > LATE_SIGHT;
}

uint32_t history_make_statements(struct history *c, const struct history_entry *change,
                                 const struct history_entry *began, struct history_statement *list)
{
    const el_node self = c->config->self;
    uint32_t count = 0, back;
    if (change->whom == self) {
        const bool is_known = began && began->who == self;
        struct history_statement *s = &list[count++];
        *s = (struct history_statement){.what = HISTORY_STATES_END, .token = is_known ? began->token : 0};
        const uint64_t lost_at = history_lost_at(change);
        s->span_ns = is_known && lost_at > began->at_ns ? lost_at - began->at_ns : 0;
        const struct history_entry *lost =
            change->ended == HISTORY_NO_QUORUM
                ? last_loss(c, change->group, is_known ? began->number : 0, &back)
                : NULL;
        char who[HISTORY_DETAIL - 16] = "";
        if (lost) write_silent(c, lost, back, who, sizeof who);
        snprintf(s->text, sizeof s->text, "%s%s%s", history_end_word(change->ended), who[0] ? "; " : "", who);
        if (!is_known) count--;
    }
    if (change->who && change->nobody_ns != UINT64_MAX && began && began->who == self &&
        began->token != change->token && !is_end_noticed_late(c, change))
        list[count++] = (struct history_statement){
            .what = HISTORY_STATES_GAP, .token = change->token, .span_ns = change->nobody_ns};
    if (change->who == self && change->note != HISTORY_RETURN) {
        struct history_statement *s = &list[count++];
        *s = (struct history_statement){.what = HISTORY_STATES_BEGINNING,
                                        .token = change->token,
                                        .at_ns = change->at_ns - c->shift,
                                        .span_ns = change->nobody_ns == UINT64_MAX ? 0 : change->nobody_ns + 1};
        snprintf(s->text, sizeof s->text, "%s", history_beginning_word(change->began));
    }
    for (uint32_t i = 0; i < count; i++) history_hear_statement(c, self, change->group, &list[i]);
    return count;
}
