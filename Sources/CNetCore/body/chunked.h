/// Decodes the chunked transfer coding (RFC 9112, 7.1).
///
/// The events are the content, the trailer's lines and the end. They do not depend on how the body was split, except
/// for the sizes of content pieces. The decoder is strict where two readers could see different bodies: a line ends
/// with exactly CR LF, and a size has at most 16 hexadecimal digits and is at most INT64_MAX. Extensions are skipped.
/// The amount of extensions is limited in proportion to the content, so that a server cannot send extensions without
/// end.
///
///     nc_chunked chunked = nc_chunked_init();
///     while ((status = nc_chunked_next(&chunked, &bytes, &event, &err)) == NC_OK &&
///            event.kind != NC_CHUNKED_NEEDS_MORE) ...
///     nc_chunked_deinit(&chunked);
#ifndef NETCORE_PRIVATE_CHUNKED_H
#define NETCORE_PRIVATE_CHUNKED_H

#include <netcore/bytes.h>

enum {
    /// The largest number of extension bytes that may arrive without content. Each byte of content raises the rest of
    /// the allowance by one, up to this limit.
    NC_CHUNKED_EXTENSION_MAX_BYTES = 16 * 1024,
    /// The longest line of the trailer, including CR LF; the same as in libcurl.
    NC_CHUNKED_LINE_MAX_BYTES = 4095,
};

typedef enum nc_chunked_kind {
    NC_CHUNKED_NEEDS_MORE, // all input was consumed
    NC_CHUNKED_CONTENT,
    NC_CHUNKED_TRAILER, // one line with its CR LF
    NC_CHUNKED_END,     // the body is complete; the input behind it is not consumed
} nc_chunked_kind;

typedef struct nc_chunked_event {
    nc_chunked_kind kind;
    nc_slice bytes; // borrowed from the input or the decoder, until the next call
} nc_chunked_event;

typedef enum nc_chunked_state {
    NC_CHUNKED_IN_SIZE,
    NC_CHUNKED_BEHIND_SIZE,
    NC_CHUNKED_IN_EXTENSION,
    NC_CHUNKED_AT_SIZE_LF,
    NC_CHUNKED_IN_CONTENT,
    NC_CHUNKED_AT_CONTENT_CR,
    NC_CHUNKED_AT_CONTENT_LF,
    NC_CHUNKED_IN_TRAILER,
    NC_CHUNKED_IS_OVER,
} nc_chunked_state;

typedef struct nc_chunked {
    nc_chunked_state state;
    uint8_t digits;       // number of digits of the size so far
    uint32_t allowance;   // bytes of extensions that may still follow
    uint64_t left;        // remaining bytes of the chunk
    uint64_t taken_bytes; // consumed bytes of the body
    nc_buf line;          // the current line of the trailer, if it arrived in pieces
    nc_status failure;
} nc_chunked;

/// Returns a decoder. Allocates nothing.
nc_chunked nc_chunked_init(void);
void nc_chunked_deinit(nc_chunked *chunked);

/// Returns the next event and advances `in` past the consumed bytes.
///
/// Returns NC_OK, NC_ERR_BAD_RESPONSE with the offset of the first wrong byte in the encoded body,
/// NC_ERR_HEAD_TOO_LARGE for a trailer line that is too long, NC_ERR_NO_MEMORY. After an error it returns the same
/// error again.
NC_NODISCARD nc_status nc_chunked_next(nc_chunked *chunked, nc_slice *in, nc_chunked_event *event, nc_error *err);

/// Returns true if the body is complete.
static inline bool nc_chunked_is_whole(const nc_chunked *chunked) {
    return chunked->state == NC_CHUNKED_IS_OVER;
}

#endif
