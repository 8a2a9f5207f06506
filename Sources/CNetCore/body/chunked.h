/// The chunked transfer coding, undone (RFC 9112, 7.1).
///
/// Fed with whatever a connection brings, cut anywhere, it gives the content, then the lines of the trailer, then the
/// end, and the same for every way of cutting. It is strict where two readers could come to see two bodies: a line ends
/// with CR LF and with nothing else, and a size is at most 16 hexadecimal digits and no more than INT64_MAX. Extensions
/// are skipped, and may not weigh more than the content does: a reply of nothing but extensions ends.
///
///     nc_chunked chunked = nc_chunked_init();
///     while ((status = nc_chunked_next(&chunked, &bytes, &event, &err)) == NC_OK && event.kind !=
///     NC_CHUNKED_NEEDS_MORE) ... nc_chunked_deinit(&chunked);
#ifndef NETCORE_PRIVATE_CHUNKED_H
#define NETCORE_PRIVATE_CHUNKED_H

#include <netcore/bytes.h>

enum {
    /// What the extensions may weigh, in bytes; each byte of content makes room for another one of them, up to this.
    NC_CHUNKED_EXTENSION_MAX_BYTES = 16 * 1024,
    /// A line of the trailer, its CR LF included. libcurl takes none that is longer.
    NC_CHUNKED_LINE_MAX_BYTES = 4095,
};

typedef enum nc_chunked_kind {
    NC_CHUNKED_NEEDS_MORE, // all that was fed is taken
    NC_CHUNKED_CONTENT,
    NC_CHUNKED_TRAILER, // one line with its CR LF
    NC_CHUNKED_END,     // the body is whole; what was fed behind it is left
} nc_chunked_kind;

typedef struct nc_chunked_event {
    nc_chunked_kind kind;
    nc_slice bytes; // of what was fed, or of the decoder: until it is next asked
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
    uint8_t digits;       // of the size
    uint32_t allowance;   // that extensions have left
    uint64_t left;        // of the chunk
    uint64_t taken_bytes; // of all that was fed
    nc_buf line;          // of the trailer, when it came in pieces
    nc_status failure;
} nc_chunked;

/// Begins a body; allocates nothing.
nc_chunked nc_chunked_init(void);
void nc_chunked_deinit(nc_chunked *chunked);

/// Gives what comes next of `in`, which is moved on by what was taken.
///
/// Returns NC_OK, NC_ERR_BAD_RESPONSE with the offset of the first wrong byte in the body as it was sent,
/// NC_ERR_HEAD_TOO_LARGE for a line of the trailer, NC_ERR_NO_MEMORY. After a failure it fails in the same way again.
NC_NODISCARD nc_status nc_chunked_next(nc_chunked *chunked, nc_slice *in, nc_chunked_event *event, nc_error *err);

/// Whether the body is whole.
static inline bool nc_chunked_is_whole(const nc_chunked *chunked) {
    return chunked->state == NC_CHUNKED_IS_OVER;
}

#endif
