/// Chains of content codings: the list, the order, decompression bombs, pauses and misuse.
#include "coded.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MEBIBYTE = 1 << 20 };

/// Wraps a body in gzip `times` times.
static nc_buf wrap(nc_slice plain, size_t times) {
    nc_buf body = encoded_copy(plain);
    for (size_t i = 0; i < times; i++) {
        nc_buf outer = encoded_deflate(nc_buf_slice(&body), ENCODED_GZIP);
        nc_buf_deinit(&body);
        body = outer;
    }
    return body;
}

/* --- the list --- */

static void coding__the_last_listed_coding_is_decoded_first(void **state) {
    (void)state;
    nc_buf inner = encoded_deflate(encoded_text(), ENCODED_GZIP);
    nc_buf body = encoded_deflate(nc_buf_slice(&inner), ENCODED_ZLIB);
    encoded_assert_plain("gzip, deflate", nc_buf_slice(&body), encoded_text());
    encoded_assert_status("deflate, gzip", nc_buf_slice(&body), NC_ERR_BAD_CODING);
    // The same codings in two fields.
    nc_slice values[] = {nc_slice_of("gzip"), nc_slice_of("deflate")};
    nc_coding *coding = NULL;
    nc_buf out = nc_buf_init(1000);
    assert_status(nc_coding_new(&coding, values, 2, 2, NULL), NC_OK);
    assert_status(nc_coding_feed(coding, nc_buf_slice(&body), NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), encoded_text()));
    nc_coding_free(coding);
    nc_buf_deinit(&out);
    nc_buf_deinit(&inner);
    nc_buf_deinit(&body);
}

static void coding__libcurls_formats_around_gzip_are_decoded(void **state) {
    (void)state;
    if (!nc_coding_has_zstd()) {
        return;
    }
    // One raw block in a zstd frame has the gzip body unchanged.
    nc_buf inner = encoded_deflate(encoded_text(), ENCODED_GZIP);
    nc_buf body = encoded_bytes("\x28\xB5\x2F\xFD\0\x68");
    uint32_t block = 1 | (uint32_t)inner.length << 3;
    nc_buf_append(&body, nc_slice_make((uint8_t[]){(uint8_t)block, (uint8_t)(block >> 8), 0}, 3));
    nc_buf_append(&body, nc_buf_slice(&inner));
    encoded_assert_plain("gzip, zstd", nc_buf_slice(&body), encoded_text());
    encoded_assert_status("zstd, gzip", nc_buf_slice(&body), NC_ERR_BAD_CODING);
    nc_buf_deinit(&inner);
    nc_buf_deinit(&body);
}

