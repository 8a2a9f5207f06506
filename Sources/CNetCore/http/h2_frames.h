/// The frames of one direction of an HTTP/2 connection (RFC 9113, 4.1).
///
/// The reader only reads the 9 bytes of each frame head and a few payload bytes: the padding length, and the fields of
/// RST_STREAM, GOAWAY and WINDOW_UPDATE. The caller does not have to decrypt other bytes. The reader reports the
/// position of the content of DATA, HEADERS and CONTINUATION, but does not read the content. It keeps no state about
/// streams, except for the current header block.
///
/// A frame whose head alone is a connection error (RFC 9113, 4.2 and 6) breaks the reader. A broken reader returns no
/// further frame, because the receiver must stop there too.
///
///     nc_h2_reader reader = nc_h2_reader_init();
///     size_t at = 0;
///     while (nc_h2_reader_next(&reader, &piece, &at, &frame)) ... // once for each piece of the connection's bytes
#ifndef NETCORE_PRIVATE_H2_FRAMES_H
#define NETCORE_PRIVATE_H2_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NC_H2_DATA = 0,
    NC_H2_HEADERS = 1,
    NC_H2_PRIORITY = 2,
    NC_H2_RST_STREAM = 3,
    NC_H2_SETTINGS = 4,
    NC_H2_PUSH_PROMISE = 5,
    NC_H2_PING = 6,
    NC_H2_GOAWAY = 7,
    NC_H2_WINDOW_UPDATE = 8,
    NC_H2_CONTINUATION = 9,
};

/// Error codes (RFC 9113, 7).
enum {
    NC_H2_NO_ERROR = 0,
    NC_H2_PROTOCOL_ERROR = 1,
    NC_H2_REFUSED_STREAM = 7,
    NC_H2_COMPRESSION_ERROR = 9,
    NC_H2_ENHANCE_YOUR_CALM = 11
};

/// The client preface, which comes before the first frame of a client.
enum { NC_H2_PREFACE_BYTES = 24 };

/// A completely received frame.
typedef struct nc_h2_frame {
    uint8_t type;
    uint32_t stream;
    uint32_t content_bytes; // of DATA, without padding
    uint32_t code;          // of RST_STREAM and GOAWAY
    uint32_t last_stream;   // of GOAWAY
    uint32_t increment;     // of WINDOW_UPDATE
    bool ends_stream;       // END_STREAM; for a header block, true only in its last frame
    bool ends_block;        // END_HEADERS, of HEADERS and CONTINUATION
} nc_h2_frame;

/// A run of the connection's bytes. `read` copies `count` bytes from offset `at`; it is only called for bytes within
/// the piece.
///
/// `take` is called for each run of content of DATA, HEADERS and CONTINUATION, without padding and priority. The call
/// comes before the frame is returned, and the frame may still be incomplete. `take` may be NULL.
typedef struct nc_h2_piece {
    void (*read)(void *ctx, size_t at, uint8_t *out, size_t count);
    void (*take)(void *ctx, const nc_h2_frame *frame, size_t at, size_t count);
    void *ctx;
    size_t length;
} nc_h2_piece;

typedef struct nc_h2_reader {
    uint8_t head[17]; // 9 bytes, then up to 8 bytes of the payload
    uint8_t have;     // bytes in `head`
    uint8_t need;     // bytes of `head` that this frame needs
    uint32_t skip;    // bytes to skip before the next frame head
    uint32_t lead;    // number of bytes at the start of `skip` that are not content
    uint32_t tail;    // number of bytes at the end of `skip` that are not content
    bool has_frame;   // `frame` is filled, and its payload is being skipped
    bool is_broken;   // a connection error was found
    bool block_ends;  // the current header block has END_STREAM
    uint32_t block;   // stream of the current header block; 0 for none
    nc_h2_frame frame;
} nc_h2_reader;

/// Returns a reader for a direction of a connection whose first frame has not begun. The client preface is not a frame.
nc_h2_reader nc_h2_reader_init(void);
/// Reads a piece from `*at` to its end, or to the end of the next complete frame. Returns true with a frame; false if
/// the piece is used up or the reader is broken.
bool nc_h2_reader_next(nc_h2_reader *reader, const nc_h2_piece *piece, size_t *at, nc_h2_frame *frame);

#endif
