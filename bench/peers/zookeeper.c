/*
 * A candidate of ZooKeeper's recipe, for the failover bench: an ephemeral sequential node, and a watch on the one before.
 *
 *     peer-zookeeper HOSTS SESSION_MS NAME
 *
 * Prints `NAME stands` and, once its node is the first below /NAME, `NAME elected`. SIGTERM closes the session. One that the
 * servers have ended is followed by another: it stands again.
 */
#define _GNU_SOURCE
#ifdef PEER_IS_THERE
#define THREADED
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

static const char *name;
static char folder[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int events;
static bool has_expired;

static void on_event(zhandle_t *zk, int type, int state, const char *path, void *context)
{
    (void)zk, (void)type, (void)path, (void)context;
    pthread_mutex_lock(&lock);
    if (state == ZOO_EXPIRED_SESSION_STATE) has_expired = true;
    events++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void await_event(int seen)
{
    pthread_mutex_lock(&lock);
    while (events == seen) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void tell(const char *what)
{
    char line[128];
    const int size = snprintf(line, sizeof line, "%s %s\n", name, what);
    (void)!write(STDOUT_FILENO, line, (size_t)size);
}

/* The name before ours in `before`; empty: we are the first. False: that could not be asked. */
static bool find_before(zhandle_t *zk, const char *mine, char *before, size_t size)
{
    struct String_vector names;
    if (zoo_get_children(zk, folder, 0, &names) != ZOK) return false;
    before[0] = '\0';
    for (int i = 0; i < names.count; i++)
        if (strcmp(names.data[i], mine) < 0 && strcmp(names.data[i], before) > 0)
            snprintf(before, size, "%s", names.data[i]);
    deallocate_String_vector(&names);
    return true;
}

static void await_turn(zhandle_t *zk, const char *mine)
{
    char before[128], path[256];
    while (!has_expired) {
        const int seen = events;
        if (!find_before(zk, mine, before, sizeof before)) {
            usleep(1000); /* no server just now */
            continue;
        }
        if (before[0] == '\0') {
            tell("elected");
            return;
        }
        snprintf(path, sizeof path, "%s/%s", folder, before);
        if (zoo_wexists(zk, path, on_event, NULL, NULL) == ZOK) await_event(seen);
    }
}

static bool stand(zhandle_t *zk, char *path, size_t size)
{
    char node[80];
    snprintf(node, sizeof node, "%s/n-", folder);
    (void)zoo_create(zk, folder, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0); /* or it is there */
    if (zoo_create(zk, node, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, path, (int)size) != ZOK)
        return false;
    tell("stands");
    return true;
}

static zhandle_t *session;

/* SIGTERM, whenever it comes. */
static void *wait_for_end(void *context)
{
    sigset_t *signals = context;
    int number;
    sigwait(signals, &number);
    if (session) zookeeper_close(session);
    _exit(0);
}

int main(int argc, char **argv)
{
    char path[256];
    sigset_t signals;
    pthread_t ending;
    if (argc != 4) {
        fprintf(stderr, "usage: peer-zookeeper HOSTS SESSION_MS NAME\n");
        return 2;
    }
    name = argv[3];
    snprintf(folder, sizeof folder, "/%s", name);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&ending, NULL, wait_for_end, &signals);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    for (;;) {
        has_expired = false;
        session = zookeeper_init(argv[1], on_event, (int)strtol(argv[2], NULL, 10), NULL, NULL, 0);
        if (!session) return 1;
        while (zoo_state(session) != ZOO_CONNECTED_STATE && !has_expired) usleep(1000);
        if (!has_expired && stand(session, path, sizeof path)) await_turn(session, path + strlen(folder) + 1);
        while (!has_expired) await_event(events);
        zookeeper_close(session);
    }
}
#else
#include <stdio.h>
int main(void)
{
    fprintf(stderr, "peer-zookeeper: built without libzookeeper-mt2\n");
    return 69;
}
#endif
