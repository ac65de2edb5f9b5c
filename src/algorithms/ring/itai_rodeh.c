/*
 * Itai and Rodeh's election on an anonymous ring: no process has an id, all run the same program, and chance
 * elects one of them. Each process draws a number and sends it around in a token. A token with a greater
 * number makes a process passive; a smaller one is taken off the ring; an equal one is marked as shared. A
 * process whose token comes home unmarked has won. Processes that share the greatest number draw again.
 *
 * Reference: A. Itai, M. Rodeh, Symmetry breaking in distributed networks, Information and Computation 88(1),
 * 1990. It terminates with probability 1, not with certainty, which is impossible on such a ring. A process
 * must know N to tell its own token from another's. Deviations: the winner names itself in its announcement, so
 * that the others know whom to follow; a process woken by a token draws and sends before it reads the token; a
 * member that may never lead only relays, and its own call carries the number 0, below all that are drawn.
 */
#include "algorithms/ring/ring.h"

enum mode {
    AT_REST, /* no election under way here */
    DRAWS,   /* asked for a random number; its answer is the next event */
    ACTIVE,
    PASSIVE,
};

struct itai_rodeh {
    uint64_t round;
    uint64_t number;    /* 1..N; 0 for a process that only calls an election */
    struct el_msg held; /* the token that woke us, until we have drawn */
    el_node leader;
    uint32_t mode;
};
_Static_assert(sizeof(struct itai_rodeh) == 104, "no padding");

/* Token: `epoch` is the round, `rank` the number, `aux` the hops made, and the subject just the sender. */
enum { TOKEN = 1, ELECTED = 2, KINDS = 2 };
static const char *const kinds[KINDS + 1] = {NULL, "Token", "Elected"};

enum { SHARED = 1 }; /* in `flags`: somebody else drew this number in this round, too */

enum { DREW, SILENCED, PURGES, TWIN, PASSES, TIED, UNIQUE, LEARNS, SPENT, TAKES_PART, ALONE, MALFORMED };
static const struct el_note_text notes[] = {
    [DREW] = {"drew", "draws #1 in round #2"},
    [SILENCED] = {"silenced", "gives way to #1 of round #2"},
    [PURGES] = {"purges", "takes #1 of round #2 off the ring"},
    [TWIN] = {"twin", "drew #1, too, and marks the token as shared"},
    [PASSES] = {"passes", "relays #1 of round #2"},
    [TIED] = {"tied", "has its token back, marked: somebody else drew #1"},
    [UNIQUE] = {"unique", "has its token back, unmarked: it alone drew #1, and has won"},
    [LEARNS] = {"learns", "learns that @1 leads"},
    [SPENT] = {"spent", "drops a token that went around for nothing"},
    [TAKES_PART] = {"takes-part", "takes part already"},
    [ALONE] = {"alone", "finds nobody else on the ring"},
    [MALFORMED] = {"malformed", "drops a token that made an impossible number of hops"},
};

static void settle(struct itai_rodeh *me, el_node leader)
{
    me->leader = leader;
    me->mode = AT_REST;
}

static void enter(struct itai_rodeh *me, const struct el_config *cfg, uint64_t number, struct el_outbox *out)
{
    const struct el_msg token = {
        .kind = TOKEN, .subject = cfg->self, .epoch = me->round, .rank = number, .aux = 1};
    me->number = number;
    me->mode = ACTIVE;
    ring_send(0, cfg, cfg->self, token, out);
}

/* Draws for a round; the token leaves when the number has arrived. */
static void draw(struct itai_rodeh *me, const struct el_config *cfg, uint64_t round, struct el_outbox *out)
{
    me->round = round;
    me->leader = EL_NOBODY;
    me->mode = DRAWS;
    el_choose(out, cfg->cluster->count);
}

static void call(struct itai_rodeh *me, const struct el_config *cfg, struct el_outbox *out)
{
    const bool may_lead = el_may_lead(cfg->cluster, cfg->self);
    if (cfg->cluster->count == 1) {
        el_note(out, ALONE, 0, 0);
        settle(me, ring_winner(cfg, cfg->self));
    } else if (may_lead) {
        draw(me, cfg, 1, out);
    } else {
        me->round = 1;
        me->leader = EL_NOBODY;
        enter(me, cfg, 0, out);
    }
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct itai_rodeh *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) call(me, cfg, out);
}

static void pass(const struct el_config *cfg, struct el_msg token, struct el_outbox *out)
{
    token.subject = cfg->self;
    token.aux++;
    ring_send(0, cfg, cfg->self, token, out);
}

/* -1, 0, 1: the token's round and number are lower than ours, the same, higher. */
static int compare(const struct itai_rodeh *me, const struct el_msg *m)
{
    if (m->epoch != me->round) return m->epoch < me->round ? -1 : 1;
    if (m->rank != me->number) return m->rank < me->number ? -1 : 1;
    return 0;
}

