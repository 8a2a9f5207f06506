/// Proxies over TLS or SOCKS. Proxy settings in the environment have no effect.
#include "fixture.h"
#include "listening.h"

#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static nc_credentials user(uint32_t schemes, const char *name, const char *password) {
    return (nc_credentials){.schemes = schemes, .user = nc_slice_of(name), .password = nc_slice_of(password)};
}

static nc_proxy proxy_at(fixture *f, const char *scheme, const char *host, const nct_proxy *proxy) {
    return (nc_proxy){.choice = NC_PROXY_URL,
                      .url = nc_slice_of(fixture_text(f, "%s://%s:%u", scheme, host, nct_proxy_port(proxy)))};
}

/* --- TLS --- */

/// Returns a policy that trusts both authorities.
static nc_trust *trust_both(fixture *f, const nct_proxy *proxy) {
    const char *both = fixture_text(f, "%s%s", nct_server_ca_pem(f->server), nct_proxy_ca_pem(proxy));
    const nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(both)};
    return fixture_trust(f, &options);
}

static void engine__an_https_proxy_is_verified_like_a_server(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        nct_proxy *proxy = NULL;
        const nct_proxy_options options = {.identity = NCT_TLS_VALID, .user = "us", .password = "pw"};
        assert_int_equal(nct_proxy_start(&proxy, &options), 0);
        fixture_start(&f, identities[i]);
        fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
        nc_proxy settings = proxy_at(&f, "https", "127.0.0.1", proxy);
        settings.credentials = user(NC_AUTH_BASIC, "us", "pw");
        nc_request request = fixture_request(&f, "/p");
        request.proxy = &settings;
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, NC_ERR_TLS_UNTRUSTED);
        assert_non_null(strstr(one.error.message, fixture_text(&f, ":%u", nct_proxy_port(proxy))));
        assert_int_equal(nct_proxy_request_count(proxy), 0); // it received nothing
        request.trust = trust_both(&f, proxy);
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_tunnel_count(proxy), i);
        fixture_stop(&f);
        nct_proxy_stop(proxy);
    }
}

static void engine__a_proxys_bad_certificate_is_explained(void **state) {
    static const struct {
        nct_identity identity;
        nc_status status;
    } cases[] = {{NCT_TLS_EXPIRED, NC_ERR_TLS_EXPIRED},
                 {NCT_TLS_WRONG_NAME, NC_ERR_TLS_NAME},
                 {NCT_TLS_UNTRUSTED, NC_ERR_TLS_UNTRUSTED},
                 {NCT_TLS_NOT_YET_VALID, NC_ERR_TLS_NOT_YET_VALID}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        nct_proxy *proxy = NULL;
        assert_int_equal(nct_proxy_start(&proxy, &(nct_proxy_options){.identity = cases[i].identity}), 0);
        fixture_start(&f, NCT_TLS_VALID);
        nc_proxy settings = proxy_at(&f, "https", "127.0.0.1", proxy);
        nc_request request = fixture_request(&f, "/p");
        request.proxy = &settings;
        request.trust = trust_both(&f, proxy);
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, cases[i].status);
        assert_non_null(strstr(one.error.message, fixture_text(&f, ":%u", nct_proxy_port(proxy))));
        fixture_stop(&f);
        nct_proxy_stop(proxy);
    }
}

/* --- SOCKS --- */

static void engine__socks5_connects_to_plain_and_secure_servers(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    static const char *const schemes[] = {"socks5", "socks5h"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        fixture f;
        nct_proxy *proxy = NULL;
        char head[300] = {0};
        assert_int_equal(nct_proxy_start(&proxy, &(nct_proxy_options){.kind = NCT_PROXY_SOCKS5}), 0);
        fixture_start(&f, identities[i / 2]);
        fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
        nc_proxy settings = proxy_at(&f, schemes[i % 2], "127.0.0.1", proxy);
        nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/p")), .proxy = &settings};
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_tunnel_count(proxy), 1);
        // The h selects name resolution by the proxy.
        assert_int_equal(nct_proxy_name_count(proxy), i % 2);
        assert_true(nct_proxy_copy_request(proxy, 0, head, sizeof head) > 4);
        assert_int_equal(head[3] == 3, i % 2);
        fixture_stop(&f);
        nct_proxy_stop(proxy);
    }
}

