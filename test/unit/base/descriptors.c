/* Descriptors 0, 1 and 2 are never something else. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"

/* In a child, since a test needs the three itself. */
static void in_child(bool (*is_right)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(is_right() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool leads_to(int fd, const char *name)
{
    char path[32] = "/proc/self/fd/0", target[256] = "";
    path[sizeof "/proc/self/fd/" - 1] = (char)('0' + fd);
    return readlink(path, target, sizeof target - 1) > 0 && strcmp(target, name) == 0;
}

static bool fills_all(void)
{
    for (int fd = 0; fd < 3; fd++) close(fd);
    return descriptors_fill_standard() && leads_to(0, "/dev/null") && leads_to(1, "/dev/null") &&
           leads_to(2, "/dev/null");
}

static bool fills_the_closed_one_only(void)
{
    const int kept = open("/proc/self/status", O_RDONLY);
    if (dup2(kept, 0) != 0 || dup2(kept, 2) != 2) return false;
    close(1);
    return descriptors_fill_standard() && !leads_to(0, "/dev/null") && leads_to(1, "/dev/null") &&
           !leads_to(2, "/dev/null");
}

static bool moves_a_socket(void)
{
    close(2);
    const int fd = descriptors_above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return fd > 2 && fcntl(2, F_GETFD) < 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void closed_ones_are_filled(void **state)
{
    in_child(fills_all);
    in_child(fills_the_closed_one_only);
}

static void a_library_takes_none_of_them(void **state)
{
    in_child(moves_a_socket);
    errno = EMFILE;
    assert_int_equal(descriptors_above_standard(-1), -1);
    assert_int_equal(errno, EMFILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_ones_are_filled),
        cmocka_unit_test(a_library_takes_none_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
