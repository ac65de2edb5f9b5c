/* Datagrams from anywhere: which limit on handshakes one counts against, and what becomes of one that is too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/peer/udp.h"
#include "agent/seal/seal.h"

static struct sockaddr_storage address(const char *text, uint16_t port)
{
    struct sockaddr_storage a = {0};
    struct sockaddr_in *four = (void *)&a;
    struct sockaddr_in6 *six = (void *)&a;
    if (strchr(text, ':')) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
    } else {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        assert_int_equal(inet_pton(AF_INET, text, &four->sin_addr), 1);
    }
    return a;
}

static struct config config;

static uint64_t source(const char *text, uint16_t port)
{
    const struct sockaddr_storage a = address(text, port);
    return udp_source(&config, &a);
}

static void a_member_is_known_by_address_and_port(void **state)
{
    config.member_count = 3;
    config.members[0].address = address("127.0.0.1", 7400);
    config.members[1].address = address("127.0.0.1", 7401);
    config.members[2].address = address("fd00::3", 7400);
    assert_int_equal(source("127.0.0.1", 7400), 1);
    assert_int_equal(source("127.0.0.1", 7401), 2);
    assert_int_equal(source("fd00::3", 7400), 3);
}

static void other_addresses_are_told_apart_whatever_their_ports(void **state)
{
    assert_true(source("127.0.0.1", 7402) > SEAL_ELSEWHERE);
    assert_true(source("127.0.0.1", 7402) == source("127.0.0.1", 9999));
    assert_true(source("fd00::3", 1) > SEAL_ELSEWHERE);
    assert_true(source("192.0.2.1", 7400) != source("192.0.2.2", 7400));
    assert_true(source("fd00::4", 7400) != source("fd00::5", 7400));
    assert_true(source("0.0.0.0", 0) > SEAL_ELSEWHERE);
}

static size_t heard;

static void hear(void *context, const struct sockaddr_storage *from, const uint8_t *datagram, size_t size)
{
    heard = size;
}

/* seal_receive() counts and drops it; a datagram that is dropped here would be counted nowhere. */
static void a_datagram_that_is_too_long_is_passed_on_so_that_it_is_counted(void **state)
{
    static const uint8_t bytes[9000];
    const struct sockaddr_storage a = address("127.0.0.1", 0);
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    const int to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
              from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(to >= 0 && from >= 0);
    assert_int_equal(bind(to, (const void *)&a, sizeof(struct sockaddr_in)), 0);
    assert_int_equal(getsockname(to, (void *)&bound, &length), 0);
    assert_int_equal(sendto(from, bytes, sizeof bytes, 0, (void *)&bound, length), sizeof bytes);
    assert_false(udp_receive(to, hear, NULL));
    assert_true(heard > SEAL_DATAGRAM_MAX);
    close(from);
    close(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_known_by_address_and_port),
        cmocka_unit_test(other_addresses_are_told_apart_whatever_their_ports),
        cmocka_unit_test(a_datagram_that_is_too_long_is_passed_on_so_that_it_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
