/* An agent's configuration: an INI file, and flags above it. */
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
    CONFIG_CLIENTS_MAX = 64, /* connected to the socket at a time */
    CONFIG_GROUPS_MAX = 256,
    CONFIG_ALLOWED_MAX = 16,
    CONFIG_OPTIONS_MAX = 16,
    CONFIG_PROFILE_OPTIONS = 5
};

#define CONFIG_RECORDER_MIN (UINT64_C(64) << 10)
#define CONFIG_RECORDER_MAX (UINT64_C(1) << 30)
#define CONFIG_PROCESS_MAX NS_PER_MS /* Tprocess, in ns: what times are checked against */

enum config_role { CONFIG_VOTER, CONFIG_WITNESS /* votes, never leads */, CONFIG_OBSERVER /* neither */ };

struct config_member {
    char name[CONFIG_NAME_MAX + 1];
    uint64_t id; /* 1..1000, distinct; terms are proposed in its name */
    enum config_role role;
    struct sockaddr_storage address; /* IPv4 or IPv6 */
    uint8_t public_key[SEAL_KEY];
    bool has_key;
};

/* A [group NAME] section; NAME may be * for all that have none of their own, or end in *. */
struct config_group {
    char name[CONFIG_NAME_MAX + 1];
    const struct el_algorithm *algorithm;    /* default: quorum */
    char options[CONFIG_OPTIONS_MAX][2][64]; /* name and value, as a user types them: lease = 2s */
    uint32_t option_count;
    uid_t users[CONFIG_ALLOWED_MAX];
    gid_t groups[CONFIG_ALLOWED_MAX];
    uint32_t user_count, group_count;
    bool restricted; /* there is an `allow` line */
};

/* Times that fit together, by name: what a quorum group has where its section says nothing else. */
struct config_profile {
    const char *name;
    el_duration transmit_max;
    struct {
        const char *name, *value;
    } options[CONFIG_PROFILE_OPTIONS];
};

enum config_log { CONFIG_LOG_WORDS /* key=value */, CONFIG_LOG_JSON };

struct config {
    char path[4096]; /* of the file */
    char cluster[CONFIG_NAME_MAX + 1];
    uint8_t cluster_id[SEAL_CLUSTER_ID];              /* from `id = ` (hex), or a hash of the cluster's name */
    struct config_member members[CONFIG_MEMBERS_MAX]; /* in the order of their ids: position - 1 */
    uint32_t member_count;
    uint32_t self; /* position */
    uint8_t secret_key[SEAL_KEY];
    uint8_t cluster_keys[SEAL_CLUSTER_KEYS_MAX][SEAL_KEY];
    uint32_t cluster_key_count;
    bool has_keys; /* without: loopback only */
    char socket[108];
    mode_t socket_mode; /* 0660 */
    gid_t socket_group;
    bool has_socket_group;
    uint32_t socket_per_user; /* up to so many connections of one user; 48 */
    char state[4096];         /* the record's file */
    enum config_log log;
    bool verbose;
    uint64_t recorder;                    /* bytes of the flight recorder's file; 0: none */
    char recorder_file[4096];             /* "": beside the state file, with .flight added */
    bool guardian;                        /* a process of its own tells peers of our death */
    struct sockaddr_storage http;         /* family 0: off */
    bool http_is_default;                 /* nobody asked for it: it can be gone without */
    uint32_t http_groups;                 /* up to so many are listed one by one */
    uint32_t drift;                       /* millionths */
    el_duration transmit_max;             /* the longest that a message is believed to take */
    const struct config_profile *profile; /* NULL: none was named, and presets hold, which are those of lan */
    struct config_group groups[CONFIG_GROUPS_MAX];
    uint32_t group_count;
};

/* False with one line: what, in which line of which file, what to do. `config` is wiped then. */
bool config_read(struct config *, const char *path, char *text, size_t size);
/* The same from memory; `path` is what relative paths and messages go by. With `form_only` no host or user is looked up
 * and no key file read: for whoever has only the text. */
bool config_parse(struct config *, const char *path, const char *bytes, size_t byte_count, bool form_only,
                  char *text, size_t size);
/* A short summary for people, no secrets in it. False: it could not be written. */
bool config_describe(const struct config *, FILE *out);
/* NULL: there is none of that name. */
const struct config_profile *config_profile_named(const char *name);
/* Presets, above them the profile, above it what the section says (either NULL: nothing): one for each option of its algorithm. Lists of members
 * stay empty, roles are the members' own. The section comes from a configuration that was read, so it cannot fail. */
void config_values(const struct config_profile *, const struct config_group *, const struct el_algorithm *,
                   struct el_value *values);
/* The section that holds for a group; NULL: none, so the defaults. */
const struct config_group *config_group_of(const struct config *, const char *group);
/* Whether such a process may campaign there. */
bool config_permits(const struct config *, const char *group, uid_t uid, const gid_t *gids, uint32_t gid_count);
el_node config_position(const struct config *, const char *member); /* by name; 0: none */
void config_wipe(struct config *);

/* Base64 keys, one to a line, from a file that only its owner can read. A secret or a ring of cluster keys. */
bool config_read_keys(const char *path, uint8_t (*keys)[SEAL_KEY], uint32_t most, uint32_t *count, char *reason,
                      size_t size);

/* HOST:PORT or [IPV6]:PORT, numeric or a name to be looked up. */
bool config_address(const char *text, struct sockaddr_storage *, char *reason, size_t size);
void config_write_address(const struct sockaddr_storage *, char *text, size_t size);
/* Its form alone: cut into the host and the port, and nobody looked up. */
bool config_split_address(const char *text, char *host, size_t room, uint16_t *port, char *reason, size_t size);
uint16_t config_port(const struct sockaddr_storage *);
socklen_t config_address_size(const struct sockaddr_storage *);
bool config_is_loopback(const struct sockaddr_storage *);
/* 1 to 63 of letters, digits, '.', '_' and '-'; not beginning with '-' or '.'. */
bool config_is_member_name(const char *text);

/* Members, groups and their settings, paths: all that the protocol stands on. Keys, permissions and logging may differ. */
bool config_is_same_cluster(const struct config *, const struct config *);

#endif
