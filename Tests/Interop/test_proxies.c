/// The engine through proxies of other projects: tinyproxy (HTTP, CONNECT), microsocks (SOCKS5) and pproxy (TLS to
/// the proxy).
#include "servers.h"

#include <string.h>

static server open_proxy;   // tinyproxy
static server locked_proxy; // tinyproxy with a name and a password
static server socks_proxy;  // microsocks with a name and a password
static server secure_proxy; // pproxy over TLS with a name and a password

static const nc_credentials me = {
    .schemes = NC_AUTH_BASIC, .user = {(const uint8_t *)"me", 2}, .password = {(const uint8_t *)"secret", 6}};
static const nc_credentials nobody = {
    .schemes = NC_AUTH_BASIC, .user = {(const uint8_t *)"me", 2}, .password = {(const uint8_t *)"wrong", 5}};

/* --- the proxies --- */

static void run_tinyproxy(server *one, const char *name, const char *lock) {
    server_reserve(one);
    server_write_file(name,
                      server_text("Port %u\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\nLogLevel Critical\n"
                                  "PidFile \"%s.pid\"\n%s",
                                  one->port, server_path(name), lock),
                      0);
    server_run(one, (const char *[]){"tinyproxy", "-d", "-c", server_path(name), NULL}, NULL);
}

static int start_proxies(void **state) {
    (void)state;
    servers_begin();
    run_tinyproxy(&open_proxy, "open.conf", "");
    run_tinyproxy(&locked_proxy, "locked.conf", "BasicAuth me secret\n");
    server_reserve(&socks_proxy);
    server_run(&socks_proxy,
               (const char *[]){"microsocks", "-i", "127.0.0.1", "-p", server_text("%u", socks_proxy.port), "-u", "me",
                                "-P", "secret", NULL},
               NULL);
    server_reserve(&secure_proxy);
    server_run(&secure_proxy,
               (const char *[]){INTEROP_PYTHON, "-m", "pproxy", "-l",
                                server_text("http+ssl://127.0.0.1:%u#me:secret", secure_proxy.port), "--ssl",
                                server_text("%s,%s", server_path("cert.pem"), server_path("key.pem")), "--auth", "0",
                                NULL},
               NULL);
    return 0;
}

static int stop_proxies(void **state) {
    (void)state;
    server_stop(&open_proxy);
    server_stop(&locked_proxy);
    server_stop(&socks_proxy);
    server_stop(&secure_proxy);
    servers_end();
    return 0;
}

/* --- asking --- */

static void start(fixture *f, nct_identity identity) {
    fixture_start(f, identity);
    fixture_script(f, "/a", (nct_reply){.body = "through", .body_length = 7});
    fixture_script(f, "/echo", (nct_reply){.is_echo = true});
}

static nc_proxy proxy_at(fixture *f, const char *scheme, const server *one, const nc_credentials *credentials) {
    nc_proxy proxy = {.choice = NC_PROXY_URL,
                      .url = nc_slice_of(fixture_text(f, "%s://127.0.0.1:%u", scheme, one->port))};
    if (credentials != NULL) {
        proxy.credentials = *credentials;
    }
    return proxy;
}

static answer ask_through(fixture *f, const nc_proxy *proxy) {
    nc_request request = fixture_request(f, "/a");
    request.proxy = proxy;
    return fixture_send(f, &request);
}

/* --- tinyproxy --- */

static void tinyproxy__forwards_plain_requests(void **state) {
    fixture f;
    nc_slice via;
    (void)state;
    start(&f, NCT_PLAIN);
    const nc_proxy proxy = proxy_at(&f, "http", &open_proxy, NULL);
    for (int i = 0; i < 3; i++) {
        answer one = ask_through(&f, &proxy);
        assert_response(one, 200, "through");
        assert_true(nc_response_find_header(one.response, nc_slice_of("via"), &via));
    }
    assert_non_null(strstr(fixture_received(&f, 0), "GET /a HTTP/1."));
    fixture_stop(&f);
}

static void tinyproxy__creates_tunnels_for_https_and_on_request(void **state) {
    fixture f;
    nc_slice via;
    (void)state;
    start(&f, NCT_TLS_VALID);
    nc_proxy proxy = proxy_at(&f, "http", &open_proxy, NULL);
    for (int i = 0; i < 3; i++) {
        answer one = ask_through(&f, &proxy);
        assert_response(one, 200, "through");
        assert_false(nc_response_find_header(one.response, nc_slice_of("via"), &via));
        assert_int_equal(nc_response_hop_at(one.response, 0).is_reused, i > 0);
    }
    fixture_stop(&f);
    start(&f, NCT_PLAIN);
    proxy = proxy_at(&f, "http", &open_proxy, NULL);
    proxy.uses_tunnel = true;
    answer one = ask_through(&f, &proxy);
    assert_response(one, 200, "through");
    assert_false(nc_response_find_header(one.response, nc_slice_of("via"), &via));
    fixture_stop(&f);
}

static void tinyproxy__requires_its_own_credentials(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_PLAIN);
    nc_proxy proxy = proxy_at(&f, "http", &locked_proxy, NULL);
    // Depending on its version, tinyproxy responds with 401 or 407. Both are its own responses.
    assert_in_range(nc_response_status(ask_through(&f, &proxy).response), 401, 407);
    proxy.credentials = nobody;
    assert_in_range(nc_response_status(ask_through(&f, &proxy).response), 401, 407);
    assert_int_equal(nct_server_request_count(f.server), 0);
    proxy.credentials = me;
    assert_response(ask_through(&f, &proxy), 200, "through");
    assert_null(strstr(fixture_received(&f, 0), "uthorization"));
    fixture_stop(&f);
}

