/// Threats A3, B3, B4 and B10: the targets of redirects, and the data that follows them.
///
/// A matrix of secrets, targets and statuses. Each secret holds a canary, which must not be in the bytes that a
/// server of another origin received. Standards allow two exceptions: a jar's cookies on another port or scheme of
/// their host (RFC 6265, section 8.5), and the body that 307 and 308 keep (RFC 9110, sections 15.4.8 and 15.4.9).
#include "threat.h"

#include <netcore/cookies.h>
#include <netcore/transfers.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CANARY "cAnArY-4711"
#define PASSWORD "cAnArY-0815"
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef enum secret {
    AUTHORIZATION,
    BASIC,
    BEARER,
    DIGEST,
    COOKIE,
    JAR,
    API_KEY,
    PROXY_AUTHORIZATION,
    USERINFO,
    NETRC,
    REFERER,
    CERTIFICATE,
    BODY,
    SECRETS,
} secret;

static const char *const secret_names[SECRETS] = {
    "Authorization", "basic",    "bearer", "digest",  "Cookie",      "jar",  "X-Api-Key",
    "Proxy-Auth",    "userinfo", "netrc",  "Referer", "certificate", "body",
};

/// The kind of a redirect's target, in relation to the URL that redirects to it.
typedef enum target_kind {
    SAME,
    PORT,
    HOST,
    UP,
    REFUSED_DOWN,
    DOWN,
    RELATIVE,
    BACK,
    SECURE_HOST,
    TARGET_KINDS
} target_kind;

static const char *const target_names[TARGET_KINDS] = {
    "same origin", "port", "host", "up", "down, refused", "down", "//host", "there and back", "https host"};
static const bool starts_secure[TARGET_KINDS] = {[REFUSED_DOWN] = true, [DOWN] = true, [SECURE_HOST] = true};
static const bool keeps_host[TARGET_KINDS] = {[PORT] = true, [UP] = true, [DOWN] = true};
static const unsigned statuses[] = {301, 302, 303, 307, 308};

/// The origin and foreign origins, each plain and with TLS. "other.example" is a foreign origin with another host name.
typedef struct world {
    fixture f; // the plain origin, and the engine
    nct_server *secure_home;
    nct_server *plain;
    nct_server *secure;
    nc_trust *trust;
    char directory[40];
    char basic[80]; // the canaries as Basic encodes them
} world;

/* --- the world --- */

static void start_world(world *w, const nc_engine_options *options) {
    const nct_server_options home = {.identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_ASKED};
    const nct_server_options away = {
        .identity = NCT_TLS_VALID, .client_check = NCT_CLIENT_ASKED, .names = "DNS:other.example"};
    nc_engine_options engine = *options;
    *w = (world){.directory = "/tmp/netcore-redirects-XXXXXX"};
    assert_non_null(mkdtemp(w->directory));
    char *netrc = NULL;
    assert_true(asprintf(&netrc, "%s/netrc", w->directory) > 0);
    FILE *file = fopen(netrc, "w");
    assert_non_null(file);
    (void)fprintf(file, "machine 127.0.0.1 login %s password %s\ndefault login %s password %s\n", CANARY, PASSWORD,
                  CANARY, PASSWORD);
    (void)fclose(file);
    engine.netrc_file = nc_slice_of(engine.uses_netrc ? netrc : "");
    fixture_start_with(&w->f, NULL, &engine);
    free(netrc);
    assert_int_equal(nct_server_start(&w->secure_home, &home), 0);
    assert_int_equal(nct_server_start(&w->plain, NULL), 0);
    assert_int_equal(nct_server_start(&w->secure, &away), 0);
    assert_int_equal(nct_server_client_identity_write(w->secure_home, w->directory), 0);
    nc_trust_options trust = {.roots = NC_ROOTS_BYTES};
    trust.ca_pem =
        nc_slice_of(fixture_text(&w->f, "%s%s", nct_server_ca_pem(w->secure_home), nct_server_ca_pem(w->secure)));
    trust.identity_file = nc_slice_of(fixture_text(&w->f, "%s/cert.pem", w->directory));
    trust.identity_key_file = nc_slice_of(fixture_text(&w->f, "%s/key.pem", w->directory));
    w->trust = fixture_trust(&w->f, &trust);
    (void)EVP_EncodeBlock((unsigned char *)w->basic, (const unsigned char *)CANARY ":" PASSWORD,
                          (int)strlen(CANARY ":" PASSWORD));
}

