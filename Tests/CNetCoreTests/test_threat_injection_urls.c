/// Threat B9 for texts with their own structure: URLs, digests, proxies and cookie jars.
///
/// A changed byte can give a URL another meaning ('/', '?', '#', '@', ':' are delimiters). A small parser of RFC
/// 3986, section 3.2 determines the expected request, and the server must receive that or nothing. Cases run one by
/// one; under a sanitizer in steps of THREAT_STRIDE.
#include "threat.h"

#include <netcore/cookies.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 3, BYTES = 256, TEXT_BYTES = 160 };

static size_t sent_count;
static size_t refused_count;

static void print_counts(const char *field) {
    print_message("%-16s %3zu refused, %3zu sent\n", field, refused_count, sent_count);
    assert_true(sent_count > 0);
    sent_count = refused_count = 0;
}

/// Writes `prefix`, "vx" with `byte` at one of its three positions, then `suffix`.
static nc_slice odd_text(char *text, const char *prefix, size_t position, size_t byte, const char *suffix) {
    int begin = snprintf(text, TEXT_BYTES, "%s%s%s", prefix,
                         position == 0   ? "?vx"
                         : position == 1 ? "v?x"
                                         : "vx?",
                         suffix);
    text[strlen(prefix) + position] = (char)byte;
    return nc_slice_make(text, (size_t)begin);
}

/// Sends a request. Returns true on success, with the last received request; otherwise asserts that nothing was
/// received.
static bool send_and_receive(fixture *f, const nc_request *request, size_t expected_requests, nc_buf *received) {
    nc_transfer_id id = 0;
    nc_response *response = NULL;
    nct_server_forget(f->server);
    nc_status status = nc_engine_submit(f->engine, request, NULL, &id, NULL);
    if (status == NC_OK) {
        status = nc_engine_wait(f->engine, id, FIXTURE_LIMIT_MS, &response, NULL);
    }
    nc_response_release(response);
    size_t count = nct_server_request_count(f->server);
    if (count != (status == NC_OK ? expected_requests : 0)) {
        fail_msg("%s, and %zu requests arrived", nc_status_name(status), count);
    }
    sent_count += status == NC_OK ? 1 : 0;
    refused_count += status == NC_OK ? 0 : 1;
    if (status == NC_OK) {
        *received = threat_received(f->server, count - 1);
    }
    return status == NC_OK;
}

static void parse(threat_request *seen, const nc_buf *received, const char *field, size_t byte, size_t position) {
    if (!threat_parse(seen, nc_buf_slice(received))) {
        fail_msg("%s, byte 0x%02zx at place %zu:\n%.*s", field, byte, position, (int)received->length,
                 (const char *)received->data);
    }
}

/* --- the meaning of a URL --- */

typedef struct meaning {
    char host[TEXT_BYTES];
    char target[3 * TEXT_BYTES];
    char basic[2 * TEXT_BYTES]; // empty without credentials
} meaning;

static size_t span_of(nc_slice text, const char *stops) {
    size_t at = 0;
    while (at < text.length && (text.data[at] == 0 || strchr(stops, text.data[at]) == NULL)) {
        at++;
    }
    return at;
}

static void read_credentials(meaning *out, nc_slice text) {
    unsigned char plain[TEXT_BYTES];
    size_t length = 0;
    bool has_colon = false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned value = 0;
        char digits[3] = {0};
        if (text.data[i] == '%' && i + 2 < text.length) {
            memcpy(digits, text.data + i + 1, 2);
        }
        bool is_escape = strspn(digits, "0123456789abcdefABCDEF") == 2 && sscanf(digits, "%2x", &value) == 1;
        plain[length++] = is_escape ? (unsigned char)value : text.data[i];
        has_colon = has_colon || text.data[i] == ':';
        i += is_escape ? 2 : 0;
    }
    if (!has_colon) {
        plain[length++] = ':';
    }
    memcpy(out->basic, "Basic ", 6);
    (void)EVP_EncodeBlock((unsigned char *)out->basic + 6, plain, (int)length);
}

