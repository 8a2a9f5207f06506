/// The content codings gzip (RFC 1952) and deflate (RFC 1950; some servers send RFC 1951 instead).
#define ZLIB_CONST

#include "base/alloc.h"
#include "base/error.h"
#include "body/decoder_io.h"

#include <limits.h>
#include <zlib.h>

/// zlib's window bits, which also select the format.
enum { BITS_ZLIB = MAX_WBITS, BITS_RAW = -MAX_WBITS, BITS_GZIP = MAX_WBITS + 16 };

/// The first byte of every gzip member.
enum { GZIP_FIRST_BYTE = 0x1F };

typedef enum zlib_phase {
    /// At the first byte; for deflate, also at the second byte.
    PHASE_START,
    /// Within a gzip member or a deflate stream.
    PHASE_STREAM,
    /// After the end of a member or stream.
    PHASE_END,
    /// Within NULs that follow the last gzip member.
    PHASE_PADDING,
} zlib_phase;

typedef struct zlib_state {
    z_stream stream;
    zlib_phase phase;
    /// The first byte of a deflate body, until the second arrives.
    uint8_t first;
    bool has_first;
} zlib_state;

void *nc_zlib_allocate(void *opaque, unsigned items, unsigned bytes) {
    (void)opaque;
    size_t total;
    return nc_size_mul(&total, items, bytes) ? nc_alloc(total) : NULL;
}

void nc_zlib_release(void *opaque, void *block) {
    (void)opaque;
    nc_free(block);
}

static zlib_state *new_with_bits(int window_bits) {
    zlib_state *state = nc_alloc_zeroed(1, sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    state->stream.zalloc = nc_zlib_allocate;
    state->stream.zfree = nc_zlib_release;
    if (inflateInit2(&state->stream, window_bits) != Z_OK) {
        nc_free(state);
        return NULL;
    }
    return state;
}

static void *new_gzip(void) {
    return new_with_bits(BITS_GZIP);
}

static void *new_deflate(void) {
    return new_with_bits(BITS_ZLIB);
}

static void free_state(void *opaque) {
    zlib_state *state = opaque;
    if (state != NULL) {
        (void)inflateEnd(&state->stream);
        nc_free(state);
    }
}

static nc_status fail(const zlib_state *state, int code, const char *name, nc_error *err) {
    if (code == Z_MEM_ERROR) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, code, -1, "memory ran out while decoding gzip or deflate");
    }
    const char *why = code == Z_NEED_DICT ? "it requires a preset dictionary" : state->stream.msg;
    return nc_error_set(err, NC_ERR_BAD_CODING, code, -1, "the %s body is damaged: %s", name,
                        why == NULL ? "unknown reason" : why);
}

static uInt clamp(size_t length) {
    return length < UINT_MAX ? (uInt)length : UINT_MAX;
}

/// Calls inflate() once. Changes to PHASE_END at the end of the stream.
static nc_status inflate_once(zlib_state *state, nc_decoder_io *io, const char *name, nc_error *err) {
    z_stream *stream = &state->stream;
    uInt offered = clamp(io->in.length);
    uInt room = clamp(io->room);
    stream->next_in = io->in.data;
    stream->avail_in = offered;
    stream->next_out = io->out;
    stream->avail_out = room;
    int code = inflate(stream, Z_NO_FLUSH);
    nc_decoder_advance(io, offered - stream->avail_in, room - stream->avail_out);
    if (code == Z_STREAM_END) {
        state->phase = PHASE_END;
        return NC_OK;
    }
    // Z_BUF_ERROR means that no progress was possible.
    return code == Z_OK || code == Z_BUF_ERROR ? NC_OK : fail(state, code, name, err);
}

