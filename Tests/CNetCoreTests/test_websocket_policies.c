/// The engine's policies in the handshake of a WebSocket: pins, cookies, HSTS, proxies that refuse, and the checks of
/// the response itself.
#include "socket_client.h"
#include "socket_server.h"

#include <netcore/cookies.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/// A server for a.example and 127.0.0.1, an engine, and a policy that trusts the server's authority.
typedef struct case_of {
    socket_server server;
    nc_engine_options options;
    nc_trust_options trusting;
    socket_client client;
    nct_test_certificate *root;
    nct_test_certificate *leaf;
    nc_engine *engine;
    nc_trust *trust;
} case_of;

static void begin(case_of *one) {
    one->client = (socket_client)SOCKET_CLIENT_INIT;
    one->root = nct_test_certificate_create(&(nct_certificate_options){.common_name = "Root", .is_authority = true});
    one->leaf = nct_test_certificate_create(
        &(nct_certificate_options){.issuer = one->root, .common_name = "leaf", .names = "DNS:a.example,IP:127.0.0.1"});
    one->server.certificate = one->leaf;
    socket_server_start(&one->server);
    one->trusting.roots = NC_ROOTS_BYTES;
    one->trusting.ca_pem = nc_slice_of(nct_test_certificate_pem(one->root));
    assert_status(nc_trust_new(&one->trust, &one->trusting, NULL), NC_OK);
    assert_status(nc_engine_new(&one->engine, &one->options, NULL), NC_OK);
}

static void end(case_of *one) {
    socket_server_stop(&one->server);
    assert_status(nc_engine_close(one->engine, NC_UNLIMITED), NC_OK);
    socket_client_deinit(&one->client);
    nc_trust_release(one->trust);
    nct_test_certificate_free(one->leaf);
    nct_test_certificate_free(one->root);
}

/// Opens a socket at "ws" or "wss". Every host is at 127.0.0.1.
static void open_at(case_of *one, const char *scheme, const char *host) {
    char url[64];
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1")};
    (void)snprintf(url, sizeof url, "%s://%s:%u/", scheme, host, one->server.port);
    const nc_request request = {
        .url = nc_slice_of(url), .trust = one->trust, .connect_to = &here, .connect_to_count = 1};
    one->client = (socket_client)SOCKET_CLIENT_INIT;
    socket_client_open_request(&one->client, one->engine, &request);
}

static void echo_and_close(case_of *one) {
    socket_client_send(&one->client, NC_SOCKET_TEXT, "hi");
    gate_wait(&one->client.received);
    assert_messages(&one->client, "T<hi>");
    assert_status(nc_socket_close(one->client.socket, 1000, nc_slice_of(""), NULL), NC_OK);
    socket_client_finish(&one->client);
    assert_status(one->client.error.status, NC_OK);
    socket_client_deinit(&one->client);
}

/* --- the engine's policies --- */

static void socket__pins_are_checked_in_the_handshake(void **state) {
    (void)state;
    for (int is_right = 0; is_right < 2; is_right++) {
        nct_test_certificate *other =
            nct_test_certificate_create(&(nct_certificate_options){.common_name = "other", .names = "IP:127.0.0.1"});
        case_of one = {.server = {.serve = socket_peer_echo, .has_tls = true}};
        nc_slice pin = nc_slice_of(nct_test_certificate_pin(other));
        const nc_trust_rule rule = {
            .hosts = nc_slice_of("127.0.0.1"), .mode = NC_PIN_PUBLIC_KEY, .pins = &pin, .pin_count = 1};
        begin(&one);
        if (is_right == 1) {
            pin = nc_slice_of(nct_test_certificate_pin(one.leaf));
        }
        nc_trust_release(one.trust);
        one.trusting.rules = &rule;
        one.trusting.rule_count = 1;
        assert_status(nc_trust_new(&one.trust, &one.trusting, NULL), NC_OK);
        open_at(&one, "wss", "127.0.0.1");
        if (is_right == 1) {
            echo_and_close(&one);
        } else {
            socket_client_finish(&one.client);
            assert_status(one.client.error.status, NC_ERR_PIN_MISMATCH);
            assert_int_equal(one.client.http_status, 0);
        }
        end(&one);
        nct_test_certificate_free(other);
    }
}

static void socket__cookies_are_sent_and_those_of_the_101_are_stored(void **state) {
    (void)state;
    case_of one = {.server = {.serve = socket_peer_echo, .fields = "Set-Cookie: b=2\r\n"},
                   .options = {.cookies = NC_COOKIES_MEMORY}};
    begin(&one);
    assert_status(nc_engine_set_cookies(one.engine, nc_slice_of("Set-Cookie: a=1; domain=127.0.0.1; path=/"), NULL),
                  NC_OK);
    open_at(&one, "ws", "127.0.0.1");
    echo_and_close(&one);
    open_at(&one, "ws", "127.0.0.1");
    echo_and_close(&one);
    const char *first = strstr(one.server.peers[0]->head, "\r\nCookie: a=1\r\n");
    const char *second = strstr(one.server.peers[1]->head, "\r\nCookie: ");
    assert_non_null(first);
    assert_non_null(second);
    assert_non_null(strstr(second, "a=1"));
    assert_non_null(strstr(second, "b=2"));
    end(&one);
}

