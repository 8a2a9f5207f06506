/// Single content codings: each format's start, end and errors.
#include "coded.h"

#include <curl/curl.h>
#include <string.h>
#include <zlib.h>

static void coding__each_format_is_decoded_in_steps_of_any_size(void **state) {
    (void)state;
    for (size_t format = 0; format < ENCODED_FORMATS; format++) {
        encoded_body body = encoded_body_make(format);
        encoded_assert_plain(body.coding, nc_buf_slice(&body.bytes), encoded_text());
        for (size_t step = 2; step < 20; step++) {
            nc_buf out = nc_buf_init(1000);
            nc_error err;
            assert_status(encoded_decode(&out, body.coding, nc_buf_slice(&body.bytes), step, &err), NC_OK);
            assert_true(nc_slice_is_equal(nc_buf_slice(&out), encoded_text()));
            nc_buf_deinit(&out);
        }
        nc_buf_deinit(&body.bytes);
    }
}

static void decode_split(void *ctx, nc_slice head, nc_slice tail) {
    nc_coding *coding = encoded_chain(ctx);
    nc_buf out = nc_buf_init(1000);
    assert_status(nc_coding_feed(coding, head, NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_status(nc_coding_finish(coding, NULL), head.length == 0 || tail.length == 0 ? NC_OK : NC_ERR_CUT_SHORT);
    assert_status(nc_coding_feed(coding, tail, NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), encoded_text()));
    nc_buf_deinit(&out);
    nc_coding_free(coding);
}

static void coding__each_format_is_decoded_at_any_split(void **state) {
    (void)state;
    for (size_t format = 0; format < ENCODED_FORMATS; format++) {
        encoded_body body = encoded_body_make(format);
        each_split(nc_buf_slice(&body.bytes), decode_split, (void *)(uintptr_t)body.coding);
        nc_buf_deinit(&body.bytes);
    }
}

static void coding__a_body_truncated_after_any_byte_is_cut_short(void **state) {
    (void)state;
    for (size_t format = 0; format < ENCODED_FORMATS; format++) {
        encoded_body body = encoded_body_make(format);
        for (size_t length = 1; length < body.bytes.length; length++) {
            encoded_assert_status(body.coding, nc_slice_make(body.bytes.data, length), NC_ERR_CUT_SHORT);
        }
        nc_buf_deinit(&body.bytes);
    }
    nc_buf out = nc_buf_init(1000);
    nc_error err;
    assert_status(encoded_decode(&out, "gzip", nc_slice_of("\x1f"), 1, &err), NC_ERR_CUT_SHORT);
    assert_string_equal(err.message, "the gzip body is incomplete: it ends within the compressed stream");
    nc_buf_deinit(&out);
}

static void coding__a_flipped_bit_never_changes_the_text_silently(void **state) {
    (void)state;
    // gzip, zlib and zstd have a checksum; raw deflate and br have none.
    static const size_t checked[] = {0, 1, 4};
    size_t refused = 0;
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
        encoded_body body = encoded_body_make(checked[i]);
        for (size_t bit = 0; bit < 8 * body.bytes.length; bit++) {
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            nc_buf out = nc_buf_init(1 << 20);
            nc_error err;
            nc_status status = encoded_decode(&out, body.coding, nc_buf_slice(&body.bytes), 1 << 20, &err);
            assert_true(status == NC_OK || status == NC_ERR_BAD_CODING || status == NC_ERR_CUT_SHORT);
            assert_true(status != NC_OK || nc_slice_is_equal(nc_buf_slice(&out), encoded_text()));
            refused += status != NC_OK;
            nc_buf_deinit(&out);
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        nc_buf_deinit(&body.bytes);
    }
    assert_true(refused > 1000);
}

static void coding__a_flipped_bit_in_a_format_without_checksum_does_no_harm(void **state) {
    (void)state;
    for (size_t format = 2; format <= 3; format++) {
        encoded_body body = encoded_body_make(format);
        for (size_t bit = 0; bit < 8 * body.bytes.length; bit++) {
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            nc_buf whole = nc_buf_init(1 << 20);
            nc_buf parts = nc_buf_init(1 << 20);
            nc_error err;
            nc_status status = encoded_decode(&whole, body.coding, nc_buf_slice(&body.bytes), 1 << 20, &err);
            assert_status(encoded_decode(&parts, body.coding, nc_buf_slice(&body.bytes), 1, &err), status);
            assert_true(status != NC_OK || nc_slice_is_equal(nc_buf_slice(&whole), nc_buf_slice(&parts)));
            nc_buf_deinit(&whole);
            nc_buf_deinit(&parts);
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        nc_buf_deinit(&body.bytes);
    }
}

/* --- ends --- */

static void coding__consecutive_gzip_members_are_decoded(void **state) {
    (void)state;
    nc_buf body = encoded_deflate(nc_slice_of("one "), ENCODED_GZIP);
    size_t first = body.length;
    nc_buf second = encoded_deflate(nc_slice_of("two"), ENCODED_GZIP);
    nc_buf empty = encoded_deflate(nc_slice_of(""), ENCODED_GZIP);
    nc_buf_append(&body, nc_buf_slice(&empty));
    size_t middle = body.length;
    nc_buf_append(&body, nc_buf_slice(&second));
    encoded_assert_plain("gzip", nc_buf_slice(&body), nc_slice_of("one two"));
    for (size_t length = 1; length < body.length; length++) {
        nc_status expected = length == first || length == middle ? NC_OK : NC_ERR_CUT_SHORT;
        encoded_assert_status("gzip", nc_slice_make(body.data, length), expected);
    }
    body.data[body.length - 1] ^= 1;
    encoded_assert_status("gzip", nc_buf_slice(&body), NC_ERR_BAD_CODING);
    nc_buf_deinit(&body);
    nc_buf_deinit(&second);
    nc_buf_deinit(&empty);
}

typedef struct tail_row {
    size_t format;
    const char *tail;
    size_t length;
    nc_status status;
} tail_row;

#define TAIL(format, tail, status)                                                                                     \
    { format, tail, sizeof tail - 1, status }

static void coding__bytes_after_the_end_are_padding_or_an_error(void **state) {
    (void)state;
    static const tail_row rows[] = {
        TAIL(0, "\0", NC_OK),
        TAIL(0, "\0\0\0\0\0\0\0", NC_OK),
        TAIL(0, "x", NC_ERR_BAD_CODING),
        TAIL(0, "\0\0x", NC_ERR_BAD_CODING),
        TAIL(0, "\0\x1F\x8B", NC_ERR_BAD_CODING),
        TAIL(0, "\x1F\x8C", NC_ERR_BAD_CODING),
        TAIL(0, "\x1F", NC_ERR_CUT_SHORT),
        TAIL(1, "\0", NC_ERR_BAD_CODING),
        TAIL(1, "\x78\x9C", NC_ERR_BAD_CODING),
        TAIL(2, "\0", NC_ERR_BAD_CODING),
        TAIL(3, "x", NC_ERR_BAD_CODING),
        TAIL(4, "xyzt", NC_ERR_BAD_CODING),
        TAIL(4, "x", NC_ERR_BAD_CODING),
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        encoded_body body = encoded_body_make(rows[i].format);
        nc_buf_append(&body.bytes, nc_slice_make(rows[i].tail, rows[i].length));
        encoded_assert_status(body.coding, nc_buf_slice(&body.bytes), rows[i].status);
        nc_buf_deinit(&body.bytes);
    }
}

static void coding__bytes_decoded_before_an_error_are_emitted(void **state) {
    (void)state;
    for (size_t format = 0; format < ENCODED_FORMATS; format++) {
        encoded_body body = encoded_body_make(format);
        nc_buf_append(&body.bytes, nc_slice_of("surplus"));
        for (size_t step = 1; step <= 1001; step += 1000) {
            nc_buf out = nc_buf_init(1000);
            nc_error err;
            nc_slice bytes = nc_buf_slice(&body.bytes);
            assert_status(encoded_decode(&out, body.coding, bytes, step, &err), NC_ERR_BAD_CODING);
            assert_true(nc_slice_is_equal(nc_buf_slice(&out), encoded_text()));
            nc_buf_deinit(&out);
        }
        nc_buf_deinit(&body.bytes);
    }
}

static void coding__no_bytes_decode_to_an_empty_body(void **state) {
    (void)state;
    static const char *const codings[] = {"gzip", "deflate", "gzip, deflate, gzip"};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        encoded_assert_plain(codings[i], nc_slice_of(""), nc_slice_of(""));
    }
    nc_buf nothing = encoded_deflate(nc_slice_of(""), ENCODED_GZIP);
    encoded_assert_plain("gzip", nc_buf_slice(&nothing), nc_slice_of(""));
    // The outer gzip is complete, the inner one never started.
    encoded_assert_status("gzip, gzip", nc_buf_slice(&nothing), NC_ERR_CUT_SHORT);
    nc_buf_deinit(&nothing);
}

/* --- beginnings --- */

static void coding__malformed_input_is_rejected(void **state) {
    (void)state;
    encoded_assert_status("gzip", nc_slice_of("plain text"), NC_ERR_BAD_CODING);
    encoded_assert_status("deflate", nc_slice_of("\x07 no such block"), NC_ERR_BAD_CODING);
    encoded_body zlib = encoded_body_make(1);
    encoded_assert_status("gzip", nc_buf_slice(&zlib.bytes), NC_ERR_BAD_CODING);
    // FDICT requires a preset dictionary, which HTTP does not have.
    encoded_assert_status("deflate", nc_slice_make("\x78\xBB\0\0\0\1\x03\0", 8), NC_ERR_BAD_CODING);
    // A header whose check fails is decoded as raw deflate, and fails there.
    encoded_assert_status("deflate", nc_slice_make("\x78\x9D\x03\0\0\0\0\1", 8), NC_ERR_BAD_CODING);
    nc_buf_deinit(&zlib.bytes);
}

static void coding__raw_deflate_is_detected_by_two_bytes(void **state) {
    (void)state;
    // A stored block with a bit set in its padding. Only the second byte shows that this is no zlib header.
    encoded_assert_plain("deflate", nc_slice_make("\x08\1\0\xFE\xFFx\3\0", 8), nc_slice_of("x"));
}

static void coding__a_zstd_window_above_8_mib_is_rejected(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        nc_coding *coding = NULL;
        nc_slice value = nc_slice_of("zstd");
        assert_status(nc_coding_new(&coding, &value, 1, 1, NULL), NC_ERR_BAD_CODING);
        return;
    }
    // Number, descriptor 0, window, then the last block: raw, one byte.
    encoded_assert_plain("zstd", nc_slice_make("\x28\xB5\x2F\xFD\0\x68\x09\0\0x", 10), nc_slice_of("x"));
    encoded_assert_status("zstd", nc_slice_make("\x28\xB5\x2F\xFD\0\x69\x09\0\0x", 10), NC_ERR_BAD_CODING);
    encoded_assert_status("zstd", nc_slice_make("\x28\xB5\x2F\xFD\0\x70\x09\0\0x", 10), NC_ERR_BAD_CODING);
    // The magic numbers of zstd 0.7 and 0.5 (before RFC 8878), and one that nearly equals that of a skippable frame.
    encoded_assert_status("zstd", nc_slice_of("\x27\xB5\x2F\xFD"), NC_ERR_BAD_CODING);
    encoded_assert_status("zstd", nc_slice_of("\x25\xB5\x2F\xFD"), NC_ERR_BAD_CODING);
    encoded_assert_status("zstd", nc_slice_of("\x60\x2A\x4D\x18"), NC_ERR_BAD_CODING);
}