/// Parses "http://" and the rest.
static void read_url(meaning *out, nc_slice url) {
    *out = (meaning){0};
    nc_slice rest = nc_slice_make(url.data + 7, url.length - 7);
    size_t end = span_of(rest, "/?#");
    nc_slice authority = nc_slice_make(rest.data, end);
    const uint8_t *at = memrchr(authority.data, '@', authority.length);
    if (at != NULL) {
        size_t length = (size_t)(at - authority.data);
        read_credentials(out, nc_slice_make(authority.data, length));
        authority = nc_slice_make(at + 1, authority.length - length - 1);
    }
    char *host = out->host;
    authority.length -= authority.length > 0 && authority.data[authority.length - 1] == ':' ? 1 : 0; // an empty port
    for (size_t i = 0; i < authority.length; i++) {
        // For libcurl 7.88 a '%' without an escape is literal, and is escaped.
        host += authority.data[i] == '%' ? sprintf(host, "%%25") : sprintf(host, "%c", authority.data[i]);
    }
    char *target = out->target;
    if (end == rest.length || rest.data[end] != '/') {
        *target++ = '/';
    }
    for (size_t i = end; i < rest.length && rest.data[i] != '#'; i++) {
        target += rest.data[i] >= 0x80 ? sprintf(target, "%%%02X", rest.data[i]) : sprintf(target, "%c", rest.data[i]);
    }
}

/// libcurl 8, up to some version before 8.21, omits an empty query.
static bool is_target(nc_slice seen, const char *expected) {
    size_t length = strlen(expected);
    bool is_empty_query = strchr(expected, '?') == expected + length - 1;
    return nc_slice_is_equal(seen, nc_slice_of(expected)) ||
           (is_empty_query && nc_slice_is_equal(seen, nc_slice_make((const uint8_t *)expected, length - 1)));
}

/// Fails unless the server has received the request that the URL means, without further fields.
static void expect_meaning(const char *field, nc_slice url, const nc_buf *received, size_t byte, size_t position) {
    threat_request seen;
    meaning expected;
    parse(&seen, received, field, byte, position);
    read_url(&expected, url);
    // An empty name with an empty password may count as none, as in libcurl 8.21.
    bool is_empty = strcmp(expected.basic, "Basic Og==") == 0 && seen.field_count == 1;
    bool has_credentials = expected.basic[0] != '\0' && !is_empty;
    bool is_right =
        nc_slice_is_equal(seen.method, nc_slice_of("GET")) && is_target(seen.target, expected.target) &&
        nc_slice_is_equal(threat_field(&seen, "Host"), nc_slice_of(expected.host)) &&
        seen.field_count == (has_credentials ? 2 : 1) &&
        nc_slice_is_equal(threat_field(&seen, "Authorization"), nc_slice_of(has_credentials ? expected.basic : ""));
    if (!is_right) {
        fail_msg("%s, byte 0x%02zx at place %zu: %.*s\nasks for %s of %s (%s):\n%.*s", field, byte, position,
                 (int)url.length, (const char *)url.data, expected.target, expected.host, expected.basic,
                 (int)received->length, (const char *)received->data);
    }
}

static void expect_url(fixture *f, const char *field, nc_slice url, size_t byte, size_t position) {
    nc_buf received;
    // Every host maps to this server's address.
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1"), .to_port = nct_server_port(f->server)};
    nc_request request = {.url = url, .connect_to = &here, .connect_to_count = 1};
    if (send_and_receive(f, &request, 1, &received)) {
        expect_meaning(field, url, &received, byte, position);
        nc_buf_deinit(&received);
    }
}

static void injection__a_url_requests_its_own_target_or_is_rejected(void **state) {
    static const struct {
        const char *name;
        const char *prefix;
        const char *suffix;
    } parts[] = {
        {"URL path", "http://h.example:81/", "/p?q=1#f"},  {"URL query", "http://h.example:81/p?", "&r=2#f"},
        {"URL fragment", "http://h.example:81/p?q#", ""},  {"URL host", "http://", ".example:81/p"},
        {"URL user", "http://", ":secret@h.example:81/p"}, {"URL password", "http://user:", "@h.example:81/p"},
        {"URL port", "http://h.example:8", ".example/p"},
    };
    fixture f;
    char text[TEXT_BYTES];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t k = 0; k < (size_t)PLACES * BYTES; k += threat_stride(1)) {
            nc_slice url = odd_text(text, parts[i].prefix, k / BYTES, k % BYTES, parts[i].suffix);
            expect_url(&f, parts[i].name, url, k % BYTES, k / BYTES);
        }
        print_message("%-16s %3zu refused, %3zu sent\n", parts[i].name, refused_count, sent_count);
        sent_count = refused_count = 0;
    }
    fixture_stop(&f);
}

