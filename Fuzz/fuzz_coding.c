/// Covers: body/coding.c body/decoder_io.c body/coding_gzip.c body/coding_brotli.c
/// Covers: body/coding_zstd.c
///
/// For all cuts and pauses, a body decodes to the same bytes or fails in the same way. A text that zlib has compressed
/// decodes to itself, and no prefix of the compressed body is accepted as complete. The number of bytes before a fault
/// may vary, because zstd drops the bytes that it decoded in the same call.
/// Input: the codings' number (255: the list follows), a mode, a number (two bytes), the body, or the text to code.
#include "input.h"

#include "body/coding.h"

#include <string.h>
#include <zlib.h>

static const char *const lists[] = {"gzip",       "deflate",        "br",       "zstd",
                                    "gzip, gzip", "gzip, deflate",  "gzip, br", "br, gzip",
                                    "zstd, gzip", "gzip, zstd, br", "identity", "deflate, x-gzip, deflate",
                                    "zstd, zstd", "deflate, br"};

enum {
    LIST_COUNT = sizeof lists / sizeof *lists,
    OWN_LIST = 255,
    MAX_CODINGS = 3,
    MAX_PLAIN_BYTES = 256 * 1024,
    MAX_CODED_BYTES = 1 << 20
};

/// Bits of the mode.
enum { MODE_CODE = 1, MODE_RAW = 2, MODE_FLIP = 4 };

/// The sizes in which a body is fed and taken. A step of 0 is the whole body; 0 pieces means all pieces.
typedef struct split_sizes {
    size_t step;
    size_t pieces;
} split_sizes;

/// The result.
typedef struct outcome {
    nc_status status;
    /// Decoding was stopped, because the text exceeded the limit of this test.
    bool is_stopped;
    nc_buf plain;
} outcome;

/// Takes pieces. Returns false after a failure or enough bytes.
static bool take_pieces(nc_coding *coding, outcome *out, size_t pieces) {
    for (size_t i = 0; pieces == 0 || i < pieces; i++) {
        nc_slice piece = {NULL, 1};
        nc_error err;
        out->status = nc_coding_next(coding, &piece, &err);
        check_error(&err, out->status, 0);
        if (out->status != NC_OK) {
            return false;
        }
        CHECK(piece.length <= NC_CODING_PIECE_BYTES);
        CHECK(nc_coding_has_input(coding) == (piece.length != 0));
        if (piece.length == 0) {
            return true;
        }
        size_t room = MAX_PLAIN_BYTES - out->plain.length;
        nc_buf_append(&out->plain, nc_slice_make(piece.data, piece.length < room ? piece.length : room));
        out->is_stopped = out->plain.length == MAX_PLAIN_BYTES;
        if (out->is_stopped) {
            return false;
        }
    }
    return true;
}

/// Feeds one piece in its own block, which is freed after the call.
static bool feed_and_take(nc_coding *coding, outcome *out, nc_slice bytes, size_t pieces) {
    nc_buf fed = nc_buf_init(bytes.length);
    nc_buf_append(&fed, bytes);
    CHECK(nc_coding_feed(coding, nc_buf_slice(&fed), NULL) == NC_OK);
    bool has_succeeded = take_pieces(coding, out, pieces);
    CHECK(!has_succeeded || nc_coding_keep(coding, NULL) == NC_OK);
    nc_buf_deinit(&fed);
    return has_succeeded;
}

static outcome decode(nc_slice list, nc_slice body, split_sizes how) {
    outcome out = {.plain = nc_buf_init(MAX_PLAIN_BYTES)};
    nc_coding *coding = NULL;
    CHECK(nc_coding_new(&coding, &list, 1, MAX_CODINGS, NULL) == NC_OK);
    bool has_succeeded = true;
    size_t step = how.step == 0 ? body.length : how.step;
    for (size_t at = 0; has_succeeded && at < body.length; at += step) {
        size_t length = body.length - at < step ? body.length - at : step;
        has_succeeded = feed_and_take(coding, &out, nc_slice_make(body.data + at, length), how.pieces);
    }
    if (has_succeeded && take_pieces(coding, &out, 0)) {
        nc_error err;
        out.status = nc_coding_finish(coding, &err);
        check_error(&err, out.status, 0);
    }
    CHECK(out.status == NC_OK || out.status == NC_ERR_BAD_CODING || out.status == NC_ERR_CUT_SHORT);
    CHECK(nc_buf_status(&out.plain) == NC_OK);
    nc_coding_free(coding);
    return out;
}

static void check_same(const outcome *a, const outcome *b) {
    size_t shared = a->plain.length < b->plain.length ? a->plain.length : b->plain.length;
    CHECK(shared == 0 || memcmp(a->plain.data, b->plain.data, shared) == 0);
    if (!a->is_stopped && !b->is_stopped) {
        CHECK(a->status == b->status);
        CHECK(a->status == NC_ERR_BAD_CODING || a->plain.length == b->plain.length);
    }
}