static void stop_world(world *w) {
    static const char *const files[] = {"cert.pem", "key.pem", "client.p12", "netrc"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        unlink(fixture_text(&w->f, "%s/%s", w->directory, files[i]));
    }
    assert_int_equal(rmdir(w->directory), 0);
    fixture_stop(&w->f);
    nct_server_stop(w->secure_home);
    nct_server_stop(w->plain);
    nct_server_stop(w->secure);
}

static nct_server *home_of(world *w, target_kind to) {
    return starts_secure[to] ? w->secure_home : w->f.server;
}

static void script(nct_server *server, const char *path, nct_reply reply) {
    assert_int_equal(nct_server_script(server, path, &reply), 0);
}

/// The target of a redirect as its Location field.
static const char *location_of(world *w, target_kind to) {
    static char text[128];
    static const char *const forms[TARGET_KINDS] = {
        "/end",
        "http://127.0.0.1:%u/away",
        "http://other.example:%u/away",
        "https://127.0.0.1:%u/away",
        "http://127.0.0.1:%u/away",
        "hTTp://127.0.0.1:%u/away",
        "//other.example:%u/away",
        "http://other.example:%u/back",
        "https://other.example:%u/away",
    };
    bool is_secure = to == UP || to == SECURE_HOST;
    (void)snprintf(text, sizeof text, forms[to], nct_server_port(is_secure ? w->secure : w->plain));
    return text;
}

static void script_world(world *w, target_kind to, unsigned status, bool challenges) {
    const nct_reply replies[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"},
        {.status = (uint16_t)status, .location = location_of(w, to)},
    };
    char back[64];
    nct_server *home = home_of(w, to);
    (void)snprintf(back, sizeof back, "http://127.0.0.1:%u/end", nct_server_port(w->f.server));
    assert_int_equal(nct_server_script_sequence(home, "/go", challenges ? replies : replies + 1, challenges ? 2 : 1),
                     0);
    script(home, "/end", (nct_reply){0});
    script(w->plain, "/away", (nct_reply){0});
    script(w->secure, "/away", (nct_reply){0});
    script(w->plain, "/back", (nct_reply){.status = (uint16_t)status, .location = back});
    nct_server_forget(w->f.server);
    nct_server_forget(w->secure_home);
    nct_server_forget(w->plain);
    nct_server_forget(w->secure);
}

/* --- secrets --- */

typedef struct question {
    nc_request request;
    nc_header header;
    nc_connect_to override;
    char url[96];
} question;

static void put_field(question *q, const char *name, const char *value) {
    q->header = (nc_header){nc_slice_of(name), nc_slice_of(value)};
    q->request.headers = &q->header;
    q->request.header_count = 1;
}

static void put_credentials(question *q, uint32_t schemes) {
    q->request.credentials = (nc_credentials){.schemes = schemes, .user = nc_slice_of(CANARY)};
    q->request.credentials.password = nc_slice_of(PASSWORD);
    q->request.credentials.token = nc_slice_of(CANARY);
}

static void make_question(question *q, world *w, secret what, target_kind to) {
    *q = (question){.override = {.host = nc_slice_of("other.example"), .to_host = nc_slice_of("127.0.0.1")}};
    (void)snprintf(q->url, sizeof q->url, "http%s://%s127.0.0.1:%u/go", starts_secure[to] ? "s" : "",
                   what == USERINFO ? CANARY ":" PASSWORD "@" : "", nct_server_port(home_of(w, to)));
    q->request = (nc_request){.url = nc_slice_of(q->url), .connect_to = &q->override, .connect_to_count = 1};
    q->request.trust = w->trust;
    q->request.redirects = to == DOWN ? NC_REDIRECTS_FOLLOW_DOWNGRADE : NC_REDIRECTS_FOLLOW;
    switch (what) {
    case AUTHORIZATION:
        put_field(q, "Authorization", "Custom " CANARY);
        break;
    case BASIC:
        put_credentials(q, NC_AUTH_BASIC);
        break;
    case BEARER:
        put_credentials(q, NC_AUTH_BEARER);
        break;
    case DIGEST:
        put_credentials(q, NC_AUTH_DIGEST);
        break;
    case COOKIE:
        put_field(q, "Cookie", "a=" CANARY);
        break;
    case API_KEY:
        put_field(q, "X-Api-Key", CANARY);
        break;
    case PROXY_AUTHORIZATION:
        put_field(q, "Proxy-Authorization", "Custom " CANARY);
        break;
    case REFERER:
        put_field(q, "Referer", "http://intern.example/" CANARY);
        break;
    case BODY:
        q->request.method = nc_slice_of("POST");
        q->request.body = nc_slice_of("body " CANARY);
        break;
    default:
        break; // the engine, the URL or the policy contains the secret
    }
}

