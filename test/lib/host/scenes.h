/*
 * A world of stills: three hosts, the letters in flight between them, the current faults, and which hosts may
 * work by the deadline they were last shown. A move leads from one world to the next, and checks it.
 *
 * Letters arrive at once and in order, writes are on disk at once, and timers fire in time, unless a fault is
 * spent on them. A late letter arrives when no other is in flight, at any later time or never.
 */
#ifndef ELECTOR_TEST_LIB_HOST_SCENES_H
#define ELECTOR_TEST_LIB_HOST_SCENES_H

#include "lib/host/scene_lies.h"

enum { QUEUE_MAX = 64, LATE_MAX = 10, SOCKET_MAX = 48, MOVES_MAX = 96 };

enum fault {
    FAULT_LATE,   /* a letter, or lost */
    FAULT_TWICE,  /* once more, later */
    FAULT_CUT,    /* a link one way, or all of a host's, until it is mended */
    FAULT_PAUSE,  /* a host stands still, and its letters wait */
    FAULT_SLOW,   /* a write is under way until it ends */
    FAULT_DEATH,  /* with what is being written or without, with an obituary or without */
    FAULT_ASK,    /* a client comes, goes, resigns or hands over */
    FAULT_FORGET, /* a host drops a group that nobody there wants, if it may */
    FAULT_LIE,    /* a host says of another what only that one may say */
    FAULTS
};

struct scene {
    uint64_t now;
    struct {
        uint64_t token, until;
        uint32_t host, life;
    } tenures[STILL_GROUPS];
    uint32_t at[STILL_HOSTS];
    uint16_t cuts; /* a bit for each way */
    uint8_t lives[STILL_HOSTS];
    uint8_t wants[STILL_HOSTS]; /* a bit for each group that clients want to lead */
    uint8_t spent[FAULTS];
    uint8_t paused, slow; /* a bit for each host */
    uint8_t any_order;
    uint8_t queue_count, late_count, socket_count;
    uint32_t queue[QUEUE_MAX], late[LATE_MAX], socket[SOCKET_MAX];
};

enum move_what {
    MOVE_TIME,
    MOVE_DELIVER,
    MOVE_HOLD,
    MOVE_TWICE,
    MOVE_LATE, /* what was held arrives */
    MOVE_SAVE,
    MOVE_SLOW,
    MOVE_DIE,
    MOVE_START,
    MOVE_CUT,
    MOVE_MEND,
    MOVE_PAUSE,
    MOVE_WAKE,
    MOVE_ASK,
    MOVE_LIE
};

struct move {
    uint8_t what, node, at; /* at: which letter, host */
    uint8_t ask, group, to; /* of what is asked: enum still_call; of a lie: enum lie */
    bool is_written, is_told;
    uint16_t cuts;
};

struct bounds {
    const char *name;
    uint8_t most[FAULTS];
    uint8_t total;              /* faults of all kinds */
    uint32_t until_ms;          /* after its beginning */
    bool any_order;             /* the first letter of each link, and writes, come in any order */
    uint8_t wants[STILL_HOSTS]; /* in the beginning; a bit for each group */
    enum {
        BEGINS_LED,    /* m1 leads one group, and m2 the other */
        BEGINS_SHARED, /* m1 leads both, in one cell */
        BEGINS_LEFT,   /* m1 has led both, and nobody wants them any more */
        BEGINS_LINKED, /* candidates have just come */
        BEGINS_STARTED /* and so have all hosts */
    } begins;
    uint32_t run_on; /* every so many-th of the last worlds goes on undisturbed until all is well */
};

static inline bool is_alive(const struct scene *w, el_node node)
{
    return album.stills[w->at[node - 1]].host != 0;
}

static inline bool is_paused(const struct scene *w, el_node node)
{
    return w->paused >> (node - 1) & 1;
}

static inline bool is_writing(const struct scene *w, el_node node)
{
    return album.stills[w->at[node - 1]].writing != 0;
}

static inline uint16_t way(el_node from, el_node to)
{
    return (uint16_t)(1u << ((from - 1) * STILL_HOSTS + to - 1));
}

