/// A scripted reply for one path. It can be well-formed, slow, cut, early, endless or refused. A zeroed struct is a
/// reply with status 200 and an empty body.
///
///     nct_reply reply = {.pattern_length = 1000, .chunk_bytes = 10, .drip_bytes = 1, .trailers = "X-Sum: 1\r\n"};
///     nct_server_script(server, "/slow", &reply);
#ifndef NETTESTING_REPLY_H
#define NETTESTING_REPLY_H

#include "socket.h"

NCT_ASSUME_NONNULL_BEGIN

/// How a connection ends after the reply, or after `cut_after` bytes of it.
typedef NCT_ENUM(nct_ending){
    /// The connection stays open for the next request, unless the request has Connection: close or HTTP/1.0.
    NCT_KEEP = 0,
    /// FIN (with close_notify over TLS).
    NCT_CLOSE = 1,
    /// RST, after all bytes of the reply were sent. Over a Unix socket this is the same as NCT_CLOSE.
    NCT_RESET = 2,
    /// The connection stays open, and nothing is sent until nct_server_release_stalled() or nct_server_stop(). After
    /// the release the reply continues where it was cut, and the connection stays open as with NCT_KEEP. If the client
    /// closes during the stall, the server closes the connection.
    NCT_STALL = 3,
    /// FIN without close_notify over TLS, which an attacker on the path can forge. Over plain HTTP this is the same as
    /// NCT_CLOSE.
    NCT_TRUNCATE = 4,
    /// FIN (with close_notify over TLS). The server then reads and drops input until the client closes too.
    NCT_HALF_CLOSE = 5,
} nct_ending;

/// Whether the reply waits for the request's body. With all values except NCT_PATIENT, the server sends the reply when
/// the request's head is complete, and sends no 100 Continue. It then counts and records the request without its body,
/// so that `is_echo` sends an empty body.
typedef NCT_ENUM(nct_early){
    /// The server sends the reply after it has received the complete request.
    NCT_PATIENT = 0,
    /// After the reply, the server reads and drops the body. Then it ends the connection as `ending` says.
    NCT_EARLY_DISCARD = 1,
    /// The server does not read the body. It ends the connection immediately after the reply; NCT_KEEP means NCT_CLOSE.
    NCT_EARLY_END = 2,
    /// After the reply or the cut, the server reads nothing more, so that the client's upload stalls. A test can wait
    /// for this stall and release it, as with NCT_STALL. After the release the server continues as with
    /// NCT_EARLY_DISCARD. If the kernel's buffers are full, the server only notices after the release that the client
    /// has closed.
    NCT_EARLY_STOP = 3,
    /// Like NCT_EARLY_DISCARD, but a client that expects 100 Continue is assumed to send no body after the reply.
    NCT_EARLY_INSTEAD = 4,
} nct_early;

/// The part of the reply that never ends. The server generates its bytes until the client closes or the cut is reached.
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
    /// If not 0, the reply is sent in pieces of this many bytes, each in its own write (and TLS record). A piece is
    /// sent after the kernel has sent the previous one.
    size_t drip_bytes;
    /// Milliseconds between two pieces. If the client closes in that time, the server closes the connection.
    uint32_t drip_ms;
    /// Whether the reply waits for the request's body.
    nct_early early;
    /// The part of the reply that never ends. If `chunk_bytes` is 0, NCT_ENDLESS_CHUNKS, NCT_ENDLESS_EXTENSION and
    /// NCT_ENDLESS_TRAILER use chunks of 16 bytes.
    nct_endless endless;
    /// Text that is sent unchanged before the head. It contains complete interim heads, such as "HTTP/1.1 103 Early
    /// Hints\r\nLink: x\r\n\r\n"; NULL for none.
    const char *NCT_NULLABLE interim;
    /// Trailer lines, each ended by CR LF, sent after the last chunk of a chunked body; NULL for none.
    const char *NCT_NULLABLE trailers;
    /// True to support GET with `Range: bytes=a-b`, `a-` or `-n`. The reply is 206 with the part and Content-Range, or
    /// 416 if the range cannot be satisfied. If the request has several ranges, or an If-Range value that is not in
    /// `headers`, the reply has the whole body. Only for status 200, and not for an echo.
    bool answers_ranges;
    /// True to choose the reply again when the request's body is known: see nct_choice_body(). Only for
    /// nct_choice_respond(), and only with NCT_PATIENT.
    bool awaits_body;
    /// If not NULL, a request must have `Authorization: Basic` with this user and `password`. The reply to other
    /// requests is 401 with `WWW-Authenticate: Basic realm="nettesting"` and an empty body. `early` also applies to it.
    const char *NCT_NULLABLE user;
    /// The password; NULL means an empty one.
    const char *NCT_NULLABLE password;
    /// True to send `file` as the body, instead of `body` and the pattern. The file is read while it is sent. If it is
    /// shorter than `file_length`, the connection ends. Only for nct_choice_respond(), which takes ownership of the
    /// descriptor.
    bool has_file;
    /// The descriptor of a regular file.
    int file;
    /// The offset in the file where the body begins.
    uint64_t file_offset;
    /// The number of bytes to send.
    uint64_t file_length;
    /// Milliseconds before the reply begins. If the client closes in that time, the server closes the connection.
    uint32_t delay_ms;
    /// If not NULL, the reply to a WebSocket handshake is 101 with `headers`, and these steps follow. Other requests
    /// get 426. Of the other members, only `user`, `password`, `delay_ms` and `ending` then apply. NCT_KEEP and
    /// NCT_STALL mean NCT_CLOSE.
    const nct_socket_step *NCT_NULLABLE socket_steps;
    /// Number of steps.
    size_t socket_step_count;
} nct_reply;

NCT_ASSUME_NONNULL_END

#endif