static void on_own_token(struct itai_rodeh *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (me->number == 0) {
        settle(me, EL_NOBODY); /* no candidate took it off the ring, so there is no candidate */
    } else if (m->flags & SHARED) {
        el_note(out, TIED, me->number, 0);
        draw(me, cfg, me->round + 1, out);
    } else {
        el_note(out, UNIQUE, me->number, 0);
        settle(me, cfg->self);
        ring_send(0, cfg, cfg->self, (struct el_msg){.kind = ELECTED, .subject = cfg->self}, out);
    }
}

/* Another process's token reaches an active process. */
static void contest(struct itai_rodeh *me, const struct el_config *cfg, const struct el_msg *m,
                    struct el_outbox *out)
{
    struct el_msg next = *m;
    const int order = compare(me, m);
    if (order < 0) {
        el_note(out, PURGES, m->rank, m->epoch);
        return;
    }
    if (order > 0) {
        el_note(out, SILENCED, m->rank, m->epoch);
        me->mode = PASSIVE;
    } else {
        el_note(out, TWIN, m->rank, 0);
        next.flags |= SHARED;
    }
    pass(cfg, next, out);
}

static void on_token(struct itai_rodeh *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->aux == cfg->cluster->count) { /* once around, so it should be ours */
        if (me->mode == ACTIVE && compare(me, m) == 0) {
            on_own_token(me, cfg, m, out);
        } else {
            el_note(out, SPENT, 0, 0);
        }
    } else if (me->mode == ACTIVE) {
        contest(me, cfg, m, out);
    } else if (me->mode == AT_REST && el_may_lead(cfg->cluster, cfg->self)) {
        me->held = *m;
        draw(me, cfg, 1, out);
    } else {
        me->leader = EL_NOBODY;
        me->mode = PASSIVE;
        el_note(out, PASSES, m->rank, m->epoch);
        pass(cfg, *m, out);
    }
}

static void on_chosen(void *state, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out)
{
    struct itai_rodeh *me = state;
    const struct el_msg held = me->held;
    if (me->mode != DRAWS) return;
    me->held = (struct el_msg){0};
    el_note(out, DREW, (uint64_t)chosen + 1, me->round);
    enter(me, cfg, (uint64_t)chosen + 1, out);
    if (held.kind == TOKEN) on_token(me, cfg, &held, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct itai_rodeh *me = state;
    if (m->kind == TOKEN) {
        if (m->aux >= 1 && m->aux <= cfg->cluster->count) {
            on_token(me, cfg, m, out);
        } else {
            el_note(out, MALFORMED, 0, 0);
        }
    } else if (m->subject != cfg->self) { /* else our announcement completed its lap */
        el_note(out, LEARNS, m->subject, 0);
        settle(me, ring_winner(cfg, m->subject));
        ring_send(0, cfg, cfg->self, *m, out);
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct itai_rodeh *me = state;
    if (me->mode == AT_REST) {
        call(me, cfg, out);
    } else {
        el_note(out, TAKES_PART, 0, 0);
    }
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct itai_rodeh *me = state;
    el_view_of(v, cfg, me->leader, me->mode != AT_REST, 0);
}

static const struct el_weakness breaks[] = {
    {EL_CRASHES, EL_NO_LEADER | EL_DISAGREEMENT | EL_DEAD_LEADER,
     "nothing gets past a dead process: a call, a token or the announcement is lost there"},
    {EL_LOSSES | EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT,
     "the last token or the announcement may be lost, and nobody sends another"},
    {EL_REORDERS, EL_NO_LEADER | EL_DISAGREEMENT,
     "a token that the winning one has overtaken makes settled processes start another election"},
    {EL_DUPLICATES, EL_NO_LEADER | EL_DISAGREEMENT,
     "a copy of an old announcement ends a process's next election too early, and its token has no owner"},
};

const struct el_algorithm el_itai_rodeh = {
    .name = "itai-rodeh",
    .summary = "anonymous ring: processes without ids draw numbers until one of them alone has the "
               "greatest",
    .idea = "Identical processes cannot elect one of them by a fixed rule, so they draw numbers and "
            "send them around in tokens. The greatest number makes all processes with smaller ones "
            "passive. A process marks a token that carries its own number. So the processes with the "
            "greatest number learn, when their tokens come home after N hops, whether others drew it "
            "too. If so, they draw again.",
    .reference = "Itai, Rodeh: Symmetry breaking in distributed networks, Information and Computation 88(1), "
                 "1990",
    EL_KINDS(kinds),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT,
    .ring = true,
    .state_bytes = sizeof(struct itai_rodeh),
    .outbox_fixed = 4,
    .on_start = on_start,
    .on_message = on_message,
    .on_chosen = on_chosen,
    .on_campaign = on_campaign,
    .view = view,
};
