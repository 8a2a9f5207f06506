/// The content coding zstd (RFC 8878, RFC 9659), decoded by the library that libcurl loads.
///
/// The library's functions are looked up at run time, as in coding_brotli.c. The declarations repeat the stable part of
/// <zstd.h> and <zstd_errors.h>. A library before 1.4 (2019) is not used, because it cannot limit the window. The
/// library allocates with malloc, because its functions that take an allocator are not stable.
#include "base/alloc.h"
#include "base/error.h"
#include "body/decoder_io.h"

#include <pthread.h>

/// ZSTD_d_windowLogMax of ZSTD_dParameter, ZSTD_error_memory_allocation of ZSTD_ErrorCode.
enum { PARAMETER_WINDOW_LOG_MAX = 100, CODE_MEMORY = 64 };
/// The content coding allows windows of at most 8 MiB (RFC 9659, 3). The library's own limit is 128 MiB.
enum { MAX_WINDOW_LOG = 23 };
/// The size of a frame's magic number.
enum { MAGIC_BYTES = 4 };

/// ZSTD_inBuffer.
typedef struct zstd_in {
    const void *data;
    size_t length;
    size_t at;
} zstd_in;

/// ZSTD_outBuffer.
typedef struct zstd_out {
    void *data;
    size_t length;
    size_t at;
} zstd_out;

typedef struct zstd_functions {
    void *(*create_stream)(void);
    size_t (*free_stream)(void *stream);
    size_t (*init_stream)(void *stream);
    size_t (*set_parameter)(void *stream, int parameter, int value);
    size_t (*decompress_stream)(void *stream, zstd_out *out, zstd_in *in);
    unsigned (*is_error)(size_t result);
    int (*get_error_code)(size_t result);
    const char *(*get_error_name)(size_t result);
} zstd_functions;

typedef struct zstd_state {
    void *stream;
    /// Number of bytes of the current frame's magic number that were read; 0 between frames.
    size_t magic_taken;
    /// True if at least one frame has ended and no other has begun.
    bool is_complete;
    /// True if the output was full, so that more output may follow without input.
    bool may_hold_output;
} zstd_state;

static zstd_functions zstd;
static bool is_present;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_functions(void) {
    is_present = nc_decoder_find(&zstd.create_stream, "ZSTD_createDStream") &&
                 nc_decoder_find(&zstd.free_stream, "ZSTD_freeDStream") &&
                 nc_decoder_find(&zstd.init_stream, "ZSTD_initDStream") &&
                 nc_decoder_find(&zstd.set_parameter, "ZSTD_DCtx_setParameter") &&
                 nc_decoder_find(&zstd.decompress_stream, "ZSTD_decompressStream") &&
                 nc_decoder_find(&zstd.is_error, "ZSTD_isError") &&
                 nc_decoder_find(&zstd.get_error_code, "ZSTD_getErrorCode") &&
                 nc_decoder_find(&zstd.get_error_name, "ZSTD_getErrorName");
}

static void free_state(void *opaque) {
    zstd_state *state = opaque;
    if (state != NULL) {
        (void)zstd.free_stream(state->stream);
        nc_free(state);
    }
}

static void *new_state(void) {
    zstd_state *state = nc_alloc_zeroed(1, sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    state->stream = zstd.create_stream();
    if (state->stream == NULL || zstd.is_error(zstd.init_stream(state->stream)) != 0 ||
        zstd.is_error(zstd.set_parameter(state->stream, PARAMETER_WINDOW_LOG_MAX, MAX_WINDOW_LOG)) != 0) {
        free_state(state);
        return NULL;
    }
    return state;
}

/// Checks the available bytes of a frame's magic number: 0xFD2FB528, or 0x184D2A50 to 0x184D2A5F for a skippable frame.
///
/// Needed because some builds of the library accept formats older than RFC 8878, to which the window limit does not
/// apply.
static bool has_good_magic(const zstd_state *state, nc_slice in) {
    static const uint8_t frame[MAGIC_BYTES] = {0x28, 0xB5, 0x2F, 0xFD};
    static const uint8_t skippable[MAGIC_BYTES] = {0x50, 0x2A, 0x4D, 0x18};
    for (size_t i = 0; i < in.length && state->magic_taken + i < MAGIC_BYTES; i++) {
        size_t at = state->magic_taken + i;
        uint8_t variant = at == 0 ? in.data[i] & 0xF0 : in.data[i];
        if (in.data[i] != frame[at] && variant != skippable[at]) {
            return false;
        }
    }
    return true;
}

static nc_status fail(size_t result, nc_error *err) {
    int code = zstd.get_error_code(result);
    if (code == CODE_MEMORY) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, code, -1, "memory ran out while decoding zstd");
    }
    return nc_error_set(err, NC_ERR_BAD_CODING, code, -1, "the zstd body is damaged: %s", zstd.get_error_name(result));
}

static nc_status decode_once(zstd_state *state, nc_decoder_io *io, nc_error *err) {
    if (!has_good_magic(state, io->in)) {
        return nc_error_set(err, NC_ERR_BAD_CODING, 0, -1,
                            "the zstd body is damaged: it does not begin with a zstd frame");
    }
    zstd_in in = {io->in.data, io->in.length, 0};
    zstd_out out = {io->out, io->room, 0};
    size_t result = zstd.decompress_stream(state->stream, &out, &in);
    if (zstd.is_error(result) != 0) {
        return fail(result, err);
    }
    nc_decoder_advance(io, in.at, out.at);
    state->is_complete = result == 0;
    state->may_hold_output = result != 0 && out.at == out.length;
    size_t taken = state->magic_taken + (in.at < MAGIC_BYTES ? in.at : MAGIC_BYTES);
    state->magic_taken = state->is_complete ? 0 : taken < MAGIC_BYTES ? taken : MAGIC_BYTES;
    return NC_OK;
}

static nc_status decode(void *opaque, nc_decoder_io *io, nc_error *err) {
    zstd_state *state = opaque;
    nc_status status = NC_OK;
    // A call without input and without pending output would make the library begin a new frame.
    while (status == NC_OK && io->room != 0 && (io->in.length != 0 || state->may_hold_output)) {
        status = decode_once(state, io, err);
    }
    return status;
}

static bool is_complete(const void *opaque) {
    const zstd_state *state = opaque;
    return state->is_complete;
}

const nc_decoder_kind *nc_decoder_zstd(void) {
    static const nc_decoder_kind kind = {"zstd", new_state, free_state, decode, is_complete};
    return pthread_once(&once, find_functions) == 0 && is_present ? &kind : NULL;
}
