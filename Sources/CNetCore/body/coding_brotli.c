/// The content coding br (RFC 7932), decoded by the library that libcurl loads.
///
/// The library's functions are looked up at run time, so the build has no further dependency and the process has only
/// one brotli decoder. The declarations repeat the stable part of <brotli/decode.h>, unchanged since 1.0. The "large
/// window" extension is not enabled, so a window has at most 16 MiB.
#include "base/alloc.h"
#include "base/error.h"
#include "body/decoder_io.h"

#include <pthread.h>

/// BrotliDecoderResult.
enum { RESULT_ERROR = 0, RESULT_SUCCESS = 1 };
/// The BrotliDecoderErrorCode values that mean that memory ran out (BROTLI_DECODER_ERROR_ALLOC_...).
enum { FIRST_MEMORY_CODE = -30, LAST_MEMORY_CODE = -21 };

typedef struct brotli_functions {
    void *(*create_instance)(void *(*allocate)(void *, size_t), void (*release)(void *, void *), void *opaque);
    int (*decompress_stream)(void *decoder, size_t *available_in, const uint8_t **next_in, size_t *available_out,
                             uint8_t **next_out, size_t *total_out);
    int (*get_error_code)(const void *decoder);
    const char *(*error_string)(int code);
    void (*destroy_instance)(void *decoder);
} brotli_functions;

typedef struct brotli_state {
    void *decoder;
    bool is_complete;
} brotli_state;

static brotli_functions brotli;
static bool is_present;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_functions(void) {
    is_present = nc_decoder_find(&brotli.create_instance, "BrotliDecoderCreateInstance") &&
                 nc_decoder_find(&brotli.decompress_stream, "BrotliDecoderDecompressStream") &&
                 nc_decoder_find(&brotli.get_error_code, "BrotliDecoderGetErrorCode") &&
                 nc_decoder_find(&brotli.error_string, "BrotliDecoderErrorString") &&
                 nc_decoder_find(&brotli.destroy_instance, "BrotliDecoderDestroyInstance");
}

static void *allocate(void *opaque, size_t bytes) {
    (void)opaque;
    return nc_alloc(bytes);
}

static void release(void *opaque, void *block) {
    (void)opaque;
    nc_free(block);
}

static void free_state(void *opaque) {
    brotli_state *state = opaque;
    if (state != NULL && state->decoder != NULL) {
        brotli.destroy_instance(state->decoder);
    }
    nc_free(state);
}

static void *new_state(void) {
    brotli_state *state = nc_alloc_zeroed(1, sizeof *state);
    if (state == NULL) {
        return NULL;
    }
    state->decoder = brotli.create_instance(allocate, release, NULL);
    if (state->decoder == NULL) {
        free_state(state);
        return NULL;
    }
    return state;
}

static nc_status fail(const brotli_state *state, nc_error *err) {
    int code = brotli.get_error_code(state->decoder);
    if (code >= FIRST_MEMORY_CODE && code <= LAST_MEMORY_CODE) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, code, -1, "memory ran out while decoding br");
    }
    return nc_error_set(err, NC_ERR_BAD_CODING, code, -1, "the br body is damaged: %s", brotli.error_string(code));
}

static nc_status decode(void *opaque, nc_decoder_io *io, nc_error *err) {
    brotli_state *state = opaque;
    if (!state->is_complete) {
        size_t available_in = io->in.length;
        const uint8_t *next_in = io->in.data;
        size_t available_out = io->room;
        uint8_t *next_out = io->out;
        int result = brotli.decompress_stream(state->decoder, &available_in, &next_in, &available_out, &next_out, NULL);
        nc_decoder_advance(io, io->in.length - available_in, io->room - available_out);
        if (result == RESULT_ERROR) {
            return fail(state, err);
        }
        state->is_complete = result == RESULT_SUCCESS;
    }
    return state->is_complete && io->in.length != 0 ? nc_decoder_fail_surplus("br", err) : NC_OK;
}

static bool is_complete(const void *opaque) {
    const brotli_state *state = opaque;
    return state->is_complete;
}

const nc_decoder_kind *nc_decoder_brotli(void) {
    static const nc_decoder_kind kind = {"br", new_state, free_state, decode, is_complete};
    return pthread_once(&once, find_functions) == 0 && is_present ? &kind : NULL;
}
