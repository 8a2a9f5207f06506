/// If libcurl expects a challenge, it first sends a request without the body. That is limited to one request: others
/// on its connection, concurrent or later, are sent with their bodies.
#include "fixture.h"
#include "gate.h"
#include "tls_frames.h"
#include "tls_peer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static nc_request put_to(const char *url, uint32_t schemes) {
    return (nc_request){
        .method = nc_slice_of("PUT"),
        .url = nc_slice_of(url),
        .body = nc_slice_of("body"),
        .credentials = {.schemes = schemes, .user = nc_slice_of("me"), .password = nc_slice_of("secret")},
        .limits = {.total_ms = 5000},
    };
}

/// The first request ends with a challenge for which it has no credentials. Its connection stays open.
static void bodyless_first_request__does_not_affect_later_requests_on_its_connection(void **state) {
    static const uint32_t schemes[] = {NC_AUTH_DIGEST, NC_AUTH_NTLM, NC_AUTH_DIGEST | NC_AUTH_NTLM};
    fixture f;
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if ((schemes[i] & NC_AUTH_NTLM) != 0 && !nc_capabilities_query().has_ntlm) {
            continue;
        }
        fixture_start(&f, NCT_PLAIN);
        fixture_script(&f, "/mine", (nct_reply){.status = 401, .headers = "WWW-Authenticate: Basic realm=\"x\"\r\n"});
        fixture_script(&f, "/anybodys", (nct_reply){.is_echo = true});
        nc_request mine = put_to(fixture_url(&f, "/mine"), schemes[i]);
        nc_request anybodys = put_to(fixture_url(&f, "/anybodys"), 0);
        assert_int_equal(nc_response_status(fixture_send(&f, &mine).response), 401);
        assert_response(fixture_send(&f, &anybodys), 200, "body");
        assert_response(fixture_send(&f, &anybodys), 200, "body");
        fixture_stop(&f);
    }
}

/// The second request has schemes but no user, and the netrc file has no entry for the host: libcurl sends no
/// credentials, and awaits no challenge.
static void bodyless_first_request__does_not_affect_requests_whose_user_is_not_in_the_netrc(void **state) {
    char path[] = "/tmp/netcore-netrc-XXXXXX";
    fixture f;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    fixture_start_with(&f, NULL, &(nc_engine_options){.uses_netrc = true, .netrc_file = nc_slice_of(path)});
    fixture_script(&f, "/mine", (nct_reply){.status = 401, .headers = "WWW-Authenticate: Basic realm=\"x\"\r\n"});
    fixture_script(&f, "/anybodys", (nct_reply){.is_echo = true});
    nc_request mine = put_to(fixture_url(&f, "/mine"), NC_AUTH_DIGEST);
    nc_request anybodys = put_to(fixture_url(&f, "/anybodys"), NC_AUTH_DIGEST | NC_AUTH_BASIC);
    anybodys.credentials.user = anybodys.credentials.password = nc_slice_of("");
    assert_int_equal(nc_response_status(fixture_send(&f, &mine).response), 401);
    assert_response(fixture_send(&f, &anybodys), 200, "body");
    assert_response(fixture_send(&f, &anybodys), 200, "body");
    fixture_stop(&f);
    assert_int_equal(unlink(path), 0);
}

static bool is_stream(SSL *ssl) {
    const unsigned char *protocol = NULL;
    unsigned length = 0;
    SSL_get0_alpn_selected(ssl, &protocol, &length);
    return length == 2;
}

