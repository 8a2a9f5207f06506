/// A scripted reply for one path: well-formed, slow, cut, early, endless or refused. A zeroed struct is 200 with an
/// empty body.
///
///     nct_reply reply = {.pattern_length = 1000, .chunk_bytes = 10, .drip_bytes = 1, .trailers = "X-Sum: 1\r\n"};
///     nct_server_script(server, "/slow", &reply);
#ifndef NETTESTING_REPLY_H
#define NETTESTING_REPLY_H

#include "base.h"

NCT_ASSUME_NONNULL_BEGIN

/// How a connection ends after the reply, or after `cut_after` bytes of it.
typedef NCT_ENUM(nct_ending){
    /// It stays open for the next request, unless the request has Connection: close or HTTP/1.0.
    NCT_KEEP = 0,
    /// FIN (with close_notify over TLS).
    NCT_CLOSE = 1,
    /// RST, after every byte before it was sent. Over a Unix socket this is CLOSE.
    NCT_RESET = 2,
    /// It stays open and silent until nct_server_release_stalled() or stop. Then the reply continues where it was cut,
    /// and the connection stays open as with KEEP. A client that closes during the stall is noticed.
    NCT_STALL = 3,
    /// FIN without close_notify over TLS, as an attacker on the path can forge it. Over plain HTTP this is CLOSE.
    NCT_TRUNCATE = 4,
    /// FIN (with close_notify over TLS). The server then reads and drops input until the client closes too.
    NCT_HALF_CLOSE = 5,
} nct_ending;

/// Whether the reply waits for the request's body. All except NCT_PATIENT send it as soon as the head is complete,
/// without 100 Continue. Such a request is counted and kept without its body, so is_echo has nothing to send back.
typedef NCT_ENUM(nct_early){
    /// The reply follows the complete request.
    NCT_PATIENT = 0,
    /// After the reply the body is read and dropped. Then `ending` follows.
    NCT_EARLY_DISCARD = 1,
    /// `ending` follows the reply immediately; the body is not read. KEEP is CLOSE here.
    NCT_EARLY_END = 2,
    /// After the reply or the cut nothing more is read, so the client's upload stalls. Like NCT_STALL, this stall can
    /// be waited for and released; then it continues like DISCARD. If the kernel's buffers are full, a client that
    /// closes is noticed only after the release.
    NCT_EARLY_STOP = 3,
    /// Like DISCARD, but a request that expects 100 Continue is assumed to have no body, because the client was
    /// refused.
    NCT_EARLY_INSTEAD = 4,
} nct_early;

/// The part of the reply that never ends. Its bytes are generated until the client closes or the cut is reached.
typedef NCT_ENUM(nct_endless){
    /// None.
    NCT_FINITE = 0,
    /// `HTTP/1.1 100 Continue` heads, instead of a reply.
    NCT_ENDLESS_CONTINUE = 1,
    /// The value of a header field, after the script's own header lines.
    NCT_ENDLESS_LINE = 2,
    /// Header fields, after the script's own.
    NCT_ENDLESS_FIELDS = 3,
    /// Chunks of a body, after the script's own body.
    NCT_ENDLESS_CHUNKS = 4,
    /// The extension of a chunk, after the script's own body.
    NCT_ENDLESS_EXTENSION = 5,
    /// Trailer fields, after the script's own.
    NCT_ENDLESS_TRAILER = 6,
    /// The reason phrase of the status line.
    NCT_ENDLESS_REASON = 7,
} nct_endless;

/// A scripted reply for one path.
typedef struct nct_reply {
    /// Status code; 0 means 200.
    uint16_t status;
    /// Header lines without the final empty line, each ended by CR LF; NULL for none. Content-Length is added unless
    /// `is_raw` is set, `chunk_bytes` is not 0, or the lines already have Content-Length or Transfer-Encoding. Status
    /// 1xx, 204 and 304 have neither body nor Content-Length. Other fields are added only as described below.
    const char *NCT_NULLABLE headers;
    /// Body; copied.
    const void *NCT_NULLABLE body;
    /// Bytes in `body`.
    size_t body_length;
    /// If not 0, the body is this many bytes of a pattern, generated while it is sent. Byte i is 'a' + i % 26.
    uint64_t pattern_length;
    /// True to send the request body back as the body, with the request's Content-Type.
    bool is_echo;
    /// True to send only `body` (or the pattern) as the whole reply, also to HEAD. The script provides the head.
    bool is_raw;
    /// If not 0, the body is sent in chunks of this many bytes, and Transfer-Encoding is added.
    size_t chunk_bytes;
    /// If `is_cut` is set, the number of bytes of the whole reply (interim heads, head and body) that are sent before
    /// `ending`.
    uint64_t cut_after;
    /// True if `cut_after` applies, also if it is 0.
    bool is_cut;
    /// True if `cut_after` counts bytes of the body, without chunk framing.
    bool is_cut_in_body;
    /// How the connection ends after the reply or the cut.
    nct_ending ending;
    /// If not NULL, a Location field with this value is added, and status 0 means 302.
    const char *NCT_NULLABLE location;
    /// If not 0, the reply is sent in pieces of this many bytes, each in its own write (and TLS record). The next piece
    /// is sent after the kernel has sent the one before.
    size_t drip_bytes;
    /// Milliseconds between two pieces. A client that closes meanwhile is noticed.
    uint32_t drip_ms;
    /// Whether the reply waits for the request's body.
    nct_early early;
    /// The part of the reply that never ends. CHUNKS, EXTENSION and TRAILER use chunks of 16 bytes if `chunk_bytes` is
    /// 0.
    nct_endless endless;
    /// Sent as it is before the head: complete heads such as "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"; NULL for
    /// none.
    const char *NCT_NULLABLE interim;
    /// Trailer lines, each ended by CR LF, sent after the last chunk of a chunked body; NULL for none.
    const char *NCT_NULLABLE trailers;
    /// True to reply to GET with `Range: bytes=a-b`, `a-` or `-n` with 206, the part and Content-Range, or with 416 if
    /// it cannot be satisfied. Several ranges, or an If-Range value that `headers` do not contain, get the whole body.
    /// Only for status 200, and not for an echo.
    bool answers_ranges;
    /// If not NULL, a request without `Authorization: Basic` of this user and `password` gets 401 with
    /// `WWW-Authenticate: Basic realm="nettesting"` and an empty body, at the time that `early` sets.
    const char *NCT_NULLABLE user;
    /// The password; NULL means an empty one.
    const char *NCT_NULLABLE password;
    /// True to send `file` as the body, read while it is sent, instead of `body` and the pattern. Only for
    /// nct_choice_answer(), which takes ownership of the descriptor. If the file turns out to be shorter, the
    /// connection ends.
    bool has_file;
    /// The descriptor of a regular file.
    int file;
    /// The offset in the file where the body begins.
    uint64_t file_offset;
    /// The number of bytes to send.
    uint64_t file_length;
    /// Milliseconds before the reply begins. A client that closes meanwhile is noticed.
    uint32_t delay_ms;
} nct_reply;

NCT_ASSUME_NONNULL_END

#endif
