/*
 * Bytes as an agent's answers and events, to a program that uses the library. They come after good answers to the first
 * requests, so that there is a candidate to deceive. Whatever the library hears, it tells the application only of groups
 * and members whose names fit, of no leadership without a token or for which it did not stand, and of none twice.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "elector.h"
#include "lib/scratch.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TURNS = 8, ANSWER_MS = 1000 };

static const char good[] = "{\"id\":1,\"ok\":true,\"version\":1,\"member\":\"a\",\"cluster\":\"c\"}\n"
                           "{\"id\":2,\"ok\":true}\n"
                           "{\"id\":3,\"ok\":true}\n";
static char path[100], url[110];
static int listener = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of what is said */
static uint8_t said[1 << 16];
static size_t said_size;
static bool leads;

/* ---- The agent: says everything at once, and reads until its client has gone ---- */

static void *be_agent(void *unused)
{
    char heard[4096];
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0) return unused;
        (void)!send(fd, good, sizeof good - 1, MSG_NOSIGNAL);
        pthread_mutex_lock(&turn);
        (void)!send(fd, said, said_size, MSG_NOSIGNAL | MSG_DONTWAIT);
        pthread_mutex_unlock(&turn);
        (void)shutdown(fd, SHUT_WR);
        while (recv(fd, heard, sizeof heard, 0) > 0) {}
        close(fd);
    }
}

static void stop(void)
{
    (void)unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) /* NOLINT(readability-non-const-parameter): libFuzzer's */
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;
    (void)argc, (void)argv;
    snprintf(path, sizeof path, "%s/fuzz-%ld.sock", scratch_root(), (long)getpid());
    snprintf(url, sizeof url, "unix:%s", path);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0) return 1;
    if (listen(listener, TURNS) != 0 || pthread_create(&thread, NULL, be_agent, NULL) != 0) return 1;
    return atexit(stop);
}

/* ---- The application ---- */

/* A line that begins with a digit is the rest of one that is said often, after its beginning. */
static void set_said(const uint8_t *data, size_t size)
{
    static const char *const beginnings[] = {
        "{\"event\":\"elected\",\"group\":\"g\",\"deadline_ns\":9000000000000000,\"token\":",
        "{\"event\":\"lease\",\"group\":\"g\",\"token\":7,\"deadline_ns\":",
        "{\"event\":\"stop\",\"group\":\"g\",\"deadline_ns\":9000000000000000,\"token\":",
        "{\"event\":\"lost\",\"group\":\"g\",\"token\":",
        "{\"event\":\"leader\",\"group\":\"g\",\"leader\":\"a\",\"value\":null,\"token\":",
        "{\"id\":4,\"ok\":true,\"groups\":[{\"group\":\"g\",\"value\":null,\"leader\":\"a\",\"token\":"};
    const size_t count = sizeof beginnings / sizeof *beginnings;
    bool is_first = true;
    said_size = 0;
    for (size_t i = 0; i < size && said_size + 128 < sizeof said; i++) {
        const size_t kind = (size_t)data[i] - '0';
        if (is_first && kind < count) {
            memcpy(said + said_size, beginnings[kind], strlen(beginnings[kind]));
            said_size += strlen(beginnings[kind]);
        } else {
            said[said_size++] = data[i];
        }
        is_first = data[i] == '\n';
    }
}

static void judge_leader(const elector_leader *leader)
{
    if (leader->size != sizeof *leader || strlen(leader->name) > ELECTOR_NAME_MAX) abort();
    if (strlen(leader->value) > ELECTOR_VALUE_MAX || leader->token >> 53) abort();
}

static void judge(void *context, const elector_event *event)
{
    (void)context;
    const bool has_no_group = event->type == ELECTOR_CONNECTED || event->type == ELECTOR_DISCONNECTED ||
                              (event->type == ELECTOR_DONE && event->call == ELECTOR_CALL_OBSERVE);
    if (!event->group[0] != has_no_group || strlen(event->group) > ELECTOR_GROUP_MAX || !event->text) abort();
    if (event->type == ELECTOR_DONE && event->call == ELECTOR_CALL_NONE) abort();
    for (size_t i = 0; i < event->candidate_count; i++)
        if (strlen(event->candidates[i]->member) > ELECTOR_NAME_MAX) abort();
    if (event->type == ELECTOR_ELECTED) {
        if (leads || event->token == 0 || event->token >> 53 || strcmp(event->group, "g") != 0) abort();
        leads = true;
    }
    if (event->type == ELECTOR_LOST_OFFICE) {
        if (!leads) abort();
        leads = false;
    }
    if (event->type == ELECTOR_NEW_LEADER) judge_leader(event->leader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    elector *e = NULL;
    elector_options options;
    const elector_leader *leader;
    pthread_mutex_lock(&turn);
    set_said(data, size);
    pthread_mutex_unlock(&turn);
    leads = false;
    if (elector_open(url, &e) != ELECTOR_OK) abort();
    elector_on_event(e, judge, NULL);
    elector_options_init(&options, sizeof options);
    (void)elector_campaign(e, "g", &options, 0, NULL);
    (void)elector_observe(e, NULL);
    (void)elector_candidates(e, "g");
    for (int i = 0; i < TURNS && elector_dispatch(e) == ELECTOR_OK; i++) {}
    if (elector_leader_of(e, "g", ANSWER_MS, &leader) == ELECTOR_OK) judge_leader(leader);
    elector_close(e);
    return 0;
}