/* --- requests as the servers received them --- */

static bool shows(const world *w, nc_slice bytes) {
    return threat_holds(bytes, CANARY) || threat_holds(bytes, PASSWORD) || threat_holds(bytes, w->basic);
}

/// Returns true if request `index` of a server has a canary.
static bool saw(const world *w, nct_server *server, size_t index) {
    nc_buf bytes = threat_received(server, index);
    bool is_seen = shows(w, nc_buf_slice(&bytes));
    nc_buf_deinit(&bytes);
    return is_seen;
}

static bool saw_any(const world *w, nct_server *server) {
    bool is_seen = false;
    for (size_t i = 0; i < nct_server_request_count(server); i++) {
        is_seen = is_seen || saw(w, server, i);
    }
    return is_seen;
}

static void expect_silence(const world *w, const answer *one) {
    assert_false(shows(w, nc_slice_of(one->error.message)));
    for (size_t i = 0; i < nc_response_hop_count(one->response); i++) {
        assert_false(shows(w, nc_response_hop_at(one->response, i).url));
    }
    assert_false(shows(w, nc_response_url(one->response)));
}

static bool is_expected_at_other_origin(secret what, target_kind to, unsigned status) {
    return (what == JAR && keeps_host[to]) || (what == BODY && status >= 307 && to != SAME && to != REFUSED_DOWN);
}

/// Returns true if the secret is sent again when a redirect leads back to the origin.
static bool is_expected_after_return(secret what, target_kind to, unsigned status) {
    if (what == CERTIFICATE || what == DIGEST) {
        return false; // certificates are counted instead; Digest is sent only after a challenge
    }
    if (what == BODY) {
        return status >= 307;
    }
    return to == SAME || what == JAR;
}

static void evaluate(world *w, secret what, target_kind to, unsigned status, const answer *one) {
    nct_server *home = home_of(w, to);
    size_t count = nct_server_request_count(home);
    bool is_refused = to == REFUSED_DOWN;
    bool elsewhere = saw_any(w, w->plain) || saw_any(w, w->secure);
    bool ends_at_home = to == SAME || to == BACK;
    bool was_shown = what == CERTIFICATE || (count > 0 && saw(w, home, what == DIGEST ? 1 : 0));
    bool in_the_end = ends_at_home && saw(w, home, count - 1);
    size_t away = nct_server_request_count(w->plain) + nct_server_request_count(w->secure);
    bool is_right = one->error.status == (is_refused ? NC_ERR_REDIRECT_REFUSED : NC_OK) && was_shown &&
                    elsewhere == is_expected_at_other_origin(what, to, status) &&
                    in_the_end == (ends_at_home && is_expected_after_return(what, to, status)) &&
                    away == (to == SAME || is_refused ? 0 : 1) && nct_server_client_certificate_count(w->secure) == 0;
    if (!is_right) {
        fail_msg("%s, %s, %u: %s (%s); shown at home %d, elsewhere %d, in the end %d; %zu requests elsewhere",
                 secret_names[what], target_names[to], status, nc_status_name(one->error.status), one->error.message,
                 was_shown, elsewhere, in_the_end, away);
    }
    expect_silence(w, one);
}

