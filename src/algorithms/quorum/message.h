/*
 * The messages of quorum: what each field of struct el_msg holds, by kind. Only this header names the fields:
 * other files call the constructors and readers below. The envelope says which group a message concerns.
 *
 *   all        more: the sender's incarnation; extra[0]: the receiver's, 0 if unknown; extra[1]: the highest
 *              term that the sender has seen. quorum_send() fills these in.
 *   Beat       aux: its number; if beats carry claims: epoch: the term it leads in, subject and rank: the heir
 *              and its term
 *   Ack        aux: the number it echoes; rank: the voter's epoch
 *   Vote       epoch: the term; aux: its number
 *   Grant      epoch: the term; aux: the number it echoes; rank: the voter's epoch
 *   Refuse     epoch: the term asked for; rank: the floor (TOO_LOW); subject: the holder (HELD)
 *   Release    subject, in its incarnation extra[2], uses no term up to epoch; extra[3] and rank: the heir and
 *              its term
 *   Obituary   subject is dead in its incarnation extra[2]
 *   Check      asks whether the receiver, in its incarnation extra[2], still uses the term epoch
 *   AskFloor   aux: a nonce
 *   TellFloor  aux: the nonce
 *   Told       if LED: subject leads, in its incarnation extra[2], in term epoch; else the sender knows no leader, and
 *              aux is the receiver's place in line, 0 if it must not stand; extra[3]: to a leader: its best heir
 *
 * All but Release, Obituary, Check and Told also bear the sender's record, its era and the era's floor (M7 to M12), in extra[3] and
 * extra[2]; 0 as long as record 1, the configuration, is in force.
 *
 * speakers.h says who may send which of them, about whom. In every message `subject` is a member: the sender,
 * if the message names no other.
 */
#ifndef ELECTOR_ALGORITHMS_QUORUM_MESSAGE_H
#define ELECTOR_ALGORITHMS_QUORUM_MESSAGE_H

#include "elector/core.h"

enum {
    QUORUM_BEAT = 1,
    QUORUM_ACK,
    QUORUM_VOTE,
    QUORUM_GRANT,
    QUORUM_REFUSE,
    QUORUM_RELEASE,
    QUORUM_OBIT,
    QUORUM_CHECK,
    QUORUM_FLOOR_ASKED,
    QUORUM_FLOOR,
    QUORUM_TOLD,
    QUORUM_KINDS = QUORUM_TOLD
};

/* Flags, by kind. */
enum {
    QUORUM_LIVE = 1, /* Beat: I hear you */
    QUORUM_DEFERRABLE =
        2, /* Beat: your answer may wait for your next beat. Only hosts read this flag and the next */
    QUORUM_URGENT = 4, /* Beat: I lead or ask for votes: beat when I beat */
    QUORUM_AT_REST =
        16, /* Beat: I lead nothing and stand for nothing; promise nothing, and expect the next in one H */
    QUORUM_PROMISE = 1,     /* Ack */
    QUORUM_HAS_SETTLED = 8, /* Ack: what I promised by an earlier record is over (M10) */
    QUORUM_JOIN = 1,        /* Vote: I lead; Grant: a promise but no vote, my floor is higher */
    QUORUM_SILENT = 1,      /* Refuse: I have restarted and may have promised it */
    QUORUM_TOO_LOW = 2,     /* Refuse: the term is not above the floor */
    QUORUM_HELD = 4,        /* Refuse: promised to the holder ... */
    QUORUM_FRESH = 8,       /* ... which renewed it within three beats */
    QUORUM_ACTIVE = 16,     /* ... and says that it leads */
    QUORUM_LEARNED = 1,     /* TellFloor */
    QUORUM_LED = 1,         /* Told: there is a leader */
};

/* An incarnation of a member, and a term. */
struct quorum_tenant {
    uint64_t incarnation;
    uint64_t term;
    el_node id;
    uint32_t spare;
};

