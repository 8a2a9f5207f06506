/// What the chain knows of a decoder, and the decoders there are.
#ifndef NETCORE_PRIVATE_CODING_DECODER_H
#define NETCORE_PRIVATE_CODING_DECODER_H

#include <netcore/bytes.h>

/// What one call may read and where it may write; the decoder moves both on.
typedef struct nc_decoder_io {
    /// Coded bytes; what is left of them was not taken.
    nc_slice in;
    /// Where the next decoded byte goes.
    uint8_t *out;
    /// Bytes that still fit there.
    size_t room;
} nc_decoder_io;

/// One content coding.
typedef struct nc_decoder_kind {
    /// As messages name it.
    const char *name;
    /// Makes the state of one stream; NULL when memory is short.
    void *(*new_state)(void);
    /// Frees the state.
    void (*free_state)(void *state);
    /// Decodes until the room is full or all input is taken; never called again after it failed.
    nc_status (*decode)(void *state, nc_decoder_io *io, nc_error *err);
    /// Tells whether the stream has come to its end and may end here.
    bool (*is_complete)(const void *state);
} nc_decoder_kind;

extern const nc_decoder_kind nc_decoder_gzip;
extern const nc_decoder_kind nc_decoder_deflate;
/// NULL when the process has no brotli decoder. Thread-safe.
const nc_decoder_kind *nc_decoder_brotli(void);
/// NULL when the process has no zstd decoder. Thread-safe.
const nc_decoder_kind *nc_decoder_zstd(void);

/// Moves past what was read and written.
void nc_decoder_advance(nc_decoder_io *io, size_t read, size_t written);
/// Takes one byte of input.
uint8_t nc_decoder_take(nc_decoder_io *io);
/// Says that bytes follow where the stream is over.
nc_status nc_decoder_fail_surplus(const char *name, nc_error *err);
/// Looks a function up among the libraries of the process and writes its address to `function`, a pointer's storage.
NC_NODISCARD bool nc_decoder_find(void *function, const char *symbol);

#endif
