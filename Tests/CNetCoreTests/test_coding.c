/// Single content codings: each format's start, end and errors.
#include "coded.h"

#include <curl/curl.h>
#include <string.h>
#include <zlib.h>

static void coding__undoes_each_format_in_any_step(void **state) {
    (void)state;
    for (size_t format = 0; format < CODED_FORMATS; format++) {
        coded_body body = coded_body_make(format);
        coded_assert_plain(body.coding, nc_buf_slice(&body.bytes), coded_text());
        for (size_t step = 2; step < 20; step++) {
            nc_buf out = nc_buf_init(1000);
            nc_error err;
            assert_status(coded_decode(&out, body.coding, nc_buf_slice(&body.bytes), step, &err), NC_OK);
            assert_true(nc_slice_is_equal(nc_buf_slice(&out), coded_text()));
            nc_buf_deinit(&out);
        }
        nc_buf_deinit(&body.bytes);
    }
}

static void decode_split(void *ctx, nc_slice head, nc_slice tail) {
    nc_coding *coding = coded_chain(ctx);
    nc_buf out = nc_buf_init(1000);
    assert_status(nc_coding_feed(coding, head, NULL), NC_OK);
    assert_status(coded_drain(coding, &out, NULL), NC_OK);
    assert_status(nc_coding_finish(coding, NULL), head.length == 0 || tail.length == 0 ? NC_OK : NC_ERR_CUT_SHORT);
    assert_status(nc_coding_feed(coding, tail, NULL), NC_OK);
    assert_status(coded_drain(coding, &out, NULL), NC_OK);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), coded_text()));
    nc_buf_deinit(&out);
    nc_coding_free(coding);
}

static void coding__undoes_each_format_split_anywhere(void **state) {
    (void)state;
    for (size_t format = 0; format < CODED_FORMATS; format++) {
        coded_body body = coded_body_make(format);
        each_split(nc_buf_slice(&body.bytes), decode_split, (void *)(uintptr_t)body.coding);
        nc_buf_deinit(&body.bytes);
    }
}

static void coding__body_that_ends_after_any_byte_is_cut_short(void **state) {
    (void)state;
    for (size_t format = 0; format < CODED_FORMATS; format++) {
        coded_body body = coded_body_make(format);
        for (size_t length = 1; length < body.bytes.length; length++) {
            coded_assert_status(body.coding, nc_slice_make(body.bytes.data, length), NC_ERR_CUT_SHORT);
        }
        nc_buf_deinit(&body.bytes);
    }
    nc_buf out = nc_buf_init(1000);
    nc_error err;
    assert_status(coded_decode(&out, "gzip", nc_slice_of("\x1f"), 1, &err), NC_ERR_CUT_SHORT);
    assert_string_equal(err.message, "the gzip body ends within its stream");
    nc_buf_deinit(&out);
}

static void coding__flipped_bit_never_changes_the_text_unseen(void **state) {
    (void)state;
    // gzip, zlib and zstd have a checksum; raw deflate and br have none.
    static const size_t checked[] = {0, 1, 4};
    size_t refused = 0;
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
        coded_body body = coded_body_make(checked[i]);
        for (size_t bit = 0; bit < 8 * body.bytes.length; bit++) {
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            nc_buf out = nc_buf_init(1 << 20);
            nc_error err;
            nc_status status = coded_decode(&out, body.coding, nc_buf_slice(&body.bytes), 1 << 20, &err);
            assert_true(status == NC_OK || status == NC_ERR_BAD_CODING || status == NC_ERR_CUT_SHORT);
            assert_true(status != NC_OK || nc_slice_is_equal(nc_buf_slice(&out), coded_text()));
            refused += status != NC_OK;
            nc_buf_deinit(&out);
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        nc_buf_deinit(&body.bytes);
    }
    assert_true(refused > 1000);
}