/// Inflates until the stream ends, the output is full or the input is consumed.
static nc_status inflate_stream(zlib_state *state, nc_decoder_io *io, const char *name, nc_error *err) {
    nc_status status = NC_OK;
    do {
        status = inflate_once(state, io, name, err);
    } while (status == NC_OK && state->phase == PHASE_STREAM && io->room != 0 && io->in.length != 0);
    return status;
}

/* --- gzip: a sequence of members (RFC 1952, 2.2), perhaps followed by NULs --- */

/// Handles the first byte of a member, or a byte behind the last member.
static nc_status begin_member(zlib_state *state, nc_decoder_io *io, nc_error *err) {
    if (state->phase == PHASE_START) {
        state->phase = PHASE_STREAM;
        return NC_OK;
    }
    uint8_t byte = io->in.data[0];
    if (byte == 0) {
        (void)nc_decoder_take(io);
        state->phase = PHASE_PADDING;
        return NC_OK;
    }
    if (state->phase == PHASE_PADDING || byte != GZIP_FIRST_BYTE) {
        return nc_decoder_fail_surplus("gzip", err);
    }
    (void)inflateReset(&state->stream);
    state->phase = PHASE_STREAM;
    return NC_OK;
}

static nc_status decode_gzip(void *opaque, nc_decoder_io *io, nc_error *err) {
    zlib_state *state = opaque;
    nc_status status = NC_OK;
    // Call inflate() at least once, even without input: it may hold output that did not fit before.
    do {
        if (state->phase == PHASE_STREAM) {
            status = inflate_stream(state, io, "gzip", err);
        } else if (io->in.length != 0) {
            status = begin_member(state, io, err);
        }
    } while (status == NC_OK && io->room != 0 && io->in.length != 0);
    return status;
}

/* --- deflate: one stream, with or without zlib's two-byte header --- */

/// Returns true for CMF and FLG of RFC 1950, 2.2.
///
/// A raw deflate stream that begins with these two bytes would contain a stored block with a set padding bit, which no
/// encoder writes.
static bool is_zlib_head(uint8_t first, uint8_t second) {
    return (first & 0x0F) == Z_DEFLATED && first >> 4 <= 7 && (first * 256 + second) % 31 == 0;
}

/// The first two bytes show whether there is a zlib header. Inflates the first byte and leaves the second in the input.
static nc_status begin_deflate(zlib_state *state, nc_decoder_io *io, nc_error *err) {
    if (!state->has_first) {
        state->first = nc_decoder_take(io);
        state->has_first = true;
        return NC_OK;
    }
    if (!is_zlib_head(state->first, io->in.data[0])) {
        (void)inflateReset2(&state->stream, BITS_RAW);
    }
    state->phase = PHASE_STREAM;
    nc_decoder_io first = {.in = nc_slice_make(&state->first, 1), .out = io->out, .room = io->room};
    nc_status status = inflate_stream(state, &first, "deflate", err);
    NC_ASSERT(status != NC_OK || (first.in.length == 0 && first.room == io->room));
    return status;
}

static nc_status decode_deflate(void *opaque, nc_decoder_io *io, nc_error *err) {
    zlib_state *state = opaque;
    nc_status status = NC_OK;
    while (status == NC_OK && state->phase == PHASE_START && io->in.length != 0) {
        status = begin_deflate(state, io, err);
    }
    if (status == NC_OK && state->phase == PHASE_STREAM) {
        status = inflate_stream(state, io, "deflate", err);
    }
    if (status == NC_OK && state->phase == PHASE_END && io->in.length != 0) {
        status = nc_decoder_fail_surplus("deflate", err);
    }
    return status;
}

static bool is_complete(const void *opaque) {
    const zlib_state *state = opaque;
    return state->phase == PHASE_END || state->phase == PHASE_PADDING;
}

const nc_decoder_kind nc_decoder_gzip = {"gzip", new_gzip, free_state, decode_gzip, is_complete};
const nc_decoder_kind nc_decoder_deflate = {"deflate", new_deflate, free_state, decode_deflate, is_complete};
