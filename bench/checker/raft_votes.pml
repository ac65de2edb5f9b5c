/*
 * Raft's voting as src/algorithms/majority/raft.c does it with prevote=off and check-quorum=off: three nodes, terms, one saved
 * vote in each, deaths at any moment and in the middle of a step. The question is that of
 * `elector check raft --property one-per-term`: do two nodes, or two lives of one, ever lead in one term?
 *
 * -DTERMS=K -DCRASHES=C -DRESTARTS=R   bounds: --terms K --crash C --restart R
 * -DSOUP                               what was sent may arrive any number of times or never: --lose any --duplicate any
 *                                      (else a message is delivered once, late or never, and equal ones count once)
 * -DEXACT                              everything that the real code remembers, so that both count the same worlds
 *                                      (else only what the question needs, as one writes a model by hand)
 * -DFORGETS, -DTWICE                   two bugs: a vote given is not saved; a vote given is given again
 *
 * One process whose every option is one step, so that a stored state is a world. Letters are bits.
 */

#define FOLLOWER 0
#define CANDIDATE 1
#define LEADER 2

typedef Node {
    unsigned alive : 1;
    unsigned role : 2;
    unsigned term : 3;
    unsigned vote : 2; /* a node + 1; 0: free */
    unsigned saved_term : 3;
    unsigned saved_vote : 2;
    unsigned grants : 3;
#ifdef EXACT
    unsigned leader : 2; /* a node + 1 */
#endif
};
Node n[3];

/* Letters of term t are bits of mail[t - 1], refusals of refusals[t - 1]. A node may die having saved a term beyond the
 * bound, and asked for votes in it, so there is one term more in the exact model. */
#ifdef EXACT
#define MAILED (TERMS + 1)
#else
#define MAILED TERMS
#endif
int mail[MAILED];
byte refusals[TERMS];

#define VOTE 0
#define GRANT 1
#define BEAT 2
#define BEAT_ACK 3
#define LINK(a, b) ((a) * 2 + ((b) > (a) -> (b) - 1 : (b)))
#define BIT(kind, a, b) (1 << ((kind) * 6 + LINK(a, b)))
#define NAY(a, b) (1 << LINK(a, b))

byte crashes, restarts;

/* Who led in which term, and in an earlier life. */
typedef Tenure {
    unsigned node : 2;
#ifdef EXACT
    unsigned past : 1;
#endif
};
Tenure led[TERMS];
#define PASSES(b, i) led[i].past = led[i].past | (led[i].node == (b) + 1)

#define send(kind, a, b, t) mail[(t) - 1] = mail[(t) - 1] | BIT(kind, a, b)
inline refuse(b, a) { refusals[n[b].term - 1] = refusals[n[b].term - 1] | NAY(b, a) }

#ifdef SOUP
#define take(kind, a, b, t) skip
#define take_nay(a, b, t) skip
#else
inline take(kind, a, b, t) { mail[(t) - 1] = mail[(t) - 1] & ~BIT(kind, a, b) }
inline take_nay(a, b, t) { refusals[(t) - 1] = refusals[(t) - 1] & ~NAY(a, b) }
#endif

inline save(b)
{
    n[b].saved_term = n[b].term;
    n[b].saved_vote = n[b].vote
}

inline follow(b, whom)
{
    n[b].role = FOLLOWER;
    n[b].grants = 0;
#ifdef EXACT
    n[b].leader = whom
#endif
}

inline adopt(b, t)
{
    n[b].term = t;
    n[b].vote = 0;
    follow(b, 0)
}

inline die(b)
{
    n[b].alive = 0;
    n[b].term = 0;
    n[b].vote = 0;
    follow(b, 0);
#ifdef EXACT
    PASSES(b, 0);
#if TERMS > 1
    PASSES(b, 1);
#endif
#if TERMS > 2
    PASSES(b, 2);
#endif
#if TERMS > 3
    PASSES(b, 3);
#endif
#endif
    crashes++
}

inline restart(b)
{
    n[b].alive = 1;
    n[b].term = n[b].saved_term;
    n[b].vote = n[b].saved_vote;
    if
    :: n[b].term == 0 -> n[b].term = 1; n[b].vote = b + 1
    :: else
    fi;
    restarts++
}

