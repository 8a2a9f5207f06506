/// Content codings: requested, decoded, limited after decoding, and rejected if malformed.
#include "fixture.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* --- a minimal gzip writer: RFC 1951 and RFC 1952 --- */

typedef struct gzip {
    uint8_t *bytes;
    size_t length;
    uint32_t bits;
    unsigned bit_count;
} gzip;

static const uint8_t gzip_head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

static uint32_t crc_of(const uint8_t *bytes, size_t length) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
        }
    }
    return ~crc;
}

static void put(gzip *out, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        out->bytes[out->length++] = (uint8_t)(value >> (8 * i));
    }
}

static void put_tail(gzip *out, const uint8_t *plain, size_t length) {
    put(out, crc_of(plain, length), 4);
    put(out, length, 4);
}

/// One stored block; up to 65535 bytes.
static gzip gzip_stored(const void *plain, size_t length) {
    gzip out = {.bytes = malloc(length + 64)};
    assert_non_null(out.bytes);
    memcpy(out.bytes, gzip_head, sizeof gzip_head);
    out.length = sizeof gzip_head;
    put(&out, 1, 1);
    put(&out, length, 2);
    put(&out, ~length, 2);
    memcpy(out.bytes + out.length, plain, length);
    out.length += length;
    put_tail(&out, plain, length);
    return out;
}

/// Huffman codes start with their highest bit, everything else with its lowest.
static void put_code(gzip *out, uint32_t code, unsigned length) {
    while (length-- > 0) {
        out->bits |= (code >> length & 1) << out->bit_count++;
        if (out->bit_count == 8) {
            put(out, out->bits, 1);
            out->bits = 0;
            out->bit_count = 0;
        }
    }
}

/// Returns 1 + 258 * `runs` times 'a', at 13 bits a run.
static gzip gzip_bomb(size_t runs) {
    size_t length = 1 + 258 * runs;
    uint8_t *plain = malloc(length);
    gzip out = {.bytes = malloc(runs * 2 + 64)};
    assert_non_null(plain);
    assert_non_null(out.bytes);
    memset(plain, 'a', length);
    memcpy(out.bytes, gzip_head, sizeof gzip_head);
    out.length = sizeof gzip_head;
    put_code(&out, 6, 3);          // last block, fixed codes (1, then 01 lowest bit first)
    put_code(&out, 0x30 + 'a', 8); // the literal
    for (size_t i = 0; i < runs; i++) {
        put_code(&out, 0xc5, 8); // 258 bytes ...
        put_code(&out, 0, 5);    // ... from 1 byte back
    }
    put_code(&out, 0, 7);
    put_code(&out, 0, (8 - out.bit_count) % 8);
    put_tail(&out, plain, length);
    free(plain);
    return out;
}

static void serve(fixture *f, gzip *body, const char *coding, size_t length) {
    fixture_script(f, "/z",
                   (nct_reply){.headers = fixture_text(f, "Content-Encoding: %s\r\n", coding),
                               .body = body->bytes,
                               .body_length = length});
}

static nc_request request_for(fixture *f) {
    nc_request request = fixture_request(f, "/z");
    request.accepts_codings = true;
    return request;
}

/* --- cases --- */

static void engine__codings_are_decoded_only_if_accepted(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    gzip body = gzip_stored("plain text", 10);
    serve(&f, &body, "gzip", body.length);
    nc_request request = request_for(&f);
    answer one = fixture_send(&f, &request);
    assert_response(one, 200, "plain text");
    assert_field(one, "content-encoding", "gzip");
    nc_hop_metrics hop = nc_response_hop_at(one.response, 0);
    assert_int_equal(hop.received_bytes, body.length);
    assert_int_equal(hop.decoded_bytes, 10);
    const char *received = fixture_received(&f, 0);
    assert_non_null(strstr(received, "\r\nAccept-Encoding: "));
    assert_non_null(strstr(received, "gzip"));

    answer raw = fixture_get(&f, "/z");
    assert_ended(raw, NC_OK, 0, "");
    assert_true(nc_slice_is_equal(nc_response_body(raw.response), nc_slice_make(body.bytes, body.length)));
    assert_null(strstr(fixture_received(&f, 1), "Accept-Encoding"));
    free(body.bytes);
    fixture_stop(&f);
}

static void engine__an_unencoded_body_passes_if_codings_are_accepted(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/z", (nct_reply){.body = "plain", .body_length = 5});
    nc_request request = request_for(&f);
    assert_response(fixture_send(&f, &request), 200, "plain");
    fixture_script(&f, "/z",
                   (nct_reply){.headers = "Content-Encoding: identity\r\n", .body = "plain", .body_length = 5});
    assert_response(fixture_send(&f, &request), 200, "plain");
    fixture_stop(&f);
}

static void engine__an_encoded_body_is_decoded_at_every_chunk_split(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    gzip body = gzip_bomb(100);
    nc_request request = request_for(&f);
    for (size_t chunk = 1; chunk < 40; chunk++) {
        fixture_script(&f, "/z",
                       (nct_reply){.headers = "Content-Encoding: x-gzip\r\n",
                                   .body = body.bytes,
                                   .body_length = body.length,
                                   .chunk_bytes = chunk});
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_OK, 0, "");
        assert_int_equal(nc_response_body(one.response).length, 25801);
        assert_int_equal(nc_response_body(one.response).data[25800], 'a');
    }
    free(body.bytes);
    fixture_stop(&f);
}

