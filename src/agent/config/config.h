/*
 * The config room reads an agent's configuration: an INI file, which command line flags may override. It knows
 * the keys of seal/ and the options of the algorithms, and nothing of the running agent. Start here with struct
 * config. parse.c reads lines, sections.c has the table of keys, validate.c and group.c check what only the
 * whole file can show, rights.c decides who may do what, reload.c says what a running agent takes over of a new file.
 */
#ifndef ELECTOR_AGENT_CONFIG_CONFIG_H
#define ELECTOR_AGENT_CONFIG_CONFIG_H

#include <netinet/in.h>
#include <stdio.h>
#include <sys/types.h>

#include "agent/seal/seal.h"
#include "base/clock.h"
#include "base/group_name.h"
#include "elector/core.h"

enum {
    CONFIG_NAME_MAX = GROUP_NAME_MAX,
    CONFIG_MEMBERS_MAX = SEAL_PEERS_MAX,
    CONFIG_ADDRESSES_MAX = 3,     /* of a member */
    CONFIG_PLACE_TEXT = 192,      /* all of them as text */
    CONFIG_CLIENTS_MAX = 4096,    /* connections to the socket at a time */
    CONFIG_CLIENTS_RESERVED = 64, /* of these, for root and the agent's own user */
    CONFIG_CANDIDACIES_MAX = 1 << 20,
    CONFIG_OBSERVED_MAX = 1 << 20,
    CONFIG_VALUE_BYTES_MAX = 1 << 30,
    CONFIG_GROUPS_MAX = 256,       /* sections */
    CONFIG_GROUPS_LIMIT = 1 << 20, /* groups of an agent */
    CONFIG_ALLOWED_MAX = 16,
    CONFIG_OPTIONS_MAX = 16,
    CONFIG_PROFILE_OPTIONS = 6
};

#define CONFIG_RECORDER_MIN (UINT64_C(64) << 10)
#define CONFIG_RECORDER_MAX (UINT64_C(1) << 30)
#define CONFIG_PROCESS_MAX NS_PER_MS /* to process a message, for checks of times */
/* From the time of SIGKILL until no process of a command of `elector run` runs. */
#define CONFIG_KILL_MAX (5 * NS_PER_MS)

/* The numbers are in the digest of the list of members. */
enum config_role {
    CONFIG_VOTER,
    CONFIG_WITNESS,   /* votes, never leads */
    CONFIG_OBSERVER,  /* neither */
    CONFIG_CANDIDATE, /* may lead, does not vote; talks to members that vote, and to nobody else */
    CONFIG_ROLES
};

struct config_member {
    char name[CONFIG_NAME_MAX + 1];
    uint64_t id; /* 1..1000, distinct: makes the member's terms unique */
    enum config_role role;
    struct sockaddr_storage address;                          /* IPv4 or IPv6 */
    struct sockaddr_storage others[CONFIG_ADDRESSES_MAX - 1]; /* further ones: each datagram goes to all */
    uint32_t other_count;
    char host_name[264]; /* HOST:PORT as written, if the host is a name; "": it is numeric */
    bool is_unresolved;  /* the name was not found: `address` stands for it, and nothing is sent there */
    /* `address = dynamic`: its port is the system's choice, and perhaps it is behind a NAT. `address` is where it was last
     * heard, and it is_unresolved until then. Its own agent binds to `address`, a wildcard. */
    bool is_dynamic;
    uint32_t via; /* is_dynamic: it was heard at our own address with this index */
    uint8_t public_key[SEAL_KEY];
    bool has_key;
};

/*
 * The rights of a client to a group. A user with the right to campaign or control may also read. Without a line of
 * its own, CONFIG_CONTROL is given to those who may campaign, CONFIG_CAMPAIGN to those who may read, and
 * CONFIG_READ to everybody who can connect.
 */
enum config_right {
    CONFIG_READ,     /* allow-read: learn who leads, and led */
    CONFIG_CAMPAIGN, /* allow: be a candidate, and lead */
    CONFIG_CONTROL,  /* allow-control: depose another's leader, or choose its successor */
    CONFIG_RIGHTS
};

/* One `allow` line. */
struct config_allowed {
    bool is_set, is_everybody;
    uid_t users[CONFIG_ALLOWED_MAX];
    gid_t groups[CONFIG_ALLOWED_MAX];
    uint32_t user_count, group_count;
};

/* A [group NAME] section. NAME may end in * to match a prefix; * alone holds for all groups without a
 * section. */
struct config_group {
    char name[CONFIG_NAME_MAX + 1];
    const struct el_algorithm *algorithm;    /* default: quorum */
    char options[CONFIG_OPTIONS_MAX][2][64]; /* name and value as typed: lease = 2s */
    uint32_t option_count;
    struct config_allowed allowed[CONFIG_RIGHTS];
};