static void coding__empty_and_identity_members_are_skipped(void **state) {
    (void)state;
    static const struct {
        const char *value;
        size_t count;
    } rows[] = {
        {"", 0},
        {" ", 0},
        {",", 0},
        {" , ,\t,", 0},
        {"identity", 0},
        {"Identity, IDENTITY", 0},
        {"none", 0},
        {"gzip, None", 1},
        {"gzip", 1},
        {"GZip", 1},
        {"x-gzip", 1},
        {"X-GZIP", 1},
        {"\t gzip \t", 1},
        {",gzip,", 1},
        {"gzip,", 1},
        {",gzip", 1},
        {"deflate", 1},
        {"gzip,identity", 1},
        {"identity,gzip", 1},
        {"gzip,gzip", 2},
        {"gzip ,deflate\t,x-gzip", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        guarded value = guarded_copy(nc_slice_of(rows[i].value));
        nc_coding *coding = NULL;
        assert_status(nc_coding_new(&coding, &value.slice, 1, 3, NULL), NC_OK);
        assert_int_equal(nc_coding_count(coding), rows[i].count);
        nc_coding_free(coding);
        guarded_deinit(&value);
    }
}

static void coding__an_unknown_coding_is_named(void **state) {
    (void)state;
    static const struct {
        const char *value;
        const char *shown;
    } rows[] = {
        {"compress", "'compress'"},
        {"x-deflate", "'x-deflate'"},
        {"gzi", "'gzi'"},
        {"gzipp", "'gzipp'"},
        {"gzip;q=1", "'gzip?q?1'"},
        {"gzip deflate", "'gzip?deflate'"},
        {"\"gzip\"", "'?gzip?'"},
        {"*", "'*'"},
        {"gzip, sdch", "'sdch'"},
        {"exi, gzip", "'exi'"},
        {"a\x1B[2Jb", "'a??2Jb'"},
        {"gz\xC3\xADp", "'gz??p'"},
        {"0123456789abcdef0123456789abcdefXYZ", "'0123456789abcdef0123456789abcdef'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        guarded value = guarded_copy(nc_slice_of(rows[i].value));
        nc_coding *coding = NULL;
        nc_error err;
        assert_status(nc_coding_new(&coding, &value.slice, 1, 5, &err), NC_ERR_BAD_CODING);
        assert_status(err.status, NC_ERR_BAD_CODING);
        assert_non_null(strstr(err.message, rows[i].shown));
        assert_null(coding);
        guarded_deinit(&value);
    }
}

static void coding__a_chain_has_a_limit(void **state) {
    (void)state;
    static const char *const values[] = {
        "", "gzip", "gzip,gzip", "gzip,gzip,gzip", "gzip,gzip,gzip,gzip", "gzip,gzip,gzip,gzip,gzip"};
    for (size_t times = 0; times < 6; times++) {
        nc_buf body = wrap(encoded_text(), times);
        encoded_assert_plain(values[times], nc_buf_slice(&body), encoded_text());
        for (size_t length = 1; times > 0 && length < body.length; length++) {
            encoded_assert_status(values[times], nc_slice_make(body.data, length), NC_ERR_CUT_SHORT);
        }
        nc_buf_deinit(&body);
        for (uint32_t limit = 0; limit < 6; limit++) {
            nc_coding *coding = NULL;
            nc_slice value = nc_slice_of(values[times]);
            nc_status expected = times > limit ? NC_ERR_BAD_CODING : NC_OK;
            assert_status(nc_coding_new(&coding, &value, 1, limit, NULL), expected);
            nc_coding_free(coding);
        }
    }
}

/* --- bombs --- */

/// Two gzips around 1 GiB of zeros without an end: the deflate output of a mebibyte, repeated.
static nc_buf make_bomb(void) {
    nc_buf zeros = nc_buf_init(MEBIBYTE);
    assert_status(nc_buf_reserve(&zeros, MEBIBYTE), NC_OK);
    memset(zeros.data, 0, MEBIBYTE);
    nc_buf inner = nc_buf_init(4 * MEBIBYTE);
    assert_status(nc_buf_reserve(&inner, 4 * MEBIBYTE), NC_OK);
    z_stream stream = {.next_out = inner.data, .avail_out = 4 * MEBIBYTE};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, ENCODED_GZIP, 9, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t i = 0; i < 2; i++) {
        stream.next_in = zeros.data;
        stream.avail_in = MEBIBYTE;
        // Data after a full flush never refers to data before it.
        assert_int_equal(deflate(&stream, Z_FULL_FLUSH), Z_OK);
        inner.length = inner.length == 0 ? stream.total_out : inner.length;
    }
    size_t block = stream.total_out - inner.length;
    (void)deflateEnd(&stream);
    inner.length += block;
    for (size_t i = 2; i < 1024; i++) {
        nc_buf_append(&inner, nc_slice_make(inner.data + inner.length - block, block));
    }
    assert_status(nc_buf_status(&inner), NC_OK);
    nc_buf bomb = encoded_deflate(nc_buf_slice(&inner), ENCODED_GZIP);
    nc_buf_deinit(&zeros);
    nc_buf_deinit(&inner);
    return bomb;
}

static void coding__a_bomb_stops_early_in_constant_memory(void **state) {
    (void)state;
    nc_buf bomb = make_bomb();
    assert_true(bomb.length < 20000);
    size_t before_bytes = mallinfo2().uordblks;
    nc_coding *coding = encoded_chain("gzip, gzip");
    assert_status(nc_coding_feed(coding, nc_buf_slice(&bomb), NULL), NC_OK);
    nc_slice piece;
    uint64_t allocations = 0;
    size_t decoded = 0;
    while (decoded < 16 * MEBIBYTE) {
        assert_status(nc_coding_next(coding, &piece, NULL), NC_OK);
        assert_true(piece.length > 0 && piece.length <= NC_CODING_PIECE_BYTES);
        assert_true(piece.data[0] == 0 && piece.data[piece.length - 1] == 0);
        decoded += piece.length;
        // Windows are allocated with the first piece; later nothing grows.
        allocations = allocations == 0 ? harness_allocations() : allocations;
        assert_int_equal(harness_allocations(), allocations);
    }
    // mallinfo2() reports nothing under ASan.
    assert_true(mallinfo2().uordblks < before_bytes + MEBIBYTE);
    assert_true(nc_coding_has_input(coding));
    nc_coding_free(coding);
    nc_buf_deinit(&bomb);
}

static void coding__a_bomb_decodes_completely_without_a_limit(void **state) {
    (void)state;
    enum { TIMES = 3, PLAIN_BYTES = 32 * MEBIBYTE };
    nc_buf plain = nc_buf_init(PLAIN_BYTES);
    assert_status(nc_buf_reserve(&plain, PLAIN_BYTES), NC_OK);
    memset(plain.data, 'z', PLAIN_BYTES);
    nc_buf body = wrap(nc_slice_make(plain.data, PLAIN_BYTES), TIMES);
    nc_coding *coding = encoded_chain("gzip, gzip, gzip");
    size_t decoded = 0;
    for (size_t i = 0; i < body.length; i++) {
        assert_status(nc_coding_feed(coding, nc_slice_make(body.data + i, 1), NULL), NC_OK);
        nc_slice piece = {NULL, 1};
        while (piece.length != 0) {
            assert_status(nc_coding_next(coding, &piece, NULL), NC_OK);
            assert_true(piece.length <= NC_CODING_PIECE_BYTES);
            assert_true(piece.length == 0 || memcmp(piece.data, plain.data, piece.length) == 0);
            decoded += piece.length;
        }
    }
    assert_int_equal(decoded, PLAIN_BYTES);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    nc_coding_free(coding);
    nc_buf_deinit(&body);
    nc_buf_deinit(&plain);
}

static void coding__a_bomb_of_empty_members_is_rejected(void **state) {
    (void)state;
    // Inside the outer gzip is a complete gzip, then 1 GiB of padding NULs.
    nc_buf inner = encoded_deflate(nc_slice_of("x"), ENCODED_GZIP);
    nc_buf body = encoded_deflate(nc_buf_slice(&inner), ENCODED_GZIP);
    nc_buf padding = make_bomb();
    nc_coding *coding = encoded_chain("gzip, gzip, gzip");
    nc_buf outer = encoded_deflate(nc_buf_slice(&body), ENCODED_GZIP);
    nc_buf_append(&outer, nc_buf_slice(&padding));
    nc_buf out = nc_buf_init(10);
    nc_error err;
    assert_status(nc_coding_feed(coding, nc_buf_slice(&outer), NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, &err), NC_ERR_BAD_CODING);
    assert_slice_equals(nc_buf_slice(&out), "x");
    nc_coding_free(coding);
    nc_buf_deinit(&inner);
    nc_buf_deinit(&body);
    nc_buf_deinit(&padding);
    nc_buf_deinit(&outer);
    nc_buf_deinit(&out);
}

static void coding__padding_has_a_limit(void **state) {
    (void)state;
    uint8_t *zeros = calloc(1, NC_CODING_SILENT_MAX_BYTES + 1);
    assert_non_null(zeros);
    for (size_t more = 0; more < 2; more++) {
        nc_buf body = encoded_deflate(nc_slice_of("x"), ENCODED_GZIP);
        nc_coding *coding = encoded_chain("gzip");
        nc_buf out = nc_buf_init(10);
        nc_error err;
        assert_status(nc_coding_feed(coding, nc_buf_slice(&body), NULL), NC_OK);
        assert_status(encoded_drain(coding, &out, NULL), NC_OK);
        nc_slice padding = nc_slice_make(zeros, NC_CODING_SILENT_MAX_BYTES + more);
        assert_status(nc_coding_feed(coding, padding, NULL), NC_OK);
        assert_status(encoded_drain(coding, &out, &err), more == 0 ? NC_OK : NC_ERR_BAD_CODING);
        assert_status(nc_coding_finish(coding, NULL), more == 0 ? NC_OK : NC_ERR_BAD_CODING);
        nc_coding_free(coding);
        nc_buf_deinit(&body);
        nc_buf_deinit(&out);
    }
    free(zeros);
}

/* --- pauses --- */

/// Text with low compression, so that input remains while pieces are emitted.
static nc_buf make_long_text(void) {
    nc_buf text = nc_buf_init(MEBIBYTE);
    uint32_t random = 1;
    for (size_t i = 0; i < 200000; i++) {
        random = random * 1664525 + 1013904223;
        nc_buf_append_byte(&text, (uint8_t)(random >> 29 | 0x40));
    }
    assert_status(nc_buf_status(&text), NC_OK);
    return text;
}

/// For each `step` bytes: feeds them, takes `pieces` pieces, lets the chain copy the rest, and frees the fed memory.
static void decode_with_pauses(const char *codings, nc_slice body, size_t step, size_t pieces, nc_slice plain) {
    nc_coding *coding = encoded_chain(codings);
    nc_buf out = nc_buf_init(MEBIBYTE);
    nc_slice piece;
    for (size_t at = 0; at < body.length; at += step) {
        guarded fed = guarded_copy(nc_slice_make(body.data + at, body.length - at < step ? body.length - at : step));
        assert_status(nc_coding_feed(coding, fed.slice, NULL), NC_OK);
        for (size_t i = 0; i < pieces; i++) {
            assert_status(nc_coding_next(coding, &piece, NULL), NC_OK);
            nc_buf_append(&out, piece);
        }
        // Every third time the reader takes all output. Then the chain has no copy, and borrows the next input.
        if (at / step % 3 == 2) {
            assert_status(encoded_drain(coding, &out, NULL), NC_OK);
        }
        assert_status(nc_coding_keep(coding, NULL), NC_OK);
        assert_status(nc_coding_keep(coding, NULL), NC_OK);
        guarded_deinit(&fed);
    }
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    assert_true(nc_slice_is_equal(nc_buf_slice(&out), plain));
    nc_buf_deinit(&out);
    nc_coding_free(coding);
}

static void coding__continues_after_a_pause_at_any_piece(void **state) {
    (void)state;
    static const char *const codings[] = {"identity", "gzip", "gzip, gzip", "gzip, gzip, gzip"};
    static const size_t steps[] = {999, 5000, 16384, 70000, 1000000};
    nc_buf plain = make_long_text();
    for (size_t times = 0; times < 4; times++) {
        nc_buf body = wrap(nc_buf_slice(&plain), times);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            for (size_t pieces = 0; pieces < 14; pieces++) {
                decode_with_pauses(codings[times], nc_buf_slice(&body), steps[i], pieces, nc_buf_slice(&plain));
            }
        }
        nc_buf_deinit(&body);
    }
    nc_buf_deinit(&plain);
}

