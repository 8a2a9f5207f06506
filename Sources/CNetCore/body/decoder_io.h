/// The interface between the chain (coding.h) and its decoders.
#ifndef NETCORE_PRIVATE_DECODER_IO_H
#define NETCORE_PRIVATE_DECODER_IO_H

#include <netcore/bytes.h>

/// The input and output of one call. The decoder advances both.
typedef struct nc_decoder_io {
    /// Encoded bytes. The decoder removes those that it consumes.
    nc_slice in;
    /// The position of the next decoded byte.
    uint8_t *out;
    /// Number of bytes that still fit at `out`.
    size_t room;
} nc_decoder_io;

/// One content coding.
typedef struct nc_decoder_kind {
    /// Its name in messages.
    const char *name;
    /// Creates the state of one stream; NULL if memory runs out.
    void *(*new_state)(void);
    /// Frees the state.
    void (*free_state)(void *state);
    /// Decodes until the output is full or the input is consumed. Never called after an error.
    nc_status (*decode)(void *state, nc_decoder_io *io, nc_error *err);
    /// Returns true if the stream is complete.
    bool (*is_complete)(const void *state);
} nc_decoder_kind;

extern const nc_decoder_kind nc_decoder_gzip;
extern const nc_decoder_kind nc_decoder_deflate;
/// Returns NULL if the process has no brotli decoder. Thread-safe.
const nc_decoder_kind *nc_decoder_brotli(void);
/// Returns NULL if the process has no zstd decoder. Thread-safe.
const nc_decoder_kind *nc_decoder_zstd(void);

/// The allocator of zlib's streams. `opaque` is ignored.
void *nc_zlib_allocate(void *opaque, unsigned items, unsigned bytes);
void nc_zlib_release(void *opaque, void *block);

/// Advances past the bytes that were read and written.
void nc_decoder_advance(nc_decoder_io *io, size_t read, size_t written);
/// Removes and returns one byte of input.
uint8_t nc_decoder_take(nc_decoder_io *io);
/// Fills `err` for bytes after the end of the stream.
nc_status nc_decoder_fail_surplus(const char *name, nc_error *err);
/// Looks up a function in the libraries that the process has loaded. `function` points to a function pointer, which
/// receives the address. Returns false if there is no such function.
NC_NODISCARD bool nc_decoder_find(void *function, const char *symbol);

#endif
