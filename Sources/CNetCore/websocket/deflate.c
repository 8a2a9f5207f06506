#define ZLIB_CONST

#include "websocket/deflate.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "body/decoder_io.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

/// The end of a flushed block, which the sender removes from each message and the receiver adds (RFC 7692, 7.2).
static const uint8_t tail[] = {0x00, 0x00, 0xff, 0xff};

/* --- negotiation --- */

/// Removes and returns the text before the first `separator`. At the end of the text, `*has_more` becomes false.
static nc_slice take_part(nc_slice *text, uint8_t separator, bool *has_more) {
    const uint8_t *at = text->length > 0 ? memchr(text->data, separator, text->length) : NULL;
    size_t length = at != NULL ? (size_t)(at - text->data) : text->length;
    nc_slice part = nc_slice_make(text->data, length);
    *has_more = at != NULL;
    *text = at != NULL ? nc_slice_make(at + 1, text->length - length - 1) : nc_slice_of("");
    return nc_ascii_trim(part);
}

static bool is_named(nc_slice text, const char *name) {
    return nc_slice_is_equal_ignoring_case(text, nc_slice_of(name));
}

/// Parses 8 to 15 without a leading zero, which may be quoted. Returns 0 for everything else.
static uint8_t parse_bits(nc_slice value) {
    if (value.length >= 2 && value.data[0] == '"' && value.data[value.length - 1] == '"') {
        value = nc_slice_make(value.data + 1, value.length - 2);
    }
    if (value.length == 1 && (value.data[0] == '8' || value.data[0] == '9')) {
        return (uint8_t)(value.data[0] - '0');
    }
    bool is_two = value.length == 2 && value.data[0] == '1' && value.data[1] >= '0' && value.data[1] <= '5';
    return is_two ? (uint8_t)(10 + value.data[1] - '0') : 0;
}

enum { HAS_SERVER_RESETS = 1, HAS_CLIENT_RESETS = 2, HAS_SERVER_BITS = 4, HAS_CLIENT_BITS = 8 };

/// Parses one parameter. Returns its HAS_ bit; 0 if it is unknown or its value is invalid.
static unsigned parse_parameter(nc_ws_deflate_terms *out, nc_slice parameter) {
    bool has_value = false;
    nc_slice value = parameter;
    nc_slice name = take_part(&value, '=', &has_value);
    value = nc_ascii_trim(value);
    uint8_t bits = has_value ? parse_bits(value) : 0;
    if (!has_value && is_named(name, "server_no_context_takeover")) {
        out->server_resets = true;
        return HAS_SERVER_RESETS;
    }
    if (!has_value && is_named(name, "client_no_context_takeover")) {
        out->client_resets = true;
        return HAS_CLIENT_RESETS;
    }
    if (bits != 0 && is_named(name, "server_max_window_bits")) {
        out->server_bits = bits;
        return HAS_SERVER_BITS;
    }
    if (bits != 0 && is_named(name, "client_max_window_bits")) {
        out->client_bits = bits;
        return HAS_CLIENT_BITS;
    }
    return 0;
}

nc_status nc_ws_deflate_parse(nc_ws_deflate_terms *out, nc_slice value, bool is_offered, nc_error *err) {
    unsigned seen = 0;
    bool has_more = false;
    *out = (nc_ws_deflate_terms){0};
    value = nc_ascii_trim(value);
    if (value.length == 0) {
        return nc_error_clear(err);
    }
    nc_slice name = take_part(&value, ';', &has_more);
    if (!is_offered || !is_named(name, "permessage-deflate")) {
        return nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1,
                            "the server accepted an extension that was not offered, or more than one: %.*s",
                            (int)(name.length < 64 ? name.length : 64), (const char *)name.data);
    }
    nc_ws_deflate_terms terms = {.is_agreed = true, .server_bits = 15, .client_bits = 15};
    while (has_more) {
        nc_slice parameter = take_part(&value, ';', &has_more);
        unsigned bit = parse_parameter(&terms, parameter);
        if (bit == 0 || (seen & bit) != 0) {
            return nc_error_set(err, NC_ERR_BAD_UPGRADE, 0, -1,
                                "the server sent an unknown, repeated or invalid parameter of permessage-deflate: %.*s",
                                (int)(parameter.length < 64 ? parameter.length : 64), (const char *)parameter.data);
        }
        seen |= bit;
    }
    *out = terms;
    return nc_error_clear(err);
}

/* --- compression --- */

struct nc_ws_deflater {
    z_stream stream;
    bool resets;
};

