/*
 * The agent's side of a guardian. The real client starts the test program itself as `PROGRAM guardian`, which
 * logs what it receives: see write_all_down().
 */
#ifndef ELECTOR_TEST_LIB_HOST_GUARDIAN_CLIENT_H
#define ELECTOR_TEST_LIB_HOST_GUARDIAN_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/seal/internal.h"
#include "base/pass.h"
#include "lib/client/serve.h"

static struct guardian_client *obituary;
static struct config wider; /* where there is a peer */
static struct seal *seal;
static struct guardian_page *page;
static char log_path[128], told[16384];

/* ---- The guardian ---- */

/* In plain: of which work, for whom, and up to which terms. */
static inline void write_release(int log, const struct guardian_message *m)
{
    struct payload_entry entry;
    struct payload_place at = PAYLOAD_FIRST;
    dprintf(log, "release %u to %u:", m->number, m->peer);
    while (m->size > SEAL_PLAIN_HEAD &&
           payload_next(m->datagram + SEAL_PLAIN_HEAD, m->size - SEAL_PLAIN_HEAD, &at, &entry) == PAYLOAD_ENTRY)
        dprintf(log, " %llu", (unsigned long long)entry.number);
    dprintf(log, "; ");
}

static inline int write_all_down(void)
{
    static const char *const names[] = {[GUARDIAN_BEGIN] = "begin",           [GUARDIAN_PAGE] = "page",
                                        [GUARDIAN_WATCH] = "watch",           [GUARDIAN_LINE] = "line",
                                        [GUARDIAN_BLIND] = "blind",           [GUARDIAN_UNWATCH] = "unwatch",
                                        [GUARDIAN_CONNECTION] = "connection", [GUARDIAN_GOODBYE] = "goodbye"};
    struct guardian_message m;
    const char *path = getenv("ELECTOR_TEST_LOG");
    const int log = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (log < 0) return 1;
    dprintf(log, "%d: ", (int)getpid());
    while (recv(3, &m, sizeof m, 0) > 0) {
        if (m.kind == GUARDIAN_TIMEOUT || m.kind == GUARDIAN_OBITUARY) continue;
        if (m.kind == GUARDIAN_RELEASE) {
            write_release(log, &m);
            continue;
        }
        if (m.kind > GUARDIAN_GOODBYE) return 1;
        dprintf(log, "%s %u; ", names[m.kind], m.number);
        if (m.kind == GUARDIAN_GOODBYE) break;
    }
    return 0;
}

/* ---- The bench ---- */

#define BEGUN ": begin 0; page 0; "

/* The page that the guardian shares, by its name among our descriptors. */
static inline struct guardian_page *find_page(void)
{
    char path[64], name[64];
    for (int fd = 3; fd < 256; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t size = readlink(path, name, sizeof name - 1);
        if (size < 0) continue;
        name[size] = '\0';
        if (!strstr(name, "memfd:elector-guard")) continue;
        void *found = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return found == MAP_FAILED ? NULL : found;
    }
    return NULL;
}

static inline bool leads(uint32_t work)
{
    return atomic_load(&page->leads[work]) != 0;
}

/* While the agent lives its loop holds the lock: by it a guardian would know of its death. */
static inline bool holds_the_lock(void)
{
    return pthread_mutex_trylock(&page->alive) == EBUSY;
}

static inline bool begin_obituary(const struct config *config)
{
    obituary = guardian_client_new(&t.loop, config, t.host, seal, "/proc/self/exe");
    serve_set_guardian(t.serve, obituary);
    page = find_page();
    return obituary && page;
}

static inline void end_obituary(void)
{
    serve_set_guardian(t.serve, NULL);
    guardian_client_free(obituary);
    if (!page) return;
    assert_int_equal(pthread_mutex_trylock(&page->alive), 0); /* given back before its memory went */
    assert_int_equal(pthread_mutex_unlock(&page->alive), 0);
    munmap(page, sizeof *page);
    page = NULL;
}

static inline int begin_guarded(void **state)
{
    if (begin(state) != 0) return -1;
    snprintf(log_path, sizeof log_path, "%s/log", t.folder);
    setenv("ELECTOR_TEST_LOG", log_path, 1);
    t.config.guardian = true;
    return begin_obituary(&t.config) ? 0 : -1;
}

static inline void seal_nothing(void *context, uint32_t peer, const uint8_t *bytes, size_t size)
{
}

/* The same with a peer, though the host knows none: it leads as it does alone. */
static inline int begin_beside_a_peer(void **state)
{
    const struct seal_config plain = {.self = 1, .count = 2, .plain = true};
    const struct seal_hooks hooks = {.send = seal_nothing, .deliver = seal_nothing};
    if (begin_guarded(state) != 0) return -1;
    end_obituary();
    seal = seal_new(&plain, hooks);
    wider = t.config;
    wider.member_count = 2;
    wider.members[1].address = wider.members[0].address;
    return seal && begin_obituary(&wider) ? 0 : -1;
}

static inline int finish_guarded(void **state)
{
    end_obituary();
    seal_free(seal);
    seal = NULL;
    unlink(log_path);
    return finish(state);
}

static inline void read_log(void)
{
    const int fd = open(log_path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? 0 : read(fd, told, sizeof told - 1);
    told[size > 0 ? size : 0] = '\0';
    if (fd >= 0) close(fd);
}

/* Until the guardian's words end so. */
static inline void was_told(const char *words)
{
    for (int i = 0; i < 600; i++) {
        (void)guardian_client_tick(obituary);
        go_round();
        read_log();
        const size_t length = strlen(told), wanted = strlen(words);
        if (length >= wanted && strcmp(told + length - wanted, words) == 0) return;
        usleep(5000);
    }
    fail_msg("it was told '%s', not '%s'", told, words);
}

static inline uint32_t add(pid_t pid)
{
    return guardian_client_add(obituary, geteuid(), GUARDIAN_WATCH, (int)syscall(SYS_pidfd_open, pid, 0), -1);
}

/* By another that stands, of which it is told later than of all else, what is due included: so what it was not
 * told is known. */
static inline void nothing_since(const char *words)
{
    (void)guardian_client_tick(obituary);
    const uint32_t other = add(getpid());
    guardian_client_stand(obituary, other);
    char all[256];
    snprintf(all, sizeof all, "%swatch %u; ", words, other);
    was_told(all);
}

static inline void send_with(int fd, char *line, int passed)
{
    assert_true(pass_send(fd, line, strlen(line), passed, MSG_NOSIGNAL) > 0);
    go_round();
}

static char work_request[] = "{\"op\":\"work\"}\n";

/* Says what its work is; the far end of its line. */
static inline int lay_line(int fd)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    send_with(fd, work_request, ends[1]);
    close(ends[1]);
    assert_string_equal(await(fd), "{\"ok\":true}");
    return ends[0];
}

#define BESIDE_A_PEER(name) cmocka_unit_test_setup_teardown(name, begin_beside_a_peer, finish_guarded)
#define GUARDED(name) cmocka_unit_test_setup_teardown(name, begin_guarded, finish_guarded)

#endif