/// Sends a request, and calls nc_engine_describe() while it is in flight.
static answer send_request(world *w, const nc_request *request) {
    nc_buf text = nc_buf_init(4096);
    nc_engine_set_suspended(w->f.engine, true);
    nc_transfer_id id = fixture_submit(&w->f, request);
    assert_status(nc_engine_describe(w->f.engine, id, &text), NC_OK);
    assert_true(threat_holds(nc_buf_slice(&text), "/go") && !shows(w, nc_buf_slice(&text)));
    nc_engine_set_suspended(w->f.engine, false);
    nc_buf_deinit(&text);
    return fixture_wait(&w->f, id);
}

static size_t run_secret(secret what) {
    world w;
    question q;
    size_t count = 0;
    nc_engine_options options = {.cookies = what == JAR ? NC_COOKIES_MEMORY : NC_COOKIES_OFF,
                                 .uses_netrc = what == NETRC};
    start_world(&w, &options);
    if (what == JAR) {
        const char *line = "Set-Cookie: a=" CANARY "; domain=127.0.0.1; path=/";
        assert_status(nc_engine_set_cookies(w.f.engine, nc_slice_of(line), NULL), NC_OK);
    }
    for (target_kind to = SAME; to < TARGET_KINDS; to++) {
        for (size_t i = 0; i < COUNT_OF(statuses); i++) {
            script_world(&w, to, statuses[i], what == DIGEST);
            make_question(&q, &w, what, to);
            answer one = send_request(&w, &q.request);
            evaluate(&w, what, to, statuses[i], &one);
            count++;
        }
    }
    stop_world(&w);
    return count;
}

static void redirects__carry_no_secret_to_another_origin(void **state) {
    size_t count = 0;
    (void)state;
    for (secret what = AUTHORIZATION; what < SECRETS; what++) {
        count += run_secret(what);
    }
    print_message("%zu redirects\n", count);
    assert_true(count >= 120);
}

/// The origin does receive the certificate. Otherwise the check of the other servers would prove nothing.
static void redirects__send_the_client_certificate_only_to_its_origin(void **state) {
    world w;
    question q;
    (void)state;
    start_world(&w, &(nc_engine_options){0});
    script_world(&w, SECURE_HOST, 302, false);
    make_question(&q, &w, CERTIFICATE, SECURE_HOST);
    assert_status(send_request(&w, &q.request).error.status, NC_OK);
    // The counters were reset before the last request, for which each server made one full handshake.
    assert_int_equal(nct_server_client_certificate_count(w.secure_home), 1);
    assert_int_equal(nct_server_request_count(w.secure), 1);
    assert_int_equal(nct_server_client_certificate_count(w.secure), 0);
    stop_world(&w);
}

/* --- invalid targets --- */

static const struct {
    const char *location; // %u is the port of a server that must receive nothing
    nc_status status;
} odd_places[] = {
    {"javascript:alert(1)", NC_ERR_REDIRECT_REFUSED},
    {"file:///etc/passwd", NC_ERR_REDIRECT_REFUSED},
    {"FILE:/etc/passwd", NC_ERR_REDIRECT_REFUSED},
    {"gopher://127.0.0.1:%u/_GET%%20/", NC_ERR_REDIRECT_REFUSED},
    {"ftp://user:" CANARY "@127.0.0.1:%u/x", NC_ERR_REDIRECT_REFUSED},
    {"dict://127.0.0.1:%u/d:x", NC_ERR_REDIRECT_REFUSED},
    {"scp://127.0.0.1:%u/x", NC_ERR_REDIRECT_REFUSED},
    {"ldap://127.0.0.1:%u/x", NC_ERR_REDIRECT_REFUSED},
    {"telnet://127.0.0.1:%u/", NC_ERR_REDIRECT_REFUSED},
    {"smb://127.0.0.1:%u/x", NC_ERR_REDIRECT_REFUSED},
    {"unix:/tmp/x", NC_ERR_REDIRECT_REFUSED},
    {"data:text/plain,hello", NC_ERR_REDIRECT_REFUSED},
    {"ws://127.0.0.1:%u/", NC_ERR_REDIRECT_REFUSED},
    {"http:", NC_ERR_BAD_REDIRECT},
    {"http:/127.0.0.1:%u/", NC_ERR_BAD_REDIRECT},
    {"http:///127.0.0.1:%u/", NC_ERR_BAD_REDIRECT},
    {"http://", NC_ERR_BAD_REDIRECT},
    {"http://127.0.0.1:99999/", NC_ERR_BAD_REDIRECT},
    {"http://127.0.0.1:%u:80/", NC_ERR_BAD_REDIRECT},
    {"http://[::1/", NC_ERR_BAD_REDIRECT},
    {"http://user:" CANARY "@/", NC_ERR_BAD_REDIRECT},
    {"/a\x01" CANARY, NC_ERR_BAD_REDIRECT},
    {"/a\x7f", NC_ERR_BAD_REDIRECT},
    {"/a\tb", NC_ERR_BAD_REDIRECT},
    {"/a\rX-Evil: 1", NC_ERR_BAD_RESPONSE},
};

