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

/* ---- Several addresses ---- */

/* A socket at this host and any port. */
static int bound_at(const char *host, struct sockaddr_storage *at)
{
    socklen_t length = sizeof *at;
    const struct sockaddr_storage a = address(host, 0);
    const int fd = socket(a.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const void *)&a, config_address_size(&a)), 0);
    assert_int_equal(getsockname(fd, (void *)at, &length), 0);
    return fd;
}

/* Where what came to this socket came from; "": nothing came. */
static const char *sender(int fd)
{
    static char text[INET_ADDRSTRLEN];
    char byte;
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    text[0] = '\0';
    if (recvfrom(fd, &byte, 1, MSG_DONTWAIT, (void *)&from, &length) == 1)
        inet_ntop(AF_INET, &from.sin_addr, text, sizeof text);
    return text;
}

static void each_address_gets_a_copy_from_our_own_of_the_same_place(void **state)
{
    struct udp u;
    struct config_member to = {.other_count = 2};
    char why[200];
    uint32_t copies = 0;
    struct sockaddr_storage free_port;
    memset(&config, 0, sizeof config);
    config.member_count = config.self = 1;
    config.members[0].other_count = 1;
    close(bound_at("127.0.0.1", &free_port));
    config.members[0].address = free_port;
    config.members[0].others[0] = address("127.0.0.2", config_port(&free_port));
    assert_true(udp_open(&u, &config, why, sizeof why));
    assert_int_equal(u.count, 2);
    const int at[] = {bound_at("127.0.0.11", &to.address), bound_at("127.0.0.12", &to.others[0]),
                      bound_at("127.0.0.13", &to.others[1])};
    assert_true(udp_send(&u, &to, (const uint8_t *)"x", 1, &copies));
    assert_int_equal(copies, 3);
    assert_string_equal(sender(at[0]), "127.0.0.1");
    assert_string_equal(sender(at[1]), "127.0.0.2");
    assert_string_equal(sender(at[2]), "127.0.0.1"); /* we have no third one */

    to.is_unresolved = true; /* its first address is a name that is not found */
    assert_true(udp_send(&u, &to, (const uint8_t *)"x", 1, &copies));
    assert_string_equal(sender(at[0]), "");
    assert_string_equal(sender(at[1]), "127.0.0.2");

    to.is_unresolved = false;
    to.is_dynamic = true; /* answered from where it was heard, or a NAT does not let it in */
    to.other_count = 0;
    to.via = 1;
    assert_true(udp_send(&u, &to, (const uint8_t *)"x", 1, &copies));
    assert_string_equal(sender(at[0]), "127.0.0.2");

    copies = 0;
    to.address = address("::1", 7400); /* no address of ours is of that kind */
    assert_false(udp_send(&u, &to, (const uint8_t *)"x", 1, &copies));
    assert_int_equal(copies, 0);
    for (int i = 0; i < 3; i++) close(at[i]);
    udp_close(&u);
    assert_int_equal(u.count, 0);
}

static void all_own_addresses_are_bound_or_none(void **state)
{
    struct udp u;
    struct sockaddr_storage taken, free_port;
    char why[200];
    memset(&config, 0, sizeof config);
    config.member_count = config.self = 1;
    config.members[0].other_count = 1;
    const int other = bound_at("127.0.0.2", &taken);
    close(bound_at("127.0.0.1", &free_port));
    config.members[0].address = free_port;
    config.members[0].others[0] = taken;
    assert_false(udp_open(&u, &config, why, sizeof why));
    assert_int_equal(u.count, 0);
    assert_non_null(strstr(why, "cannot listen on 127.0.0.2:"));
    const int again = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(again, (const void *)&free_port, sizeof(struct sockaddr_in)), 0); /* it was let go */
    close(again);
    close(other);
}

static void a_member_is_known_by_each_of_its_addresses(void **state)
{
    memset(&config, 0, sizeof config);
    config.member_count = 2;
    config.members[0].address = address("127.0.0.1", 7400);
    config.members[1].address = address("127.0.0.1", 7401);
    config.members[1].others[0] = address("fd00::2", 7401);
    config.members[1].other_count = 1;
    assert_int_equal(source("fd00::2", 7401), 2);
    assert_int_equal(source("127.0.0.1", 7401), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_known_by_address_and_port),
        cmocka_unit_test(other_addresses_are_told_apart_whatever_their_ports),
        cmocka_unit_test(a_datagram_that_is_too_long_is_passed_on_so_that_it_is_counted),
        cmocka_unit_test(a_member_is_known_by_each_of_its_addresses),
        cmocka_unit_test(all_own_addresses_are_bound_or_none),
        cmocka_unit_test(each_address_gets_a_copy_from_our_own_of_the_same_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
