/// WebSockets over an engine: the handshake, messages in both directions, and the end.
#include "socket_client.h"
#include "socket_server.h"

#include "nettesting.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct case_of {
    socket_server server;
    socket_client client;
    nc_engine *engine;
    char url[256];
} case_of;

static nc_trust *trust_all(void) {
    nc_trust *trust = NULL;
    const nc_trust_options options = {.accepts_anything = true};
    assert_status(nc_trust_new(&trust, &options, NULL), NC_OK);
    return trust;
}

static void begin(case_of *one) {
    one->client = (socket_client)SOCKET_CLIENT_INIT;
    socket_server_start(&one->server);
    assert_status(nc_engine_new(&one->engine, NULL, NULL), NC_OK);
    (void)snprintf(one->url, sizeof one->url, "%s://127.0.0.1:%u/chat?q=1", one->server.has_tls ? "wss" : "ws",
                   one->server.port);
}

static void end(case_of *one) {
    socket_server_stop(&one->server);
    assert_status(nc_engine_close(one->engine, NC_UNLIMITED), NC_OK);
    socket_client_deinit(&one->client);
}

static void close_and_finish(case_of *one) {
    assert_status(nc_socket_close(one->client.socket, 1000, nc_slice_of("bye"), NULL), NC_OK);
    socket_client_finish(&one->client);
    assert_status(one->client.error.status, NC_OK);
    assert_int_equal(one->client.close_code, 1000);
    assert_slice_equals(nc_buf_slice(&one->client.reason), "bye");
    assert_int_equal(one->server.close_code, 1000);
}

static void echo_one(case_of *one) {
    gate_wait(&one->client.opened);
    socket_client_send(&one->client, NC_SOCKET_TEXT, "h\xc3\xa9llo");
    gate_wait(&one->client.received);
    assert_messages(&one->client, "T<h\xc3\xa9llo>");
    close_and_finish(one);
}

/* --- messages --- */

static void socket__echoes_text_binary_and_fragments(void **state) {
    case_of one = {.server = {.serve = socket_peer_echo}};
    (void)state;
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, NULL);
    socket_client_send(&one.client, NC_SOCKET_TEXT, "before the handshake is complete");
    gate_wait(&one.client.opened);
    socket_client_send(&one.client, NC_SOCKET_BINARY, "\xff");
    assert_status(nc_socket_send(one.client.socket, NC_SOCKET_TEXT, nc_slice_of("\xc3"), false, NULL), NC_OK);
    assert_status(nc_socket_send(one.client.socket, NC_SOCKET_TEXT, nc_slice_of(""), false, NULL), NC_OK);
    assert_status(nc_socket_ping(one.client.socket, nc_slice_of("within"), NULL), NC_OK);
    assert_status(nc_socket_send(one.client.socket, NC_SOCKET_TEXT, nc_slice_of("\xa9"), true, NULL), NC_OK);
    socket_client_send(&one.client, NC_SOCKET_TEXT, "");
    gate_wait_for(&one.client.received, 4);
    gate_wait(&one.client.ponged);
    assert_non_null(strstr(one.server.peers[0]->head, "GET /chat?q=1 HTTP/1.1\r\n"));
    assert_non_null(strstr(one.server.peers[0]->head, "\r\nSec-WebSocket-Version: 13\r\n"));
    assert_null(strstr(one.server.peers[0]->head, "Content-Length"));
    assert_null(strstr(one.server.peers[0]->head, "Transfer-Encoding"));
    close_and_finish(&one);
    end(&one);
}

static void serve_pings(socket_peer *peer) {
    nc_buf payload = nc_buf_init(SIZE_MAX);
    uint8_t first = 0;
    assert_true(socket_peer_write_frame(peer, 0x89, nc_slice_of("are you there")));
    if (socket_peer_read_frame(peer, &first, &payload) && first == 0x8a &&
        nc_slice_is_equal(nc_buf_slice(&payload), nc_slice_of("are you there"))) {
        (void)socket_peer_write_frame(peer, 0x81, nc_slice_of("answered"));
    }
    nc_buf_deinit(&payload);
    socket_peer_echo(peer);
}

static void socket__answers_pings_by_itself(void **state) {
    case_of one = {.server = {.serve = serve_pings}};
    (void)state;
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, NULL);
    gate_wait(&one.client.received);
    assert_messages(&one.client, "T<answered>");
    close_and_finish(&one);
    end(&one);
}

