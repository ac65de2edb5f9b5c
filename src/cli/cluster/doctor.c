/* elector doctor: checks what a member needs, and prints one line for each: what, where, what to do. Changes
 * nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "agent/config/config.h"
#include "agent/peer/udp.h"
#include "agent/state/slot.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/cluster/doctor.h"
#include "cli/cluster/status.h"
#include "client/engine.h"

enum { CONFIG_BYTES_MAX = 1 << 20, SPINS = 1000000, READINGS = 5, USUAL_DRIFT = 10000 };

struct doctor {
    const char *path;      /* of the configuration */
    struct config *config; /* NULL: unreadable or malformed */
    bool is_whole;         /* names were resolved and keys read too */
    bool in_use;           /* another process has locked the state file */
    json_t *status;        /* NULL: no agent has answered */
    json_t *lines;         /* --output json; NULL: text */
    bool found[CANNOT_TELL + 1];
};

static void write_help(void)
{
    fputs(
        "Usage: elector doctor [--config FILE] [--output text|json]\n\n"
        "Checks what a member needs: configuration, keys, state file, clocks, address, HTTP. Then asks its agent which\n"
        "members it hears and who leads. Prints one line each: ok, warn, WRONG and what to do, or ? if it cannot tell.\n"
        "Changes nothing, and does not disturb a running agent. Best run as the agent's user.\n\n"
        "  --config FILE    the configuration (/etc/elector/elector.conf)\n"
        "  --output text|json\n"
        "                   json: one object with `checks`; each has verdict (ok, warning, wrong, unknown), what, text\n"
        "  --help           this text\n\n"
        "Exit codes: 0 all is well; 1 something is wrong; 2 usage; 3 cannot tell, for instance because no agent runs.\n",
        stdout);
}

/* Prints one line; control characters are replaced. */
static void say(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct doctor *d, enum verdict verdict, const char *what, const char *format, ...)
{
    static const char *const words[] = {"ok", "warn", "WRONG", "?"}, *const names[] = {"ok", "warning", "wrong",
                                                                                       "unknown"};
    char text[1024], head[96];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    d->found[verdict] = true;
    if (d->lines) {
        json_array_append_new(d->lines,
                              json_pack("{ss ss* ss*}", "verdict", names[verdict], "what", what, "text", text));
        return;
    }
    snprintf(head, sizeof head, "%-6s %-14s ", words[verdict], what);
    for (char *c = head; *c; c++) putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
    for (char *c = text; *c; c++) putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
    putchar('\n');
}

static const struct config_member *self_of(const struct config *config)
{
    return &config->members[config->self - 1];
}

/* ---- Configuration and keys ---- */

/* -1: errno. */
static ssize_t read_some(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    const size_t count = fread(bytes, 1, size, file);
    const int error = ferror(file) ? errno : 0;
    fclose(file);
    errno = error;
    return error ? -1 : (ssize_t)count;
}

/* True if the state file belongs to another user, whose uid is then the agent's. */
static bool is_anothers(const struct config *config, uid_t *owner)
{
    struct stat status;
    if (stat(config->state, &status) != 0) return false;
    *owner = status.st_uid;
    return status.st_uid != geteuid();
}

/* Reads the configuration again, with names and keys. If that fails, the other checks still run. */
static void check_keys(struct doctor *d)
{
    struct config *whole = calloc(1, sizeof *whole);
    char text[512] = "out of memory";
    uid_t owner = 0;
    d->is_whole = whole && config_read(whole, d->path, text, sizeof text);
    if (d->is_whole) {
        *d->config = *whole;
        if (whole->has_keys)
            say(d, FINE, "keys", "member key and %u cluster key%s, for their owner alone",
                whole->cluster_key_count, whole->cluster_key_count == 1 ? "" : "s");
        else
            say(d, WARN, "keys",
                "there are none, so anybody on this host can pose as a member; `elector init` makes them");
    } else if (is_anothers(d->config, &owner)) {
        say(d, CANNOT_TELL, "keys", "%s; the agent's user seems to be uid %u: ask as that one", text,
            (unsigned)owner);
    } else {
        say(d, WRONG, "keys", "%s", text);
    }
    if (whole) config_wipe(whole);
    free(whole);
}

static void tell_opening(void *context, const char *text)
{
    say(context, WARN, "rights", "%s", text);
}

