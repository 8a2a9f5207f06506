#include "coded.h"

#include <string.h>
#include <zlib.h>

enum { MAX_PLAIN_BYTES = 1 << 26 };

/// Made by brotli 1.2 and zstd 1.5 (level 19, with a checksum) from coded_text().
static const uint8_t br_bytes[] = {0x1B, 0xED, 0x00, 0x00, 0x8D, 0xD4, 0x59, 0xCD, 0x8C, 0x9B, 0x2D, 0x6E, 0x4B, 0x75,
                                   0x17, 0x71, 0xA4, 0x15, 0x32, 0x15, 0x46, 0x07, 0x0E, 0x39, 0x70, 0x68, 0x7B, 0x10,
                                   0x80, 0xC5, 0x18, 0xA8, 0x05, 0x1E, 0xB2, 0xA0, 0x44, 0xC1, 0xB4, 0x4F, 0xE0, 0x13,
                                   0x9A, 0x02, 0xCD, 0x42, 0x35, 0xFF, 0xE7, 0x03, 0x35, 0x77, 0x1B, 0x52, 0x80, 0x09,
                                   0x44, 0x01, 0x2B, 0x66, 0xCB, 0x8A, 0x30, 0xA1, 0x8C, 0x0B, 0xA9, 0xB4, 0xB1, 0xCE,
                                   0x87, 0x98, 0x72, 0xA9, 0xAD, 0x8F, 0xB9, 0xF6, 0xB9, 0xEE, 0xE7, 0x05};
static const uint8_t zstd_bytes[] = {
    0x28, 0xB5, 0x2F, 0xFD, 0x24, 0xEE, 0x4D, 0x03, 0x00, 0xC4, 0x05, 0x54, 0x68, 0x65, 0x20, 0x73, 0x61,
    0x6D, 0x65, 0x20, 0x77, 0x6F, 0x72, 0x64, 0x73, 0x2C, 0x20, 0x74, 0x61, 0x6E, 0x64, 0x20, 0x61, 0x67,
    0x61, 0x69, 0x6E, 0x3A, 0x20, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B,
    0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C,
    0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x2B, 0x2C, 0x2D,
    0x2E, 0x2F, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x3B, 0x3C, 0x3D, 0x3E,
    0x3F, 0x03, 0x00, 0xB1, 0xAB, 0x94, 0xDF, 0xEC, 0xC6, 0xE9, 0xE6, 0x12, 0xD9, 0xF3, 0xCC, 0x98};

nc_slice coded_text(void) {
    static char text[3 * 58 + 64];
    const char *words = "The same words, the same words, and the same words again: ";
    for (size_t i = 0; i < 3; i++) {
        memcpy(text + i * 58, words, 58);
    }
    for (size_t i = 0; i < 64; i++) {
        text[3 * 58 + i] = (char)i;
    }
    return nc_slice_make(text, sizeof text);
}

nc_buf coded_copy(nc_slice bytes) {
    nc_buf copy = nc_buf_init(MAX_PLAIN_BYTES);
    nc_buf_append(&copy, bytes);
    assert_status(nc_buf_status(&copy), NC_OK);
    return copy;
}

nc_buf coded_deflate(nc_slice plain, int window_bits) {
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)plain.data, .avail_in = (uInt)plain.length};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY), Z_OK);
    nc_buf out = nc_buf_init(MAX_PLAIN_BYTES);
    assert_status(nc_buf_reserve(&out, deflateBound(&stream, plain.length)), NC_OK);
    stream.next_out = out.data;
    stream.avail_out = (uInt)out.capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.length = stream.total_out;
    (void)deflateEnd(&stream);
    return out;
}

coded_body coded_body_make(size_t format) {
    static const int window_bits[] = {CODED_GZIP, CODED_ZLIB, CODED_RAW};
    if (format == 3 && nc_coding_has_brotli()) {
        return (coded_body){"br", coded_copy(nc_slice_make(br_bytes, sizeof br_bytes))};
    }
    if (format == 4 && nc_coding_has_zstd()) {
        return (coded_body){"zstd", coded_copy(nc_slice_make(zstd_bytes, sizeof zstd_bytes))};
    }
    size_t kind = format < 3 ? format : 0;
    return (coded_body){kind == 0 ? "gzip" : "deflate", coded_deflate(coded_text(), window_bits[kind])};
}

nc_coding *coded_chain(const char *codings) {
    nc_slice value = nc_slice_of(codings);
    nc_coding *coding = NULL;
    nc_error err;
    nc_status status = nc_coding_new(&coding, &value, 1, 16, &err);
    assert_status(err.status, status);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    return coding;
}

nc_status coded_drain(nc_coding *coding, nc_buf *out, nc_error *err) {
    for (;;) {
        nc_slice piece = {NULL, 0};
        nc_status status = nc_coding_next(coding, &piece, err);
        if (status != NC_OK || piece.length == 0) {
            assert_true(!nc_coding_has_input(coding));
            return status;
        }
        assert_true(piece.length <= NC_CODING_PIECE_BYTES && nc_coding_has_input(coding));
        nc_buf_append(out, piece);
    }
}

nc_status coded_decode(nc_buf *out, const char *codings, nc_slice body, size_t step, nc_error *err) {
    nc_coding *coding = coded_chain(codings);
    nc_status status = NC_OK;
    for (size_t at = 0; at < body.length && status == NC_OK; at += step) {
        guarded fed = guarded_copy(nc_slice_make(body.data + at, body.length - at < step ? body.length - at : step));
        status = nc_coding_feed(coding, fed.slice, err);
        if (status == NC_OK) {
            status = coded_drain(coding, out, err);
        }
        guarded_deinit(&fed);
    }
    if (status == NC_OK) {
        status = nc_coding_finish(coding, err);
    } else {
        // A failure is for good.
        assert_status(nc_coding_finish(coding, NULL), status);
    }
    assert_status(err->status, status);
    nc_coding_free(coding);
    return status;
}

static nc_status decode_in_steps(const char *codings, nc_slice body, const nc_slice *plain, size_t step) {
    nc_buf out = nc_buf_init(MAX_PLAIN_BYTES);
    nc_error err;
    nc_status status = coded_decode(&out, codings, body, step, &err);
    if (plain != NULL && status != NC_OK) {
        print_error("%s, %zu bytes in steps of %zu: %s\n", codings, body.length, step, err.message);
    }
    if (plain != NULL) {
        assert_status(status, NC_OK);
        assert_true(nc_slice_is_equal(nc_buf_slice(&out), *plain));
    }
    nc_buf_deinit(&out);
    return status;
}

void coded_assert_plain(const char *codings, nc_slice body, nc_slice plain) {
    (void)decode_in_steps(codings, body, &plain, 1);
    (void)decode_in_steps(codings, body, &plain, SIZE_MAX / 2);
}

void coded_assert_status(const char *codings, nc_slice body, nc_status status) {
    assert_status(decode_in_steps(codings, body, NULL, 1), status);
    assert_status(decode_in_steps(codings, body, NULL, SIZE_MAX / 2), status);
}