static void engine__the_limit_counts_decoded_bytes(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    gzip body = gzip_bomb(8200);
    serve(&f, &body, "gzip", body.length);
    nc_request request = request_for(&f);
    const uint64_t length = 1 + 258 * 8200;
    assert_true(body.length < 16 * 1024);
    request.limits.max_body_bytes = length;
    answer one = fixture_send(&f, &request);
    assert_ended(one, NC_OK, 0, "");
    assert_int_equal(nc_response_body(one.response).length, length);
    const uint64_t limits[] = {length - 1, length / 2, body.length, 1};
    for (size_t i = 0; i < 4; i++) {
        request.limits.max_body_bytes = limits[i];
        one = fixture_send(&f, &request);
        assert_ended(one, NC_ERR_BODY_TOO_LARGE, CURLE_FILESIZE_EXCEEDED, "larger than the limit of");
        assert_true(nc_response_body(one.response).length <= limits[i]);
    }
    free(body.bytes);
    fixture_stop(&f);
}

static void engine__malformed_and_unknown_codings_are_errors(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    gzip body = gzip_stored("plain text", 10);
    nc_request request = request_for(&f);
    serve(&f, &body, "no-such-coding", body.length);
    assert_ended(fixture_send(&f, &request), NC_ERR_BAD_CODING, CURLE_BAD_CONTENT_ENCODING, "coding");
    serve(&f, &body, "deflate", body.length);
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
    body.bytes[0] = 0;
    serve(&f, &body, "gzip", body.length);
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
    body.bytes[0] = gzip_head[0];
    body.bytes[body.length - 5] ^= 1;
    serve(&f, &body, "gzip", body.length);
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
    body.bytes[body.length - 5] ^= 1;
    serve(&f, &body, "gzip", body.length);
    assert_response(fixture_send(&f, &request), 200, "plain text");
    free(body.bytes);
    fixture_stop(&f);
}

static void engine__the_coding_of_an_empty_response_is_ignored_regression_1(void **state) {
    static const char *const codings[] = {"private", "gzip, gzip, gzip, gzip"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        char *coding = (char *)(uintptr_t)fixture_text(&f, "Content-Encoding: %s\r\n", codings[i]);
        fixture_script(&f, "/coded", (nct_reply){.headers = coding, .body = "x", .body_length = 1});
        fixture_script(&f, "/none", (nct_reply){.status = 204, .headers = coding});
        nc_request request = fixture_request(&f, "/coded");
        request.accepts_codings = true;
        assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
        request.method = nc_slice_of("HEAD");
        assert_response(fixture_send(&f, &request), 200, "");
        request = fixture_request(&f, "/none");
        request.accepts_codings = true;
        assert_response(fixture_send(&f, &request), 204, "");
    }
    fixture_script(&f, "/empty", (nct_reply){.headers = "Content-Encoding: private\r\n"});
    nc_request request = fixture_request(&f, "/empty");
    request.accepts_codings = true;
    assert_response(fixture_send(&f, &request), 200, "");
    fixture_stop(&f);
}

/// A coding is decoded or an error, independent of the number of fields. A body that is still encoded is never
/// delivered.
static void engine__a_coding_is_found_among_any_number_of_fields_regression_2(void **state) {
    enum { FIELDS = 20 };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    gzip body = gzip_stored("plain text", 10);
    const char *none = "";
    const char *coded = "Content-Encoding: gzip\r\n";
    for (size_t i = 0; i < FIELDS; i++) {
        none = fixture_text(&f, "%sContent-Encoding: %s\r\n", none, i % 2 == 0 ? "identity" : "none, ");
        coded = fixture_text(&f, "%sContent-Encoding: gzip\r\n", coded);
    }
    const char *last = fixture_text(&f, "%sContent-Encoding: identity, gzip\r\n", none);
    nc_request request = request_for(&f);
    fixture_script(&f, "/z", (nct_reply){.headers = last, .body = body.bytes, .body_length = body.length});
    assert_response(fixture_send(&f, &request), 200, "plain text");
    fixture_script(&f, "/z", (nct_reply){.headers = none, .body = "plain text", .body_length = 10});
    assert_response(fixture_send(&f, &request), 200, "plain text");
    fixture_script(&f, "/z", (nct_reply){.headers = coded, .body = body.bytes, .body_length = body.length});
    request.limits.max_codings = 1000;
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
    free(body.bytes);
    fixture_stop(&f);
}

static void engine__disabled_codings_are_neither_requested_nor_decoded(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    gzip body = gzip_stored("plain text", 10);
    fixture_script(
        &f, "/z", (nct_reply){.headers = "Content-Encoding: gzip\r\n", .body = body.bytes, .body_length = body.length});
    nc_request request = request_for(&f);
    request.limits.max_codings = NC_NO_CODINGS;
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_BAD_CODING);
    assert_null(strstr(fixture_received(&f, 0), "Accept-Encoding"));
    fixture_script(&f, "/z",
                   (nct_reply){.headers = "Content-Encoding: identity\r\n", .body = "plain text", .body_length = 10});
    assert_response(fixture_send(&f, &request), 200, "plain text");
    request.accepts_codings = false;
    fixture_script(&f, "/z",
                   (nct_reply){.headers = "Content-Encoding: gzip\r\n", .body = "not undone", .body_length = 10});
    assert_response(fixture_send(&f, &request), 200, "not undone");
    free(body.bytes);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__codings_are_decoded_only_if_accepted),
        harness_case(engine__an_unencoded_body_passes_if_codings_are_accepted),
        harness_case(engine__an_encoded_body_is_decoded_at_every_chunk_split),
        harness_case(engine__the_limit_counts_decoded_bytes),
        harness_case(engine__malformed_and_unknown_codings_are_errors),
        harness_case(engine__the_coding_of_an_empty_response_is_ignored_regression_1),
        harness_case(engine__a_coding_is_found_among_any_number_of_fields_regression_2),
        harness_case(engine__disabled_codings_are_neither_requested_nor_decoded),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