static void tinyproxy__creates_no_tunnel_without_credentials(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_TLS_VALID);
    nc_proxy proxy = proxy_at(&f, "http", &locked_proxy, &nobody);
    answer one = ask_through(&f, &proxy);
    assert_int_equal(one.error.status, NC_ERR_PROXY);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    proxy.credentials = me;
    assert_response(ask_through(&f, &proxy), 200, "through");
    assert_null(strstr(fixture_received(&f, 0), "uthorization"));
    fixture_stop(&f);
}

static void tinyproxy__reports_an_unreachable_server(void **state) {
    fixture f;
    server silent;
    (void)state;
    start(&f, NCT_PLAIN);
    server_reserve(&silent);
    const nc_proxy proxy = proxy_at(&f, "http", &open_proxy, NULL);
    nc_request request = ask_for(&f, &silent, "http", "/");
    request.proxy = &proxy;
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_in_range(nc_response_status(one.response), 500, 504);
    request = ask_for(&f, &silent, "https", "/");
    request.proxy = &proxy;
    assert_int_equal(fixture_send(&f, &request).error.status, NC_ERR_PROXY);
    server_stop(&silent);
    fixture_stop(&f);
}

/* --- any proxy --- */

static void assert_echo_through(nct_identity identity, const char *scheme, const server *one) {
    enum { BYTES = 3000000 };
    fixture f;
    start(&f, identity);
    server_write_file("upload", NULL, BYTES);
    // The directory's authority signed the proxy's certificate. The server has its own authority.
    const nc_trust_options both = {.roots = NC_ROOTS_BYTES,
                                   .ca_pem = nc_slice_of(fixture_text(&f, "%s%s", nct_server_ca_pem(f.server),
                                                                      server_read_text(server_path("ca.pem"))))};
    const nc_proxy proxy = proxy_at(&f, scheme, one, &me);
    nc_request request = fixture_request(&f, "/echo");
    request.method = nc_slice_of("POST");
    request.body_file = nc_slice_of(server_path("upload"));
    request.proxy = &proxy;
    request.trust = fixture_trust(&f, &both);
    answer echoed = fixture_send(&f, &request);
    assert_ended(echoed, NC_OK, 0, "");
    nc_slice body = nc_response_body(echoed.response);
    assert_int_equal(body.length, BYTES);
    assert_int_equal(body.data[BYTES - 1], 'a' + (BYTES - 1) % 26);
    assert_null(strstr(fixture_received(&f, 0), "uthorization"));
    fixture_stop(&f);
}

static void proxies__relay_large_bodies_in_both_directions(void **state) {
    (void)state;
    assert_echo_through(NCT_PLAIN, "http", &locked_proxy);
    assert_echo_through(NCT_TLS_VALID, "http", &locked_proxy);
    assert_echo_through(NCT_PLAIN, "socks5", &socks_proxy);
    assert_echo_through(NCT_TLS_VALID, "socks5h", &socks_proxy);
    assert_echo_through(NCT_TLS_VALID, "https", &secure_proxy);
}

/* --- microsocks --- */

static void microsocks__accepts_only_the_right_password(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_PLAIN);
    nc_proxy proxy = proxy_at(&f, "socks5", &socks_proxy, &nobody);
    assert_int_equal(ask_through(&f, &proxy).error.status, NC_ERR_PROXY);
    proxy.credentials = (nc_credentials){0};
    assert_int_equal(ask_through(&f, &proxy).error.status, NC_ERR_PROXY);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    proxy.credentials = me;
    assert_response(ask_through(&f, &proxy), 200, "through");
    fixture_stop(&f);
}

static void microsocks__resolves_names_for_socks5h(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_PLAIN);
    const nc_proxy proxy = proxy_at(&f, "socks5h", &socks_proxy, &me);
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/a")), .proxy = &proxy};
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "through");
    request.url = nc_slice_of("http://there.is.no.such.name.invalid/");
    assert_int_equal(fixture_send(&f, &request).error.status, NC_ERR_PROXY);
    fixture_stop(&f);
}

/* --- pproxy --- */

static void pproxy__is_reached_over_verified_tls(void **state) {
    fixture f;
    (void)state;
    start(&f, NCT_PLAIN);
    const nc_proxy proxy = proxy_at(&f, "https", &secure_proxy, &me);
    // The proxy's certificate is signed neither by the system's authorities nor by the server's.
    answer one = ask_through(&f, &proxy);
    assert_true(one.error.status != NC_OK);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    const nc_trust_options own = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(server_path("ca.pem"))};
    nc_request request = fixture_request(&f, "/a");
    request.proxy = &proxy;
    request.trust = fixture_trust(&f, &own);
    assert_response(fixture_send(&f, &request), 200, "through");
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    static const char *const programs[][2] = {
        {"tinyproxy", "tinyproxy"}, {"microsocks", "microsocks"}, {INTEROP_PYTHON, "pproxy (build/venv)"}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!server_is_installed(programs[i][0])) {
            return server_missing(programs[i][1]);
        }
    }
    const struct CMUnitTest cases[] = {
        harness_case(tinyproxy__forwards_plain_requests),
        harness_case(tinyproxy__creates_tunnels_for_https_and_on_request),
        harness_case(tinyproxy__requires_its_own_credentials),
        harness_case(tinyproxy__creates_no_tunnel_without_credentials),
        harness_case(tinyproxy__reports_an_unreachable_server),
        harness_case(proxies__relay_large_bodies_in_both_directions),
        harness_case(microsocks__accepts_only_the_right_password),
        harness_case(microsocks__resolves_names_for_socks5h),
        harness_case(pproxy__is_reached_over_verified_tls),
    };
    return cmocka_run_group_tests(cases, start_proxies, stop_proxies);
}
