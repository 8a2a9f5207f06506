/// Servers that flood a connection with data other than a response: frames without content, tickets, a proxy's
/// refusal. libcurl and OpenSSL read as long as there is input, which could block the engine's other transfers.
#include "fixture.h"
#include "gate.h"
#include "listening.h"
#include "tls_peer.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// The repeated data, sent after the request.
typedef struct flood {
    const char *name;
    const char *front; // sent once
    size_t front_length;
    const char *piece; // NULL: tickets (RFC 8446, 4.6.1), over HTTP/1.1
    size_t piece_length;
} flood;

#define TEXT(literal) (literal), sizeof(literal) - 1

typedef struct flood_server {
    const flood *kind;
    SSL_CTX *context;
    int listener;
    uint16_t port;
    pthread_t thread;
    _Atomic int connection;
    atomic_size_t sent; // bytes of the TLS flood
} flood_server;

static int choose(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                  unsigned offered_length, void *ctx) {
    const flood_server *server = ctx;
    const unsigned char *protocol = (const unsigned char *)(server->kind->piece != NULL ? "\2h2" : "\x08http/1.1");
    (void)ssl;
    (void)offered;
    (void)offered_length;
    *out = protocol + 1;
    *length = protocol[0];
    return SSL_TLSEXT_ERR_OK;
}

/// A failure to write a ticket is not an error of OpenSSL.
static bool send_ticket(SSL *ssl) {
    struct pollfd one = {.fd = SSL_get_fd(ssl), .events = POLLOUT};
    bool is_open = poll(&one, 1, -1) == 1 && (one.revents & (POLLERR | POLLHUP)) == 0;
    return is_open && SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1;
}

/// Fills a block with whole pieces; returns its length.
static size_t fill(char *block, size_t capacity, const flood *kind) {
    size_t filled = 0;
    while (kind->piece != NULL && filled + kind->piece_length <= capacity) {
        memcpy(block + filled, kind->piece, kind->piece_length);
        filled += kind->piece_length;
    }
    return filled;
}

/// Sends without end at full speed, until the client closes.
static void send_flood(flood_server *server, SSL *ssl) {
    const flood *kind = server->kind;
    char block[16 * 1024];
    size_t filled = fill(block, sizeof block, kind);
    int count = kind->front_length > 0 ? SSL_write(ssl, kind->front, (int)kind->front_length) : 1;
    while (count > 0) {
        count = kind->piece == NULL ? send_ticket(ssl) : SSL_write(ssl, block, (int)filled);
        (void)atomic_fetch_add(&server->sent, filled);
    }
}

/// The flood without TLS.
static void send_plain_flood(const flood *kind, int fd) {
    char block[16 * 1024] = "";
    size_t filled = kind->piece != NULL ? fill(block, sizeof block, kind) : sizeof block;
    ssize_t count = kind->front_length > 0 ? send(fd, kind->front, kind->front_length, MSG_NOSIGNAL) : 1;
    while (count > 0) {
        count = send(fd, block, filled, MSG_NOSIGNAL);
    }
}

static void *run_plain(void *ctx) {
    flood_server *server = ctx;
    char request[4096];
    server->connection = accept(server->listener, NULL, NULL);
    if (recv(server->connection, request, sizeof request, 0) > 0) {
        send_plain_flood(server->kind, server->connection);
    }
    return NULL;
}