inline raise_term(b) /* on the way to stand */
{
    n[b].term = n[b].term + 1;
    n[b].vote = b + 1;
    n[b].role = CANDIDATE;
    n[b].grants = 1 << (b);
#ifdef EXACT
    n[b].leader = 0;
#endif
    save(b)
}

inline lead(b)
{
    n[b].role = LEADER;
#ifdef EXACT
    n[b].leader = b + 1;
    assert(led[n[b].term - 1].node == 0 || (led[n[b].term - 1].node == b + 1 && !led[n[b].term - 1].past));
#else
    n[b].grants = 0; /* they count no longer */
    assert(led[n[b].term - 1].node == 0);
#endif
    led[n[b].term - 1].node = b + 1
}

#define MAY_DIE (crashes < CRASHES)
#ifdef TWICE
#define IS_FREE(b, a) true
#else
#define IS_FREE(b, a) (n[b].vote == 0 || n[b].vote == (a) + 1)
#endif
#define WOULD_VOTE(b, a, t) ((t) > n[b].term || ((t) == n[b].term && IS_FREE(b, a)))

inline save_vote(b)
{
#ifdef FORGETS
    skip
#else
    save(b)
#endif
}

inline on_vote(a, b, t)
{
    if
    :: t < n[b].term -> refuse(b, a)
    :: else ->
        if
        :: t > n[b].term -> adopt(b, t)
        :: else
        fi;
        if
        :: IS_FREE(b, a) ->
            n[b].vote = a + 1;
            save_vote(b);
            send(GRANT, b, a, t)
        :: else -> refuse(b, a)
        fi
    fi
}

inline on_vote_dying(a, b, t) /* after SAVE, before the grant is sent */
{
    if
    :: t > n[b].term -> adopt(b, t)
    :: else
    fi;
    n[b].vote = a + 1;
    save_vote(b);
    die(b)
}

inline on_grant(a, b, c, t)
{
    if
    :: t > n[b].term -> adopt(b, t); save(b)
    :: t == n[b].term && n[b].role == CANDIDATE ->
        n[b].grants = n[b].grants | (1 << (a)); /* its own and this: two of three */
        lead(b);
        send(BEAT, b, a, t);
        send(BEAT, b, c, t)
    :: else
    fi
}

inline on_beat(a, b, t)
{
    if
    :: t < n[b].term -> refuse(b, a)
    :: t == n[b].term && n[b].role == LEADER
    :: else ->
        if
        :: t > n[b].term -> adopt(b, t); save(b)
        :: else
        fi;
        follow(b, a + 1);
        send(BEAT_ACK, b, a, t)
    fi
}

inline on_answer(b, t) /* a refusal has said all with its term, and so has an acknowledgement */
{
    if
    :: t > n[b].term -> adopt(b, t); save(b)
    :: else
    fi
}

#ifdef EXACT
#define MATTERS(t, b) true
#define STANDS_DYING(b) (n[b].term <= TERMS)
#else
#ifdef SOUP
#define MATTERS(t, b) ((t) > n[b].term) /* else nothing comes of it, and it stays under way */
#else
#define MATTERS(t, b) true
#endif
#define STANDS_DYING(b) (n[b].term < TERMS)
#endif

/* ---- Each possible step, as an option: from a to b, c being the third ---- */

#define WAITS(kind, a, b, t) ((mail[(t) - 1] & BIT(kind, a, b)) && n[b].alive)
#define NAY_WAITS(a, b, t) ((refusals[(t) - 1] & NAY(a, b)) && n[b].alive)

#define DELIVER_REFUSAL(a, b, t) \
    :: d_step { NAY_WAITS(a, b, t) && MATTERS(t, b) -> take_nay(a, b, t); on_answer(b, t) }

#define DELIVER_VOTE_DYING(a, b, t) \
    :: d_step { WAITS(VOTE, a, b, t) && MAY_DIE && WOULD_VOTE(b, a, t) -> \
        take(VOTE, a, b, t); on_vote_dying(a, b, t) }