static void injection__escapes_in_a_url_stay_escapes_or_are_rejected(void **state) {
    static const char *const urls[] = {
        "http://h.example/%0d%0aX-Evil:%20y",     "http://h.example/?%0d%0aX-Evil:%20y",
        "http://h.example%0d%0aX-Evil:%20y/",     "http://h%00.example/",
        "http://u%0d%0aX-Evil:%20y:p@h.example/", "http://u:p%0d%0aX-Evil:%20y@h.example/",
        "http://h.example/%00%0a%0d%7f%ff",       "http://h.example/%250d%250aX",
        "http://h.example/%E5%98%8A%E5%98%8DX",   "http://h.example/p%20HTTP/1.1%0d%0aX:y",
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        expect_url(&f, "escapes", nc_slice_of(urls[i]), i, 0);
    }
    print_counts("URL escapes");
    fixture_stop(&f);
}

/* --- digests --- */

static const char challenge[] = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";

/// The user's name in the field is a quoted string. Every byte stays within its quotes (RFC 9110, section 5.6.4).
static void expect_digest(const nc_buf *received, nc_slice user, size_t byte, size_t position) {
    threat_request seen;
    char name[TEXT_BYTES] = "username=\"";
    size_t length = strlen(name);
    parse(&seen, received, "digest", byte, position);
    for (size_t i = 0; i < user.length; i++) {
        if (user.data[i] == '"' || user.data[i] == '\\') {
            name[length++] = '\\';
        }
        name[length++] = (char)user.data[i];
    }
    memcpy(name + length, "\", realm=\"r\"", 13);
    nc_slice field = threat_field(&seen, "Authorization");
    if (seen.field_count != 2 || !threat_holds(field, name)) {
        fail_msg("digest, byte 0x%02zx at place %zu:\n%.*s", byte, position, (int)received->length,
                 (const char *)received->data);
    }
}

static void injection__a_digests_user_stays_within_its_quotes(void **state) {
    fixture f;
    char text[TEXT_BYTES];
    nc_buf received;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.status = 401, .headers = challenge});
    for (size_t k = 0; k < (size_t)PLACES * BYTES; k += threat_stride(1)) {
        nc_request request = fixture_request(&f, "/d");
        nc_slice user = odd_text(text, "", k / BYTES, k % BYTES, "");
        request.credentials = (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = user, .password = nc_slice_of("p")};
        if (send_and_receive(&f, &request, 2, &received)) {
            expect_digest(&received, user, k % BYTES, k / BYTES);
            nc_buf_deinit(&received);
        }
    }
    print_counts("digest user");
    fixture_stop(&f);
}

/// libcurl prefers the name and password of a URL to the explicit ones, and unescapes them.
static void injection__a_digests_user_in_the_url_stays_within_its_quotes(void **state) {
    static const char *const users[] = {"u%0d%0aX-Evil:%20y", "u%0aX", "u%0dX", "%0d", "u%1fX", "u%7f", "plain"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){.status = 401, .headers = challenge});
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        nc_buf received;
        threat_request seen;
        const char *url = fixture_url_at(&f, fixture_text(&f, "%s:p@127.0.0.1", users[i]), "/d");
        nc_request request = {.url = nc_slice_of(url)};
        request.credentials = (nc_credentials){
            .schemes = NC_AUTH_DIGEST | NC_AUTH_BASIC, .user = nc_slice_of("other"), .password = nc_slice_of("p")};
        if (send_and_receive(&f, &request, 2, &received)) {
            parse(&seen, &received, "digest in a URL", i, 0);
            assert_int_equal(seen.field_count, 2);
            nc_buf_deinit(&received);
        }
    }
    assert_int_equal(sent_count, 1);
    print_counts("digest URL user");
    fixture_stop(&f);
}

/* --- proxies and jars --- */

/// Reads the last request that an HTTP proxy received. `head` stores its bytes.
static void read_at_proxy(threat_request *seen, nc_buf *head, nct_proxy *proxy, size_t byte, size_t position) {
    *head = nc_buf_init(1 << 16);
    size_t count = nct_proxy_request_count(proxy);
    assert_status(nc_buf_reserve(head, 1 << 14), NC_OK);
    head->length = nct_proxy_copy_request(proxy, count - 1, head->data, 1 << 14);
    parse(seen, head, "proxy", byte, position);
}