/* Consistent times for a kind of network: the defaults of quorum groups, unless their section says
 * otherwise. */
struct config_profile {
    const char *name;
    bool is_realtime; /* agent, guardian, `elector run` and its keepers ask for SCHED_FIFO and locked memory */
    el_duration transmit_max;
    struct {
        const char *name, *value;
    } options[CONFIG_PROFILE_OPTIONS]; /* name NULL: no more */
};

enum config_log { CONFIG_LOG_WORDS /* key=value */, CONFIG_LOG_JSON };

struct config {
    char path[4096]; /* of the file */
    char cluster[CONFIG_NAME_MAX + 1];
    uint8_t cluster_id[SEAL_CLUSTER_ID];              /* from `id = ` (hex), else a hash of the name */
    struct config_member members[CONFIG_MEMBERS_MAX]; /* by id; index: position - 1 */
    uint32_t member_count;
    uint32_t self; /* position */
    uint8_t secret_key[SEAL_KEY];
    uint8_t cluster_keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY];
    uint32_t cluster_key_count;
    bool has_keys; /* false: all members are on loopback */
    char socket[108];
    mode_t socket_mode; /* 0660 */
    gid_t socket_group;
    bool has_socket_group;
    uint32_t socket_per_user;      /* most connections of one user; default 1024. For this and the next three */
    uint32_t candidacies_per_user; /* root and the agent's own user have no limit. Default 16384 */
    uint32_t observed_per_user;    /* groups; default 16384 */
    uint32_t value_bytes_per_user; /* of candidates' values; default 1 MiB */
    uint32_t
        group_limit; /* most groups here, of all clients and peers; default 131072. 0: CONFIG_GROUPS_LIMIT */
    el_duration forget_after; /* a group that nobody uses is no longer listed; 0: never. Default 1 h */
    el_duration stop_timeout; /* the longest time that a client may take to stop; default 30 s */
    char state[4096];         /* the state file */
    enum config_log log;
    bool verbose;
    uint64_t recorder;                    /* size of the recording in bytes; 0: none */
    char recorder_file[4096];             /* "": the state file's name with .flight added */
    bool guardian;                        /* a separate process tells peers if the agent dies */
    bool seccomp;                         /* confine/ forbids system calls that the agent does not need */
    struct sockaddr_storage http;         /* family 0: off */
    bool http_is_unresolved;              /* its host is a name that was not found: off until a restart */
    bool http_is_default;                 /* not configured: `doctor` only warns if it is in use */
    uint32_t http_groups;                 /* most groups in /metrics one by one */
    uint32_t drift;                       /* of clocks, in millionths */
    el_duration transmit_max;             /* the longest time that a message is assumed to take */
    const struct config_profile *profile; /* NULL: none named; the defaults, which are those of lan */
    struct config_group groups[CONFIG_GROUPS_MAX];
    uint32_t group_count;
    bool restricts_reading; /* some section has `allow-read` */
};

/* False: `text` says in one line what is wrong, where (FILE:LINE) and what to do; `config` is wiped. */
bool config_read(struct config *, const char *path, char *text, size_t size);
/* The same for an agent, which looks names up again later: a member whose host is not found is `is_unresolved`. */
bool config_read_patiently(struct config *, const char *path, char *text, size_t size);
/* Tells each name that was not found. */
void config_each_unresolved(const struct config *, void (*tell)(void *context, const char *text),
                            void *context);
/* The same from memory. `path` is for messages, and relative paths start from its folder. With `form_only` no
 * host or user is looked up and no key file is read: for checking a file that belongs to another host. */
bool config_parse(struct config *, const char *path, const char *bytes, size_t byte_count, bool form_only,
                  char *text, size_t size);
/* Writes a short summary without secrets. False: writing failed. */
bool config_describe(const struct config *, FILE *out);
/* NULL: no profile has this name. */
const struct config_profile *config_profile_named(const char *name);
/*
 * Fills in a value for each option of the algorithm: from the section, else from the profile, else the default
 * (section and profile may be NULL). Lists of members stay empty. Cannot fail, because the section was checked
 * when it was read.
 */
void config_values(const struct config_profile *, const struct config_group *, const struct el_algorithm *,
                   struct el_value *values);
/* An inequality between the times of a section's groups (NULL: of those without a section), in words and in numbers:
 * "2 × beat + round trip + margin < lease", "2 × 150ms + 21ms + 50ms = 371ms < 1s". */
