/* An agent that leaves while a write is under way, on a disk of the test's own. To be seen to fail with a sanitizer. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "agent/state/record.h"

#include "lib/scratch.h"

static pthread_t main_thread;
static struct config config;
static char folder[64];
static int disk_error;

/* The first write lasts until the agent has let go of its clients; only then the disk says how it went. */
int fsync(int fd)
{
    if (pthread_equal(pthread_self(), main_thread)) return 0;
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 6000 && access(config.socket, F_OK) == 0; i++) usleep(10000);
    usleep(100000); /* and the loop has freed them */
    errno = disk_error;
    return disk_error ? -1 : 0;
}

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static int leave_during_a_write(int error)
{
    char path[128], text[512], bytes[512];
    struct record_identity identity = {0};
    disk_error = error;
    main_thread = pthread_self();
    assert_true(scratch_folder(folder, sizeof folder, "leaves"));
    snprintf(path, sizeof path, "%s/agent.conf", folder);
    const int size = snprintf(
        bytes, sizeof bytes,
        "[cluster]\nname = test\n[member a]\nid = 1\naddress = 127.0.0.1:%u\n"
        "[agent]\nself = a\nsocket = %s/socket\nstate = %s/state\nrecorder = off\n[group g]\nlease = 1s\n",
        free_port(), folder, folder);
    if (!config_parse(&config, path, bytes, (size_t)size, false, text, sizeof text)) fail_msg("%s", text);
    memcpy(identity.cluster_id, config.cluster_id, sizeof identity.cluster_id);
    identity.member = 1;
    if (!record_create(config.state, &identity, text, sizeof text)) fail_msg("%s", text);
    const int code = agent_run(&config, NULL, NULL);
    (void)unlink(config.state);
    assert_int_equal(rmdir(folder), 0);
    return code;
}

static void a_write_may_end_after_the_clients_are_gone(void **state)
{
    assert_int_equal(leave_during_a_write(0), 0);
}

static void a_write_may_fail_after_the_clients_are_gone(void **state)
{
    assert_int_equal(leave_during_a_write(EIO), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_may_end_after_the_clients_are_gone),
        cmocka_unit_test(a_write_may_fail_after_the_clients_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