/// An HTTP proxy receives one request with only the proxy's own fields.
static void expect_at_proxy(nct_proxy *proxy, const nc_header *wanted, size_t byte, size_t position) {
    threat_request seen;
    nc_buf head;
    read_at_proxy(&seen, &head, proxy, byte, position);
    bool is_there = false;
    for (size_t i = 0; i < seen.field_count; i++) {
        is_there = is_there || (nc_slice_is_equal(seen.fields[i].name, wanted->name) &&
                                nc_slice_is_equal(seen.fields[i].value, wanted->value));
    }
    // Host and "Proxy-Connection: Keep-Alive".
    if (!is_there || seen.field_count != 3) {
        fail_msg("proxy, byte 0x%02zx at place %zu:\n%.*s", byte, position, (int)head.length, (const char *)head.data);
    }
    nc_buf_deinit(&head);
}

static void injection__texts_of_a_proxy_stay_within_their_field(void **state) {
    static const char *const names[] = {"proxy name", "proxy value", "proxy user", "proxy password", "proxy except"};
    fixture f;
    nct_proxy *proxy = NULL;
    char text[TEXT_BYTES];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "*", (nct_reply){0});
    assert_int_equal(nct_proxy_start(&proxy, NULL), 0);
    const char *url = fixture_text(&f, "http://127.0.0.1:%u", nct_proxy_port(proxy));
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < (size_t)PLACES * BYTES; k += threat_stride(1)) {
            nc_slice odd = odd_text(text, "", k / BYTES, k % BYTES, "");
            char basic[64] = "Basic ";
            char plain[16];
            bool is_user = i == 2;
            int length = snprintf(plain, sizeof plain, is_user ? "vx_:p" : "u:vx_");
            memcpy(plain + (is_user ? 0 : 2), odd.data, 3);
            (void)EVP_EncodeBlock((unsigned char *)basic + 6, (const unsigned char *)plain, length);
            nc_header field = {i == 0 ? odd : nc_slice_of("X-Proxy"), i == 1 ? odd : nc_slice_of("v")};
            nc_proxy settings = {.choice = NC_PROXY_URL, .url = nc_slice_of(url)};
            nc_request request = fixture_request(&f, "/p");
            request.proxy = &settings;
            if (i == 2 || i == 3) {
                field = (nc_header){nc_slice_of("Proxy-Authorization"), nc_slice_of(basic)};
                settings.credentials = (nc_credentials){.schemes = NC_AUTH_BASIC,
                                                        .user = is_user ? odd : nc_slice_of("u"),
                                                        .password = is_user ? nc_slice_of("p") : odd};
            } else {
                settings.headers = &field;
                settings.header_count = 1;
                settings.except = i == 4 ? odd : nc_slice_of("");
            }
            nc_buf received;
            size_t before = nct_proxy_request_count(proxy);
            bool is_sent = send_and_receive(&f, &request, 1, &received);
            size_t asked = nct_proxy_request_count(proxy) - before;
            if (is_sent) {
                threat_request seen;
                parse(&seen, &received, names[i], k % BYTES, k / BYTES);
                nc_buf_deinit(&received);
            }
            if (asked > 0) {
                expect_at_proxy(proxy, &field, k % BYTES, k / BYTES);
            }
            assert_int_equal(asked, is_sent ? 1 : 0);
        }
        print_counts(names[i]);
    }
    fixture_stop(&f);
    nct_proxy_stop(proxy);
}

/// A tunnel's request has its target in the request line and in the field Host.
static void expect_tunnel(nct_proxy *proxy, nc_slice host, size_t byte, size_t position) {
    threat_request seen;
    nc_buf head;
    char target[TEXT_BYTES];
    read_at_proxy(&seen, &head, proxy, byte, position);
    int length = snprintf(target, sizeof target, "%.*s:81", (int)host.length, (const char *)host.data);
    nc_slice wanted = nc_slice_make(target, (size_t)length);
    // Host and "Proxy-Connection: Keep-Alive".
    if (!nc_slice_is_equal(seen.method, nc_slice_of("CONNECT")) || !nc_slice_is_equal(seen.target, wanted) ||
        !nc_slice_is_equal(threat_field(&seen, "Host"), wanted) || seen.field_count != 2) {
        fail_msg("tunnel, byte 0x%02zx at place %zu:\n%.*s", byte, position, (int)head.length, (const char *)head.data);
    }
    nc_buf_deinit(&head);
}

