/*
 * The peer room moves bytes between agents: payload.h encodes what they say, reliable_link.h adds order and
 * retries for algorithms that need them, udp.h is the socket. It knows configuration and seal, and nothing of
 * elections. Start here.
 *
 * A payload is the plain text of one datagram: a head, then entries. An entry contains only the words that
 * differ from the entries before it in the same payload. A malformed entry ends the reading of the payload.
 *
 * Head: version (1 byte), digest of the members (8 bytes).
 * Entry: its type (1 byte); the group's key (8 bytes), if the type has one; a mask of the words that differ
 * from the last entry that had them, in the order of the table in payload.c; these words; texts, each after its
 * length (1 byte).
 * Words and masks are varints: 7 bits per byte, the lowest first; the eighth bit says that more follow. Keys
 * and the digest are little-endian. Before the first entry every word is 0.
 */
#ifndef ELECTOR_AGENT_PEER_PAYLOAD_H
#define ELECTOR_AGENT_PEER_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/seal/seal.h"
#include "elector/core.h"

/*
 * An agent reads these versions, and writes the last one. Version 1 sent every word of every entry. A later version
 * keeps statements (agent/exchange) as they are: by them agents tell each other which versions they read.
 */
enum {
    PAYLOAD_VERSION_LEAST = 2,
    PAYLOAD_VERSION = 2,
    PAYLOAD_HEAD = 9,
    PAYLOAD_NAME_MAX = 63,
    PAYLOAD_VALUE_MAX = 255,
    PAYLOAD_WORDS = 27
};

enum payload_type {
    PAYLOAD_MESSAGE = 1, /* of an election, or of the group's failure detector */
    PAYLOAD_LINKED,      /* the same, over a reliable link (reliable_link.h) */
    PAYLOAD_LINK_ACK,
    PAYLOAD_WHO,      /* asks for the name of a group */
    PAYLOAD_GROUP,    /* answers it, and says whether the sender has a candidate */
    PAYLOAD_VALUE,    /* the value that the group's leader proclaims */
    PAYLOAD_SESSION,  /* a message of the session itself, not of a group */
    PAYLOAD_POSTINGS, /* versions: the sender's newest posting, and how far it has read the receiver's */
    PAYLOAD_POSTING,  /* the sender's state in one group */
    PAYLOAD_OBITUARY, /* this incarnation of the sender is dead: its sessions of these settings are free */
    PAYLOAD_RELEASED, /* the same for its work in one group, in terms up to this one */
    PAYLOAD_MARK,     /* asks for an ECHO with this number, once all before it has been received */
    PAYLOAD_ECHO,     /* everything up to this MARK was received */
    /* From here on: what agents tell each other beside elections (agent/exchange). Agents of earlier versions do not
     * know these types, and stop reading at them: such entries travel in datagrams of their own. */
    PAYLOAD_STATEMENT, /* a numbered statement about the sender: a setting, or how a tenure began or ended */
    PAYLOAD_STATED,    /* statements up to this one were received */
    PAYLOAD_REQUEST,   /* a request of a client of the sender, to the agent of the group's leader */
    PAYLOAD_ANSWER,    /* its outcome */
    /* Of an election again. It goes to no agent of an earlier version: that refuses a list of members with candidates. */
    PAYLOAD_TOLD /* a POSTING of a member that votes, to one that does not: and who leads, as far as the sender knows */
};

/* Flags. MESSAGE: it is the detector's. MESSAGE, GROUP: the sender wants to lead. */
enum { PAYLOAD_DETECTOR = 1, PAYLOAD_STANDS = 2 };
/* GROUP: the sender leads. TOLD: somebody leads, msg.subject in its incarnation msg.extra[2]. */
enum { PAYLOAD_LEADS = 16 };
/* GAP, in a POSTINGS: a posting before the last one received is missing. PLEASE: answer with a POSTINGS; in a POSTINGS
 * itself only if you are behind. */
enum { PAYLOAD_GAP = 4, PAYLOAD_PLEASE = 8 };
/* POSTINGS: drop all postings of mine that you have read, since I have dropped some groups. */
enum { PAYLOAD_ANEW = 32 };