/* What a leader says of one group. */
struct quorum_claim {
    uint64_t term, heir_term;
    el_node heir;
};

/* What a voter tells a member without a vote of one group. */
struct quorum_told {
    uint64_t term;        /* the leader's; 0: none is known */
    uint64_t incarnation; /* of the leader */
    el_node leader;       /* EL_NOBODY: none is known */
    el_node heir;         /* to the leader alone: whom it should name */
    uint32_t place;       /* in line for a group that is free, from 1; 0: do not stand */
};

/* ---- Reading ---- */

static inline uint64_t quorum_from_incarnation(const struct el_msg *m)
{
    return m->more;
}

static inline uint64_t quorum_to_incarnation(const struct el_msg *m)
{
    return m->extra[0];
}

static inline uint64_t quorum_clock_of(const struct el_msg *m)
{
    return m->extra[1];
}

/* Beat, Vote: its own; Ack, Grant: the one it echoes; AskFloor, TellFloor: a nonce. */
static inline uint64_t quorum_number(const struct el_msg *m)
{
    return m->aux;
}

/* Ack, Grant. */
static inline uint64_t quorum_epoch(const struct el_msg *m)
{
    return m->rank;
}

/* Refuse, if TOO_LOW. */
static inline uint64_t quorum_floor(const struct el_msg *m)
{
    return m->rank;
}

/* Beat: its claim. A sender without an heir names itself. */
static inline struct quorum_claim quorum_claim_in(const struct el_msg *m)
{
    const bool has_heir = m->subject != m->from;
    return (struct quorum_claim){
        .term = m->epoch, .heir_term = has_heir ? m->rank : 0, .heir = has_heir ? m->subject : EL_NOBODY};
}

/* Release. */
static inline struct quorum_claim quorum_heir_in(const struct el_msg *m)
{
    const bool has_heir = m->extra[3] && m->extra[3] <= UINT32_MAX;
    return (struct quorum_claim){.heir_term = has_heir ? m->rank : 0,
                                 .heir = has_heir ? (el_node)m->extra[3] : EL_NOBODY};
}

/* Release, Obituary, Check. */
static inline uint64_t quorum_incarnation_about(const struct el_msg *m)
{
    return m->extra[2];
}

/* The other kinds use these words themselves. Nothing is counted from them. */
static inline bool quorum_bears_era(uint8_t kind)
{
    return kind != QUORUM_RELEASE && kind != QUORUM_OBIT && kind != QUORUM_CHECK && kind != QUORUM_TOLD;
}

enum { QUORUM_RECORD_BITS = 26 };

/* How many records after the first the sender has installed. */
static inline uint64_t quorum_record(const struct el_msg *m)
{
    return m->extra[3] & ((UINT64_C(1) << QUORUM_RECORD_BITS) - 1);
}

/* Twice the number of the sender's era, less one while it is joint. */
static inline uint64_t quorum_phase(const struct el_msg *m)
{
    return m->extra[3] >> QUORUM_RECORD_BITS;
}

/* If the sender's era is sole: nobody wins in a term up to this one. */
static inline uint64_t quorum_era_floor_in(const struct el_msg *m)
{
    return m->extra[2];
}

static inline struct el_msg quorum_marked(struct el_msg m, uint64_t phase, uint64_t record, uint64_t floor)
{
    m.extra[3] = phase << QUORUM_RECORD_BITS | record;
    m.extra[2] = floor;
    return m;
}

/* Told. */
static inline struct quorum_told quorum_told_in(const struct el_msg *m)
{
    const bool is_led = m->flags & QUORUM_LED;
    return (struct quorum_told){.term = m->epoch,
                                .incarnation = is_led ? m->extra[2] : 0,
                                .leader = is_led ? m->subject : EL_NOBODY,
                                .heir = m->extra[3] <= UINT32_MAX ? (el_node)m->extra[3] : EL_NOBODY,
                                .place = is_led || m->aux > UINT32_MAX ? 0 : (uint32_t)m->aux};
}

