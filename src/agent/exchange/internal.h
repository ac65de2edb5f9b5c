/* Shared by the files of the exchange room. */
#ifndef ELECTOR_AGENT_EXCHANGE_INTERNAL_H
#define ELECTOR_AGENT_EXCHANGE_INTERNAL_H

#include "agent/exchange/exchange.h"

enum {
    EXCHANGE_SETTINGS_MAX = CONFIG_MEMBERS_MAX + CONFIG_GROUPS_MAX + 3, /* [group *], version, end */
    EXCHANGE_ANSWERS_KEPT = 64
};

/* A statement, as we keep it for peers or have it of one. */
struct exchange_line {
    uint64_t term, span;
    uint64_t at; /* BEGAN: when it was; 0: not told */
    uint8_t kind;
    char name[PAYLOAD_NAME_MAX + 1];
    char value[PAYLOAD_VALUE_MAX + 1];
};

/* A request to a peer, which waits for the answer. */
struct exchange_pending {
    uint32_t request; /* 0: this place is free */
    el_node to;
    uint64_t asked_at, sent_at;
    struct payload_entry entry;
};

/* An answer that we gave: a request that comes again gets it again. */
struct exchange_given {
    uint64_t incarnation;
    uint32_t request;
    uint8_t outcome;
};

struct exchange_peer {
    uint64_t heard_at; /* 0: never */
    /* What we tell it. */
    uint64_t acknowledged, sent_at, tell_at; /* tell_at: not sooner */
    uint32_t tries;                          /* since it last acknowledged something new */
    bool has_rested;                         /* it had acknowledged all; since then there is something new */
    /* What it tells us. */
    uint64_t incarnation, members, read; /* members: the digest; read: the last statement */
    struct exchange_line *lines;         /* its settings and members */
    uint32_t line_count;
    bool is_complete, differs, owes_answer;
    uint8_t unread;                 /* the version of its last payload, if we do not read that; else 0 */
    uint64_t least_read, most_read; /* versions, as it tells; 0: it does not */
    bool is_misunderstood;          /* as last told by the hook */
    bool has_said_hears;
    uint64_t hears;
    uint64_t silent_until; /* it grants nothing before; 0: it has not said so */
    bool is_lost;          /* nor until it has learned what it may have promised */
    /* What it asks for. */
    uint64_t budget_at;
    uint32_t budget;
    struct exchange_given given[EXCHANGE_ANSWERS_KEPT];
    uint32_t given_count;
};

struct exchange {
    const struct config *config;
    uint64_t members, incarnation;
    struct exchange_hooks hooks;
    struct exchange_line *settings; /* statements 1 to setting_count */
    uint32_t setting_count;
    struct exchange_line
        latest[EXCHANGE_LATEST]; /* statement n is at (n - setting_count - 1) % EXCHANGE_LATEST */
    uint64_t latest_count;       /* ever made */
    uint64_t hears, hears_at;    /* whom we said that we hear, and when; hears_at 0: we have not said */
    uint64_t hears_pause;        /* before the next one */
    uint64_t hears_count;        /* latest_count after it */
    uint64_t silent_until;       /* of this member, as of its peers */
    bool is_lost;
    struct exchange_peer peers[CONFIG_MEMBERS_MAX];
    struct exchange_pending *pending; /* EXCHANGE_PENDING_MAX for each member */
    uint32_t pending_count;
    uint32_t requests; /* ever made; their numbers */
};

/* settings.c */
bool exchange_list_settings(struct exchange *); /* false: out of memory */
void exchange_read_setting(struct exchange *, el_node from, const struct exchange_line *);
void exchange_compare(struct exchange *, el_node peer);
void exchange_compare_versions(struct exchange *, el_node peer);
void exchange_forget_settings(struct exchange_peer *);

/* requests.c */
void exchange_on_request(struct exchange *, uint64_t now, el_node from, const struct payload_entry *);
void exchange_on_answer(struct exchange *, el_node from, const struct payload_entry *);
uint64_t exchange_tick_requests(struct exchange *, uint64_t now);

#endif