static void socket__compresses_if_the_server_agrees(void **state) {
    static const char *const terms[] = {"Sec-WebSocket-Extensions: permessage-deflate\r\n",
                                        ("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=\"9\"; "
                                         "server_no_context_takeover; client_no_context_takeover\r\n"),
                                        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=8\r\n"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(terms); i++) {
        case_of one = {.server = {.serve = socket_peer_echo, .fields = terms[i]}};
        begin(&one);
        one.client.options.offers_compression = true;
        socket_client_open(&one.client, one.engine, one.url, NULL);
        gate_wait(&one.client.opened);
        socket_client_send(&one.client, NC_SOCKET_TEXT, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        socket_client_send(&one.client, NC_SOCKET_TEXT, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        gate_wait_for(&one.client.received, 2);
        assert_messages(&one.client, "T<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>T<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>");
        close_and_finish(&one);
        end(&one);
    }
}

/* --- the way to the server --- */

static void socket__works_over_tls(void **state) {
    case_of one = {.server = {.serve = socket_peer_echo, .has_tls = true}};
    nc_trust *trust = trust_all();
    (void)state;
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, trust);
    echo_one(&one);
    end(&one);
    nc_trust_release(trust);
}

static void socket__an_untrusted_certificate_ends_the_handshake(void **state) {
    case_of one = {.server = {.serve = socket_peer_echo, .has_tls = true}};
    (void)state;
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, NULL);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_ERR_TLS_UNTRUSTED);
    assert_int_equal(one.client.http_status, 0);
    end(&one);
}

static void socket__goes_through_proxies_by_a_tunnel(void **state) {
    static const struct {
        nct_proxy_kind kind;
        const char *scheme;
    } kinds[] = {{NCT_PROXY_SOCKS5, "socks5h"}, {NCT_PROXY_HTTP, "http"}};
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(kinds); i++) {
        case_of one = {.server = {.serve = socket_peer_echo, .has_tls = i % 2 == 1}};
        nct_proxy *proxy = NULL;
        nc_trust *trust = trust_all();
        char text[64];
        assert_int_equal(nct_proxy_start(&proxy, &(nct_proxy_options){.kind = kinds[i / 2].kind}), 0);
        begin(&one);
        (void)snprintf(text, sizeof text, "%s://127.0.0.1:%u", kinds[i / 2].scheme, nct_proxy_port(proxy));
        const nc_proxy through = {.choice = NC_PROXY_URL, .url = nc_slice_of(text)};
        const nc_request request = {.url = nc_slice_of(one.url), .trust = trust, .proxy = &through};
        socket_client_open_request(&one.client, one.engine, &request);
        echo_one(&one);
        assert_int_equal(nct_proxy_tunnel_count(proxy), 1);
        end(&one);
        nct_proxy_stop(proxy);
        nc_trust_release(trust);
    }
}

static void socket__works_over_a_unix_socket(void **state) {
    char path[64];
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/netcore-ws-%d", (int)getpid());
    case_of one = {.server = {.serve = socket_peer_echo, .unix_path = path}};
    begin(&one);
    const nc_request request = {.url = nc_slice_of("ws://local/"), .unix_socket = nc_slice_of(path)};
    socket_client_open_request(&one.client, one.engine, &request);
    echo_one(&one);
    end(&one);
}

/* --- the handshake --- */

static const char *refuse_first(const socket_peer *peer) {
    const char *const *replies = peer->server->ctx;
    return peer->index == 0 ? replies[0] : replies[1];
}

static void socket__an_answer_without_101_is_in_the_error(void **state) {
    static const char *replies[] = {"HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nsorry", NULL};
    (void)state;
    case_of one = {.server = {.serve = socket_peer_echo, .refuse = refuse_first, .ctx = replies}};
    begin(&one);
    socket_client_open(&one.client, one.engine, one.url, NULL);
    socket_client_finish(&one.client);
    assert_status(one.client.error.status, NC_ERR_UPGRADE_REFUSED);
    assert_int_equal(one.client.error.native_code, 403);
    assert_int_equal(one.client.http_status, 403);
    assert_slice_equals(nc_buf_slice(&one.client.refusal), "sorry");
    assert_int_equal(one.client.close_code, NC_SOCKET_NO_CLOSE_FRAME);
    end(&one);
}

static void socket__follows_redirects_and_answers_a_challenge(void **state) {
    static const char *const first[] = {
        "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 303 See Other\r\nLocation: /other\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 307 Redirect\r\nLocation: ws://localhost:%u/other\r\nContent-Length: 0\r\n\r\n",
        ("HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
         "Content-Length: 0\r\n\r\n")};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(first); i++) {
        char reply[256];
        const char *replies[] = {reply, NULL};
        case_of one = {.server = {.serve = socket_peer_echo, .refuse = refuse_first, .ctx = replies}};
        begin(&one);
        (void)snprintf(reply, sizeof reply, first[i], one.server.port);
        const nc_request request = {.url = nc_slice_of(one.url),
                                    .credentials = {.schemes = i == 3 ? NC_AUTH_DIGEST : 0,
                                                    .user = nc_slice_of("me"),
                                                    .password = nc_slice_of("pass")}};
        socket_client_open_request(&one.client, one.engine, &request);
        echo_one(&one);
        assert_int_equal(one.server.count, 2);
        const char *head = one.server.peers[1]->head;
        assert_non_null(strstr(head, i == 3 ? "\r\nAuthorization: Digest " : "GET /other HTTP/1.1\r\n"));
        assert_non_null(strstr(head, "\r\nUpgrade: websocket\r\n"));
        end(&one);
    }
}