/* All numbers are below EL_EPOCH_MAX, so that no sum overflows. Core has checked `epoch`. */
static inline bool quorum_is_sane(const struct el_msg *m)
{
    return m->more && m->more < EL_EPOCH_MAX && m->extra[1] < EL_EPOCH_MAX && m->rank < EL_EPOCH_MAX;
}

/* ---- Making ---- */

static inline struct el_msg quorum_make_beat(uint64_t seq, bool live, struct quorum_claim claim)
{
    return (struct el_msg){.kind = QUORUM_BEAT,
                           .flags = live ? QUORUM_LIVE : 0,
                           .subject = claim.heir,
                           .epoch = claim.term,
                           .rank = claim.heir_term,
                           .aux = seq};
}

static inline struct el_msg quorum_make_ack(uint64_t echo, uint64_t epoch, bool promise)
{
    return (struct el_msg){
        .kind = QUORUM_ACK, .flags = promise ? QUORUM_PROMISE : 0, .aux = echo, .rank = epoch};
}

static inline struct el_msg quorum_make_vote(uint64_t term, uint64_t seq, bool join)
{
    return (struct el_msg){.kind = QUORUM_VOTE, .flags = join ? QUORUM_JOIN : 0, .epoch = term, .aux = seq};
}

static inline struct el_msg quorum_make_grant(uint64_t term, uint64_t echo, uint64_t epoch, bool join)
{
    return (struct el_msg){
        .kind = QUORUM_GRANT, .flags = join ? QUORUM_JOIN : 0, .epoch = term, .aux = echo, .rank = epoch};
}

/* `flags`: the reason. */
static inline struct el_msg quorum_make_refuse(uint64_t term, unsigned flags, uint64_t floor, el_node holder)
{
    return (struct el_msg){
        .kind = QUORUM_REFUSE, .flags = (uint8_t)flags, .epoch = term, .rank = floor, .subject = holder};
}

static inline struct el_msg quorum_make_release(struct quorum_tenant done, el_node heir, uint64_t heir_term)
{
    return (struct el_msg){.kind = QUORUM_RELEASE,
                           .subject = done.id,
                           .epoch = done.term,
                           .rank = heir_term,
                           .extra = {0, 0, done.incarnation, heir}};
}

static inline struct el_msg quorum_make_obit(el_node who, uint64_t incarnation)
{
    return (struct el_msg){.kind = QUORUM_OBIT, .subject = who, .extra = {0, 0, incarnation}};
}

static inline struct el_msg quorum_make_check(uint64_t incarnation, uint64_t term)
{
    return (struct el_msg){.kind = QUORUM_CHECK, .epoch = term, .extra = {0, 0, incarnation}};
}

static inline struct el_msg quorum_make_ask_floor(uint64_t nonce)
{
    return (struct el_msg){.kind = QUORUM_FLOOR_ASKED, .aux = nonce};
}

static inline struct el_msg quorum_make_tell_floor(uint64_t nonce, bool learned)
{
    return (struct el_msg){.kind = QUORUM_FLOOR, .flags = learned ? QUORUM_LEARNED : 0, .aux = nonce};
}

static inline struct el_msg quorum_make_told(struct quorum_told told)
{
    return (struct el_msg){.kind = QUORUM_TOLD,
                           .flags = told.leader ? QUORUM_LED : 0,
                           .subject = told.leader,
                           .epoch = told.term,
                           .aux = told.place,
                           .extra = {0, 0, told.incarnation, told.heir}};
}

/* Fills in the header. */
static inline struct el_msg quorum_addressed(struct el_msg m, uint64_t from_incarnation,
                                             uint64_t to_incarnation, uint64_t clock)
{
    m.more = from_incarnation;
    m.extra[0] = to_incarnation;
    m.extra[1] = clock;
    return m;
}

#endif