static void coding__flipped_bit_of_an_unchecked_format_is_survived(void **state) {
    (void)state;
    for (size_t format = 2; format <= 3; format++) {
        coded_body body = coded_body_make(format);
        for (size_t bit = 0; bit < 8 * body.bytes.length; bit++) {
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            nc_buf whole = nc_buf_init(1 << 20);
            nc_buf parts = nc_buf_init(1 << 20);
            nc_error err;
            nc_status status = coded_decode(&whole, body.coding, nc_buf_slice(&body.bytes), 1 << 20, &err);
            assert_status(coded_decode(&parts, body.coding, nc_buf_slice(&body.bytes), 1, &err), status);
            assert_true(status != NC_OK || nc_slice_is_equal(nc_buf_slice(&whole), nc_buf_slice(&parts)));
            nc_buf_deinit(&whole);
            nc_buf_deinit(&parts);
            body.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        nc_buf_deinit(&body.bytes);
    }
}

/* --- ends --- */

static void coding__gzip_members_follow_each_other(void **state) {
    (void)state;
    nc_buf body = coded_deflate(nc_slice_of("one "), CODED_GZIP);
    size_t first = body.length;
    nc_buf second = coded_deflate(nc_slice_of("two"), CODED_GZIP);
    nc_buf empty = coded_deflate(nc_slice_of(""), CODED_GZIP);
    nc_buf_append(&body, nc_buf_slice(&empty));
    size_t middle = body.length;
    nc_buf_append(&body, nc_buf_slice(&second));
    coded_assert_plain("gzip", nc_buf_slice(&body), nc_slice_of("one two"));
    for (size_t length = 1; length < body.length; length++) {
        nc_status expected = length == first || length == middle ? NC_OK : NC_ERR_CUT_SHORT;
        coded_assert_status("gzip", nc_slice_make(body.data, length), expected);
    }
    body.data[body.length - 1] ^= 1;
    coded_assert_status("gzip", nc_buf_slice(&body), NC_ERR_BAD_CODING);
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

static void coding__judges_what_follows_the_end(void **state) {
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
        coded_body body = coded_body_make(rows[i].format);
        nc_buf_append(&body.bytes, nc_slice_make(rows[i].tail, rows[i].length));
        coded_assert_status(body.coding, nc_buf_slice(&body.bytes), rows[i].status);
        nc_buf_deinit(&body.bytes);
    }
}

static void coding__gives_out_what_was_decoded_before_a_fault(void **state) {
    (void)state;
    for (size_t format = 0; format < CODED_FORMATS; format++) {
        coded_body body = coded_body_make(format);
        nc_buf_append(&body.bytes, nc_slice_of("surplus"));
        for (size_t step = 1; step <= 1001; step += 1000) {
            nc_buf out = nc_buf_init(1000);
            nc_error err;
            nc_slice bytes = nc_buf_slice(&body.bytes);
            assert_status(coded_decode(&out, body.coding, bytes, step, &err), NC_ERR_BAD_CODING);
            assert_true(nc_slice_is_equal(nc_buf_slice(&out), coded_text()));
            nc_buf_deinit(&out);
        }
        nc_buf_deinit(&body.bytes);
    }
}

static void coding__nothing_at_all_is_an_empty_body(void **state) {
    (void)state;
    static const char *const codings[] = {"gzip", "deflate", "gzip, deflate, gzip"};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        coded_assert_plain(codings[i], nc_slice_of(""), nc_slice_of(""));
    }
    nc_buf nothing = coded_deflate(nc_slice_of(""), CODED_GZIP);
    coded_assert_plain("gzip", nc_buf_slice(&nothing), nc_slice_of(""));
    // The outer gzip is complete, the inner one never started.
    coded_assert_status("gzip, gzip", nc_buf_slice(&nothing), NC_ERR_CUT_SHORT);
    nc_buf_deinit(&nothing);
}

/* --- beginnings --- */

static void coding__refuses_what_is_not_the_format(void **state) {
    (void)state;
    coded_assert_status("gzip", nc_slice_of("plain text"), NC_ERR_BAD_CODING);
    coded_assert_status("deflate", nc_slice_of("\x07 no such block"), NC_ERR_BAD_CODING);
    coded_body zlib = coded_body_make(1);
    coded_assert_status("gzip", nc_buf_slice(&zlib.bytes), NC_ERR_BAD_CODING);
    // FDICT requires a preset dictionary, which HTTP does not have.
    coded_assert_status("deflate", nc_slice_make("\x78\xBB\0\0\0\1\x03\0", 8), NC_ERR_BAD_CODING);
    // A header whose check fails is decoded as raw deflate, and fails there.
    coded_assert_status("deflate", nc_slice_make("\x78\x9D\x03\0\0\0\0\1", 8), NC_ERR_BAD_CODING);
    nc_buf_deinit(&zlib.bytes);
}

static void coding__raw_deflate_is_told_by_two_bytes(void **state) {
    (void)state;
    // A stored block with a bit set in its padding. The first byte could be zlib's, but the second cannot.
    coded_assert_plain("deflate", nc_slice_make("\x08\1\0\xFE\xFFx\3\0", 8), nc_slice_of("x"));
}

static void coding__zstd_takes_frames_of_8_mib_windows_at_most(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        nc_coding *coding = NULL;
        nc_slice value = nc_slice_of("zstd");
        assert_status(nc_coding_new(&coding, &value, 1, 1, NULL), NC_ERR_BAD_CODING);
        return;
    }
    // Number, descriptor 0, window, then the last block: raw, one byte.
    coded_assert_plain("zstd", nc_slice_make("\x28\xB5\x2F\xFD\0\x68\x09\0\0x", 10), nc_slice_of("x"));
    coded_assert_status("zstd", nc_slice_make("\x28\xB5\x2F\xFD\0\x69\x09\0\0x", 10), NC_ERR_BAD_CODING);
    coded_assert_status("zstd", nc_slice_make("\x28\xB5\x2F\xFD\0\x70\x09\0\0x", 10), NC_ERR_BAD_CODING);
    // The magic numbers of formats before RFC 8878 (0.7 and 0.5), and almost a skippable frame's.
    coded_assert_status("zstd", nc_slice_of("\x27\xB5\x2F\xFD"), NC_ERR_BAD_CODING);
    coded_assert_status("zstd", nc_slice_of("\x25\xB5\x2F\xFD"), NC_ERR_BAD_CODING);
    coded_assert_status("zstd", nc_slice_of("\x60\x2A\x4D\x18"), NC_ERR_BAD_CODING);
}