/// Decodes a body in several ways. Returns the status and the text of the whole body.
static outcome decode_all_ways(nc_slice list, nc_slice body, uint32_t number) {
    const split_sizes all_splits[] = {{1, 0}, {1 + number % 97, 0}, {1 + number % 97, 1 + number % 3}, {0, 1}};
    outcome whole = decode(list, body, (split_sizes){0, 0});
    for (size_t i = 0; i < sizeof all_splits / sizeof *all_splits; i++) {
        outcome other = decode(list, body, all_splits[i]);
        check_same(&whole, &other);
        nc_buf_deinit(&other.plain);
    }
    return whole;
}

/// Checks that a prefix of a valid body is reported as truncated, or is complete by chance, but never malformed.
static void check_prefix(nc_slice list, nc_slice body, const outcome *whole, uint32_t number) {
    if (whole->status != NC_OK || whole->is_stopped || body.length == 0) {
        return;
    }
    outcome prefix = decode(list, nc_slice_make(body.data, number % body.length), (split_sizes){0, 0});
    CHECK(prefix.status != NC_ERR_BAD_CODING);
    CHECK(prefix.plain.length <= whole->plain.length);
    CHECK(prefix.plain.length == 0 || memcmp(prefix.plain.data, whole->plain.data, prefix.plain.length) == 0);
    nc_buf_deinit(&prefix.plain);
}

static nc_buf code(nc_slice plain, int window_bits, int level) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)plain.data, .avail_in = (uInt)plain.length};
    CHECK(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 1 + level % 9, level % 5) == Z_OK);
    nc_buf out = nc_buf_init(MAX_CODED_BYTES);
    CHECK(nc_buf_reserve(&out, deflateBound(&stream, plain.length)) == NC_OK);
    stream.next_out = out.data;
    stream.avail_out = (uInt)out.capacity;
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.length = stream.total_out;
    (void)deflateEnd(&stream);
    return out;
}

/// Codes a text, then decodes the body, its prefixes, and the body with one bit flipped.
static void check_coded(nc_slice plain, uint8_t mode, uint32_t number) {
    bool is_raw = (mode & MODE_RAW) != 0;
    nc_slice list = nc_slice_of(is_raw ? "gzip, deflate" : "deflate, gzip");
    nc_buf inner = code(plain, is_raw ? 15 + 16 : 15, (int)(number % 10));
    nc_buf body = code(nc_buf_slice(&inner), is_raw ? -15 : 15 + 16, (int)(number / 10 % 10));
    outcome whole = decode_all_ways(list, nc_buf_slice(&body), number);
    CHECK(whole.status == NC_OK && nc_slice_is_equal(nc_buf_slice(&whole.plain), plain));
    for (size_t length = 1 + number % 7; length < body.length; length += 1 + body.length / 16) {
        outcome cut = decode(list, nc_slice_make(body.data, length), (split_sizes){0, 0});
        CHECK(cut.status == NC_ERR_CUT_SHORT);
        nc_buf_deinit(&cut.plain);
    }
    if ((mode & MODE_FLIP) != 0) {
        body.data[number % body.length] ^= (uint8_t)(1u << (mode >> 5));
        outcome flipped = decode_all_ways(list, nc_buf_slice(&body), number);
        CHECK(flipped.status != NC_OK || nc_slice_is_equal(nc_buf_slice(&flipped.plain), plain));
        nc_buf_deinit(&flipped.plain);
    }
    nc_buf_deinit(&whole.plain);
    nc_buf_deinit(&inner);
    nc_buf_deinit(&body);
}

static bool is_known(nc_slice list) {
    nc_coding *coding = NULL;
    nc_error err;
    nc_status status = nc_coding_new(&coding, &list, 1, MAX_CODINGS, &err);
    check_error(&err, status, 0);
    CHECK(status == NC_OK ? nc_coding_count(coding) <= MAX_CODINGS : status == NC_ERR_BAD_CODING && coding == NULL);
    nc_coding_free(coding);
    return status == NC_OK;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    // The decoders are libcurl's. Without them half of this file would test nothing.
    CHECK(nc_coding_has_brotli() == nc_capabilities_query().has_brotli);
    CHECK(nc_coding_has_zstd() == nc_capabilities_query().has_zstd);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t index = input_byte(&in);
    uint8_t mode = input_byte(&in);
    uint32_t number = input_number(&in);
    nc_slice list = index == OWN_LIST ? input_piece(&in) : nc_slice_of(lists[index % LIST_COUNT]);
    nc_slice body = input_rest(&in);
    if ((mode & MODE_CODE) != 0) {
        check_coded(body, mode, number);
    } else if (is_known(list)) {
        outcome whole = decode_all_ways(list, body, number);
        check_prefix(list, body, &whole, number);
        nc_buf_deinit(&whole.plain);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