static void engine__socks5_credentials_are_sent_only_to_the_proxy(void **state) {
    fixture f;
    nct_proxy *proxy = NULL;
    (void)state;
    const nct_proxy_options options = {.kind = NCT_PROXY_SOCKS5, .user = "us", .password = "pw"};
    assert_int_equal(nct_proxy_start(&proxy, &options), 0);
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
    nc_proxy settings = proxy_at(&f, "socks5h", "127.0.0.1", proxy);
    nc_request request = fixture_request(&f, "/p");
    request.proxy = &settings;
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_PROXY); // without credentials
    settings.credentials = user(NC_AUTH_BASIC, "us", "wrong");
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_PROXY);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    settings.credentials = user(NC_AUTH_BASIC, "us", "pw");
    assert_response(fixture_send(&f, &request), 200, "through");
    assert_null(strstr(fixture_received(&f, 0), "uthorization"));
    // A request without credentials must not use the connection of another user.
    settings.credentials = (nc_credentials){0};
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_PROXY);
    settings.url = nc_slice_of(fixture_text(&f, "socks5h://us:pw@127.0.0.1:%u", nct_proxy_port(proxy)));
    assert_response(fixture_send(&f, &request), 200, "through");
    fixture_stop(&f);
    nct_proxy_stop(proxy);
}

static void engine__a_socks5_rejection_is_a_proxy_error_with_its_reason(void **state) {
    static const struct {
        uint8_t reply;
        const char *words;
    } cases[] = {
        {1, "it reports a general failure (1)"},
        {2, "it does not allow this host (2)"},
        {3, "it reports that the network is unreachable (3)"},
        {4, "it reports that the host is unreachable (4)"},
        {5, "it reports that the host refused the connection (5)"},
        {6, "it reports that the time to live expired (6)"},
        {7, "it does not support the CONNECT command (7)"},
        {8, "it does not support this address type (8)"},
        {9, "(9)"}, // not defined by any RFC: libcurl's text
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        nct_proxy *proxy = NULL;
        const nct_proxy_options options = {.kind = NCT_PROXY_SOCKS5, .socks_reply = cases[i].reply};
        assert_int_equal(nct_proxy_start(&proxy, &options), 0);
        fixture_start(&f, NCT_PLAIN);
        nc_proxy settings = proxy_at(&f, "socks5", "127.0.0.1", proxy);
        nc_request request = fixture_request(&f, "/p");
        request.proxy = &settings;
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, NC_ERR_PROXY);
        assert_non_null(strstr(one.error.message, cases[i].words));
        assert_non_null(strstr(one.error.message, fixture_text(&f, "127.0.0.1:%u", nct_proxy_port(proxy))));
        fixture_stop(&f);
        nct_proxy_stop(proxy);
    }
    fixture f;
    fixture_start(&f, NCT_PLAIN); // responds to the greeting in HTTP
    nc_proxy settings = {.choice = NC_PROXY_URL,
                         .url = nc_slice_of(fixture_text(&f, "socks5://127.0.0.1:%u", nct_server_port(f.server)))};
    nc_request request = {.url = nc_slice_of("http://127.0.0.1:9/"), .proxy = &settings};
    request.limits.connect_ms = 300; // libcurl may wait for more bytes of a greeting
    nc_status status = fixture_send(&f, &request).error.status;
    assert_true(status == NC_ERR_PROXY || status == NC_ERR_CONNECT_TIMED_OUT);
    fixture_stop(&f);
}

/* --- the environment --- */

static const char *const variables[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};

static void set_proxies(const char *value) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        assert_int_equal(value != NULL ? setenv(variables[i], value, 1) : unsetenv(variables[i]), 0);
    }
}

static void engine__the_environments_proxies_are_used_only_if_enabled(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        nct_proxy *decoy = NULL;
        assert_int_equal(nct_proxy_start(&decoy, NULL), 0);
        fixture_start(&f, identities[i]);
        fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
        set_proxies(fixture_text(&f, "http://127.0.0.1:%u", nct_proxy_port(decoy)));
        const nc_proxy none = {.choice = NC_PROXY_NONE};
        const nc_proxy environment = {.choice = NC_PROXY_ENVIRONMENT};
        nc_request request = fixture_request(&f, "/p");
        assert_response(fixture_send(&f, &request), 200, "through");
        request.proxy = &none;
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_connection_count(decoy), 0);
        request.proxy = &environment;
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_request_count(decoy), 1);
        assert_int_equal(setenv("no_proxy", "127.0.0.1", 1), 0);
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_request_count(decoy), 1);
        // An exception in the environment does not apply to an explicit proxy.
        const nc_proxy chosen = proxy_at(&f, "http", "127.0.0.1", decoy);
        request.proxy = &chosen;
        assert_response(fixture_send(&f, &request), 200, "through");
        size_t through = nct_server_request_connection(f.server, 2);
        assert_int_not_equal(nct_server_request_connection(f.server, 3), through);
        assert_int_equal(nct_server_request_connection(f.server, 4), through);
        assert_int_equal(unsetenv("no_proxy"), 0);
        set_proxies(NULL);
        fixture_stop(&f);
        nct_proxy_stop(decoy);
    }
}