struct payload_entry {
    enum payload_type type;
    uint64_t group; /* its key */
    /* MESSAGE, LINKED, GROUP: a digest of the group's settings, which must be equal on all members.
     * OBITUARY: of the session's settings. */
    uint32_t settings;
    uint8_t flags; /* STATEMENT, REQUEST, ANSWER: what it says, see agent/exchange */
    struct el_msg
        msg; /* MESSAGE, LINKED; TOLD: as in a Told of quorum; extra[0]: the candidates that want to lead, a bit for each */
    uint64_t incarnation; /* of the sender; LINKED: of its numbering; LINK_ACK: the sender's boot */
    /* LINK_ACK: the numbering acknowledged; POSTINGS, STATED, ANSWER: the receiver's incarnation, as known */
    uint64_t answers;
    uint64_t
        version; /* POSTINGS: of the newest posting; POSTING, STATEMENT: of this one; STATED: the last one read */
    uint64_t before;   /* POSTINGS: the version read so far; POSTING, STATEMENT: the version before this one */
    uint32_t sequence; /* LINKED, LINK_ACK, MARK, ECHO; REQUEST, ANSWER: of the request */
    uint32_t round;    /* LINKED, GROUP: of the election; 0 if the algorithm has no rounds */
    /* GROUP: a leader of lower rank hands over after the sender has campaigned for this long; UINT32_MAX:
     * never. */
    uint32_t preempt_after_ms;
    union { /* one word on the wire, by type */
        uint64_t number;
        uint64_t priority; /* GROUP, POSTING: of the sender's candidate */
        uint64_t token;    /* VALUE: of the leader */
        uint64_t dead;     /* OBITUARY: the incarnation that is over */
        uint64_t released; /* RELEASED: no term up to this one is used any more */
        uint64_t span;     /* STATEMENT: of a tenure, a time in ns */
        uint64_t user;     /* REQUEST: the client's uid, for the log */
    };
    uint64_t term,
        heir_term; /* POSTING: the term that the sender claims; 0: none. STATEMENT, REQUEST: of the tenure */
    uint32_t heir; /* REQUEST: the member to hand over to */
    uint8_t length;
    /* GROUP, POSTING, REQUEST: name; STATEMENT: of a section, member or group; VALUE: value; zero-terminated */
    char text[PAYLOAD_VALUE_MAX + 1];
    uint8_t value_length;
    char value[PAYLOAD_VALUE_MAX + 1]; /* POSTING, STATEMENT */
};

/* A payload being written. */
struct payload {
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
    uint64_t before[PAYLOAD_WORDS]; /* the last value of each word */
};

void payload_begin(struct payload *, uint64_t members_digest);
/* False: the entry does not fit; begin another payload. */
bool payload_add(struct payload *, const struct payload_entry *);
/* Restores `before` from `size` and `bytes`, so that entries can be added. False: the payload is damaged. */
bool payload_resume(struct payload *);

/* A position in a payload being read, and the last value of each word. */
struct payload_place {
    size_t at;
    uint64_t before[PAYLOAD_WORDS];
};
#define PAYLOAD_FIRST ((struct payload_place){.at = PAYLOAD_HEAD})

enum payload_outcome { PAYLOAD_ENTRY, PAYLOAD_END, PAYLOAD_BAD };
/* The version that it says it has; 0: it is empty. */
uint8_t payload_version(const uint8_t *payload, size_t size);
static inline bool payload_reads(uint8_t version)
{
    return version >= PAYLOAD_VERSION_LEAST && version <= PAYLOAD_VERSION;
}
/* Reads the head. False: there is none of a version that we read. */
bool payload_head(const uint8_t *payload, size_t size, uint64_t *members_digest);
/* Reads the next entry. The place starts as PAYLOAD_FIRST. After PAYLOAD_BAD do not read on. */
enum payload_outcome payload_next(const uint8_t *payload, size_t size, struct payload_place *,
                                  struct payload_entry *);

/*
 * Whether a payload may arrive this way: OBITUARY and RELEASED entries are sealed in advance, and all others
 * are not. So a guardian can send nothing else, and a living agent cannot declare itself dead.
 */
bool payload_may_pass(const uint8_t *payload, size_t size, bool sealed_in_advance);

/* Whether its first entry is of agent/exchange. Then the host does not get it. */
bool payload_is_exchange(const uint8_t *payload, size_t size);

#endif
