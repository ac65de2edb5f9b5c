/*
 * One of three servers of libraft over its libuv back end, for the failover bench.
 *
 *     peer-raft NUMBER FOLDER PORT ELECTION_MS HEARTBEAT_MS [claims]
 *
 * Servers listen at 127.0.0.1:PORT+NUMBER, NUMBER from 1 to 3. Prints NUMBER when it leads; with `claims`, `leads` and `lost`.
 * A leader hands over to the next number at SIGUSR1, to whom libraft chooses at SIGUSR2.
 */
#define _GNU_SOURCE
#ifdef PEER_IS_THERE
#include <raft.h>
#include <raft/uv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERVERS = 3 };

static struct raft raft;
static struct raft_transfer transfer;
static bool leads, claims;

static int apply(struct raft_fsm *fsm, const struct raft_buffer *buffer, void **result)
{
    (void)fsm, (void)buffer;
    *result = NULL;
    return 0;
}

static int snapshot(struct raft_fsm *fsm, struct raft_buffer *buffers[], unsigned *count)
{
    (void)fsm;
    *count = 1;
    *buffers = raft_calloc(1, sizeof **buffers);
    if (!*buffers) return RAFT_NOMEM;
    (*buffers)[0].len = 8;
    (*buffers)[0].base = raft_calloc(1, 8);
    return (*buffers)[0].base ? 0 : RAFT_NOMEM;
}

static int restore(struct raft_fsm *fsm, struct raft_buffer *buffer)
{
    (void)fsm;
    raft_free(buffer->base);
    return 0;
}

/* After every event: whatever made it a leader. */
static void look(uv_check_t *check)
{
    (void)check;
    const char line[] = {(char)('0' + raft.id), '\n'};
    const bool leads_now = raft_state(&raft) == RAFT_LEADER;
    if (claims && leads_now != leads) (void)!write(STDOUT_FILENO, leads_now ? "leads\n" : "lost\n", leads_now ? 6 : 5);
    if (!claims && leads_now && !leads) (void)!write(STDOUT_FILENO, line, sizeof line);
    leads = leads_now;
}

static void on_asked(uv_signal_t *handle, int number)
{
    (void)handle;
    if (!leads) return;
    const int code = raft_transfer(&raft, &transfer, number == SIGUSR1 ? raft.id % SERVERS + 1 : 0, NULL);
    if (code) fprintf(stderr, "peer-raft: transfer: %s (%d)\n", raft_errmsg(&raft), code);
}

static void require(int code, const char *what)
{
    if (code == 0) return;
    fprintf(stderr, "peer-raft: %s: %s (%d)\n", what, raft_errmsg(&raft), code);
    exit(1);
}

static void found(unsigned port)
{
    struct raft_configuration members;
    char address[32];
    raft_configuration_init(&members);
    for (unsigned id = 1; id <= SERVERS; id++) {
        snprintf(address, sizeof address, "127.0.0.1:%u", port + id);
        require(raft_configuration_add(&members, id, address, RAFT_VOTER), "configuration");
    }
    const int code = raft_bootstrap(&raft, &members);
    if (code != RAFT_CANTBOOTSTRAP) require(code, "bootstrap"); /* or there is a log already */
    raft_configuration_close(&members);
}

int main(int argc, char **argv)
{
    static struct raft_uv_transport transport;
    static struct raft_io io;
    static struct raft_fsm fsm = {.version = 1, .apply = apply, .snapshot = snapshot, .restore = restore};
    uv_loop_t loop;
    uv_check_t check;
    uv_signal_t asked[2];
    char address[32];
    claims = argc == 7 && strcmp(argv[6], "claims") == 0;
    if (argc != 6 && !claims) {
        fprintf(stderr, "usage: peer-raft NUMBER FOLDER PORT ELECTION_MS HEARTBEAT_MS [claims]\n");
        return 2;
    }
    const unsigned id = (unsigned)strtoul(argv[1], NULL, 10), port = (unsigned)strtoul(argv[3], NULL, 10);
    signal(SIGPIPE, SIG_IGN); /* it writes to sockets whose other end is gone */
    snprintf(address, sizeof address, "127.0.0.1:%u", port + id);
    uv_loop_init(&loop);
    require(raft_uv_tcp_init(&transport, &loop), "tcp");
    require(raft_uv_init(&io, &loop, argv[2], &transport), "uv");
    raft_uv_set_connect_retry_delay(&io, 10); /* its own second would be in the way of the next trial */
    require(raft_init(&raft, &io, &fsm, id, address), "init");
    found(port);
    raft_set_election_timeout(&raft, (unsigned)strtoul(argv[4], NULL, 10));
    raft_set_heartbeat_timeout(&raft, (unsigned)strtoul(argv[5], NULL, 10));
    raft_set_pre_vote(&raft, true);
    require(raft_start(&raft), "start");
    uv_check_init(&loop, &check);
    uv_check_start(&check, look);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&loop, &asked[i]);
        uv_signal_start(&asked[i], on_asked, i ? SIGUSR2 : SIGUSR1);
    }
    return uv_run(&loop, UV_RUN_DEFAULT);
}
#else
#include <stdio.h>
int main(void)
{
    fprintf(stderr, "peer-raft: built without libraft-dev\n");
    return 69;
}
#endif
