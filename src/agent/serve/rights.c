/* Checks the rights of clients, and logs each change that a client asks for: user, change, group, granted or refused. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/serve/internal.h"
#include "base/log/log.h"

bool serve_may(const struct connection *c, const char *group, enum config_right right)
{
    const struct config *config = c->serve->config;
    if (right == CONFIG_READ && !config->restricts_reading) return true;
    return config_permits(config, group, right, c->who.uid, c->who.gids, c->who.gid_count);
}

bool serve_may_read(const struct connection *c, const struct leadership *o)
{
    return serve_may(c, host_name(o->group), CONFIG_READ);
}

const char *serve_lack_of(enum config_right right)
{
    static const char *const messages[] = {
        [CONFIG_READ] = "the group's `allow-read` line names neither this user nor a group of it",
        [CONFIG_CAMPAIGN] = "the group's `allow` line names neither this user nor a group of it",
        [CONFIG_CONTROL] = "the group's `allow-control` line names neither this user nor a group of it"};
    return messages[right];
}

/* ---- The audit ---- */

enum { TELL_MS = 1000 };

/* The name of the client's program, which the client can set to anything. procfs needs no disk. The user's name
 * would need a look-up that can block. */
static const char *name_program(struct connection *c)
{
    char path[40];
    if (c->program[0]) return c->program;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)c->who.pid);
    const int fd = c->who.pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t size = fd >= 0 ? read(fd, c->program, sizeof c->program - 1) : 0;
    if (fd >= 0) close(fd);
    c->program[size > 0 ? size : 0] = '\0';
    c->program[strcspn(c->program, "\n")] = '\0';
    if (!c->program[0]) memcpy(c->program, "?", 2);
    return c->program;
}

static void tell_left_out(struct serve *serve, uint64_t now)
{
    struct audit_kind kind;
    while (audit_take_left_out(&serve->audit, now, &kind))
        if (kind.what)
            log_event(LOG_INFO_LEVEL, NULL, "clients of uid %u: %s%s %u more times, without a line for each",
                      (unsigned)kind.uid, kind.what, kind.is_granted ? "" : " refused", kind.left_out);
        else
            log_event(LOG_INFO_LEVEL, NULL, "clients: %u changes by many users, without a line for each",
                      kind.left_out);
}

static void on_left_out(uv_timer_t *timer)
{
    struct serve *serve = timer->data;
    tell_left_out(serve, host_clock(serve->host));
    if (!audit_has_left_out(&serve->audit)) (void)uv_timer_stop(timer);
}

/* `what` is a constant, `how` may be "", `group` NULL. */
static void audit(struct connection *c, const char *what, bool is_granted, enum log_level level,
                  const char *group, const char *how)
{
    struct serve *serve = c->serve;
    if (audit_admits(&serve->audit, host_clock(serve->host), c->who.uid, what, is_granted))
        log_event(level, group, "client uid %u pid %d (%s): %s%s", (unsigned)c->who.uid, (int)c->who.pid,
                  name_program(c), what, how);
    else if (!serve->is_freed && !uv_is_active((uv_handle_t *)&serve->audit_timer))
        (void)uv_timer_start(&serve->audit_timer, on_left_out, TELL_MS, TELL_MS);
}

void serve_audit_request(struct connection *c, const char *op, const json_t *request, const char *group)
{
    const char *to = json_string_value(json_object_get(request, "to")), *refusal = c->refusal;
    const bool is_forced = json_is_true(json_object_get(request, "force"));
    const bool is_forbidden = refusal && strcmp(refusal, "not-permitted") == 0;
    char how[128];
    snprintf(how, sizeof how, "%s%.63s %s%s", to ? " to " : "", to ? to : "", refusal ? "refused: " : "granted",
             refusal ? refusal : "");
    audit(c, is_forced ? "forced resign" : op, !refusal, is_forbidden ? LOG_WARN_LEVEL : LOG_INFO_LEVEL, group,
          how);
}

void serve_audit_answer(struct connection *c, const char *op, const char *group)
{
    char how[96];
    snprintf(how, sizeof how, " %s%s, by the leader's agent", c->refusal ? "refused: " : "granted",
             c->refusal ? c->refusal : "");
    audit(c, op, !c->refusal, LOG_INFO_LEVEL, group, how);
}

void serve_audit_end(struct connection *c)
{
    char how[64];
    snprintf(how, sizeof how, ", and %u candidac%s with it", c->campaigns, c->campaigns == 1 ? "y" : "ies");
    audit(c, "disconnected", true, LOG_INFO_LEVEL, NULL, how);
}

void serve_end_audit(struct serve *serve)
{
    tell_left_out(serve, UINT64_MAX);
}