static void injection__a_tunnels_target_stays_one_word_of_the_connect_request(void **state) {
    static const nct_proxy_options refusing = {.connect_reply = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"};
    fixture f;
    nct_proxy *proxy = NULL;
    char text[TEXT_BYTES];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    assert_int_equal(nct_proxy_start(&proxy, &refusing), 0);
    const char *url = fixture_text(&f, "http://127.0.0.1:%u", nct_proxy_port(proxy));
    const nc_proxy settings = {.choice = NC_PROXY_URL, .url = nc_slice_of(url), .uses_tunnel = true};
    for (size_t k = 0; k < (size_t)PLACES * BYTES; k += threat_stride(1)) {
        nc_transfer_id id = 0;
        const nc_connect_to override = {.to_host = odd_text(text, "", k / BYTES, k % BYTES, ""), .to_port = 81};
        nc_request request = fixture_request(&f, "/c");
        request.proxy = &settings;
        request.connect_to = &override;
        request.connect_to_count = 1;
        nc_status status = nc_engine_submit(f.engine, &request, NULL, &id, NULL);
        status = status == NC_OK ? fixture_wait(&f, id).error.status : status;
        if (status == NC_ERR_PROXY) {
            expect_tunnel(proxy, override.to_host, k % BYTES, k / BYTES);
        }
        // libcurl 8.x rejects some more hosts.
        assert_true(status == NC_ERR_PROXY || status == NC_ERR_USAGE || status == NC_ERR_BAD_URL);
        sent_count += status == NC_ERR_PROXY ? 1 : 0;
        refused_count += status == NC_ERR_PROXY ? 0 : 1;
    }
    assert_int_equal(nct_proxy_request_count(proxy), sent_count);
    print_counts("place to connect");
    fixture_stop(&f);
    nct_proxy_stop(proxy);
}

/// The jar's input consists of lines. A cookie that its line cannot represent is omitted, and never becomes another
/// field.
static void injection__a_jars_cookies_stay_within_their_field(void **state) {
    static const char *const prefixes[] = {"Set-Cookie: n", "Set-Cookie: n=", "127.0.0.1\tFALSE\t/\tFALSE\t0\tn\t"};
    static const char *const suffixes[] = {"=v; domain=127.0.0.1; path=/", "; domain=127.0.0.1; path=/", ""};
    static const char *const names[] = {"jar name", "jar value", "jar line"};
    fixture f;
    char text[TEXT_BYTES];
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    fixture_script(&f, "*", (nct_reply){0});
    for (size_t i = 0; i < 3; i++) {
        size_t shown = 0;
        size_t left_out = 0;
        for (size_t k = 0; k < (size_t)PLACES * BYTES; k += threat_stride(1)) {
            nc_buf received;
            threat_request seen;
            nc_slice line = odd_text(text, prefixes[i], k / BYTES, k % BYTES, suffixes[i]);
            assert_status(nc_engine_set_cookies(f.engine, nc_slice_of(""), NULL), NC_OK);
            nc_status status = nc_engine_set_cookies(f.engine, line, NULL);
            assert_true(status == NC_OK || status == NC_ERR_USAGE);
            nc_request request = fixture_request(&f, "/j");
            assert_true(send_and_receive(&f, &request, 1, &received));
            parse(&seen, &received, names[i], k % BYTES, k / BYTES);
            bool has_cookie = threat_field(&seen, "Cookie").data != NULL;
            assert_int_equal(seen.field_count, has_cookie ? 2 : 1);
            assert_true(status == NC_OK || !has_cookie);
            shown += has_cookie ? 1 : 0;
            left_out += has_cookie ? 0 : 1;
            nc_buf_deinit(&received);
        }
        assert_true(shown > 0);
        print_message("%-16s %3zu left out, %3zu sent\n", names[i], left_out, shown);
        sent_count = refused_count = 0;
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(injection__a_url_requests_its_own_target_or_is_rejected),
        harness_case(injection__escapes_in_a_url_stay_escapes_or_are_rejected),
        harness_case(injection__a_digests_user_stays_within_its_quotes),
        harness_case(injection__a_digests_user_in_the_url_stays_within_its_quotes),
        harness_case(injection__texts_of_a_proxy_stay_within_their_field),
        harness_case(injection__a_tunnels_target_stays_one_word_of_the_connect_request),
        harness_case(injection__a_jars_cookies_stay_within_their_field),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
