/// The traffic class of a request's packets, as the sockets have it.
#include "fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/// Returns the traffic class of the client's socket, which is connected to this port; -1 if there is none. The
/// server's socket does not match, because its peer has another port.
static int octet_towards(uint16_t port, int family) {
    bool is_v6 = family == AF_INET6;
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage peer = {0};
        socklen_t length = sizeof peer;
        int octet = 0;
        socklen_t octet_length = sizeof octet;
        if (getpeername(fd, (struct sockaddr *)(void *)&peer, &length) != 0 || peer.ss_family != family) {
            continue;
        }
        in_port_t at =
            is_v6 ? ((struct sockaddr_in6 *)(void *)&peer)->sin6_port : ((struct sockaddr_in *)(void *)&peer)->sin_port;
        if (ntohs(at) == port && getsockopt(fd, is_v6 ? IPPROTO_IPV6 : IPPROTO_IP, is_v6 ? IPV6_TCLASS : IP_TOS, &octet,
                                            &octet_length) == 0) {
            return octet;
        }
    }
    return -1;
}

static nc_status send_request(fixture *f, uint8_t dscp) {
    nc_request request = fixture_request(f, "/");
    request.dscp = dscp;
    return fixture_wait(f, fixture_submit(f, &request)).error.status;
}

static void engine__the_traffic_class_is_set_on_the_connection(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){0});
    assert_status(send_request(&f, 46), NC_OK);
    assert_int_equal(octet_towards(nct_server_port(f.server), AF_INET), 46 << 2);
    fixture_stop(&f);
}

/// Returns true if the machine has an IPv6 loopback address; containers may lack it.
static bool has_ipv6(void) {
    struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_there = fd >= 0 && bind(fd, (struct sockaddr *)(void *)&here, sizeof here) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_there;
}

static void engine__the_traffic_class_is_set_over_ipv6(void **state) {
    fixture f;
    nct_server *server = NULL;
    (void)state;
    if (!has_ipv6()) {
        (void)fprintf(stderr, "SKIPPED: there is no ::1 to connect to\n");
        skip();
    }
    fixture_start_with(&f, NULL, &(nc_engine_options){0});
    assert_int_equal(nct_server_start(&server, &(nct_server_options){.host = "::1"}), 0);
    nc_request request = {.url = nc_slice_of(fixture_url_of(&f, server, "[::1]", "/"))};
    assert_status(fixture_wait(&f, fixture_submit(&f, &request)).error.status, NC_OK);
    assert_int_equal(octet_towards(nct_server_port(server), AF_INET6), 0);
    nct_server_stop(server); // closes the connection too
    assert_int_equal(nct_server_start(&server, &(nct_server_options){.host = "::1"}), 0);
    request.url = nc_slice_of(fixture_url_of(&f, server, "[::1]", "/"));
    request.dscp = 34;
    assert_status(fixture_wait(&f, fixture_submit(&f, &request)).error.status, NC_OK);
    assert_int_equal(octet_towards(nct_server_port(server), AF_INET6), 34 << 2);
    nct_server_stop(server);
    fixture_stop(&f);
}

static void engine__without_a_traffic_class_no_option_is_set(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){0});
    assert_status(send_request(&f, 0), NC_OK);
    assert_int_equal(octet_towards(nct_server_port(f.server), AF_INET), 0);
    fixture_stop(&f);
}

static void engine__requests_of_different_traffic_classes_share_no_connection(void **state) {
    fixture f;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){0});
    assert_status(send_request(&f, 10), NC_OK);
    assert_status(send_request(&f, 10), NC_OK);
    assert_int_equal(nct_server_connection_count(f.server), 1);
    assert_status(send_request(&f, 63), NC_OK);
    assert_status(send_request(&f, 0), NC_OK);
    assert_int_equal(nct_server_connection_count(f.server), 3);
    assert_status(send_request(&f, 10), NC_OK);
    assert_int_equal(nct_server_connection_count(f.server), 3);
    fixture_stop(&f);
}

static void engine__an_invalid_traffic_class_is_rejected(void **state) {
    fixture f;
    nc_transfer_id id;
    nc_error err;
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){0});
    nc_request request = fixture_request(&f, "/");
    request.dscp = 64;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_USAGE);
    request.dscp = 255;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_USAGE);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__the_traffic_class_is_set_on_the_connection),
        harness_case(engine__the_traffic_class_is_set_over_ipv6),
        harness_case(engine__without_a_traffic_class_no_option_is_set),
        harness_case(engine__requests_of_different_traffic_classes_share_no_connection),
        harness_case(engine__an_invalid_traffic_class_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
