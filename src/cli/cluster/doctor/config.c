/* Checks of `elector doctor` on files: configuration, keys and state file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/state/slot.h"
#include "cli/cluster/doctor/doctor.h"

enum { CONFIG_BYTES_MAX = 1 << 20, READINGS = 5 };

/* ---- Configuration and keys ---- */

/* ---- Configuration and keys ---- */

/* -1: errno. */
ssize_t doctor_read(const char *path, char *bytes, size_t size)
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
            doctor_say(d, FINE, "keys", "member key and %u cluster key%s, for their owner alone",
                       whole->cluster_key_count, whole->cluster_key_count == 1 ? "" : "s");
        else
            doctor_say(
                d, WARN, "keys",
                "there are none, so anybody on this host can pose as a member; `elector init` makes them");
    } else if (is_anothers(d->config, &owner)) {
        doctor_say(d, CANNOT_TELL, "keys", "%s; the agent's user seems to be uid %u: ask as that one", text,
                   (unsigned)owner);
    } else {
        doctor_say(d, WRONG, "keys", "%s", text);
    }
    if (whole) config_wipe(whole);
    free(whole);
}

static void tell_opening(void *context, const char *text)
{
    doctor_say(context, WARN, "rights", "%s", text);
}

void doctor_check_config(struct doctor *d)
{
    char *bytes = malloc(CONFIG_BYTES_MAX), text[512] = "out of memory";
    struct config *config = calloc(1, sizeof *config);
    const ssize_t count = bytes && config ? doctor_read(d->path, bytes, CONFIG_BYTES_MAX) : -1;
    if (bytes && config && count < 0) {
        doctor_say(d, errno == EACCES ? CANNOT_TELL : WRONG, "configuration", "%s: cannot read it: %s; %s",
                   d->path, strerror(errno),
                   errno == EACCES ? "ask as the agent's user"
                                   : "name it with --config, or let `elector init` write one");
    } else if (count >= 0 && config_parse(config, d->path, bytes, (size_t)count, true, text, sizeof text)) {
        d->config = config;
        doctor_say(d, FINE, "configuration", "%s: member %s of %s, %u members", d->path,
                   doctor_self(config)->name, config->cluster, config->member_count);
    } else {
        doctor_say(d, WRONG, "configuration", "%s", text);
    }
    free(bytes);
    if (d->config != config) free(config);
    if (d->config) check_keys(d);
    if (d->is_whole) config_each_opening(d->config, tell_opening, d); /* by number: names were looked up */
}

/* ---- State file ---- */

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
        doctor_say(d, WRONG, "state file",
                   "%s: is of another cluster; check `state` and the cluster's name and id", path);
    else if (newest->identity.member != doctor_self(config)->id)
        doctor_say(d, WRONG, "state file",
                   "%s: is of the member with id %" PRIu64 ", and %s is %" PRIu64 "; check `state` and `self`",
                   path, newest->identity.member, doctor_self(config)->name, doctor_self(config)->id);
    else
        doctor_say(d, newest->forgot ? WARN : FINE, "state file", "%s: of this member%s%s", path,
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
        doctor_say(d, CANNOT_TELL, "state file", "out of memory");
    else if (good)
        judge_state(d, newest);
    else if (is_newer)
        doctor_say(d, WRONG, "state file", "%s: was written by another version of elector; run that one", path);
    else
        doctor_say(
            d, WRONG, "state file",
            "%s: is damaged, or no state file; a member that starts with it has forgotten its promises, and grants nothing "
            "until the others have told what they know",
            path);
    free(bytes);
    free(slot);
    free(newest);
}

void doctor_check_state(struct doctor *d)
{
    const char *path = d->config->state;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 && errno == ENOENT) {
        doctor_say(
            d, WRONG, "state file",
            "%s: is missing; in a new cluster begin with the one that `elector init` wrote, in an old one look for it first",
            path);
    } else if (fd < 0) {
        doctor_say(d, errno == EACCES ? CANNOT_TELL : WRONG, "state file", "%s: cannot open it: %s; %s", path,
                   strerror(errno),
                   errno == EACCES ? "ask as the agent's user" : "let `state` name a regular file");
    } else if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        doctor_say(d, WRONG, "state file", "%s: is no regular file; let `state` name one", path);
    } else {
        d->in_use = is_locked(&status);
        if (status.st_mode & (S_IWGRP | S_IWOTH))
            doctor_say(d, WRONG, "state file", "%s: others may write to it (mode %04o); chmod it to 0600", path,
                       (unsigned)(status.st_mode & 07777));
        if (status.st_uid != geteuid())
            doctor_say(d, WARN, "state file",
                       "%s: belongs to uid %u and this is uid %u; an agent must run as its owner", path,
                       (unsigned)status.st_uid, (unsigned)geteuid());
        read_state(d, fd);
    }
    if (fd >= 0) close(fd);
}