static void engine__a_tunnel_is_shared_only_by_requests_with_equal_proxy_fields_and_credentials(void **state) {
    static const struct {
        const char *field;
        const char *user;
        uint32_t schemes;
        size_t tunnels;
    } rows[] = {{"one", "", 0, 1},
                {"one", "", 0, 1},
                {"another", "", 0, 2},
                {NULL, "", 0, 3},
                {NULL, "me", NC_AUTH_BASIC, 4},
                {NULL, "me", NC_AUTH_DIGEST, 5}};
    fixture f;
    nct_proxy *proxy = NULL;
    (void)state;
    assert_int_equal(nct_proxy_start(&proxy, NULL), 0);
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/p", (nct_reply){.body = "through", .body_length = 7});
    set_proxies(fixture_text(&f, "http://127.0.0.1:%u", nct_proxy_port(proxy)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const nc_header who = {nc_slice_of("X-Who"), nc_slice_of(rows[i].field)};
        const nc_proxy environment = {
            .choice = NC_PROXY_ENVIRONMENT,
            .headers = &who,
            .header_count = rows[i].field != NULL ? 1 : 0,
            .credentials = {.schemes = rows[i].schemes, .user = nc_slice_of(rows[i].user)},
        };
        nc_request request = fixture_request(&f, "/p");
        request.proxy = &environment;
        assert_response(fixture_send(&f, &request), 200, "through");
        assert_int_equal(nct_proxy_tunnel_count(proxy), rows[i].tunnels);
    }
    set_proxies(NULL);
    fixture_stop(&f);
    nct_proxy_stop(proxy);
}

static void engine__the_netrc_in_the_home_directory_is_not_read_by_default(void **state) {
    char home[] = "/tmp/netcore-home-XXXXXX";
    char path[64];
    const char *before = getenv("HOME");
    (void)state;
    assert_non_null(mkdtemp(home));
    (void)snprintf(path, sizeof path, "%s/.netrc", home);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("machine 127.0.0.1 login us password canary\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("HOME", home, 1), 0);
    for (int asks = 0; asks < 2; asks++) {
        fixture f;
        fixture_start_with(&f, NULL, &(nc_engine_options){.uses_netrc = asks == 1});
        (void)fixture_get(&f, "/");
        assert_int_equal(strstr(fixture_received(&f, 0), "Authorization: Basic dXM6Y2FuYXJ5") != NULL, asks);
        fixture_stop(&f);
    }
    assert_int_equal(unlink(path), 0);
    // libcurl would block on the FIFO, and the loop with it.
    nc_engine *engine = NULL;
    nc_error err;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(nc_engine_new(&engine, &(nc_engine_options){.uses_netrc = true}, &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(unlink(path), 0);
    assert_status(nc_engine_new(&engine, &(nc_engine_options){.uses_netrc = true}, &err), NC_OK);
    assert_status(nc_engine_close(engine, NC_UNLIMITED), NC_OK);
    assert_status(nc_engine_new(&engine, &(nc_engine_options){.uses_netrc = true}, NULL), NC_OK);
    assert_status(nc_engine_close(engine, NC_UNLIMITED), NC_OK);
    assert_int_equal(before != NULL ? setenv("HOME", before, 1) : unsetenv("HOME"), 0);
    assert_int_equal(rmdir(home), 0);
}

/// Writes a text to a new file; `path` ends in XXXXXX.
static void write_netrc(char *path, const char *text) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(fd), 0);
}

static void engine__netrc_credentials_answer_a_digest_challenge_of_a_request_without_user(void **state) {
    static const char field[] = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";
    const nct_reply replies[] = {{.status = 401, .headers = field}, {.body = "in", .body_length = 2}};
    char path[] = "/tmp/netcore-netrc-XXXXXX";
    (void)state;
    write_netrc(path, "machine 127.0.0.1 login us password one\n");
    for (uint32_t schemes = NC_AUTH_DIGEST; schemes <= (NC_AUTH_DIGEST | NC_AUTH_BASIC); schemes++) {
        fixture f;
        fixture_start_with(&f, NULL, &(nc_engine_options){.uses_netrc = true, .netrc_file = nc_slice_of(path)});
        assert_int_equal(nct_server_script_sequence(f.server, "/d", replies, 2), 0);
        nc_request request = fixture_request(&f, "/d");
        request.credentials.schemes = schemes;
        assert_response(fixture_send(&f, &request), 200, "in");
        assert_null(strstr(fixture_received(&f, 0), "uthorization"));
        assert_non_null(strstr(fixture_received(&f, 1), "\r\nAuthorization: Digest username=\"us\","));
        // Explicit credentials with another name do not match the file's entry.
        request.credentials.user = nc_slice_of("me");
        (void)fixture_send(&f, &request);
        assert_null(strstr(fixture_received(&f, nct_server_request_count(f.server) - 1), "username=\"us\""));
        fixture_stop(&f);
    }
    assert_int_equal(unlink(path), 0);
}

static void engine__a_malformed_netrc_is_a_file_error(void **state) {
    char path[] = "/tmp/netcore-netrc-XXXXXX";
    (void)state;
    write_netrc(path, "machine 127.0.0.1 login \"us password canary\n");
    fixture f;
    fixture_start_with(&f, NULL, &(nc_engine_options){.uses_netrc = true, .netrc_file = nc_slice_of(path)});
    answer one = fixture_get(&f, "/");
    if (one.error.status == NC_OK) { // libcurl 8.14 skips the optional method
        assert_true(curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000);
        assert_null(strstr(fixture_received(&f, 0), "uthorization"));
    } else {
        assert_ended(one, NC_ERR_FILE, CURLE_READ_ERROR, path);
        assert_int_equal(nct_server_request_count(f.server), 0);
    }
    fixture_stop(&f);
    assert_int_equal(unlink(path), 0);
}

/// libcurl 7.88 ignores a longer line, and would send the request without its credentials.
static void engine__a_netrc_line_that_libcurl_would_ignore_is_a_file_error(void **state) {
    enum { LONGEST = 4094 };
    static const struct {
        const char *before;
        size_t length; // of the line
        const char *behind;
        bool is_refused;
    } rows[] = {
        {"", LONGEST, "", false},
        {"", LONGEST, "\n", false},
        {"", LONGEST + 1, "", true},
        {"", LONGEST + 1, "\n", true},
        {"# a token\n\n", 3 * LONGEST, "\nmachine other login a password b\n", true},
        {" # ", 2 * LONGEST, "\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char line[] = "machine 127.0.0.1 login us password ";
        char path[] = "/tmp/netcore-netrc-XXXXXX";
        nc_buf text = nc_buf_init(1 << 16);
        nc_buf_append(&text, nc_slice_of("machine 127.0.0.1 login us password one\n"));
        nc_buf_append(&text, nc_slice_of(rows[i].before));
        nc_buf_append(&text, nc_slice_of(line));
        for (size_t k = sizeof line - 1; k < rows[i].length; k++) {
            nc_buf_append_byte(&text, 't');
        }
        nc_buf_append(&text, nc_slice_of(rows[i].behind));
        nc_buf_append_byte(&text, 0);
        write_netrc(path, "");
        fixture f;
        fixture_start_with(&f, NULL, &(nc_engine_options){.uses_netrc = true, .netrc_file = nc_slice_of(path)});
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs((const char *)text.data, file) >= 0);
        assert_int_equal(fclose(file), 0);
        answer one = fixture_get(&f, "/");
        if (rows[i].is_refused) {
            assert_ended(one, NC_ERR_FILE, CURLE_READ_ERROR, "is longer than 4094 bytes");
            assert_null(strstr(one.error.message, "tttt"));
            assert_int_equal(nct_server_request_count(f.server), 0);
        } else {
            assert_non_null(strstr(fixture_received(&f, 0), "\r\nAuthorization: Basic "));
        }
        fixture_stop(&f);
        nc_buf_deinit(&text);
        assert_int_equal(unlink(path), 0);
    }
}

/// The engine checks the file at its start; libcurl opens it for each request.
static void engine__a_netrc_that_becomes_a_pipe_does_not_block(void **state) {
    char path[] = "/tmp/netcore-netrc-XXXXXX";
    (void)state;
    write_netrc(path, "machine 127.0.0.1 login us password one\n");
    fixture f;
    fixture_start_with(&f, NULL, &(nc_engine_options){.uses_netrc = true, .netrc_file = nc_slice_of(path)});
    fixture_script(&f, "/", (nct_reply){.body = "hi", .body_length = 2});
    assert_response(fixture_get(&f, "/"), 200, "hi");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); // without a writer
    assert_ended(fixture_get(&f, "/"), NC_ERR_FILE, EINVAL, path);
    nc_request request = fixture_request(&f, "/");
    request.credentials = user(NC_AUTH_BASIC, "me", "two"); // the file does not apply
    assert_response(fixture_send(&f, &request), 200, "hi");
    assert_int_equal(unlink(path), 0);
    assert_ended(fixture_get(&f, "/"), NC_ERR_FILE, ENOENT, path); // not sent without the credentials
    assert_int_equal(nct_server_request_count(f.server), 2);
    fixture_stop(&f);
}

/* --- the greeting of a SOCKS5 proxy --- */

/// The methods of a greeting (RFC 1928, section 3).
enum { NO_PROOF = 0, GSSAPI = 1, NAME_AND_PASSWORD = 2 };

/// Reads a greeting, returns its methods and closes.
static size_t take_greeting(int listener, uint8_t methods[255]) {
    uint8_t head[2];
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(recv(fd, head, sizeof head, MSG_WAITALL), sizeof head);
    assert_int_equal(head[0], 5);
    assert_int_equal(recv(fd, methods, head[1], MSG_WAITALL), head[1]);
    assert_int_equal(close(fd), 0);
    return head[1];
}

/// SOCKS5 sends a password in plain text, and a ticket identifies the user. Each is offered only if the credentials
/// allow it.
static void engine__a_socks_proxy_is_offered_the_methods_that_the_credentials_allow(void **state) {
    static const struct {
        const char *userinfo;
        uint32_t schemes;
        size_t count;
        uint8_t second;
    } cases[] = {
        {"", 0, 1, 0},
        {"me:secret@", 0, 2, NAME_AND_PASSWORD},
        {"", NC_AUTH_BASIC, 2, NAME_AND_PASSWORD},
        {"", NC_AUTH_BASIC | NC_AUTH_DIGEST, 2, NAME_AND_PASSWORD},
        {"", NC_AUTH_DIGEST, 1, 0},
        {"", NC_AUTH_NEGOTIATE, 2, GSSAPI},
    };
    fixture f;
    uint16_t port;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    int listener = listen_anywhere(&port, 8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t methods[255];
        if (cases[i].schemes == NC_AUTH_NEGOTIATE && !nc_capabilities_query().has_negotiate) {
            continue;
        }
        const nc_proxy proxy = {
            .choice = NC_PROXY_URL,
            .url = nc_slice_of(fixture_text(&f, "socks5h://%s127.0.0.1:%u", cases[i].userinfo, port)),
            .credentials = {.schemes = cases[i].schemes,
                            .user = nc_slice_of(cases[i].schemes != 0 ? "me" : ""),
                            .password = nc_slice_of(cases[i].schemes != 0 ? "secret" : "")},
        };
        const nc_request request = {.url = nc_slice_of("http://a.example/"), .proxy = &proxy};
        nc_transfer_id id = fixture_submit(&f, &request);
        assert_int_equal(take_greeting(listener, methods), cases[i].count);
        assert_int_equal(methods[0], NO_PROOF);
        assert_int_equal(cases[i].count > 1 ? methods[1] : 0, cases[i].second);
        assert_status(fixture_wait(&f, id).error.status, NC_ERR_PROXY);
    }
    assert_int_equal(close(listener), 0);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__an_https_proxy_is_verified_like_a_server),
        harness_case(engine__a_proxys_bad_certificate_is_explained),
        harness_case(engine__socks5_connects_to_plain_and_secure_servers),
        harness_case(engine__socks5_credentials_are_sent_only_to_the_proxy),
        harness_case(engine__a_socks5_rejection_is_a_proxy_error_with_its_reason),
        harness_case(engine__the_environments_proxies_are_used_only_if_enabled),
        harness_case(engine__a_tunnel_is_shared_only_by_requests_with_equal_proxy_fields_and_credentials),
        harness_case(engine__the_netrc_in_the_home_directory_is_not_read_by_default),
        harness_case(engine__netrc_credentials_answer_a_digest_challenge_of_a_request_without_user),
        harness_case(engine__a_malformed_netrc_is_a_file_error),
        harness_case(engine__a_netrc_line_that_libcurl_would_ignore_is_a_file_error),
        harness_case(engine__a_netrc_that_becomes_a_pipe_does_not_block),
        harness_case(engine__a_socks_proxy_is_offered_the_methods_that_the_credentials_allow),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
