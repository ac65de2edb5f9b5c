/*
 * file:PATH, leadership on one host without an agent. There is no lease: the kernel frees the lock when its
 * holder dies or closes the file, and never earlier. A candidate is woken by inotify when the holder closes the
 * file. It also retries every 100 ms, because the kernel reports the close just before it frees the lock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "client/engine.h"
#include "client/event_queue.h"
#include "client/file/lock_file.h"

enum { RETRY_MS = 100, SOON_MS = 5, LOOK_MS = 200, FAILED_MS = 1000 };

struct seat { /* one group: its lock, and what we want of it */
    struct seat *next;
    char group[ELECTOR_GROUP_MAX + 1];
    char value[ELECTOR_VALUE_MAX + 1];
    struct lock_file lock;
    bool stands, leads, watched;
    int watch;        /* of inotify; -1: none */
    uint64_t due_ns;  /* when to try or look again */
    uint64_t rest_ns; /* not before, even if inotify wakes us: our own failed attempts wake us too */
    bool told;        /* `last` has been reported */
    struct lock_holder last;
};

struct folder {
    struct engine base;
    int fd; /* inotify; if the system has none left, an eventfd that never becomes readable */
    bool notified;
    struct seat *seats;
    char path[4096];
};

static struct folder *folder_of(struct engine *engine)
{
    return (struct folder *)engine;
}

static struct seat *seat_at(struct folder *f, const char *group, elector_status *status)
{
    struct seat *s = f->seats;
    while (s && strcmp(s->group, group) != 0) s = s->next;
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) {
        *status = engine_fail(f->base.owner, ELECTOR_NO_MEMORY, "%s: out of memory", group);
        return NULL;
    }
    if (!lock_name(&s->lock, f->path, group)) {
        *status = engine_fail(f->base.owner, ELECTOR_INVALID, "file:%.80s…: the path is too long", f->path);
        free(s);
        return NULL;
    }
    snprintf(s->group, sizeof s->group, "%s", group);
    s->watch = -1;
    s->next = f->seats;
    f->seats = s;
    return s;
}

static elector_status complain(struct folder *f, const struct seat *s)
{
    if (errno == EOVERFLOW)
        return engine_fail(f->base.owner, ELECTOR_REFUSED, "%s: its token has reached 2^53; remove the file",
                           s->lock.path);
    if (errno == EEXIST)
        return engine_fail(f->base.owner, ELECTOR_INVALID,
                           "%s: it exists and is not a lock file of elector, so it is left as it is; name "
                           "another path, or remove it",
                           s->lock.path);
    if (errno == EMLINK)
        return engine_fail(f->base.owner, ELECTOR_INVALID,
                           "%s: it has a second name (a hard link), so it is left as it is; name another path",
                           s->lock.path);
    if (errno == EINVAL || errno == ELOOP || errno == EISDIR || errno == ENXIO)
        return engine_fail(f->base.owner, ELECTOR_INVALID, "%s: not a plain file that can be locked",
                           s->lock.path);
    if (errno == ENOENT || errno == ENOTDIR)
        return engine_fail(f->base.owner, ELECTOR_INVALID,
                           "%s: its folder does not exist; make it, or name another path", s->lock.path);
    if (errno == ENAMETOOLONG)
        return engine_fail(f->base.owner, ELECTOR_INVALID,
                           "%s: the name is too long for this file system; choose a shorter one", s->lock.path);
    const bool is_refused = errno == EACCES || errno == EPERM || errno == EROFS;
    return engine_fail(f->base.owner, is_refused ? ELECTOR_REFUSED : ELECTOR_UNAVAILABLE,
                       "%s: %s; the file must be writable by all who campaign", s->lock.path, strerror(errno));
}

static void watch(struct folder *f, struct seat *s)
{
    if (s->watch < 0 && f->notified)
        s->watch = inotify_add_watch(f->fd, s->lock.path,
                                     IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF);
}

/* ---- Leading ---- */

static void give_up(struct folder *f, struct seat *s, elector_reason reason, const char *text, bool stands)
{
    const uint64_t token = s->lock.token;
    s->leads = false;
    lock_release(&s->lock);
    engine_lost(f->base.owner, s->group, token, reason, text, stands);
}

/* A lock needs no answer: what has been done is complete. */
static elector_status complete(struct engine *engine, struct queued *ticket)
{
    engine_done(engine->owner, ticket, ELECTOR_OK, "");
    return ELECTOR_OK;
}