static void socket__hsts_changes_ws_to_wss(void **state) {
    (void)state;
    case_of one = {
        .server = {.serve = socket_peer_echo, .has_tls = true, .fields = "Strict-Transport-Security: max-age=1000\r\n"},
        .options = {.uses_hsts = true}};
    begin(&one);
    open_at(&one, "wss", "a.example");
    echo_and_close(&one);
    // The server speaks only TLS.
    open_at(&one, "ws", "a.example");
    echo_and_close(&one);
    end(&one);
}

static void socket__the_engines_http_version_does_not_apply(void **state) {
    (void)state;
    case_of one = {.server = {.serve = socket_peer_echo}, .options = {.http = NC_HTTP_3_ONLY}};
    begin(&one);
    open_at(&one, "ws", "127.0.0.1");
    echo_and_close(&one);
    assert_non_null(strstr(one.server.peers[0]->head, " HTTP/1.1\r\n"));
    end(&one);
}

/* --- proxies --- */

static void socket__a_proxy_that_refuses_ends_the_handshake(void **state) {
    static const char *const schemes[] = {"socks5h", "http"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        case_of one = {.server = {.serve = socket_peer_echo}};
        nct_proxy *proxy = NULL;
        char url[64];
        char through[64];
        const nct_proxy_options options = {
            .kind = i == 0 ? NCT_PROXY_SOCKS5 : NCT_PROXY_HTTP, .user = "me", .password = "secret"};
        assert_int_equal(nct_proxy_start(&proxy, &options), 0);
        begin(&one);
        (void)snprintf(url, sizeof url, "ws://127.0.0.1:%u/", one.server.port);
        (void)snprintf(through, sizeof through, "%s://127.0.0.1:%u", schemes[i], nct_proxy_port(proxy));
        const nc_proxy chosen = {.choice = NC_PROXY_URL, .url = nc_slice_of(through)};
        const nc_request request = {.url = nc_slice_of(url), .proxy = &chosen};
        socket_client_open_request(&one.client, one.engine, &request);
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, NC_ERR_PROXY);
        assert_int_equal(one.server.count, 0);
        end(&one);
        nct_proxy_stop(proxy);
    }
}

/* --- the response --- */

static const char *answer(const socket_peer *peer) {
    return peer->server->ctx;
}

static void socket__each_fault_of_the_response_is_named(void **state) {
    static struct {
        char response[160];
        const char *text;
    } cases[] = {
        {"HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n", "Upgrade field"},
        {"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "Upgrade field"},
        {"HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n", "Connection field"},
        {"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: close\r\n\r\n", "Connection field"},
        {"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "Sec-WebSocket-Accept"},
        {"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n"
         "Sec-WebSocket-Accept: x\r\n\r\n",
         "Sec-WebSocket-Accept"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        case_of one = {.server = {.refuse = answer, .ctx = cases[i].response}};
        begin(&one);
        open_at(&one, "ws", "127.0.0.1");
        socket_client_finish(&one.client);
        assert_status(one.client.error.status, NC_ERR_BAD_UPGRADE);
        assert_non_null(strstr(one.client.error.message, cases[i].text));
        assert_int_equal(one.client.opened.count, 0);
        end(&one);
    }
}

static void socket__frames_that_arrive_with_the_101_are_read(void **state) {
    (void)state;
    // The end of the response head is the end of the message.
    case_of one = {.server = {.serve = socket_peer_echo, .fields = "X: y\r\n\r\n\x82\x04hi"}};
    begin(&one);
    open_at(&one, "ws", "127.0.0.1");
    gate_wait(&one.client.received);
    assert_messages(&one.client, "B<hi\r\n>");
    assert_status(nc_socket_close(one.client.socket, 1000, nc_slice_of(""), NULL), NC_OK);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_OK);
    end(&one);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(socket__pins_are_checked_in_the_handshake),
        harness_case(socket__cookies_are_sent_and_those_of_the_101_are_stored),
        harness_case(socket__hsts_changes_ws_to_wss),
        harness_case(socket__the_engines_http_version_does_not_apply),
        harness_case(socket__a_proxy_that_refuses_ends_the_handshake),
        harness_case(socket__each_fault_of_the_response_is_named),
        harness_case(socket__frames_that_arrive_with_the_101_are_read),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
