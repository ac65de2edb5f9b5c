/* Shared by the files of the config room. */
#ifndef ELECTOR_AGENT_CONFIG_INTERNAL_H
#define ELECTOR_AGENT_CONFIG_INTERNAL_H

#include "agent/config/config.h"

enum config_section {
    CONFIG_NO_SECTION,
    CONFIG_IN_CLUSTER,
    CONFIG_IN_MEMBER,
    CONFIG_IN_AGENT,
    CONFIG_IN_GROUP
};

/* The state of reading one file. It keeps the line numbers of settings, so that later checks can name them. */
struct config_reading {
    struct config *config;
    const char *path;
    bool form_only;
    bool is_patient;      /* a host that is not found is looked up again later */
    const char *at, *end; /* the rest of the file */
    uint32_t line;        /* the current one, from 1 */

    enum config_section section;
    uint32_t index;    /* of the member or the group */
    uint64_t seen;     /* bit k: key k of the table was read in this section */
    uint32_t sections; /* bit s: section s was read */

    char self[CONFIG_NAME_MAX + 1];
    char key_file[sizeof(((struct config *)0)->state)], cluster_key_file[sizeof(((struct config *)0)->state)];
    uint32_t self_line, key_file_line, cluster_key_file_line, transmit_line;
    uint32_t member_lines[CONFIG_MEMBERS_MAX];
    uint32_t group_lines[CONFIG_GROUPS_MAX];
    uint32_t option_lines[CONFIG_GROUPS_MAX][CONFIG_OPTIONS_MAX];

    bool failed;
    char *text; /* the first mistake; later ones are dropped */
    size_t size;
};

/* Sets the text to "FILE:LINE: …", without the line if it is 0. Returns false. */
bool config_fail(struct config_reading *, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One "[name]" line, and one "key = value" line. */
bool config_begin_section(struct config_reading *, const char *name);
bool config_read_key(struct config_reading *, const char *key, const char *value);

/* Checks of the whole file, after the last line. */
bool config_check(struct config_reading *);
bool config_check_members(struct config_reading *);
bool config_check_keys(struct config_reading *);
bool config_check_groups(struct config_reading *);

/* An option's default under a profile, which may be NULL. NULL: it has none. */
const char *config_default(const struct config_profile *, const struct el_algorithm *,
                           const struct el_option *);
bool config_read_allow(struct config_reading *, const char *value);
bool config_read_allow_read(struct config_reading *, const char *value);
bool config_read_allow_control(struct config_reading *, const char *value);
bool config_key_of(const char *text, uint8_t key[SEAL_KEY]);
/* PORT on loopback, or an address to listen on, which may be a wildcard. */
bool config_http_of(const char *text, bool numeric, struct sockaddr_storage *, char *reason, size_t size);
/* *is_missing (may be NULL): the address is well written, but its host was not found. */
bool config_address_of(const char *text, bool numeric, struct sockaddr_storage *, bool *is_missing,
                       char *reason, size_t size);
bool config_is_numeric(const char *text);                                /* its host is no name */
void config_set_wildcard(struct sockaddr_storage *, sa_family_t family); /* any address and port */

#endif
