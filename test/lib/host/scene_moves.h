/* The moves of a world, within bounds; and moves as text. */
#ifndef ELECTOR_TEST_LIB_HOST_SCENE_MOVES_H
#define ELECTOR_TEST_LIB_HOST_SCENE_MOVES_H

#include "lib/host/scenes.h"

struct moves {
    struct move list[MOVES_MAX];
    uint32_t count, next;
};

static inline void add_move(struct moves *moves, struct move move)
{
    require(moves->count < MOVES_MAX);
    moves->list[moves->count++] = move;
}

static inline bool may_spend(const struct scene *w, const struct bounds *b, enum fault fault)
{
    uint32_t spent = 0;
    for (unsigned i = 0; i < FAULTS; i++) spent += w->spent[i];
    return spent < b->total && w->spent[fault] < b->most[fault];
}

static inline void add_deaths(const struct scene *w, const struct bounds *b, struct moves *moves)
{
    if (!may_spend(w, b, FAULT_DEATH)) return;
    for (el_node node = 1; node <= STILL_HOSTS; node++)
        for (unsigned how = 0; is_alive(w, node) && how < 4; how++)
            if (!(how & 1) || is_writing(w, node))
                add_move(moves, (struct move){.what = MOVE_DIE,
                                              .node = (uint8_t)node,
                                              .is_written = how & 1,
                                              .is_told = how & 2});
}

static inline bool is_first_of_link(const struct scene *w, uint32_t at)
{
    const struct letter *l = album.letters[w->queue[at]];
    for (uint32_t i = 0; i < at; i++)
        if (album.letters[w->queue[i]]->from == l->from && album.letters[w->queue[i]]->to == l->to)
            return false;
    return true;
}

static inline void add_deliveries(const struct scene *w, const struct bounds *b, struct moves *moves)
{
    for (uint32_t i = 0; i < (b->any_order ? w->queue_count : 1); i++) {
        if (!is_first_of_link(w, i)) continue;
        add_move(moves, (struct move){.what = MOVE_DELIVER, .at = (uint8_t)i});
        if (may_spend(w, b, FAULT_LATE)) add_move(moves, (struct move){.what = MOVE_HOLD, .at = (uint8_t)i});
        if (may_spend(w, b, FAULT_TWICE)) add_move(moves, (struct move){.what = MOVE_TWICE, .at = (uint8_t)i});
    }
}

/* Those that are not slow: one after another, or in any order. */
static inline void add_saves(const struct scene *w, const struct bounds *b, struct moves *moves)
{
    for (el_node node = 1; node <= STILL_HOSTS; node++) {
        if (!is_writing(w, node) || w->slow >> (node - 1) & 1) continue;
        add_move(moves, (struct move){.what = MOVE_SAVE, .node = (uint8_t)node});
        if (may_spend(w, b, FAULT_SLOW))
            add_move(moves, (struct move){.what = MOVE_SLOW, .node = (uint8_t)node});
        if (!b->any_order) return;
    }
}

static inline void add_cuts(struct moves *moves)
{
    for (el_node from = 1; from <= STILL_HOSTS; from++) {
        uint16_t all = 0;
        for (el_node to = 1; to <= STILL_HOSTS; to++) {
            if (to == from) continue;
            add_move(moves, (struct move){.what = MOVE_CUT, .cuts = way(from, to)});
            all |= way(from, to) | way(to, from);
        }
        add_move(moves, (struct move){.what = MOVE_CUT, .cuts = all});
    }
}

static inline void add_asks(const struct scene *w, el_node node, struct moves *moves)
{
    const struct still *still = &album.stills[w->at[node - 1]];
    for (unsigned group = 0; group < STILL_GROUPS; group++) {
        struct move move = {.what = MOVE_ASK, .node = (uint8_t)node, .group = (uint8_t)group};
        move.ask = w->wants[node - 1] >> group & 1 ? CALL_LEAVE : CALL_STAND;
        add_move(moves, move);
        if (!still->groups[group].leads || still->groups[group].lease_end <= w->now) continue;
        move.ask = CALL_RESIGN;
        add_move(moves, move);
        move.ask = CALL_TRANSFER;
        for (move.to = 1; move.to <= STILL_HOSTS; move.to++)
            if (move.to != node) add_move(moves, move);
    }
}

static inline void add_forgets(const struct scene *w, el_node node, struct moves *moves)
{
    for (unsigned group = 0; group < STILL_GROUPS; group++)
        if (album.stills[w->at[node - 1]].groups[group].is_known && !(w->wants[node - 1] >> group & 1))
            add_move(moves,
                     (struct move){
                         .what = MOVE_ASK, .node = (uint8_t)node, .group = (uint8_t)group, .ask = CALL_FORGET});
}

static inline void add_lies(el_node liar, struct moves *moves)
{
    for (el_node to = 1; to <= STILL_HOSTS; to++)
        for (unsigned lie = 0; lie < LIES && to != liar; lie++)
            for (unsigned group = 0; group < (lie == LIE_OBITUARY ? 1 : STILL_GROUPS); group++)
                add_move(moves, (struct move){.what = MOVE_LIE,
                                              .node = (uint8_t)liar,
                                              .to = (uint8_t)to,
                                              .ask = (uint8_t)lie,
                                              .group = (uint8_t)group});
}