/* Of what makes it this world. */
static inline struct el_hash scene_sum(const struct scene *w)
{
    uint8_t bytes[sizeof *w];
    size_t size = offsetof(struct scene, queue);
    memcpy(bytes, w, size);
    const struct {
        const uint32_t *list;
        uint32_t count;
    } lists[] = {{w->queue, w->queue_count}, {w->late, w->late_count}, {w->socket, w->socket_count}};
    for (unsigned i = 0; i < 3; i++) {
        memcpy(bytes + size, lists[i].list, lists[i].count * sizeof(uint32_t));
        size += lists[i].count * sizeof(uint32_t);
    }
    return el_fingerprint(bytes, size);
}

/* ---- What happens ---- */

static inline uint32_t take_out(uint32_t *list, uint8_t *count, uint32_t at)
{
    const uint32_t letter = list[at];
    (*count)--;
    memmove(&list[at], &list[at + 1], (*count - at) * sizeof *list);
    return letter;
}

/* In the order of their numbers: what is late has none of its own. */
static inline void make_late(struct scene *w, uint32_t letter)
{
    uint32_t at = w->late_count;
    require(w->late_count < LATE_MAX);
    for (; at && w->late[at - 1] > letter; at--) w->late[at] = w->late[at - 1];
    w->late[at] = letter;
    w->late_count++;
}

static inline uint16_t reliable_link_of(uint32_t letter)
{
    return way(album.letters[letter]->from, album.letters[letter]->to);
}

static inline void send_letter(struct scene *w, uint32_t letter)
{
    const struct letter *l = album.letters[letter];
    if (w->cuts & way(l->from, l->to) || !is_alive(w, l->to)) return;
    if (is_paused(w, l->to)) {
        if (w->socket_count < SOCKET_MAX) w->socket[w->socket_count++] = letter;
        return;
    }
    require(w->queue_count < QUEUE_MAX);
    uint32_t at = w->queue_count++;
    /* Where they come in any order, that of different links is none: such worlds are one. */
    for (; w->any_order && at && reliable_link_of(w->queue[at - 1]) > reliable_link_of(letter); at--)
        w->queue[at] = w->queue[at - 1];
    w->queue[at] = letter;
}

static inline void judge_tenures(struct scene *w, el_node node)
{
    const struct still *still = &album.stills[w->at[node - 1]];
    world.now = w->now;
    for (unsigned i = 0; i < STILL_GROUPS; i++) {
        struct tenure t = {.host = w->tenures[i].host,
                           .life = w->tenures[i].life,
                           .token = w->tenures[i].token,
                           .until = w->tenures[i].until};
        if (still->groups[i].leads)
            take_leadership(&t, node, w->lives[node - 1], still->groups[i].token, still->groups[i].lease_end);
        w->tenures[i].host = t.host;
        w->tenures[i].life = t.life;
        w->tenures[i].token = t.token;
        w->tenures[i].until = t.until > w->now ? t.until : 0;
    }
}

static inline bool happen(struct scene *w, el_node node, struct call call)
{
    call.now = w->now;
    call.still = w->at[node - 1];
    const struct outcome outcome = call_still(node, &call);
    w->at[node - 1] = outcome.still;
    for (uint32_t i = 0; i < outcome.sent; i++) send_letter(w, album.sent[outcome.sent_at + i]);
    /* The work was stopped before. */
    if (outcome.performed && (call.what == CALL_RESIGN || call.what == CALL_TRANSFER) &&
        w->tenures[call.group].host == node && w->tenures[call.group].life == w->lives[node - 1])
        w->tenures[call.group].until = 0;
    judge_tenures(w, node);
    return outcome.performed;
}

static inline void kill(struct scene *w, const struct move *move)
{
    const el_node node = move->node;
    if (move->is_told) {
        const struct call call = {.now = w->now, .still = w->at[node - 1], .what = CALL_OBITUARY};
        const struct outcome said = call_still(node, &call);
        for (uint32_t i = 0; i < said.sent; i++) make_late(w, album.sent[said.sent_at + i]);
        for (unsigned i = 0; i < STILL_GROUPS; i++)
            if (w->tenures[i].host == node && w->tenures[i].life == w->lives[node - 1]) w->tenures[i].until = 0;
    }
    w->at[node - 1] = still_killed(w->at[node - 1], move->is_written);
    w->slow &= (uint8_t) ~(1u << (node - 1));
    w->paused &= (uint8_t) ~(1u << (node - 1));
    for (uint32_t i = w->queue_count; i-- > 0;)
        if (album.letters[w->queue[i]]->to == node) (void)take_out(w->queue, &w->queue_count, i);
    for (uint32_t i = w->socket_count; i-- > 0;)
        if (album.letters[w->socket[i]]->to == node) (void)take_out(w->socket, &w->socket_count, i);
}