static void coding__has_input_until_a_piece_is_empty(void **state) {
    (void)state;
    nc_buf body = wrap(encoded_text(), 1);
    nc_coding *coding = encoded_chain("gzip");
    nc_slice piece;
    assert_false(nc_coding_has_input(coding));
    assert_status(nc_coding_feed(coding, nc_slice_of(""), NULL), NC_OK);
    assert_false(nc_coding_has_input(coding));
    assert_status(nc_coding_next(coding, &piece, NULL), NC_OK);
    assert_int_equal(piece.length, 0);
    assert_status(nc_coding_feed(coding, nc_buf_slice(&body), NULL), NC_OK);
    assert_true(nc_coding_has_input(coding));
    assert_status(nc_coding_finish(coding, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_next(coding, &piece, NULL), NC_OK);
    assert_true(nc_slice_is_equal(piece, encoded_text()));
    assert_true(nc_coding_has_input(coding));
    assert_status(nc_coding_next(coding, &piece, NULL), NC_OK);
    assert_false(nc_coding_has_input(coding));
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    nc_coding_free(coding);
    nc_buf_deinit(&body);
}

/* --- misuse --- */

static void coding__a_missing_argument_is_rejected(void **state) {
    (void)state;
    nc_slice missing = {NULL, 1};
    nc_slice piece;
    nc_coding *coding = NULL;
    assert_status(nc_coding_new(NULL, NULL, 0, 1, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_new(&coding, NULL, 1, 1, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_new(&coding, &missing, 1, 1, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_feed(NULL, piece = nc_slice_of(""), NULL), NC_ERR_USAGE);
    assert_status(nc_coding_next(NULL, &piece, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_keep(NULL, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_finish(NULL, NULL), NC_ERR_USAGE);
    assert_false(nc_coding_has_input(NULL));
    assert_int_equal(nc_coding_count(NULL), 0);
    nc_coding_free(NULL);
    assert_status(nc_coding_new(&coding, NULL, 0, 0, NULL), NC_OK);
    assert_int_equal(nc_coding_count(coding), 0);
    assert_status(nc_coding_feed(coding, missing, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_next(coding, NULL, NULL), NC_ERR_USAGE);
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    nc_coding_free(coding);
}

static void coding__borrowed_input_rejects_more_input(void **state) {
    (void)state;
    nc_coding *coding = encoded_chain("");
    nc_buf out = nc_buf_init(100);
    assert_status(nc_coding_feed(coding, nc_slice_of("one "), NULL), NC_OK);
    assert_status(nc_coding_feed(coding, nc_slice_of("two "), NULL), NC_ERR_USAGE);
    assert_status(nc_coding_keep(coding, NULL), NC_OK);
    assert_status(nc_coding_feed(coding, nc_slice_of("two "), NULL), NC_OK);
    assert_status(nc_coding_feed(coding, nc_slice_of("three"), NULL), NC_OK);
    assert_status(encoded_drain(coding, &out, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "one two three");
    assert_status(nc_coding_finish(coding, NULL), NC_OK);
    nc_coding_free(coding);
    nc_buf_deinit(&out);
}

static void coding__a_failure_is_sticky(void **state) {
    (void)state;
    nc_coding *coding = encoded_chain("gzip, gzip");
    nc_slice piece;
    nc_error first;
    nc_error again;
    assert_status(nc_coding_feed(coding, nc_slice_of("no gzip"), NULL), NC_OK);
    assert_status(nc_coding_next(coding, &piece, &first), NC_ERR_BAD_CODING);
    assert_false(nc_coding_has_input(coding));
    assert_status(nc_coding_next(coding, &piece, &again), NC_ERR_BAD_CODING);
    assert_memory_equal(&first, &again, sizeof first);
    assert_status(nc_coding_keep(coding, &again), NC_ERR_BAD_CODING);
    assert_status(nc_coding_feed(coding, nc_slice_of("x"), &again), NC_ERR_BAD_CODING);
    assert_status(nc_coding_finish(coding, &again), NC_ERR_BAD_CODING);
    assert_string_equal(first.message, again.message);
    nc_coding_free(coding);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(coding__the_last_listed_coding_is_decoded_first),
        harness_case(coding__libcurls_formats_around_gzip_are_decoded),
        harness_case(coding__empty_and_identity_members_are_skipped),
        harness_case(coding__an_unknown_coding_is_named),
        harness_case(coding__a_chain_has_a_limit),
        harness_case(coding__a_bomb_stops_early_in_constant_memory),
        harness_case(coding__a_bomb_decodes_completely_without_a_limit),
        harness_case(coding__a_bomb_of_empty_members_is_rejected),
        harness_case(coding__padding_has_a_limit),
        harness_case(coding__continues_after_a_pause_at_any_piece),
        harness_case(coding__has_input_until_a_piece_is_empty),
        harness_case(coding__a_missing_argument_is_rejected),
        harness_case(coding__borrowed_input_rejects_more_input),
        harness_case(coding__a_failure_is_sticky),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