/* What is over, or ends, costs nothing. */
static inline void add_mendings(const struct scene *w, struct moves *moves)
{
    for (uint32_t i = 0; i < w->late_count; i++) {
        const el_node to = album.letters[w->late[i]]->to;
        if (is_alive(w, to) && !is_paused(w, to) && (i == 0 || w->late[i] != w->late[i - 1]))
            add_move(moves, (struct move){.what = MOVE_LATE, .at = (uint8_t)i});
    }
    for (el_node node = 1; node <= STILL_HOSTS; node++) {
        if (!is_alive(w, node)) add_move(moves, (struct move){.what = MOVE_START, .node = (uint8_t)node});
        if (is_paused(w, node)) add_move(moves, (struct move){.what = MOVE_WAKE, .node = (uint8_t)node});
        if (w->slow >> (node - 1) & 1 && is_writing(w, node))
            add_move(moves, (struct move){.what = MOVE_SAVE, .node = (uint8_t)node});
    }
    if (w->cuts) add_move(moves, (struct move){.what = MOVE_MEND});
}

static inline void add_troubles(const struct scene *w, const struct bounds *b, struct moves *moves)
{
    if (may_spend(w, b, FAULT_CUT)) add_cuts(moves);
    for (el_node node = 1; node <= STILL_HOSTS; node++) {
        if (!is_alive(w, node) || is_paused(w, node)) continue;
        if (may_spend(w, b, FAULT_PAUSE))
            add_move(moves, (struct move){.what = MOVE_PAUSE, .node = (uint8_t)node});
        if (may_spend(w, b, FAULT_ASK)) add_asks(w, node, moves);
        if (may_spend(w, b, FAULT_FORGET)) add_forgets(w, node, moves);
        if (may_spend(w, b, FAULT_LIE)) add_lies(node, moves);
    }
}

/* None: it is a last one. */
static inline void find_moves(const struct scene *w, const struct bounds *b, uint64_t end, struct moves *moves)
{
    moves->count = moves->next = 0;
    if (w->queue_count) add_deliveries(w, b, moves);
    if (w->queue_count == 0 || b->any_order) add_saves(w, b, moves);
    const bool is_still = moves->count == 0;
    if (is_still && next_due(w) > end) return;
    if (is_still) {
        add_move(moves, (struct move){.what = MOVE_TIME});
        add_mendings(w, moves);
        add_troubles(w, b, moves);
    }
    add_deaths(w, b, moves);
}

/* ---- In words ---- */

static inline void print_letter(uint32_t number)
{
    const struct letter *l = album.letters[number];
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry e;
    print_message(" m%u to m%u:", l->from, l->to);
    while (payload_next(l->bytes, l->size, &at, &e) == PAYLOAD_ENTRY) {
        if (e.type == PAYLOAD_SESSION || e.type == PAYLOAD_MESSAGE)
            print_message(" %s", el_quorum.kinds[e.msg.kind]);
        if (e.type == PAYLOAD_MESSAGE)
            for (unsigned i = 0; i < world.watched_count; i++)
                if (world.watched[i].key == e.group) print_message("(%s)", world.watched[i].name);
        if (e.type == PAYLOAD_POSTING)
            print_message(" Posting(%s %llu%s, term %llu)", e.text, (unsigned long long)e.version,
                          e.flags & PAYLOAD_STANDS ? " stands" : "", (unsigned long long)e.term);
        if (e.type == PAYLOAD_POSTINGS)
            print_message(" Board(%llu, read %llu)", (unsigned long long)e.version,
                          (unsigned long long)e.before);
        if (e.type == PAYLOAD_OBITUARY) print_message(" obituary of life %llu", (unsigned long long)e.number);
    }
}

static inline void print_move(const struct scene *w, const struct move *move)
{
    static const char *const calls[] = {[CALL_STAND] = "stands",
                                        [CALL_LEAVE] = "stands no more",
                                        [CALL_RESIGN] = "resigns",
                                        [CALL_TRANSFER] = "hands over",
                                        [CALL_FORGET] = "forgets"};
    print_message("%10.3f ", (double)w->now / 1e6);
    switch ((enum move_what)move->what) {
    case MOVE_TIME: print_message("time passes, until %.6f", (double)next_due(w) / 1e6); break;
    case MOVE_DELIVER: print_message("arrives"), print_letter(w->queue[move->at]); break;
    case MOVE_HOLD: print_message("FAULT late"), print_letter(w->queue[move->at]); break;
    case MOVE_TWICE: print_message("FAULT arrives, and will again"), print_letter(w->queue[move->at]); break;
    case MOVE_LATE: print_message("arrives late"), print_letter(w->late[move->at]); break;
    case MOVE_SAVE: print_message("m%u's record is on disk", move->node); break;
    case MOVE_SLOW: print_message("FAULT m%u's disk is slow", move->node); break;
    case MOVE_DIE:
        print_message("FAULT m%u dies%s%s", move->node, move->is_written ? ", its record written" : "",
                      move->is_told ? ", its work over, its obituary under way" : "");
        break;
    case MOVE_START: print_message("m%u starts", move->node); break;
    case MOVE_CUT:
        print_message("FAULT cut:");
        for (el_node from = 1; from <= STILL_HOSTS; from++)
            for (el_node to = 1; to <= STILL_HOSTS; to++)
                if (move->cuts & way(from, to)) print_message(" m%u to m%u", from, to);
        break;
    case MOVE_MEND: print_message("all links work again"); break;
    case MOVE_PAUSE: print_message("FAULT m%u stands still", move->node); break;
    case MOVE_WAKE: print_message("m%u goes on", move->node); break;
    case MOVE_ASK:
        print_message("FAULT m%u %s: %s", move->node, calls[move->ask], world.watched[move->group].name);
        if (move->to) print_message(" to m%u", move->to);
        break;
    case MOVE_LIE:
        print_message("FAULT m%u lies to m%u: m%u %s (%s)", move->node, move->to, 6u - move->node - move->to,
                      lie_names[move->ask], world.watched[move->group].name);
        break;
    }
    print_message("\n");
}

#endif
