#include "quic.h"

#include "curl/quirks.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_OPTIONS = 8 };

bool quic_is_impossible(void) {
    const nc_capabilities has = nc_capabilities_query();
    bool is_possible = has.has_http3 && has.has_trust_policies;
    if (!is_possible) {
        (void)printf("libcurl %s (%s) has no HTTP/3 over OpenSSL: nothing to test\n", has.curl_version,
                     has.tls_backend);
    }
    return !is_possible;
}

int quic_missing(void) {
    if (quic_is_impossible()) {
        return 0;
    }
    // About one of a hundred connections of OpenSSL's QUIC to aioquic hangs: the control streams do not arrive. It
    // happens with curl too, and not with nginx or caddy.
    if (nc_quirk_appends_trailers()) {
        (void)printf("this libcurl uses OpenSSL's QUIC, which aioquic cannot test\n");
        return 0;
    }
    if (!server_is_installed(INTEROP_PYTHON) || system(INTEROP_PYTHON " -c 'import aioquic' 2>/dev/null") != 0) {
        return server_missing("aioquic (script/bootstrap --http3)");
    }
    return -1;
}

int quic_begin(void **state) {
    (void)state;
    servers_begin();
    return 0;
}

int quic_end(void **state) {
    (void)state;
    servers_end();
    return 0;
}

void quic_run_server(server *one, const char *certificate, const char *key, const char *const *options) {
    const char *arguments[MAX_OPTIONS + 6] = {INTEROP_PYTHON, INTEROP_FOLDER "/http3_server.py"};
    size_t count = 2;
    server_reserve(one);
    arguments[count++] = server_text("%u", one->port);
    arguments[count++] = certificate;
    arguments[count++] = key;
    for (size_t i = 0; options != NULL && options[i] != NULL && i < MAX_OPTIONS; i++) {
        arguments[count++] = options[i];
    }
    server_run(one, arguments, "PYTHONDONTWRITEBYTECODE=1");
}

void quic_start_with(quic *q, const char *const *options, const nc_engine_options *engine) {
    quic_run_server(&q->server, server_path("cert.pem"), server_path("key.pem"), options);
    ask_start(&q->f, engine);
}

void quic_start(quic *q, const char *const *options) {
    quic_start_with(q, options, NULL);
}

void quic_stop(quic *q) {
    fixture_stop(&q->f);
    server_stop(&q->server);
}

nc_request quic_request(quic *q, const char *path) {
    nc_request request = ask_for(&q->f, &q->server, "https", path);
    request.http = NC_HTTP_3_ONLY;
    return request;
}

answer quic_get(quic *q, const char *path) {
    nc_request request = quic_request(q, path);
    return fixture_send(&q->f, &request);
}

void quic_command(quic *q, const char *path) {
    nc_request request = ask_for(&q->f, &q->server, "https", path);
    request.http = NC_HTTP_1_1;
    assert_response(fixture_send(&q->f, &request), 200, "tcp");
}

unsigned quic_opened(answer one) {
    nc_hop_metrics hop = nc_response_hop_at(one.response, nc_response_hop_count(one.response) - 1);
    assert_int_equal(hop.http_version, NC_HTTP_VERSION_3);
    assert_int_equal(hop.quic_version, 1);
    assert_false(hop.used_early_data);
    return hop.connections_opened;
}
