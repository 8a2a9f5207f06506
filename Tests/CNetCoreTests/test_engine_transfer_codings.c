/// Transfer codings: requested over HTTP/1.1, decoded before content codings, limited, and refused if not requested.
#include "coded.h"
#include "fixture.h"

#include <curl/curl.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define TEXT "words that are repeated: words that are repeated, words that are repeated"

static nc_buf coded(int window_bits) {
    return encoded_deflate(nc_slice_of(TEXT), window_bits);
}

/// Serves a body below "/t" with these header lines, in chunks of `chunk` bytes. 0 ends it with the connection.
static void serve(fixture *f, const char *headers, nc_slice body, size_t chunk) {
    fixture_script(f, "/t",
                   (nct_reply){.headers = headers,
                               .body = body.data,
                               .body_length = body.length,
                               .chunk_bytes = chunk,
                               .ending = chunk == 0 ? NCT_CLOSE : NCT_KEEP});
}

static nc_request request_for(fixture *f) {
    nc_request request = fixture_request(f, "/t");
    request.accepts_transfer_codings = true;
    return request;
}

/* --- cases --- */

static void transfer_codings__gzip_is_requested_and_decoded_at_every_chunk_split(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_buf body = coded(ENCODED_GZIP);
    nc_request request = request_for(&f);
    for (size_t chunk = 1; chunk <= body.length + 1; chunk++) {
        serve(&f, "Transfer-Encoding: gzip, chunked\r\n", nc_buf_slice(&body), chunk);
        answer one = fixture_send(&f, &request);
        assert_response(one, 200, TEXT);
        assert_field(one, "transfer-encoding", "gzip, chunked");
    }
    const char *received = fixture_received(&f, 0);
    assert_non_null(strstr(received, "\r\nTE: gzip\r\n"));
    assert_non_null(strstr(received, "\r\nConnection: TE\r\n"));
    assert_null(strstr(received, "Accept-Encoding"));
    nc_buf_deinit(&body);
    fixture_stop(&f);
}

static void transfer_codings__every_valid_list_is_decoded(void **state) {
    static const struct {
        const char *headers;
        int window_bits;
        size_t chunk;
    } rows[] = {
        {"Transfer-Encoding: gzip,chunked\r\n", ENCODED_GZIP, 7},
        {"transfer-encoding:\tX-GZIP , Chunked\r\n", ENCODED_GZIP, 7},
        {"Transfer-Encoding: deflate, chunked\r\n", ENCODED_ZLIB, 7},
        {"Transfer-Encoding: deflate, chunked\r\n", ENCODED_RAW, 7},
        {"Transfer-Encoding: gzip\r\n", ENCODED_GZIP, 0},
        {"Transfer-Encoding: deflate\r\n", ENCODED_ZLIB, 0},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = request_for(&f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        nc_buf body = coded(rows[i].window_bits);
        serve(&f, rows[i].headers, nc_buf_slice(&body), rows[i].chunk);
        assert_response(fixture_send(&f, &request), 200, TEXT);
        nc_buf_deinit(&body);
    }
    serve(&f, "Transfer-Encoding: chunked\r\n", nc_slice_of("plain"), 2);
    assert_response(fixture_send(&f, &request), 200, "plain");
    fixture_stop(&f);
}

static void transfer_codings__are_decoded_before_content_codings(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_buf inner = coded(ENCODED_GZIP);
    nc_buf outer = encoded_deflate(nc_buf_slice(&inner), ENCODED_ZLIB);
    serve(&f, "Content-Encoding: gzip\r\nTransfer-Encoding: deflate, chunked\r\n", nc_buf_slice(&outer), 11);
    nc_request request = request_for(&f);
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_true(nc_slice_is_equal(nc_response_body(one.response), nc_buf_slice(&inner)));
    request.accepts_codings = true;
    assert_response(fixture_send(&f, &request), 200, TEXT);
    request.limits.max_codings = 1;
    assert_ended(fixture_send(&f, &request), NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING, "limits.max_codings");
    serve(&f, "Transfer-Encoding: gzip, gzip, gzip, gzip, chunked\r\n", nc_buf_slice(&outer), 11);
    request.limits.max_codings = 0;
    assert_ended(fixture_send(&f, &request), NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING, "limits.max_codings");
    nc_buf_deinit(&inner);
    nc_buf_deinit(&outer);
    fixture_stop(&f);
}

static void transfer_codings__are_refused_if_not_requested(void **state) {
    static const char *const fields[] = {"gzip, chunked", "deflate, chunked", "x-gzip, gzip, chunked", "gzip"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_buf body = coded(ENCODED_GZIP);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const char *headers = fixture_text(&f, "Transfer-Encoding: %s\r\n", fields[i]);
        serve(&f, headers, nc_buf_slice(&body), i == COUNT_OF(fields) - 1 ? 0 : 9);
        nc_request request = fixture_request(&f, "/t");
        request.accepts_codings = true;
        assert_ended(fixture_send(&f, &request), NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY, "not just chunked");
    }
    assert_null(strstr(fixture_received(&f, 0), "TE:"));
    nc_buf_deinit(&body);
    fixture_stop(&f);
}

static void transfer_codings__an_invalid_list_is_refused(void **state) {
    static const char *const heads[] = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked,\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: ,gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip;q=1, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \"gzip\", chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: compress, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: br, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \r\n\r\n",
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = request_for(&f);
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        fixture_script_raw(&f, "/t", fixture_text(&f, "%s2\r\nhi\r\n0\r\n\r\n", heads[i]));
        assert_ended(fixture_send(&f, &request), NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY, "ambiguous");
    }
    fixture_stop(&f);
}