/* False: errno says why. Somebody else's lock is not a failure. */
static bool try_to_lead(struct folder *f, struct seat *s)
{
    const int locked = lock_try(&s->lock);
    watch(f, s);
    if (locked <= 0) return locked == 0;
    if (!lock_begin(&s->lock)) return false;
    s->leads = true;
    s->due_ns = engine_until(LOOK_MS);
    engine_elected(f->base.owner, s->group, s->lock.token, ENGINE_NEVER, ENGINE_NO_SLOT);
    if (!lock_proclaim(&s->lock, s->value))
        s->value[0] = '\0'; /* the disk is full: we lead, but nobody sees the value */
    return true;
}

static elector_status campaign(struct engine *engine, const char *group, const elector_options *options,
                               struct queued *ticket)
{
    struct folder *f = folder_of(engine); /* priorities are ignored: the first to find the lock free leads */
    elector_status status = ELECTOR_OK;
    struct seat *s = seat_at(f, group, &status);
    if (!s) return status;
    snprintf(s->value, sizeof s->value, "%s", options->value);
    s->stands = true;
    s->due_ns = engine_until(RETRY_MS);
    if (try_to_lead(f, s)) return complete(engine, ticket);
    s->stands = false;
    return complain(f, s);
}

static elector_status resign(struct engine *engine, const char *group, bool is_unrenewed, struct queued *ticket)
{
    (void)is_unrenewed; /* a lock is not renewed */
    elector_status status = ELECTOR_OK;
    struct seat *s = seat_at(folder_of(engine), group, &status);
    if (!s) return status;
    s->stands = false;
    if (s->leads)
        give_up(folder_of(engine), s, ELECTOR_REASON_RESIGNED, "resigned", false);
    else
        lock_release(&s->lock);
    return complete(engine, ticket);
}

static elector_status transfer(struct engine *engine, const char *group, const char *member, uint64_t stopped,
                               struct queued *ticket)
{
    (void)group, (void)member, (void)stopped, (void)ticket;
    return engine_fail(engine->owner, ELECTOR_REFUSED,
                       "a file: lock is on one host: there is no other member to hand over to");
}

static elector_status proclaim(struct engine *engine, const char *group, const char *value,
                               struct queued *ticket)
{
    elector_status status = ELECTOR_OK;
    struct seat *s = seat_at(folder_of(engine), group, &status);
    if (!s) return status;
    snprintf(s->value, sizeof s->value, "%s", value);
    if (s->leads && !lock_proclaim(&s->lock, value)) return complain(folder_of(engine), s);
    return complete(engine, ticket);
}

/* Of the options only the value has an effect. */
static elector_status change(struct engine *engine, const char *group, const elector_options *options,
                             struct queued *ticket)
{
    return proclaim(engine, group, options->value, ticket);
}

static elector_status stopped(struct engine *engine, const char *group, uint64_t token)
{
    (void)engine, (void)group, (void)token; /* never called: no STOP is ever sent */
    return ELECTOR_OK;
}

/* ---- Observing ---- */

static bool is_new(const struct seat *s, const struct lock_holder *leader)
{
    return !s->told || strcmp(s->last.name, leader->name) != 0 || s->last.token != leader->token ||
           strcmp(s->last.value, leader->value) != 0;
}

/* The texts are borrowed from the holder. */
static elector_leader leader_from(const struct lock_holder *holder)
{
    return (elector_leader){.name = holder->name, .token = holder->token, .value = holder->value};
}

static bool look(struct folder *f, struct seat *s)
{
    struct lock_holder holder;
    if (!lock_read(s->lock.path, &holder)) return false;
    const elector_leader leader = leader_from(&holder);
    if (is_new(s, &holder)) engine_leader(f->base.owner, s->group, &leader);
    s->last = holder;
    s->told = true;
    watch(f, s);
    return true;
}

static elector_status observe(struct engine *engine, const char *group, struct queued *ticket)
{
    struct folder *f = folder_of(engine);
    elector_status status = ELECTOR_OK;
    if (!group)
        return engine_fail(f->base.owner, ELECTOR_INVALID,
                           "file: locks have no list of groups; name one to observe");
    struct seat *s = seat_at(f, group, &status);
    if (!s) return status;
    s->watched = true;
    s->told = false;
    s->due_ns = 0;
    return look(f, s) ? complete(engine, ticket) : complain(f, s);
}

