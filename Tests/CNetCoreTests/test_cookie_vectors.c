/// The jar against the test vectors of RFC 6265's working group (github.com/abarth/http-state,
/// tests/data/parser.json) in Tests/Vectors/cookies.json. Each row's Set-Cookie lines are a response of
/// http://home.example.org/cookie-parser, and "sent" is the Cookie field of the next request.
///
/// Dates that must be in the future are moved by 100 years. "jar" is the jar's own result if it differs, and "why"
/// the reason; docs/cookies.md summarizes them.
#include "fixture.h"
#include "vectors.h"

#include <netcore/cookies.h>
#include <string.h>

#define ORIGIN "home.example.org"
#define RESULT "/cookie-parser-result"

/// Scripts a response with these lines, each a Set-Cookie field. The texts may have any byte except LF.
static void script_lines(fixture *f, nc_slice lines) {
    nc_buf reply = nc_buf_init(1 << 16);
    nc_buf_append(&reply, nc_slice_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"));
    for (bool is_last = false; !is_last;) {
        const uint8_t *end = lines.length > 0 ? memchr(lines.data, '\n', lines.length) : NULL;
        size_t length = end != NULL ? (size_t)(end - lines.data) : lines.length;
        is_last = end == NULL;
        nc_buf_append(&reply, nc_slice_of("Set-Cookie: "));
        nc_buf_append(&reply, nc_slice_make(lines.data, length));
        nc_buf_append(&reply, nc_slice_of("\r\n"));
        lines = is_last ? lines : nc_slice_make(end + 1, lines.length - length - 1);
    }
    nc_buf_append(&reply, nc_slice_of("\r\n"));
    assert_status(nc_buf_status(&reply), NC_OK);
    fixture_script(
        f, "/cookie-parser",
        (nct_reply){
            .is_raw = true, .body = (const char *)reply.data, .body_length = reply.length, .ending = NCT_CLOSE});
    nc_buf_deinit(&reply);
}

/// Sends a request for the host and path of `url`, which has no port: "http://host/path" or "/path" at the origin.
static answer get(fixture *f, nc_slice url) {
    static const char scheme[] = "http://";
    const nc_connect_to override = {.to_host = nc_slice_of("127.0.0.1")};
    const char *text = fixture_text(f, "%.*s", (int)url.length, (const char *)url.data);
    const char *host = ORIGIN;
    if (strncmp(text, scheme, strlen(scheme)) == 0) {
        text += strlen(scheme);
        host = fixture_text(f, "%.*s", (int)strcspn(text, "/"), text);
        text += strlen(host);
    }
    nc_request request = {
        .url = nc_slice_of(fixture_url_at(f, host, text)), .connect_to = &override, .connect_to_count = 1};
    return fixture_send(f, &request);
}

/// Returns the Cookie field of the latest request.
static nc_slice sent(fixture *f) {
    const char *field = strstr(fixture_received(f, nct_server_request_count(f->server) - 1), "\r\nCookie: ");
    return field == NULL ? nc_slice_of("") : nc_slice_make(field + 10, strcspn(field + 10, "\r"));
}

static bool row_succeeds(fixture *f, const vector_row *row) {
    nc_error err;
    nc_slice to = vectors_text(row, "to");
    nc_slice expected = vectors_text(row, vectors_text(row, "why").data != NULL ? "jar" : "sent");
    nc_slice name = vectors_text(row, "test");
    assert_status(nc_engine_set_cookies(f->engine, nc_slice_of(""), &err), NC_OK);
    script_lines(f, vectors_text(row, "received"));
    (void)get(f, nc_slice_of("/cookie-parser")); // may fail because of a byte that is invalid in a field
    answer second = get(f, to.data != NULL ? to : nc_slice_of(RESULT));
    assert_status(second.error.status, NC_OK);
    nc_slice brought = sent(f);
    if (!nc_slice_is_equal(brought, expected)) {
        print_message("%.*s: '%.*s' instead of '%.*s'\n", (int)name.length, (const char *)name.data,
                      (int)brought.length, (const char *)brought.data, (int)expected.length,
                      (const char *)expected.data);
        return false;
    }
    return true;
}

static void cookie_vectors__the_jar_agrees_with_the_working_groups_vectors(void **state) {
    fixture f;
    size_t differing = 0;
    size_t excused = 0;
    vectors rows = vectors_read("cookies.json");
    (void)state;
    fixture_start_with(&f, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    for (size_t i = 0; i < rows.count; i++) {
        differing += row_succeeds(&f, &rows.rows[i]) ? 0 : 1;
        excused += vectors_text(&rows.rows[i], "why").data != NULL ? 1 : 0;
    }
    fixture_stop(&f);
    print_message("%zu of %zu as they say, %zu otherwise\n", rows.count - excused - differing, rows.count, excused);
    assert_int_equal(differing, 0);
    assert_int_equal(rows.count, 222);
    vectors_free(&rows);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cookie_vectors__the_jar_agrees_with_the_working_groups_vectors),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