static void check_config(struct doctor *d)
{
    char *bytes = malloc(CONFIG_BYTES_MAX), text[512] = "out of memory";
    struct config *config = calloc(1, sizeof *config);
    const ssize_t count = bytes && config ? read_some(d->path, bytes, CONFIG_BYTES_MAX) : -1;
    if (bytes && config && count < 0) {
        say(d, errno == EACCES ? CANNOT_TELL : WRONG, "configuration", "%s: cannot read it: %s; %s", d->path,
            strerror(errno),
            errno == EACCES ? "ask as the agent's user"
                            : "name it with --config, or let `elector init` write one");
    } else if (count >= 0 && config_parse(config, d->path, bytes, (size_t)count, true, text, sizeof text)) {
        d->config = config;
        say(d, FINE, "configuration", "%s: member %s of %s, %u members", d->path, self_of(config)->name,
            config->cluster, config->member_count);
    } else {
        say(d, WRONG, "configuration", "%s", text);
    }
    free(bytes);
    if (d->config != config) free(config);
    if (d->config) check_keys(d);
    if (d->is_whole) config_each_opening(d->config, tell_opening, d); /* by number: names were looked up */
}

/* ---- State file ---- */

/* Reads /proc/locks instead of taking the lock, which could block an agent that is just starting. Does not
 * work on file systems that show another device number than the kernel's, such as btrfs. */
static bool is_locked(const struct stat *status)
{
    char line[256], place[64];
    bool found = false;
    FILE *file = fopen("/proc/locks", "re");
    if (!file) return false;
    snprintf(place, sizeof place, " %02x:%02x:%ju ", major(status->st_dev), minor(status->st_dev),
             (uintmax_t)status->st_ino);
    while (!found && fgets(line, sizeof line, file)) found = strstr(line, "FLOCK") && strstr(line, place);
    fclose(file);
    return found;
}

/* Copies the newer valid slot into `newest`. False if there is none, or one of an unknown version. */
static bool find_newest(int fd, unsigned char *bytes, struct record_contents *slot,
                        struct record_contents *newest, bool *is_newer)
{
    bool found = false;
    const ssize_t count = pread(fd, bytes, 2 * (size_t)RECORD_SLOT, 0);
    for (size_t i = 0; i < 2 && count == 2 * (ssize_t)RECORD_SLOT; i++) {
        const enum record_slot_state state = record_slot_decode(bytes + i * RECORD_SLOT, RECORD_SLOT, slot);
        *is_newer |= state == RECORD_SLOT_NEWER;
        if (state != RECORD_SLOT_GOOD || (found && slot->version <= newest->version)) continue;
        *newest = *slot;
        found = true;
    }
    return found && !*is_newer;
}

static void judge_state(struct doctor *d, const struct record_contents *newest)
{
    const struct config *config = d->config;
    const char *path = config->state;
    if (memcmp(newest->identity.cluster_id, config->cluster_id, RECORD_CLUSTER_ID) != 0)
        say(d, WRONG, "state file", "%s: is of another cluster; check `state` and the cluster's name and id",
            path);
    else if (newest->identity.member != self_of(config)->id)
        say(d, WRONG, "state file",
            "%s: is of the member with id %" PRIu64 ", and %s is %" PRIu64 "; check `state` and `self`", path,
            newest->identity.member, self_of(config)->name, self_of(config)->id);
    else
        say(d, newest->forgot ? WARN : FINE, "state file", "%s: of this member%s%s", path,
            d->in_use ? ", in use" : "",
            newest->forgot ? "; it was once lost, so in new groups it asks the others first" : "");
}

static void read_state(struct doctor *d, int fd)
{
    unsigned char *bytes = malloc(2 * (size_t)RECORD_SLOT);
    struct record_contents *slot = malloc(sizeof *slot), *newest = malloc(sizeof *newest);
    const char *path = d->config->state;
    bool good = false, is_newer = false;
    /* An agent may be writing. One slot is nearly always valid then, and another attempt finds it. */
    for (int i = 0; i < READINGS && !good && bytes && slot && newest; i++)
        good = find_newest(fd, bytes, slot, newest, &is_newer);
    if (!bytes || !slot || !newest)
        say(d, CANNOT_TELL, "state file", "out of memory");
    else if (good)
        judge_state(d, newest);
    else if (is_newer)
        say(d, WRONG, "state file", "%s: was written by another version of elector; run that one", path);
    else
        say(d, WRONG, "state file",
            "%s: is damaged, or no state file; a member that starts with it has forgotten its promises, and grants nothing "
            "until the others have told what they know",
            path);
    free(bytes);
    free(slot);
    free(newest);
}