static void transfer_codings__an_incomplete_or_malformed_body_is_an_error(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_buf body = coded(ENCODED_GZIP);
    nc_request request = request_for(&f);
    for (size_t chunk = 0; chunk < 2; chunk++) {
        const char *headers = chunk == 0 ? "Transfer-Encoding: gzip\r\n" : "Transfer-Encoding: gzip, chunked\r\n";
        serve(&f, headers, nc_slice_make(body.data, body.length - 1), chunk * 8);
        assert_status(fixture_send(&f, &request).error.status, NC_ERR_CUT_SHORT);
        body.data[body.length - 6] ^= 1;
        serve(&f, headers, nc_buf_slice(&body), chunk * 8);
        assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
        body.data[body.length - 6] ^= 1;
    }
    serve(&f, "Transfer-Encoding: gzip, chunked\r\n", nc_slice_of("not compressed"), 4);
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
    nc_buf_deinit(&body);
    fixture_stop(&f);
}

static void transfer_codings__the_limit_counts_decoded_bytes(void **state) {
    enum { LENGTH = 1 << 20 };
    static uint8_t zeros[LENGTH];
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_buf body = encoded_deflate(nc_slice_make(zeros, LENGTH), ENCODED_GZIP);
    assert_true(body.length < LENGTH / 100);
    serve(&f, "Transfer-Encoding: gzip, chunked\r\n", nc_buf_slice(&body), 100);
    nc_request request = request_for(&f);
    request.limits.max_body_bytes = LENGTH;
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_int_equal(nc_response_body(one.response).length, LENGTH);
    request.limits.max_body_bytes = LENGTH - 1;
    assert_ended(fixture_send(&f, &request), NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED, "limit of");
    nc_buf_deinit(&body);
    fixture_stop(&f);
}

static void transfer_codings__responses_without_content_need_no_decoding(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = request_for(&f);
    request.method = nc_slice_of("HEAD");
    fixture_script_raw(&f, "/t", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n");
    assert_response(fixture_send(&f, &request), 200, "");
    request.method = nc_slice_of("GET");
    fixture_script_raw(&f, "/t", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: gzip, chunked\r\n\r\n");
    assert_response(fixture_send(&f, &request), 304, "");
    fixture_stop(&f);
}

static void transfer_codings__the_callers_own_field_is_sent_instead(void **state) {
    const nc_header own = {nc_slice_of("TE"), nc_slice_of("deflate, trailers")};
    const nc_header connection = {nc_slice_of("Connection"), nc_slice_of("X-Hop")};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    serve(&f, "", nc_slice_of("plain"), 5);
    nc_request request = request_for(&f);
    request.headers = &own;
    request.header_count = 1;
    assert_response(fixture_send(&f, &request), 200, "plain");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nTE: deflate, trailers\r\n"));
    assert_null(strstr(fixture_received(&f, 0), "gzip"));
    request.headers = &connection;
    assert_response(fixture_send(&f, &request), 200, "plain");
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nTE: gzip\r\n"));
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nConnection: TE\r\n"));
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nConnection: X-Hop\r\n"));
    request.header_count = 0;
    request.limits.max_codings = NC_NO_CODINGS;
    assert_response(fixture_send(&f, &request), 200, "plain");
    assert_null(strstr(fixture_received(&f, 2), "TE: gzip"));
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(transfer_codings__gzip_is_requested_and_decoded_at_every_chunk_split),
        harness_case(transfer_codings__every_valid_list_is_decoded),
        harness_case(transfer_codings__are_decoded_before_content_codings),
        harness_case(transfer_codings__are_refused_if_not_requested),
        harness_case(transfer_codings__an_invalid_list_is_refused),
        harness_case(transfer_codings__an_incomplete_or_malformed_body_is_an_error),
        harness_case(transfer_codings__the_limit_counts_decoded_bytes),
        harness_case(transfer_codings__responses_without_content_need_no_decoding),
        harness_case(transfer_codings__the_callers_own_field_is_sent_instead),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