static void coding__consecutive_zstd_frames_are_decoded(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        return;
    }
#define FRAME "\x28\xB5\x2F\xFD\0\x68\x09\0\0x"
#define SKIPPED "\x5A\x2A\x4D\x18\x03\0\0\0abc"
    encoded_assert_plain("zstd", nc_slice_make(FRAME FRAME FRAME, 30), nc_slice_of("xxx"));
    encoded_assert_plain("zstd", nc_slice_make(SKIPPED FRAME SKIPPED FRAME SKIPPED, 53), nc_slice_of("xx"));
    encoded_assert_plain("zstd", nc_slice_make(SKIPPED, 11), nc_slice_of(""));
    for (size_t length = 1; length < 21; length++) {
        nc_status expected = length == 10 ? NC_OK : NC_ERR_CUT_SHORT;
        encoded_assert_status("zstd", nc_slice_make(FRAME SKIPPED, length), expected);
    }
}

static void coding__a_zstd_block_is_emitted_before_the_next_arrives(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        return;
    }
    // One block of 128 KiB with one repeated byte, with more to follow.
    nc_coding *coding = encoded_chain("zstd");
    nc_buf out = nc_buf_init(1 << 20);
    assert_status(nc_coding_feed(coding, nc_slice_make("\x28\xB5\x2F\xFD\0\x68\x02\0\x10z", 10), NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_int_equal(out.length, 128 * 1024);
    assert_status(nc_coding_finish(coding, NULL), NC_ERR_CUT_SHORT);
    assert_status(nc_coding_feed(coding, nc_slice_make("\1\0\0", 3), NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_int_equal(out.length, 128 * 1024);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    nc_buf_deinit(&out);
    nc_coding_free(coding);
}

static void coding__brotli_large_windows_are_rejected(void **state) {
    (void)state;
    if (!nc_coding_has_brotli()) {
        nc_coding *coding = NULL;
        nc_slice value = nc_slice_of("br");
        assert_status(nc_coding_new(&coding, &value, 1, 1, NULL), NC_ERR_BAD_CODING);
        return;
    }
    encoded_assert_plain("br", nc_slice_of(";"), nc_slice_of(""));
    encoded_assert_status("br", nc_slice_of("\x11\x1E\x03"), NC_ERR_BAD_CODING);
}

static void coding__accepts_the_codings_that_libcurl_was_built_with(void **state) {
    (void)state;
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    bool has_brotli = (info->features & CURL_VERSION_BROTLI) != 0;
    bool has_zstd = (info->features & CURL_VERSION_ZSTD) != 0;
    assert_int_equal(nc_coding_has_brotli(), has_brotli);
    assert_int_equal(nc_coding_has_zstd(), has_zstd);
    char expected[64] = "gzip, deflate";
    strcat(expected, has_brotli ? ", br" : "");
    strcat(expected, has_zstd ? ", zstd" : "");
    assert_string_equal(nc_coding_accepted(), expected);
}

static void decode_under_pressure(void *ctx) {
    const encoded_body *body = ctx;
    nc_coding *coding = encoded_chain(body->coding);
    if (coding == NULL) {
        return;
    }
    nc_error err;
    nc_slice piece = {NULL, 1};
    nc_status status = nc_coding_feed(coding, nc_buf_slice(&body->bytes), &err);
    status = status == NC_OK ? nc_coding_keep(coding, &err) : status;
    // Surplus bytes for each format. They are added to the kept input, so that its copy must grow.
    status = status == NC_OK ? nc_coding_feed(coding, nc_buf_slice(&body->bytes), &err) : status;
    while (status == NC_OK && piece.length != 0) {
        status = nc_coding_next(coding, &piece, &err);
    }
    assert_status(err.status, status);
    bool is_repeatable = strcmp(body->coding, "gzip") == 0 || strcmp(body->coding, "zstd") == 0;
    nc_status expected = is_repeatable ? NC_OK : NC_ERR_BAD_CODING;
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : expected);
    assert_status(nc_coding_finish(coding, NULL), status);
    nc_coding_free(coding);
}

static void coding__survives_each_allocation_failure(void **state) {
    (void)state;
    for (size_t format = 0; format < ENCODED_FORMATS; format++) {
        encoded_body body = encoded_body_make(format);
        assert_true(each_allocation_failure(decode_under_pressure, &body) >= 4);
        nc_buf_deinit(&body.bytes);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(coding__each_format_is_decoded_in_steps_of_any_size),
        harness_case(coding__each_format_is_decoded_at_any_split),
        harness_case(coding__a_body_truncated_after_any_byte_is_cut_short),
        harness_case(coding__a_flipped_bit_never_changes_the_text_silently),
        harness_case(coding__a_flipped_bit_in_a_format_without_checksum_does_no_harm),
        harness_case(coding__consecutive_gzip_members_are_decoded),
        harness_case(coding__bytes_after_the_end_are_padding_or_an_error),
        harness_case(coding__bytes_decoded_before_an_error_are_emitted),
        harness_case(coding__no_bytes_decode_to_an_empty_body),
        harness_case(coding__malformed_input_is_rejected),
        harness_case(coding__raw_deflate_is_detected_by_two_bytes),
        harness_case(coding__a_zstd_window_above_8_mib_is_rejected),
        harness_case(coding__consecutive_zstd_frames_are_decoded),
        harness_case(coding__a_zstd_block_is_emitted_before_the_next_arrives),
        harness_case(coding__brotli_large_windows_are_rejected),
        harness_case(coding__accepts_the_codings_that_libcurl_was_built_with),
        harness_case(coding__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