nc_ws_deflater *nc_ws_deflater_new(const nc_ws_deflate_terms *terms) {
    nc_ws_deflater *deflater = nc_alloc_zeroed(1, sizeof *deflater);
    if (deflater == NULL) {
        return NULL;
    }
    deflater->resets = terms->client_resets;
    deflater->stream.zalloc = nc_zlib_allocate;
    deflater->stream.zfree = nc_zlib_release;
    if (deflateInit2(&deflater->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -terms->client_bits, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        nc_free(deflater);
        return NULL;
    }
    return deflater;
}

void nc_ws_deflater_free(nc_ws_deflater *deflater) {
    if (deflater != NULL) {
        (void)deflateEnd(&deflater->stream);
        nc_free(deflater);
    }
}

enum { CHUNK_BYTES = 4096 };

void nc_ws_deflater_add(nc_ws_deflater *deflater, nc_slice piece, bool is_last, nc_buf *out) {
    z_stream *stream = &deflater->stream;
    uint8_t chunk[CHUNK_BYTES];
    size_t before = out->length;
    stream->next_in = piece.data;
    do {
        uInt offered = piece.length < UINT_MAX ? (uInt)piece.length : UINT_MAX;
        stream->avail_in = offered;
        piece.length -= offered;
        do {
            stream->next_out = chunk;
            stream->avail_out = sizeof chunk;
            (void)deflate(stream, is_last && piece.length == 0 ? Z_SYNC_FLUSH : Z_NO_FLUSH);
            nc_buf_append(out, nc_slice_make(chunk, sizeof chunk - stream->avail_out));
        } while (stream->avail_out == 0 && nc_buf_status(out) == NC_OK);
    } while (piece.length > 0 && nc_buf_status(out) == NC_OK);
    if (!is_last || nc_buf_status(out) != NC_OK) {
        return;
    }
    if (out->length - before >= sizeof tail) {
        out->length -= sizeof tail;
    }
    if (out->length == before) {
        nc_buf_append_byte(out, 0); // An empty block (RFC 7692, 7.2.3.6).
    }
    if (deflater->resets) {
        (void)deflateReset(stream);
    }
}

/* --- decompression --- */

/// The bit that zlib sets in `data_type` after the end of a block.
enum { IS_BETWEEN_BLOCKS = 128 };

struct nc_ws_inflater {
    z_stream stream;
    bool resets;
    uint8_t tail_at; // bytes of `tail` that were read
};

nc_ws_inflater *nc_ws_inflater_new(const nc_ws_deflate_terms *terms) {
    nc_ws_inflater *inflater = nc_alloc_zeroed(1, sizeof *inflater);
    if (inflater == NULL) {
        return NULL;
    }
    inflater->resets = terms->server_resets;
    inflater->stream.zalloc = nc_zlib_allocate;
    inflater->stream.zfree = nc_zlib_release;
    if (inflateInit2(&inflater->stream, -terms->server_bits) != Z_OK) {
        nc_free(inflater);
        return NULL;
    }
    return inflater;
}

void nc_ws_inflater_free(nc_ws_inflater *inflater) {
    if (inflater != NULL) {
        (void)inflateEnd(&inflater->stream);
        nc_free(inflater);
    }
}

/// Continues behind a final block. The sender may use one at any time, and its window stays (RFC 7692, 7.2.3.4).
static nc_status restart(nc_ws_inflater *inflater) {
    uInt length = 0;
    uint8_t *window = nc_alloc((size_t)1 << 15);
    if (window == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    bool is_kept = inflateGetDictionary(&inflater->stream, window, &length) == Z_OK &&
                   inflateReset(&inflater->stream) == Z_OK &&
                   (length == 0 || inflateSetDictionary(&inflater->stream, window, length) == Z_OK);
    nc_free(window);
    return is_kept ? NC_OK : NC_ERR_NO_MEMORY;
}

nc_status nc_ws_inflater_next(nc_ws_inflater *inflater, nc_slice *in, uint8_t *out, size_t capacity, size_t *filled) {
    z_stream *stream = &inflater->stream;
    *filled = 0;
    for (;;) {
        uInt offered = in->length < UINT_MAX ? (uInt)in->length : UINT_MAX;
        size_t room = capacity - *filled;
        stream->next_in = in->data;
        stream->avail_in = offered;
        stream->next_out = out + *filled;
        stream->avail_out = (uInt)room;
        int code = inflate(stream, Z_SYNC_FLUSH);
        *filled += room - stream->avail_out;
        *in = nc_slice_make(in->length > 0 ? in->data + (offered - stream->avail_in) : in->data,
                            in->length - (offered - stream->avail_in));
        if (code == Z_MEM_ERROR || (code == Z_STREAM_END && restart(inflater) != NC_OK)) {
            return NC_ERR_NO_MEMORY;
        }
        if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
            return NC_ERR_BAD_DEFLATE;
        }
        if (*filled == capacity || in->length == 0) {
            return NC_OK;
        }
        if (code == Z_BUF_ERROR) {
            return NC_ERR_BAD_DEFLATE; // no progress with input and room: not expected
        }
    }
}

nc_status nc_ws_inflater_end(nc_ws_inflater *inflater, uint8_t *out, size_t capacity, size_t *filled) {
    nc_slice rest = nc_slice_make(tail + inflater->tail_at, sizeof tail - inflater->tail_at);
    nc_status status = nc_ws_inflater_next(inflater, &rest, out, capacity, filled);
    inflater->tail_at = (uint8_t)(sizeof tail - rest.length);
    if (status != NC_OK || *filled == capacity) {
        return status;
    }
    inflater->tail_at = 0;
    // The tail must end a block. If it was read as part of a block's data, the message is truncated.
    if ((inflater->stream.data_type & IS_BETWEEN_BLOCKS) == 0) {
        return NC_ERR_BAD_DEFLATE;
    }
    if (inflater->resets && inflateReset(&inflater->stream) != Z_OK) {
        return NC_ERR_NO_MEMORY;
    }
    return NC_OK;
}
