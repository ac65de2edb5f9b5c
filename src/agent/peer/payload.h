/*
 * What agents say to each other, once it is unsealed: a head, then entries one after another. An entry says only what is not
 * as in the entries before it in the same payload; whoever sends anything else is not listened to.
 *
 * Head: version, 1 byte; digest of the members, 8. An entry: its type, 1 byte; the group's key, 8, where it is of one; which of
 * its words differ from what the last entry that had such a word said (a bit for each, in the order of the table in payload.c); these
 * words; texts, each behind its length, 1 byte. Words and bits are numbers: seven bits in a byte, the lowest first, the eighth
 * says that more follow. Keys and the digest are little-endian. Before the first entry every word is 0.
 */
#ifndef ELECTOR_AGENT_PEER_PAYLOAD_H
#define ELECTOR_AGENT_PEER_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/seal/seal.h"
#include "elector/core.h"

/* Version 1 said every word of every entry. */
enum {
    PAYLOAD_VERSION = 2,
    PAYLOAD_HEAD = 9,
    PAYLOAD_NAME_MAX = 63,
    PAYLOAD_VALUE_MAX = 255,
    PAYLOAD_WORDS = 27
};

enum payload_type {
    PAYLOAD_MESSAGE = 1, /* of an election, or of the detector beside it */
    PAYLOAD_LINKED,      /* the same over a link that keeps order and loses nothing */
    PAYLOAD_LINK_ACK,
    PAYLOAD_WHO,      /* which group is that? */
    PAYLOAD_GROUP,    /* this one, by name; and whether somebody here wants to lead it */
    PAYLOAD_VALUE,    /* what its leader proclaims */
    PAYLOAD_SESSION,  /* of sessions, and no group's */
    PAYLOAD_BOARD,    /* how far a postings has got, and how far the receiver's was read: see postings.h */
    PAYLOAD_POSTING,  /* what its sender has to say of a group */
    PAYLOAD_OBITUARY, /* all that this incarnation of the sender held, in sessions of these settings, is over */
    PAYLOAD_RELEASED, /* the same of its work in one group, in terms up to this one */
    PAYLOAD_MARK,     /* so far it has said so much: echo this number */
    PAYLOAD_ECHO      /* that has come, and what came before it */
};

/* Of a MESSAGE: it is the detector's; of a MESSAGE or a GROUP: its sender wants to lead. */
enum { PAYLOAD_DETECTOR = 1, PAYLOAD_STANDS = 2 };
/* Of a GROUP: its sender leads. */
enum { PAYLOAD_LEADS = 16 };
/* Of a BOARD: something before what came is missing; of a POSTING: answer with a BOARD; of a BOARD: if you are behind. */
enum { PAYLOAD_GAP = 4, PAYLOAD_PLEASE = 8 };

struct payload_entry {
    enum payload_type type;
    uint64_t group; /* its key */
    uint32_t
        settings; /* MESSAGE, LINKED, GROUP: a digest of the group's settings, which must be the same for all;
                     OBITUARY: of the sessions' */
    uint8_t flags;
    struct el_msg msg; /* MESSAGE, LINKED */
    uint64_t
        incarnation; /* LINKED, LINK_ACK: the sender's, as drawn when it began; LINK_ACK also: which it answers.
                    * BOARD, POSTING, RELEASED: the sender's incarnation; BOARD also: the receiver's, as it is known */
    uint64_t answers;
    uint64_t version;  /* BOARD, POSTING: the newest, this one's */
    uint64_t before;   /* BOARD: read so far; POSTING: the one before it */
    uint32_t sequence; /* LINKED, LINK_ACK; MARK, ECHO: which */
    uint32_t round;    /* LINKED, GROUP: of the election; 0 where none are counted */
    uint32_t
        preempt_after_ms; /* GROUP: how many ms it stands before a lower-ranked leader makes way; UINT32_MAX: never */
    uint64_t number;          /* GROUP: priority; VALUE: token; OBITUARY: incarnation; RELEASED: term */
    uint64_t term, heir_term; /* POSTING: the claim, 0 if none */
    uint32_t heir;
    uint8_t length;
    char text[PAYLOAD_VALUE_MAX + 1]; /* GROUP, POSTING: name; VALUE: value; ends with 0 */
    uint8_t value_length;
    char value[PAYLOAD_VALUE_MAX + 1]; /* POSTING */
};

/* A payload in the making. */
struct payload {
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
    uint64_t before[PAYLOAD_WORDS]; /* what its entries said last */
};

void payload_begin(struct payload *, uint64_t members_digest);
/* False: no room left; begin another. */
bool payload_add(struct payload *, const struct payload_entry *);
/* Of one whose size and bytes are restored, to be added to: what its entries said last. False: it is damaged. */
bool payload_resume(struct payload *);

/* Where reading has got to, and what was said before. */
struct payload_place {
    size_t at;
    uint64_t before[PAYLOAD_WORDS];
};
#define PAYLOAD_FIRST ((struct payload_place){.at = PAYLOAD_HEAD})

enum payload_outcome { PAYLOAD_ENTRY, PAYLOAD_END, PAYLOAD_BAD };
/* The digest in the head; false if there is no head of this version. */
bool payload_head(const uint8_t *payload, size_t size, uint64_t *members_digest);
/* The next entry; the place begins as PAYLOAD_FIRST, and is of no use any more when something was bad. */
enum payload_outcome payload_next(const uint8_t *payload, size_t size, struct payload_place *,
                                  struct payload_entry *);

/*
 * Whether a payload may come by the way it came: what is over after a death, and nothing else, is sealed in advance. So
 * what a guardian holds can say nothing else, and an agent does not say it while it lives.
 */
bool payload_may_pass(const uint8_t *payload, size_t size, bool sealed_in_advance);

#endif
