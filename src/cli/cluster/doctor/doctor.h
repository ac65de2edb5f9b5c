/* `elector doctor`: what its files share. */
#ifndef ELECTOR_CLI_CLUSTER_DOCTOR_H
#define ELECTOR_CLI_CLUSTER_DOCTOR_H

#include <jansson.h>
#include <sys/timex.h>
#include <sys/types.h>

#include "agent/config/config.h"

enum verdict { FINE, WARN, WRONG, CANNOT_TELL };

struct doctor {
    const char *path;      /* of the configuration */
    struct config *config; /* NULL: unreadable or malformed */
    bool is_named;         /* --config was given */
    const char *url;       /* what to examine, if --config was not given */
    bool has_url;          /* --url was given: of an agent's files nothing is known */
    bool is_whole;         /* names were resolved and keys read too */
    bool in_use;           /* another process has locked the state file */
    json_t *status;        /* NULL: no agent has answered */
    json_t *lines;         /* --output json; NULL: text */
    bool found[CANNOT_TELL + 1];
};

/* Prints one line. */
void doctor_say(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const struct config_member *doctor_self(const struct config *);

/* config.c */
void doctor_check_config(struct doctor *); /* with its keys; sets `config` */
void doctor_check_state(struct doctor *);
ssize_t doctor_read(const char *path, char *bytes, size_t size); /* -1: errno */

/* clocks.c */
void doctor_check_clocks(struct doctor *);

/* store.c: asks what is behind this URL, and examines it if it is a store */
enum behind { BEHIND_NOBODY, BEHIND_AGENT, BEHIND_STORE };
enum behind doctor_behind(struct doctor *, const char *url);

/* cluster.c */
void doctor_check_cluster(struct doctor *);

/* lateness.c: whether the agent's loop was so late in the last hour that it may cost a lease */
void doctor_check_lateness(struct doctor *);
void doctor_check_realtime(struct doctor *); /* whether the host grants what `profile = realtime` asks for */
/* `stall_ns`: how long the agent may stall before the work of the shortest lease is stopped. */
enum verdict doctor_lateness(uint64_t late_ns, uint64_t stall_ns, char *text, size_t size);

/* Checks `http`. `runs`: there is an agent that should serve it. `error`: why it does not, as it says; NULL: it
 * does. */
enum verdict doctor_http(const struct config *, bool runs, const char *error, char *text, size_t size);

/* Judges the clock source of that name; "": unknown. */
enum verdict doctor_source(const char *name, char *text, size_t size);
/* Judges the kernel's adjustment of the clock rate: the configured drift, in millionths, must cover it. */
enum verdict doctor_rate(const struct timex *, long ticks_per_s, uint32_t drift, char *text, size_t size);

#endif