static void check_state(struct doctor *d)
{
    const char *path = d->config->state;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 && errno == ENOENT) {
        say(d, WRONG, "state file",
            "%s: is missing; in a new cluster begin with the one that `elector init` wrote, in an old one look for it first",
            path);
    } else if (fd < 0) {
        say(d, errno == EACCES ? CANNOT_TELL : WRONG, "state file", "%s: cannot open it: %s; %s", path,
            strerror(errno), errno == EACCES ? "ask as the agent's user" : "let `state` name a regular file");
    } else if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        say(d, WRONG, "state file", "%s: is no regular file; let `state` name one", path);
    } else {
        d->in_use = is_locked(&status);
        if (status.st_mode & (S_IWGRP | S_IWOTH))
            say(d, WRONG, "state file", "%s: others may write to it (mode %04o); chmod it to 0600", path,
                (unsigned)(status.st_mode & 07777));
        if (status.st_uid != geteuid())
            say(d, WARN, "state file",
                "%s: belongs to uid %u and this is uid %u; an agent must run as its owner", path,
                (unsigned)status.st_uid, (unsigned)geteuid());
        read_state(d, fd);
    }
    if (fd >= 0) close(fd);
}

/* ---- Clocks ---- */

/* Polls instead of sleeping: on a clock that has stopped, a sleep would never end. */
static bool advances(uint64_t (*read_clock)(void))
{
    const uint64_t first = read_clock();
    uint64_t now = first;
    for (int i = 0; i < SPINS && now == first; i++) now = read_clock();
    return now > first;
}