/* What waited in its socket may come before its timers. */
static inline void wake(struct scene *w, el_node node)
{
    w->paused &= (uint8_t) ~(1u << (node - 1));
    for (uint32_t i = 0; i < w->socket_count;)
        if (album.letters[w->socket[i]]->to == node)
            send_letter(w, take_out(w->socket, &w->socket_count, i));
        else
            i++;
}

static inline uint64_t next_due(const struct scene *w)
{
    uint64_t next = UINT64_MAX;
    for (el_node node = 1; node <= STILL_HOSTS; node++)
        if (!is_paused(w, node) && album.stills[w->at[node - 1]].wake < next)
            next = album.stills[w->at[node - 1]].wake;
    return next;
}

static inline void pass_time(struct scene *w)
{
    const uint64_t next = next_due(w);
    if (next > w->now) w->now = next;
    for (el_node node = 1; node <= STILL_HOSTS; node++)
        if (is_alive(w, node) && !is_paused(w, node) && album.stills[w->at[node - 1]].wake <= w->now)
            happen(w, node, (struct call){.what = CALL_TICK});
}

static inline void receive_letter(struct scene *w, uint32_t letter)
{
    happen(w, album.letters[letter]->to, (struct call){.what = CALL_RECEIVE, .letter = letter});
}

static inline void ask(struct scene *w, const struct move *move)
{
    uint8_t *wants = &w->wants[move->node - 1];
    if (move->ask == CALL_STAND) *wants |= (uint8_t)(1u << move->group);
    if (move->ask == CALL_LEAVE) *wants &= (uint8_t) ~(1u << move->group);
    happen(w, move->node, (struct call){.what = move->ask, .group = move->group, .to = move->to});
}

static inline void make_move(struct scene *w, const struct move *move)
{
    const uint8_t bit = (uint8_t)(move->node ? 1u << (move->node - 1) : 0);
    switch ((enum move_what)move->what) {
    case MOVE_TIME: pass_time(w); break;
    case MOVE_DELIVER: receive_letter(w, take_out(w->queue, &w->queue_count, move->at)); break;
    case MOVE_HOLD:
        w->spent[FAULT_LATE]++;
        make_late(w, take_out(w->queue, &w->queue_count, move->at));
        break;
    case MOVE_TWICE:
        w->spent[FAULT_TWICE]++;
        make_late(w, w->queue[move->at]);
        receive_letter(w, take_out(w->queue, &w->queue_count, move->at));
        break;
    case MOVE_LATE: receive_letter(w, take_out(w->late, &w->late_count, move->at)); break;
    case MOVE_SAVE:
        w->slow &= (uint8_t)~bit;
        happen(w, move->node, (struct call){.what = CALL_SAVED});
        break;
    case MOVE_SLOW:
        w->spent[FAULT_SLOW]++;
        w->slow |= bit;
        break;
    case MOVE_DIE:
        w->spent[FAULT_DEATH]++;
        kill(w, move);
        break;
    case MOVE_START:
        w->lives[move->node - 1]++;
        happen(w, move->node, (struct call){.what = CALL_START, .groups = w->wants[move->node - 1]});
        break;
    case MOVE_CUT:
        w->spent[FAULT_CUT]++;
        w->cuts |= move->cuts;
        break;
    case MOVE_MEND: w->cuts = 0; break;
    case MOVE_PAUSE:
        w->spent[FAULT_PAUSE]++;
        w->paused |= bit;
        break;
    case MOVE_WAKE: wake(w, move->node); break;
    case MOVE_ASK:
        w->spent[move->ask == CALL_FORGET ? FAULT_FORGET : FAULT_ASK]++;
        ask(w, move);
        break;
    case MOVE_LIE:
        w->spent[FAULT_LIE]++;
        send_letter(
            w, tell_lie(move->ask, move->node, move->to, move->group, w->lives[6 - move->node - move->to - 1]));
        break;
    }
}

#endif