static void redirects__reject_other_schemes_and_malformed_targets(void **state) {
    static char far[NC_URL_MAX_BYTES + 2];
    world w;
    question q;
    (void)state;
    start_world(&w, &(nc_engine_options){0});
    script_world(&w, SAME, 302, false);
    for (size_t i = 0; i < COUNT_OF(odd_places); i++) {
        script(w.f.server, "/go",
               (nct_reply){.location = fixture_text(&w.f, odd_places[i].location, nct_server_port(w.plain))});
        make_question(&q, &w, AUTHORIZATION, SAME);
        answer one = send_request(&w, &q.request);
        if (one.error.status != odd_places[i].status) {
            fail_msg("%s: %s (%s)", odd_places[i].location, nc_status_name(one.error.status), one.error.message);
        }
        expect_silence(&w, &one);
    }
    memset(far, 'a', sizeof far - 1);
    far[0] = '/';
    script(w.f.server, "/go", (nct_reply){.location = far});
    assert_status(send_request(&w, &q.request).error.status, NC_ERR_BAD_REDIRECT);
    // No redirect was followed: there is only the connection to the first server.
    assert_int_equal(nct_server_connection_count(w.plain) + nct_server_connection_count(w.secure), 0);
    assert_int_equal(nct_server_request_count(w.f.server), COUNT_OF(odd_places) + 1);
    stop_world(&w);
}

static void redirects__without_an_end_stop_at_a_limit(void **state) {
    static char step[4000];
    world w;
    question q;
    (void)state;
    start_world(&w, &(nc_engine_options){0});
    script_world(&w, SAME, 302, false);
    make_question(&q, &w, AUTHORIZATION, SAME);
    // To itself: twenty times.
    script(w.f.server, "/go", (nct_reply){.location = "/go"});
    assert_status(send_request(&w, &q.request).error.status, NC_ERR_TOO_MANY_REDIRECTS);
    assert_int_equal(nct_server_request_count(w.f.server), NC_DEFAULT_MAX_REDIRECTS + 1);
    // To another origin and back.
    script(w.f.server, "/go", (nct_reply){.location = fixture_url_of(&w.f, w.plain, "127.0.0.1", "/loop")});
    script(w.plain, "/loop", (nct_reply){.location = fixture_url(&w.f, "/go")});
    answer one = send_request(&w, &q.request);
    assert_status(one.error.status, NC_ERR_TOO_MANY_REDIRECTS);
    assert_false(saw_any(&w, w.plain));
    // Deeper with each step: relative to the previous one.
    memset(step, 'd', sizeof step - 2);
    step[sizeof step - 2] = '/';
    script(w.f.server, "/go", (nct_reply){.location = "/deep/"});
    script(w.f.server, "*", (nct_reply){.location = step});
    assert_status(send_request(&w, &q.request).error.status, NC_ERR_BAD_REDIRECT);
    // Without a Location, or with an empty one, it is an ordinary response.
    script(w.f.server, "/go", (nct_reply){.status = 302});
    one = send_request(&w, &q.request);
    assert_response(one, 302, "");
    script(w.f.server, "/go", (nct_reply){.status = 302, .headers = "Location:\r\n"});
    one = send_request(&w, &q.request);
    assert_response(one, 302, "");
    stop_world(&w);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(redirects__carry_no_secret_to_another_origin),
        harness_case(redirects__send_the_client_certificate_only_to_its_origin),
        harness_case(redirects__reject_other_schemes_and_malformed_targets),
        harness_case(redirects__without_an_end_stop_at_a_limit),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