static void check_source(struct doctor *d)
{
    char name[64] = "", text[256];
    const ssize_t count =
        read_some("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name - 1);
    name[count > 0 ? count : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    const enum verdict verdict = doctor_source(name, text, sizeof text);
    say(d, verdict, "clock source", "%s", text);
}

static void check_rate(struct doctor *d)
{
    struct timex t = {.modes = 0};
    char text[256];
    if (adjtimex(&t) < 0) {
        say(d, WARN, "clock rate", "cannot read it from the kernel: %s", strerror(errno));
        return;
    }
    const uint32_t drift = d->config ? d->config->drift : USUAL_DRIFT;
    const enum verdict verdict = doctor_rate(&t, sysconf(_SC_CLK_TCK), drift, text, sizeof text);
    say(d, verdict, "clock rate", "%s", text);
}

static void check_clocks(struct doctor *d)
{
    const bool boot = advances(clock_boottime_ns), monotonic = advances(clock_monotonic_ns);
    if (boot && monotonic)
        say(d, FINE, "clocks", "CLOCK_BOOTTIME and CLOCK_MONOTONIC advance");
    else
        say(d, WRONG, "clocks",
            "%s does not advance; no lease would ever expire on this host, so do not run an agent here",
            boot ? "CLOCK_MONOTONIC" : "CLOCK_BOOTTIME");
    check_source(d);
    check_rate(d);
}

/* ---- The agent ---- */

static void ask(struct doctor *d, struct json_lines *w, const char *path)
{
    elector_status status = json_lines_open(w, path);
    if (status == ELECTOR_OK) {
        status = cli_ask_status(w, NULL, &d->status);
        json_lines_close(w);
        if (status == ELECTOR_OK && json_is_true(json_object_get(d->status, "ok"))) return;
        json_decref(d->status);
        d->status = NULL;
        say(d, WRONG, "agent", "%s", status == ELECTOR_OK ? "does not tell its status" : w->reason);
    } else if (d->in_use && status != ELECTOR_REFUSED) {
        say(d, WRONG, "agent", "%s; its state file is in use, so it seems to hang: restart it", w->reason);
    } else {
        say(d, CANNOT_TELL, "agent", "%s", w->reason);
    }
}

/* True if the agent that answered is the configured member. */
static bool is_ours(const struct doctor *d)
{
    const char *name = json_lines_text(d->status, "member", 255),
               *cluster = json_lines_text(d->status, "cluster", 255);
    return name && cluster && strcmp(name, self_of(d->config)->name) == 0 &&
           strcmp(cluster, d->config->cluster) == 0;
}

static void check_agent(struct doctor *d)
{
    const char *url = engine_usual_url();
    const char *path = d->config ? d->config->socket : url;
    if (!d->config && strncmp(url, "unix:", 5) == 0) path = url + 5;
    struct json_lines *w = calloc(1, sizeof *w);
    if (w) ask(d, w, path);
    free(w);
    if (!d->status) return;
    const char *name = json_lines_text(d->status, "member", 255),
               *cluster = json_lines_text(d->status, "cluster", 255);
    if (!d->config || is_ours(d))
        say(d, FINE, "agent", "%s answers for member %s of %s", path, name ? name : "?",
            cluster ? cluster : "?");
    else
        say(d, WRONG, "agent", "%s answers for member %s of %s, not for %s of %s; check `socket` and `self`",
            path, name ? name : "?", cluster ? cluster : "?", self_of(d->config)->name, d->config->cluster);
}

static void check_address(struct doctor *d)
{
    char address[128], text[512];
    if (!d->is_whole) return;
    config_write_address(&self_of(d->config)->address, address, sizeof address);
    if (d->status && is_ours(d)) {
        say(d, FINE, "address", "%s is the agent's", address);
        return;
    }
    if (d->in_use) { /* an agent is starting, hangs or listens elsewhere: do not take its address */
        say(d, WARN, "address", "%s was not tried, because somebody uses the state file", address);
        return;
    }
    const int fd = udp_open(d->config, text, sizeof text);
    if (fd < 0) {
        say(d, WRONG, "address", "%s", text);
        return;
    }
    close(fd);
    say(d, FINE, "address", "%s is free for an agent", address);
}

static void check_http(struct doctor *d)
{
    char text[512];
    if (!d->is_whole || (d->in_use && !d->status)) return;
    const bool runs = d->status && is_ours(d);
    const char *error = runs ? json_lines_text(d->status, "http_error", sizeof text - 1) : NULL;
    const enum verdict verdict = doctor_http(d->config, runs, error, text, sizeof text);
    say(d, verdict, "http", "%s", text);
}

/* "lease of [group work] is 1s here and 2s there; ..." */
static void write_differences(const json_t *list, char *text, size_t size)
{
    size_t i, used = 0;
    json_t *one;
    text[0] = '\0';
    json_array_foreach(list, i, one)
    {
        const char *what = json_lines_text(one, "what", 255), *ours = json_lines_text(one, "ours", 255),
                   *theirs = json_lines_text(one, "theirs", 255);
        if (used >= size) break;
        if (ours && theirs)
            used += (size_t)snprintf(text + used, size - used, "%s%s is %s here and %s there", i ? "; " : "",
                                     what ? what : "?", ours, theirs);
        else
            used += (size_t)snprintf(text + used, size - used,
                                     "the %s differs, and its agent is too old to say how", what ? what : "?");
    }
}

static void check_member(struct doctor *d, const json_t *member, size_t *votes, size_t *heard)
{
    const char *name = json_lines_text(member, "name", 255), *self = json_lines_text(d->status, "member", 255);
    const char *role = json_lines_text(member, "role", 64), *address = json_lines_text(member, "address", 255);
    const bool is_self = name && self && strcmp(name, self) == 0;
    const bool has_vote = !role || strcmp(role, "observer") != 0;
    const bool reachable = is_self || json_is_true(json_object_get(member, "reachable"));
    char what[80];
    uint64_t ms;
    const json_t *differs = json_object_get(member, "differs");
    char differences[700];
    *votes += has_vote;
    *heard += has_vote && reachable && !differs;
    if (is_self) return;
    snprintf(what, sizeof what, "member %.63s", name ? name : "?");
    if (!address) address = "?";
    const bool ever = json_lines_number(member, "heard_ms", 0, &ms);
    write_differences(differs, differences, sizeof differences);
    if (differs)
        say(d, WRONG, what,
            "%s, heard, but it does not count: %s; make the files the same, and restart the agent", address,
            differences);
    else if (reachable && ever)
        say(d, FINE, what, "%s, heard %" PRIu64 " ms ago", address, ms);
    else if (ever)
        say(d, has_vote ? WRONG : WARN, what,
            "%s, not heard for %" PRIu64 " ms; does its agent run, and does UDP get through both ways?",
            address, ms);
    else
        say(d, has_vote ? WRONG : WARN, what,
            "%s, never heard; does its agent run, with the same keys and cluster, and does UDP get through both ways?",
            address);
}

enum { GROUPS_SHOWN_MAX = 20 }; /* of each verdict; all are counted */

static void check_group(struct doctor *d, const json_t *group, size_t counts[CANNOT_TELL + 1])
{
    const char *name = json_lines_text(group, "group", 255), *leader = json_lines_text(group, "leader", 255);
    uint64_t token = 0, candidates = 0, ms = 0;
    char what[80];
    snprintf(what, sizeof what, "group %.63s", name ? name : "?");
    json_lines_number(group, "token", 0, &token);
    json_lines_number(group, "candidates", 0, &candidates);
    json_lines_number(d->status, "worst_failover_ms", 0, &ms);
    const enum verdict verdict = leader ? FINE : candidates == 0 ? WARN : WRONG;
    d->found[verdict] = true;
    if (++counts[verdict] > GROUPS_SHOWN_MAX) return;
    if (leader)
        say(d, FINE, what, "%s leads, token %" PRIu64, leader, token);
    else if (candidates == 0)
        say(d, WARN, what,
            "nobody leads, and nobody stands here; `elector run` does, or one at another member");
    else
        say(d, WRONG, what,
            "nobody leads, with %" PRIu64 " standing here; if so still after %" PRIu64
            " ms, see the members above",
            candidates, ms);
}

static void check_cluster(struct doctor *d)
{
    size_t i, votes = 0, heard = 0;
    json_t *each;
    json_array_foreach(json_object_get(d->status, "members"), i, each)
    {
        check_member(d, each, &votes, &heard);
    }
    if (heard * 2 > votes)
        say(d, FINE, "majority", "%zu of %zu votes count: here or heard, with the same settings", heard, votes);
    else
        say(d, WRONG, "majority", "%zu of %zu votes count: nobody can be elected until there are %zu", heard,
            votes, votes / 2 + 1);
    size_t counts[CANNOT_TELL + 1] = {0};
    json_array_foreach(json_object_get(d->status, "groups"), i, each)
    {
        check_group(d, each, counts);
    }
    say(d, counts[WRONG] ? WRONG : FINE, "groups",
        "%zu: %zu led, %zu without a leader and without candidates here, %zu without a leader though candidates stand here%s",
        i, counts[FINE], counts[WARN], counts[WRONG],
        counts[FINE] > GROUPS_SHOWN_MAX || counts[WARN] > GROUPS_SHOWN_MAX || counts[WRONG] > GROUPS_SHOWN_MAX
            ? "; the first 20 of each kind are above"
            : "");
}

/* ---- The verb ---- */

static int examine(struct doctor *d)
{
    check_config(d);
    if (d->config) check_state(d);
    check_clocks(d);
    check_agent(d);
    check_address(d);
    check_http(d);
    if (d->status) check_cluster(d);
    json_decref(d->status);
    if (d->config) config_wipe(d->config);
    free(d->config);
    int code = CLI_YES;
    if (d->found[CANNOT_TELL]) code = CLI_CANNOT_TELL;
    if (d->found[WRONG]) code = CLI_NO;
    if (d->lines) {
        static const char *const verdicts[] = {"ok", "wrong", "usage", "unknown"};
        json_t *all = json_pack("{ss so}", "verdict", verdicts[code], "checks", d->lines);
        cli_put_json(all, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(all);
    }
    return cli_finish("doctor", stdout, code);
}

int cli_doctor(int argc, char **argv)
{
    struct doctor d = {.path = "/etc/elector/elector.conf"};
    bool json = false;
    for (int at = 1; at < argc; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            write_help();
            return cli_finish("doctor", stdout, CLI_YES);
        }
        if (cli_option(argc, argv, &at, "output", &value)) {
            if (!cli_output("doctor", value, &json)) return CLI_USAGE;
            continue;
        }
        if (!cli_option(argc, argv, &at, "config", &value)) return cli_unknown("doctor", cli_doctor, argv[at]);
        if (!value || !*value) return cli_usage_error("doctor", "--config needs the name of a file");
        d.path = value;
    }
    if (json) d.lines = json_array();
    return examine(&d);
}