static elector_status unobserve(struct engine *engine, const char *group, struct queued *ticket)
{
    for (struct seat *s = folder_of(engine)->seats; s; s = s->next)
        if (!group || strcmp(s->group, group) == 0) s->watched = false;
    return complete(engine, ticket);
}

static elector_status find_leader(struct engine *engine, const char *group, struct queued *ticket)
{
    struct folder *f = folder_of(engine);
    struct lock_holder holder;
    elector_status status = ELECTOR_OK;
    if (ticket->done.call == ELECTOR_CALL_CANDIDATES)
        return engine_fail(f->base.owner, ELECTOR_REFUSED, "a file: lock does not know who waits for it");
    struct seat *s = seat_at(f, group, &status);
    if (!s) return status;
    if (!lock_read(s->lock.path, &holder)) return complain(f, s);
    const elector_leader leader = leader_from(&holder);
    if (!ticket_set_leader(ticket, &leader))
        return engine_fail(f->base.owner, ELECTOR_NO_MEMORY, "out of memory");
    return complete(engine, ticket);
}

/* ---- Dispatching ---- */

/* True: one of the files has changed. */
static bool drain(const struct folder *f)
{
    _Alignas(struct inotify_event) char events[4096];
    bool any = false;
    while (f->notified && read(f->fd, events, sizeof events) > 0) any = true;
    return any;
}

static void tend(struct folder *f, struct seat *s, bool woken)
{
    s->due_ns = engine_until(woken && !s->leads ? SOON_MS : s->stands && !s->leads ? RETRY_MS : LOOK_MS);
    if (s->leads && !lock_is_intact(&s->lock)) {
        s->watch = -1;
        give_up(f, s, ELECTOR_REASON_LOCK_REMOVED, "the lock file was removed", true);
    }
    if (s->stands && !s->leads) {
        const int before = s->lock.fd;
        if (!try_to_lead(f, s)) s->due_ns = s->rest_ns = engine_until(FAILED_MS);
        if (before != s->lock.fd) {
            s->watch = -1; /* another file */
            watch(f, s);
        }
    }
    if (s->watched) look(f, s);
}

static bool is_due(const struct seat *s, bool woken)
{
    const uint64_t now = clock_boottime_ns();
    return now >= s->rest_ns && (woken || now >= s->due_ns);
}

static void dispatch(struct engine *engine)
{
    struct folder *f = folder_of(engine);
    const bool woken = drain(f);
    for (struct seat *s = f->seats; s; s = s->next)
        if ((s->stands || s->watched) && is_due(s, woken)) tend(f, s, woken);
}

static uint64_t deadline(const struct engine *engine)
{
    uint64_t next = ENGINE_NEVER;
    for (const struct seat *s = ((const struct folder *)engine)->seats; s; s = s->next)
        if ((s->stands || s->watched) && s->due_ns < next) next = s->due_ns;
    return next;
}

static int descriptor(const struct engine *engine)
{
    return ((const struct folder *)engine)->fd;
}

/* ---- Opening ---- */

static elector_status open_folder(elector *owner, const char *path, struct engine **out)
{
    struct folder *f = calloc(1, sizeof *f);
    if (!f) return engine_fail(owner, ELECTOR_NO_MEMORY, "out of memory");
    f->base = (struct engine){.kind = &engine_file, .owner = owner};
    f->fd = descriptors_above_standard(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    f->notified = f->fd >= 0;
    if (!f->notified) f->fd = descriptors_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (f->fd < 0) {
        free(f);
        return engine_fail(owner, ELECTOR_UNAVAILABLE, "file:%.200s: %s", path, strerror(errno));
    }
    snprintf(f->path, sizeof f->path, "%s", path);
    *out = &f->base;
    char self[ELECTOR_NAME_MAX + 1];
    lock_name_self(self);
    engine_connected(owner, self, "");
    return ELECTOR_OK;
}

static void close_folder(struct engine *engine)
{
    struct folder *f = folder_of(engine);
    while (f->seats) {
        struct seat *s = f->seats;
        f->seats = s->next;
        lock_release(&s->lock);
        free(s);
    }
    close(f->fd);
    free(f);
}

const struct engine_kind engine_file = {
    .scheme = "file",
    .open = open_folder,
    .close = close_folder,
    .campaign = campaign,
    .change = change,
    .resign = resign,
    .transfer = transfer,
    .proclaim = proclaim,
    .observe = observe,
    .unobserve = unobserve,
    .look = find_leader,
    .stopped = stopped,
    .fd = descriptor,
    .deadline = deadline,
    .dispatch = dispatch,
};