/// Challenges a request without a body, and accepts a request with one.
static void serve(SSL *ssl, const tls_peer_connection *connection) {
    tls_frames frames = TLS_FRAMES_INIT;
    char bytes[4096];
    if (!is_stream(ssl)) {
        gate_open(connection->peer->ctx);
        (void)tls_peer_read_to(ssl, bytes, sizeof bytes, "body");
        return;
    }
    (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
    if (tls_frames_find(&frames, ssl, TLS_FRAME_HEADERS) > 0) {
        gate_open(connection->peer->ctx);
        int stream = tls_frames_find(&frames, ssl, TLS_FRAME_DATA);
        if (stream > 0) {
            tls_frames_respond(ssl, stream);
        }
        (void)tls_frames_find(&frames, ssl, TLS_FRAME_PING);
    }
}

static void bodyless_first_request__does_not_affect_other_streams(void **state) {
    fixture f;
    gate is_asked = GATE_INIT;
    tls_peer peer = {.serve = serve, .members = "2", .ctx = &is_asked};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    const char *url = fixture_text(&f, "https://127.0.0.1:%u/", peer.port);
    nc_request mine = put_to(url, NC_AUTH_DIGEST);
    nc_request anybodys = put_to(url, 0);
    nc_transfer_id waiting = fixture_submit(&f, &mine);
    gate_wait(&is_asked);
    assert_response(fixture_send(&f, &anybodys), 200, "hi");
    nc_engine_cancel(f.engine, waiting);
    assert_status(fixture_wait(&f, waiting).error.status, NC_ERR_CANCELLED);
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

/// Responds after the whole request: over HTTP/2 that is the end of its stream.
static void serve_patiently(SSL *ssl, const tls_peer_connection *connection) {
    static const char challenge[] = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
                                    "Content-Length: 0\r\n\r\n";
    static const char taken[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    char bytes[4096];
    (void)connection;
    if (is_stream(ssl)) {
        tls_frames frames = TLS_FRAMES_INIT;
        (void)SSL_write(ssl, SETTINGS, sizeof(SETTINGS) - 1);
        // libcurl 7.88 never ends this stream. Later versions end it, and resend the request with the body.
        for (int stream; (stream = tls_frames_find(&frames, ssl, TLS_FRAME_DATA)) > 0;) {
            tls_frames_respond(ssl, stream);
        }
    } else if (tls_peer_read_to(ssl, bytes, sizeof bytes, "Content-Length: 0\r\n\r\n")) {
        (void)SSL_write(ssl, challenge, sizeof challenge - 1);
        if (tls_peer_read_to(ssl, bytes, sizeof bytes, "\r\n\r\nbody")) {
            (void)SSL_write(ssl, taken, sizeof taken - 1);
        }
    }
}

static void bodyless_first_request__is_a_complete_request_over_http_2(void **state) {
    fixture f;
    tls_peer peer = {.serve = serve_patiently, .members = "2"};
    (void)state;
    fixture_start_trusting_all(&f);
    tls_peer_start(&peer);
    nc_request mine = put_to(fixture_text(&f, "https://127.0.0.1:%u/", peer.port), NC_AUTH_DIGEST);
    assert_response(fixture_send(&f, &mine), 200, "hi");
    assert_status(nc_engine_close(f.engine, FIXTURE_LIMIT_MS), NC_OK);
    f.engine = NULL;
    tls_peer_stop(&peer);
    fixture_stop(&f);
}

/// Produces two of four declared bytes, or fails.
typedef struct wrong_source {
    nc_pull answer;
    unsigned pulls;
} wrong_source;

static nc_pull pull_wrong(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    wrong_source *source = ctx;
    (void)id;
    (void)capacity;
    memcpy(bytes, "he", 2);
    *filled = 2;
    source->pulls++;
    return source->answer;
}

/// If the body source fails after a challenge, libcurl assumes a dead connection. It would resend the head, which
/// declares a body, without the body.
static void bodyless_first_request__a_failed_body_source_is_not_retried(void **state) {
    static const nc_pull answers[] = {NC_PULL_END, NC_PULL_FAIL};
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        fixture f;
        fixture_start(&f, identities[i / 2]);
        fixture_script(&f, "/",
                       (nct_reply){.status = 401,
                                   .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n",
                                   .body = "no",
                                   .body_length = 2});
        wrong_source source = {.answer = answers[i % 2]};
        nc_request request = put_to(fixture_url(&f, "/"), NC_AUTH_DIGEST);
        request.body = nc_slice_of("");
        request.body_source = (nc_body_source){.ctx = &source, .pull = pull_wrong};
        request.body_length = 4;
        assert_status(fixture_send(&f, &request).error.status, i % 2 == 1 ? NC_ERR_BODY_SOURCE : NC_ERR_BODY_LENGTH);
        assert_int_equal(source.pulls, 1);
        assert_int_equal(nct_server_connection_count(f.server), 1);
        fixture_stop(&f);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(bodyless_first_request__does_not_affect_later_requests_on_its_connection),
        harness_case(bodyless_first_request__does_not_affect_requests_whose_user_is_not_in_the_netrc),
        harness_case(bodyless_first_request__does_not_affect_other_streams),
        harness_case(bodyless_first_request__is_a_complete_request_over_http_2),
        harness_case(bodyless_first_request__a_failed_body_source_is_not_retried),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