static void socket__wrong_credentials_are_refused(void **state) {
    static const char refusal[] =
        "HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
        "Content-Length: 2\r\n\r\nno";
    static const uint32_t schemes[] = {0, NC_AUTH_BASIC, NC_AUTH_DIGEST};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        const char *replies[] = {refusal, refusal};
        case_of one = {.server = {.serve = socket_peer_echo, .refuse = refuse_first, .ctx = replies}};
        begin(&one);
        const nc_request request = {
            .url = nc_slice_of(one.url),
            .credentials = {.schemes = schemes[i], .user = nc_slice_of("me"), .password = nc_slice_of("wrong")}};
        socket_client_open_request(&one.client, one.engine, &request);
        socket_client_finish(&one.client);
        assert_int_equal(one.client.http_status, 401);
        if (schemes[i] != NC_AUTH_DIGEST) {
            assert_status(one.client.error.status, NC_ERR_UPGRADE_REFUSED);
            assert_slice_equals(nc_buf_slice(&one.client.refusal), "no");
        } else if (one.client.error.status != NC_ERR_UPGRADE_REFUSED) {
            assert_status(one.client.error.status, NC_ERR_AUTHENTICATION);
        }
        end(&one);
    }
}

static void socket__a_subprotocol_is_chosen_from_the_offer(void **state) {
    static const nc_slice offered[] = {{(const uint8_t *)"v2", 2}, {(const uint8_t *)"v1", 2}};
    static const struct {
        const char *fields;
        nc_status status;
    } cases[] = {{"Sec-WebSocket-Protocol: v1\r\n", NC_OK},
                 {"", NC_OK},
                 {"Sec-WebSocket-Protocol: v3\r\n", NC_ERR_BAD_UPGRADE},
                 {"Sec-WebSocket-Protocol: v1, v2\r\n", NC_ERR_BAD_UPGRADE},
                 {"Sec-WebSocket-Extensions: permessage-deflate\r\n", NC_ERR_BAD_UPGRADE}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        case_of one = {.server = {.serve = socket_peer_echo, .fields = cases[i].fields}};
        begin(&one);
        one.client.options.protocols = offered;
        one.client.options.protocol_count = 2;
        socket_client_open(&one.client, one.engine, one.url, NULL);
        if (cases[i].status == NC_OK) {
            echo_one(&one);
            assert_non_null(strstr(one.server.peers[0]->head, "\r\nSec-WebSocket-Protocol: v2, v1\r\n"));
        } else {
            socket_client_finish(&one.client);
            assert_status(one.client.error.status, cases[i].status);
        }
        end(&one);
    }
}

static void socket__a_wrong_request_is_refused(void **state) {
    const nc_header own = {nc_slice_of("sec-websocket-key"), nc_slice_of("x")};
    const nc_slice twice[] = {nc_slice_of("a"), nc_slice_of("a")};
    socket_client client = SOCKET_CLIENT_INIT;
    nc_socket_sink sink = socket_client_sink(&client);
    nc_engine *engine = NULL;
    nc_socket *socket = NULL;
    const struct {
        nc_request request;
        nc_socket_options options;
        nc_status status;
    } cases[] = {{{.url = nc_slice_of("ws://x/"), .method = nc_slice_of("POST")}, {0}, NC_ERR_USAGE},
                 {{.url = nc_slice_of("ws://x/"), .body = nc_slice_of("x")}, {0}, NC_ERR_USAGE},
                 {{.url = nc_slice_of("ws://x/"), .headers = &own, .header_count = 1}, {0}, NC_ERR_BAD_HEADER},
                 {{.url = nc_slice_of("ws://x/"), .http = NC_HTTP_3_ONLY}, {0}, NC_ERR_UNSUPPORTED},
                 {{.url = nc_slice_of("ws://x/"), .credentials = {.schemes = NC_AUTH_NTLM}}, {0}, NC_ERR_UNSUPPORTED},
                 {{.url = nc_slice_of("ftp://x/")}, {0}, NC_ERR_BAD_SCHEME},
                 {{.url = nc_slice_of("ws://")}, {0}, NC_ERR_BAD_URL},
                 {{.url = nc_slice_of("ws://x/")}, {.protocols = twice, .protocol_count = 2}, NC_ERR_USAGE}};
    (void)state;
    assert_status(nc_engine_new(&engine, NULL, NULL), NC_OK);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_status(nc_socket_open(&socket, engine, &cases[i].request, &cases[i].options, &sink, NULL),
                      cases[i].status);
    }
    assert_status(nc_engine_close(engine, NC_UNLIMITED), NC_OK);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(socket__echoes_text_binary_and_fragments),
        harness_case(socket__answers_pings_by_itself),
        harness_case(socket__compresses_if_the_server_agrees),
        harness_case(socket__works_over_tls),
        harness_case(socket__an_untrusted_certificate_ends_the_handshake),
        harness_case(socket__goes_through_proxies_by_a_tunnel),
        harness_case(socket__works_over_a_unix_socket),
        harness_case(socket__an_answer_without_101_is_in_the_error),
        harness_case(socket__follows_redirects_and_answers_a_challenge),
        harness_case(socket__wrong_credentials_are_refused),
        harness_case(socket__a_subprotocol_is_chosen_from_the_offer),
        harness_case(socket__a_wrong_request_is_refused),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
