/* How an agent notices that its machine was restored from a snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/generation.h"
#include "base/clock.h"

static void a_uevent_says_so_by_a_whole_word(void **state)
{
    static const char good[] = "change@/devices/platform/vmgenid\0ACTION=change\0NEW_VMGENID=1\0SEQNUM=9";
    static const char more[] = "change@/x\0NEW_VMGENID=12", less[] = "change@/NEW_VMGENID=1\0ACTION=change";
    assert_true(generation_is_new(good, sizeof good));
    assert_true(generation_is_new("NEW_VMGENID=1", 13)); /* without a zero at its end */
    assert_false(
        generation_is_new(good, sizeof "change@/devices/platform/vmgenid\0ACTION=change\0NEW_VMGENID=" - 1));
    assert_false(generation_is_new(more, sizeof more));
    assert_false(generation_is_new(less, sizeof less));
    assert_false(generation_is_new("", 0));
}

static void a_clock_that_is_set_jumps_and_one_that_is_corrected_does_not(void **state)
{
    uint64_t offset = 0, boot = 100 * NS_PER_S, wall = UINT64_C(1800000000) * NS_PER_S;
    assert_false(generation_clock_jumped(&offset, boot, wall)); /* it has none to compare with */
    for (unsigned i = 0; i < 100; i++) {
        boot += NS_PER_S;
        wall += NS_PER_S + 20 * NS_PER_MS; /* corrected, by 2 s in all */
        assert_false(generation_clock_jumped(&offset, boot, wall));
    }
    wall += 2 * NS_PER_S;
    assert_true(generation_clock_jumped(&offset, boot, wall));
    assert_false(generation_clock_jumped(&offset, boot, wall));
    wall -= 3600 * NS_PER_S;
    assert_true(generation_clock_jumped(&offset, boot, wall));
    assert_true(generation_clock_jumped(&offset, boot, 0)); /* before 1970 */
    assert_true(generation_clock_jumped(&offset, boot, wall));
}

static void a_socket_without_news_tells_none(void **state)
{
    const int fd = generation_open();
    if (fd < 0) skip();
    assert_false(generation_changed(fd));
    close(fd);
}

/* The kernel has number 0. A Unix socket without a name looks like that, and one with a name does not. */
static void only_the_kernel_is_believed(void **state)
{
    static const char news[] = "NEW_VMGENID=1";
    const struct sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = "\0elector-generation"};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof name;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
              kernel = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
              process = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && kernel >= 0 && process >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof name.sun_family),
                     0); /* a name is made up */
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    assert_int_equal(bind(process, (const struct sockaddr *)&abstract, sizeof abstract), 0);
    assert_int_equal(sendto(process, news, sizeof news, 0, (const struct sockaddr *)&name, size), sizeof news);
    assert_false(generation_changed(fd));
    assert_int_equal(sendto(kernel, "x", 1, 0, (const struct sockaddr *)&name, size), 1);
    assert_int_equal(sendto(kernel, news, sizeof news, 0, (const struct sockaddr *)&name, size), sizeof news);
    assert_true(generation_changed(fd));
    assert_false(generation_changed(fd));
    close(fd);
    close(kernel);
    close(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uevent_says_so_by_a_whole_word),
        cmocka_unit_test(a_clock_that_is_set_jumps_and_one_that_is_corrected_does_not),
        cmocka_unit_test(a_socket_without_news_tells_none),
        cmocka_unit_test(only_the_kernel_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