static void *run_server(void *ctx) {
    flood_server *server = ctx;
    char request[4096];
    sigset_t broken_pipe; // OpenSSL writes to a socket that the client may have closed
    (void)sigemptyset(&broken_pipe);
    (void)sigaddset(&broken_pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    int fd = accept(server->listener, NULL, NULL);
    server->connection = fd;
    SSL *ssl = SSL_new(server->context);
    if (fd >= 0 && ssl != NULL && SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1 &&
        SSL_read(ssl, request, sizeof request) > 0) {
        send_flood(server, ssl);
    }
    SSL_free(ssl);
    ERR_clear_error();
    return NULL;
}

static void start(flood_server *server, const flood *kind, void *(*run)(void *)) {
    *server = (flood_server){.kind = kind, .context = SSL_CTX_new(TLS_server_method())};
    tls_peer_present_certificate(server->context);
    SSL_CTX_set_alpn_select_cb(server->context, choose, server);
    server->listener = listen_anywhere(&server->port, 1);
    assert_int_equal(pthread_create(&server->thread, NULL, run, server), 0);
}

static void stop(flood_server *server) {
    (void)shutdown(server->connection, SHUT_RDWR); // the client may have kept it
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    assert_int_equal(close(server->connection), 0);
    assert_int_equal(close(server->listener), 0);
    SSL_CTX_free(server->context);
}

/// Starts the flood beside a regular server.
static void start_beside(fixture *f) {
    fixture_start_trusting_all(f);
    fixture_script(f, "/a", (nct_reply){.body = "hi", .body_length = 2});
}

/// Expects that the flooded request ends with this status, and that another request gets its response meanwhile. If the
/// client is faster than the flood, the loop is not blocked, and the transfer ends at its time limit.
static void expect_end(fixture *f, flood_server *server, const nc_request *request, nc_status status) {
    nc_transfer_id flooded = fixture_submit(f, request);
    answer other = fixture_get(f, "/a");
    assert_response(other, 200, "hi");
    answer one = fixture_wait(f, flooded);
    stop(server);
    if (one.error.status != status && one.error.status != NC_ERR_TOTAL_TIMED_OUT) {
        fail_msg("%s: %s: %s", server->kind->name, nc_status_name(one.error.status), one.error.message);
    }
}

static void threat_flood__endless_frames_without_a_response_end_only_their_own_transfer(void **state) {
    static const flood kinds[] = {
        {"empty DATA", TEXT(SETTINGS OK_HEAD("\1")), TEXT(FRAME_HEAD("\0", "\0", "\0", "\1"))},
        {"padding", TEXT(SETTINGS OK_HEAD("\1")), TEXT(FRAME_HEAD("\4", "\0", "\x08", "\1") "\3\0\0\0")},
        {"WINDOW_UPDATE", TEXT(SETTINGS), TEXT(FRAME_HEAD("\4", "\x08", "\0", "\0") "\0\0\0\1")},
        {"PRIORITY", TEXT(SETTINGS), TEXT(FRAME_HEAD("\5", "\2", "\0", "\1") "\0\0\0\3\x10")},
        {"unknown", TEXT(SETTINGS), TEXT(FRAME_HEAD("\4", "\x42", "\0", "\1") "none")},
        {"tickets", TEXT(""), NULL, 0},
    };
    fixture f;
    (void)state;
    start_beside(&f);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        flood_server server;
        start(&server, &kinds[i], run_server);
        nc_request request = {
            .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", server.port)),
            .limits = {.total_ms = 2000},
        };
        expect_end(&f, &server, &request, NC_ERR_BAD_RESPONSE);
    }
    fixture_stop(&f);
}

