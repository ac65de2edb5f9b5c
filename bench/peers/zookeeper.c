/*
 * A candidate of ZooKeeper's recipe, for the failover bench: an ephemeral sequential node, and a watch on the one before.
 *
 *     peer-zookeeper HOSTS SESSION_MS
 *
 * Prints `stands` and, once its node is the first, `elected`. SIGTERM closes the session.
 */
#define _GNU_SOURCE
#ifdef PEER_IS_THERE
#define THREADED
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

static const char *const FOLDER = "/election";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int events;

static void on_event(zhandle_t *zk, int type, int state, const char *path, void *whose)
{
    (void)zk, (void)type, (void)path, (void)whose;
    if (state == ZOO_EXPIRED_SESSION_STATE) _exit(3);
    pthread_mutex_lock(&lock);
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

static _Noreturn void give_up(const char *what, int code)
{
    fprintf(stderr, "peer-zookeeper: %s: %s\n", what, zerror(code));
    exit(1);
}

/* The name before ours in `before`; empty: we are the first. */
static void find_before(zhandle_t *zk, const char *mine, char *before, size_t size)
{
    struct String_vector names;
    const int code = zoo_get_children(zk, FOLDER, 0, &names);
    if (code != ZOK) give_up("get children", code);
    before[0] = '\0';
    for (int i = 0; i < names.count; i++)
        if (strcmp(names.data[i], mine) < 0 && strcmp(names.data[i], before) > 0)
            snprintf(before, size, "%s", names.data[i]);
    deallocate_String_vector(&names);
}

static void await_turn(zhandle_t *zk, const char *mine)
{
    char before[128], path[256];
    for (;;) {
        const int seen = events;
        find_before(zk, mine, before, sizeof before);
        if (before[0] == '\0') return;
        snprintf(path, sizeof path, "%s/%s", FOLDER, before);
        const int code = zoo_wexists(zk, path, on_event, NULL, NULL);
        if (code == ZOK) await_event(seen);
    }
}

static void *wait_for_end(void *whose)
{
    sigset_t *signals = whose;
    int number;
    sigwait(signals, &number);
    return NULL;
}

int main(int argc, char **argv)
{
    char path[256];
    sigset_t signals;
    pthread_t ending;
    if (argc != 3) {
        fprintf(stderr, "usage: peer-zookeeper HOSTS SESSION_MS\n");
        return 2;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zhandle_t *zk = zookeeper_init(argv[1], on_event, (int)strtol(argv[2], NULL, 10), NULL, NULL, 0);
    if (!zk) return 1;
    while (zoo_state(zk) != ZOO_CONNECTED_STATE) await_event(events);
    (void)zoo_create(zk, FOLDER, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0); /* or it is there */
    const int code = zoo_create(zk, "/election/n-", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE,
                                path, sizeof path);
    if (code != ZOK) give_up("create", code);
    (void)!write(STDOUT_FILENO, "stands\n", 7);
    await_turn(zk, path + strlen(FOLDER) + 1);
    (void)!write(STDOUT_FILENO, "elected\n", 8);
    pthread_create(&ending, NULL, wait_for_end, &signals);
    pthread_join(ending, NULL);
    return zookeeper_close(zk);
}
#else
#include <stdio.h>
int main(void)
{
    fprintf(stderr, "peer-zookeeper: built without libzookeeper-mt-dev\n");
    return 69;
}
#endif