static void coding__zstd_frames_follow_each_other(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        return;
    }
#define FRAME "\x28\xB5\x2F\xFD\0\x68\x09\0\0x"
#define SKIPPED "\x5A\x2A\x4D\x18\x03\0\0\0abc"
    coded_assert_plain("zstd", nc_slice_make(FRAME FRAME FRAME, 30), nc_slice_of("xxx"));
    coded_assert_plain("zstd", nc_slice_make(SKIPPED FRAME SKIPPED FRAME SKIPPED, 53), nc_slice_of("xx"));
    coded_assert_plain("zstd", nc_slice_make(SKIPPED, 11), nc_slice_of(""));
    for (size_t length = 1; length < 21; length++) {
        nc_status expected = length == 10 ? NC_OK : NC_ERR_CUT_SHORT;
        coded_assert_status("zstd", nc_slice_make(FRAME SKIPPED, length), expected);
    }
}

static void coding__zstd_block_comes_out_before_the_next_arrives(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        return;
    }
    // One block of 128 KiB with one repeated byte, with more to follow.
    nc_coding *coding = coded_chain("zstd");
    nc_buf out = nc_buf_init(1 << 20);
    assert_status(nc_coding_feed(coding, nc_slice_make("\x28\xB5\x2F\xFD\0\x68\x02\0\x10z", 10), NULL), NC_OK);
    assert_status(coded_drain(coding, &out, NULL), NC_OK);
    assert_int_equal(out.length, 128 * 1024);
    assert_status(nc_coding_finish(coding, NULL), NC_ERR_CUT_SHORT);
    assert_status(nc_coding_feed(coding, nc_slice_make("\1\0\0", 3), NULL), NC_OK);
    assert_status(coded_drain(coding, &out, NULL), NC_OK);
    assert_int_equal(out.length, 128 * 1024);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    nc_buf_deinit(&out);
    nc_coding_free(coding);
}

static void coding__br_has_no_large_windows(void **state) {
    (void)state;
    if (!nc_coding_has_brotli()) {
        nc_coding *coding = NULL;
        nc_slice value = nc_slice_of("br");
        assert_status(nc_coding_new(&coding, &value, 1, 1, NULL), NC_ERR_BAD_CODING);
        return;
    }
    coded_assert_plain("br", nc_slice_of(";"), nc_slice_of(""));
    coded_assert_status("br", nc_slice_of("\x11\x1E\x03"), NC_ERR_BAD_CODING);
}

static void coding__accepts_what_libcurl_brought(void **state) {
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
    const coded_body *body = ctx;
    nc_coding *coding = coded_chain(body->coding);
    if (coding == NULL) {
        return;
    }
    nc_error err;
    nc_slice piece = {NULL, 1};
    nc_status status = nc_coding_feed(coding, nc_buf_slice(&body->bytes), &err);
    status = status == NC_OK ? nc_coding_keep(coding, &err) : status;
    // Added to what is kept, so that the copy must grow; for each format it is surplus.
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
    for (size_t format = 0; format < CODED_FORMATS; format++) {
        coded_body body = coded_body_make(format);
        assert_true(each_allocation_failure(decode_under_pressure, &body) >= 4);
        nc_buf_deinit(&body.bytes);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(coding__undoes_each_format_in_any_step),
        harness_case(coding__undoes_each_format_split_anywhere),
        harness_case(coding__body_that_ends_after_any_byte_is_cut_short),
        harness_case(coding__flipped_bit_never_changes_the_text_unseen),
        harness_case(coding__flipped_bit_of_an_unchecked_format_is_survived),
        harness_case(coding__gzip_members_follow_each_other),
        harness_case(coding__judges_what_follows_the_end),
        harness_case(coding__gives_out_what_was_decoded_before_a_fault),
        harness_case(coding__nothing_at_all_is_an_empty_body),
        harness_case(coding__refuses_what_is_not_the_format),
        harness_case(coding__raw_deflate_is_told_by_two_bytes),
        harness_case(coding__zstd_takes_frames_of_8_mib_windows_at_most),
        harness_case(coding__zstd_frames_follow_each_other),
        harness_case(coding__zstd_block_comes_out_before_the_next_arrives),
        harness_case(coding__br_has_no_large_windows),
        harness_case(coding__accepts_what_libcurl_brought),
        harness_case(coding__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