/// Within the handshake OpenSSL skips these (RFC 5246, section 7.4.1.1) and reads the next message.
static void threat_flood__endless_handshake_messages_end_only_their_own_transfer(void **state) {
    static const flood kinds[] = {
        {"a record each", TEXT(""), TEXT("\x16\3\3\0\4\0\0\0\0")},
        {"many a record", TEXT(""), TEXT("\x16\3\3\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    };
    fixture f;
    (void)state;
    start_beside(&f);
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        flood_server server;
        start(&server, &kinds[i / 2], run_plain);
        const char *url = fixture_text(&f, "https://127.0.0.1:%u/", server.port);
        const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(url)};
        bool is_proxys = i % 2 == 1;
        nc_request request = {
            .url = nc_slice_of(is_proxys ? "https://example.test/" : url),
            .limits = {.total_ms = 2000},
            .proxy = is_proxys ? &proxy : NULL,
        };
        expect_end(&f, &server, &request, NC_ERR_TLS_HANDSHAKE);
    }
    fixture_stop(&f);
}

#define EIGHT(text) text text text text text text text text

/// The received bytes of a body whose server sends faster than the client reads.
typedef struct fast_body {
    flood_server *server;
    nc_engine *engine;
    size_t taken;
    nc_status status;
    gate is_over;
} fast_body;

/// Within HTTP/2's window of 32 MiB.
static nc_action count_and_cancel(void *ctx, nc_transfer_id id, nc_slice bytes) {
    enum { AHEAD = 64 << 10, ENOUGH = 8 << 20, MOST = 24 << 20, FRAME_HEAD_BYTES = 9 };
    fast_body *at = ctx;
    size_t piece = at->server->kind->piece_length;
    at->taken += bytes.length;
    while (atomic_load(&at->server->sent) / piece * (piece - FRAME_HEAD_BYTES) < at->taken + AHEAD) {
        (void)sched_yield();
    }
    if (at->taken > ENOUGH) {
        nc_engine_cancel(at->engine, id); // by now libcurl has requested another call without waiting for the socket
    }
    return at->taken < MOST ? NC_ACTION_CONTINUE : NC_ACTION_STOP;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    fast_body *at = ctx;
    (void)id;
    (void)response;
    at->status = error->status;
    gate_open(&at->is_over);
}

static void threat_flood__a_body_that_arrives_faster_than_it_is_read_does_not_block_the_mailbox(void **state) {
    static const flood kind = {"a body", TEXT(SETTINGS OK_HEAD("\1")),
                               TEXT(FRAME_HEAD("\x80", "\0", "\0", "\1") EIGHT(EIGHT("ab")))};
    fixture f;
    flood_server server;
    (void)state;
    start_beside(&f);
    start(&server, &kind, run_server);
    fast_body at = {.server = &server, .engine = f.engine, .is_over = GATE_INIT};
    const nc_sink sink = {.ctx = &at, .on_body = count_and_cancel, .on_done = record_end};
    const nc_request request = {
        .url = nc_slice_of(fixture_text(&f, "https://127.0.0.1:%u/", server.port)),
        .limits = {.max_body_bytes = NC_UNLIMITED_BYTES},
    };
    nc_transfer_id id;
    assert_status(nc_engine_submit(f.engine, &request, &sink, &id, NULL), NC_OK);
    gate_wait(&at.is_over);
    stop(&server);
    assert_status(at.status, NC_ERR_CANCELLED);
    fixture_stop(&f);
}

static void threat_flood__an_endless_proxy_rejection_ends_only_its_own_transfer(void **state) {
    static const char length[] =
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\"\r\n"
        "Content-Length: 9000000000000000\r\n\r\n";
    static const char chunk[] =
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\"\r\n"
        "Transfer-Encoding: chunked\r\n\r\n7fffffffffff\r\n";
    static const flood kinds[] = {{"a length", TEXT(length), NULL, 0}, {"a chunk", TEXT(chunk), NULL, 0}};
    fixture f;
    (void)state;
    start_beside(&f);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        flood_server server;
        start(&server, &kinds[i], run_plain);
        const nc_proxy proxy = {
            .choice = NC_PROXY_URL,
            .url = nc_slice_of(fixture_text(&f, "http://127.0.0.1:%u", server.port)),
            .credentials = {.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("u"), .password = nc_slice_of("p")},
        };
        nc_request request = {
            .url = nc_slice_of("https://example.test/"), .limits = {.total_ms = 2000}, .proxy = &proxy};
        expect_end(&f, &server, &request, NC_ERR_PROXY);
    }
    fixture_stop(&f);
}

static void threat_flood__endless_stale_challenges_end(void **state) {
    const nct_reply stale = {
        .status = 401,
        .headers = "WWW-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\", stale=true\r\n",
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/", stale);
    nc_request request = fixture_request(&f, "/");
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of("body");
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("u"), .password = nc_slice_of("p")};
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR, "rejected the credentials after 10 challenges");
    assert_int_equal(nc_response_status(one.response), 401);
    assert_int_equal(nct_server_request_count(f.server), 11);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(threat_flood__endless_frames_without_a_response_end_only_their_own_transfer),
        harness_case(threat_flood__endless_handshake_messages_end_only_their_own_transfer),
        harness_case(threat_flood__a_body_that_arrives_faster_than_it_is_read_does_not_block_the_mailbox),
        harness_case(threat_flood__an_endless_proxy_rejection_ends_only_its_own_transfer),
        harness_case(threat_flood__endless_stale_challenges_end),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