/* A winner's first beat goes to the lower of the others. */
#define DELIVER(a, b, c, t) \
    :: d_step { WAITS(VOTE, a, b, t) -> take(VOTE, a, b, t); on_vote(a, b, t) } \
    DELIVER_VOTE_DYING(a, b, t) \
    :: d_step { WAITS(GRANT, a, b, t) && (MATTERS(t, b) || (t == n[b].term && n[b].role == CANDIDATE)) -> \
        take(GRANT, a, b, t); on_grant(a, b, c, t) } \
    :: d_step { WAITS(GRANT, a, b, t) && MAY_DIE && t == n[b].term && n[b].role == CANDIDATE -> \
        take(GRANT, a, b, t); send(BEAT, b, (a < c -> a : c), t); die(b) } \
    :: d_step { WAITS(BEAT, a, b, t) -> take(BEAT, a, b, t); on_beat(a, b, t) } \
    :: d_step { WAITS(BEAT, a, b, t) && MAY_DIE && t > n[b].term -> \
        take(BEAT, a, b, t); adopt(b, t); save(b); die(b) } \
    :: d_step { WAITS(BEAT_ACK, a, b, t) && MATTERS(t, b) -> take(BEAT_ACK, a, b, t); on_answer(b, t) } \
    DELIVER_REFUSAL(a, b, t)

/* Whatever is for the dead is lost, or waits. */
#if defined(EXACT) && !defined(SOUP)
#define DROP(kind, a, b, t) \
    :: d_step { (mail[(t) - 1] & BIT(kind, a, b)) && !n[b].alive -> take(kind, a, b, t) }
#define DROP_REFUSAL(a, b, t) \
    :: d_step { (refusals[(t) - 1] & NAY(a, b)) && !n[b].alive -> take_nay(a, b, t) }
#define DROP_ALL(a, b, t) \
    DROP(VOTE, a, b, t) DROP(GRANT, a, b, t) DROP(BEAT, a, b, t) DROP(BEAT_ACK, a, b, t) \
    DROP_REFUSAL(a, b, t)
#define DROP_LAST(a, b) DROP(VOTE, a, b, TERMS + 1)
#else
#define DROP_ALL(a, b, t)
#define DROP_LAST(a, b)
#endif

#define OF_TERM(t) \
    DELIVER(0, 1, 2, t) DELIVER(0, 2, 1, t) DELIVER(1, 0, 2, t) \
    DELIVER(1, 2, 0, t) DELIVER(2, 0, 1, t) DELIVER(2, 1, 0, t) \
    DROP_ALL(0, 1, t) DROP_ALL(0, 2, t) DROP_ALL(1, 0, t) DROP_ALL(1, 2, t) DROP_ALL(2, 0, t) DROP_ALL(2, 1, t)

/* Who hears of a term beyond the bound is not followed, unless it dies of it. */
#define BEYOND(a, b) DELIVER_VOTE_DYING(a, b, TERMS + 1) DROP_LAST(a, b)

/* Of node b, whose others are x and y, x the lower. */
#define OF_NODE(b, x, y) \
    :: d_step { n[b].alive && n[b].role != LEADER && n[b].term < TERMS -> \
        raise_term(b); send(VOTE, b, x, n[b].term); send(VOTE, b, y, n[b].term) } \
    :: d_step { n[b].alive && n[b].role != LEADER && MAY_DIE && STANDS_DYING(b) -> \
        raise_term(b); die(b) } \
    :: d_step { n[b].alive && n[b].role != LEADER && MAY_DIE && STANDS_DYING(b) -> \
        raise_term(b); send(VOTE, b, x, n[b].term); die(b) } \
    :: d_step { n[b].alive && n[b].role == LEADER -> \
        send(BEAT, b, x, n[b].term); send(BEAT, b, y, n[b].term) } \
    :: d_step { n[b].alive && n[b].role == LEADER && MAY_DIE -> send(BEAT, b, x, n[b].term); die(b) } \
    :: d_step { n[b].alive && MAY_DIE -> die(b) } \
    :: d_step { !n[b].alive && restarts < RESTARTS && n[b].saved_term <= TERMS -> restart(b) }

init
{
    d_step {
        n[0].alive = 1;
        n[1].alive = 1;
        n[2].alive = 1
    }
    do
    OF_NODE(0, 1, 2)
    OF_NODE(1, 0, 2)
    OF_NODE(2, 0, 1)
    OF_TERM(1)
#if TERMS > 1
    OF_TERM(2)
#endif
#if TERMS > 2
    OF_TERM(3)
#endif
#if TERMS > 3
    OF_TERM(4)
#endif
#ifdef EXACT
    BEYOND(0, 1) BEYOND(0, 2) BEYOND(1, 0) BEYOND(1, 2) BEYOND(2, 0) BEYOND(2, 1)
#endif
    od
}