struct config_inequality {
    const char *algorithm;
    bool holds;
    char names[256], values[340], why[240]; /* why: what happens otherwise, and what to do */
};
/* False: there are not so many. All hold in a configuration that was read. */
bool config_inequality(const struct config *, const struct config_group *, uint32_t number,
                       struct config_inequality *);
/* How well a section's name matches a group: 0 not at all, the longest prefix better, the exact name best. */
size_t config_fit(const char *pattern, const char *name);
/* The section that applies to a group; NULL: none, the defaults apply. */
const struct config_group *config_group_of(const struct config *, const char *group);
/*
 * Whether a process of this user has the right. Each right is looked up by itself, in the section that fits the
 * group best among those that set it: a section that does not mention a right does not open it. Root and the
 * agent's own user have all rights.
 */
bool config_permits(const struct config *, const char *group, enum config_right, uid_t uid, const gid_t *gids,
                    uint32_t gid_count);
/* Whether everybody may read the group, also those whom nobody can identify. */
bool config_is_public(const struct config *, const char *group);
/* Tells each entry of an `allow` line that the section above it, such as [group *], does not have. */
void config_each_opening(const struct config *, void (*tell)(void *context, const char *text), void *context);
el_node config_position(const struct config *, const char *member); /* by name; 0: none */
const char *config_role_name(enum config_role);

static inline bool config_is_realtime(const struct config *config)
{
    return config->profile && config->profile->is_realtime;
}

static inline uint32_t config_address_count(const struct config_member *member)
{
    return 1 + member->other_count;
}

static inline const struct sockaddr_storage *config_address_at(const struct config_member *member,
                                                               uint32_t index)
{
    return index ? &member->others[index - 1] : &member->address;
}

static inline bool config_votes(const struct config *config, el_node member)
{
    const enum config_role role = config->members[member - 1].role;
    return role == CONFIG_VOTER || role == CONFIG_WITNESS;
}

static inline bool config_may_lead(const struct config *config, el_node member)
{
    const enum config_role role = config->members[member - 1].role;
    return role == CONFIG_VOTER || role == CONFIG_CANDIDATE;
}

static inline bool config_is_candidate(const struct config *config, el_node member)
{
    return config->members[member - 1].role == CONFIG_CANDIDATE;
}

/* Whether the two have a session: a candidate has one with each member that votes only. */
static inline bool config_talks(const struct config *config, el_node a, el_node b)
{
    if (!config_is_candidate(config, a) && !config_is_candidate(config, b)) return true;
    return config_votes(config, a) || config_votes(config, b);
}
void config_wipe(struct config *);
/* Wipes the secret key and the cluster keys alone: once seal/ has them, no other copy is needed. */
void config_forget_keys(struct config *);

/* Reads base64 keys, one per line, from a file that only its owner may read: a secret key, or the cluster
 * keys. */
bool config_read_keys(const char *path, uint8_t (*keys)[SEAL_KEY], uint32_t most, uint32_t *count, char *reason,
                      size_t size);

/* HOST:PORT or [IPV6]:PORT, numeric or a name to be looked up. */
bool config_address(const char *text, struct sockaddr_storage *, char *reason, size_t size);
void config_write_address(const struct sockaddr_storage *, char *text, size_t size);
/* The addresses, or "dynamic" if that is all that is known. */
void config_write_place(const struct config *, el_node member, char *text, size_t size);
/* The first 8 characters of a key in base64, which people compare. */
enum { CONFIG_KEY_TEXT = 9 };
const char *config_write_key(const uint8_t key[SEAL_KEY], char text[CONFIG_KEY_TEXT]);
/* Splits an address into host and port without looking anything up. */
bool config_split_address(const char *text, char *host, size_t room, uint16_t *port, char *reason, size_t size);
uint16_t config_port(const struct sockaddr_storage *);
socklen_t config_address_size(const struct sockaddr_storage *);
bool config_is_loopback(const struct sockaddr_storage *);
/* 1 to 63 letters, digits, '.', '_' and '-', not beginning with '-' or '.'. */
bool config_is_member_name(const char *text);

/*
 * What a running agent takes over of a file that was read again. `fresh` becomes the configuration to run with: rights,
 * logging, limits, cluster keys, the addresses of names, and new [group] sections are its own; everything else is again what
 * `running` has. Sections keep their places, and new ones follow. `tell` hears of each key that differs and was not taken
 * over, with its old and new value. The number of these.
 */
struct config_difference {
    const char *section, *key, *was, *is; /* "[agent]", "socket", ... */
};
/* Takes the address over if both have the same name for it, and it was found. True: it is another now. */
bool config_adopt_address(struct config_member *, const struct config_member *looked_up);
uint32_t config_merge(const struct config *running, struct config *fresh,
                      void (*tell)(void *context, const struct config_difference *), void *context);

#endif
