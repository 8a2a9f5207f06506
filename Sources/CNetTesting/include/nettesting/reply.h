/// What is sent for one path: well-formed, slow, cut, early, endless or
/// refused. All zero is 200 with an empty body.
///
///     nct_reply reply = {.pattern_length = 1000, .chunk_bytes = 10,
///     .drip_bytes = 1, .trailers = "X-Sum: 1\r\n"}; nct_server_script(server,
///     "/slow", &reply);
#ifndef NETTESTING_REPLY_H
#define NETTESTING_REPLY_H

#include "base.h"

NCT_ASSUME_NONNULL_BEGIN

/// How a connection ends after the reply, or after `cut_after` bytes of it.
typedef NCT_ENUM(nct_ending){
    /// It stays open for the next request, unless the request said Connection:
    /// close or HTTP/1.0.
    NCT_KEEP = 0,
    /// FIN (with close_notify over TLS).
    NCT_CLOSE = 1,
    /// RST, once every byte before it is on its way. Over a Unix socket this is
    /// CLOSE.
    NCT_RESET = 2,
    /// It stays open and silent until nct_server_release_stalled() or stop;
    /// then the reply goes on where it was cut,
    /// and the connection stays open as after KEEP. A client that leaves while
    /// it is stalled is noticed.
    NCT_STALL = 3,
    /// FIN without close_notify over TLS: what someone on the way can forge.
    /// Over plain HTTP this is CLOSE.
    NCT_TRUNCATE = 4,
    /// FIN (with close_notify over TLS), after which the server reads and drops
    /// what comes until the client ends too.
    NCT_HALF_CLOSE = 5,
} nct_ending;

/// Whether the reply waits for the request's body. All but NCT_PATIENT send it
/// as soon as the head is whole, without 100 Continue; such a request is
/// counted and kept then, without its body, and is_echo has nothing to send
/// back.
typedef NCT_ENUM(nct_early){
    /// The reply follows the whole request.
    NCT_PATIENT = 0,
    /// After the reply the body is read and dropped, then `ending` follows.
    NCT_EARLY_DISCARD = 1,
    /// `ending` follows the reply at once, the body unread. KEEP is CLOSE here.
    NCT_EARLY_END = 2,
    /// After the reply, or the cut, nothing is read any more, so that the
    /// client's upload stalls. This is a stall as
    /// NCT_STALL is: it can be waited for, and released, which goes on as
    /// DISCARD does. A client that leaves with bytes
    /// that the kernels have no room for is noticed only after the release.
    NCT_EARLY_STOP = 3,
    /// As DISCARD, but a request that expects 100 Continue is taken to have no
    /// body: its client was turned away.
    NCT_EARLY_INSTEAD = 4,
} nct_early;

/// What of the reply never ends: bytes made as they are sent, until the client
/// leaves or the cut is reached.
typedef NCT_ENUM(nct_endless){
    /// Nothing.
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

/// What is sent for one path.
typedef struct nct_reply {
    /// Status code; 0 means 200.
    uint16_t status;
    /// Header lines without the final empty line, each ended by CR LF; NULL for
    /// none. Content-Length is added unless `is_raw` is set, `chunk_bytes` is not
    /// 0 or the lines already hold Content-Length or Transfer-Encoding. Status
    /// 1xx, 204 and 304 have neither body nor Content-Length; nothing is added
    /// but what a field below says.
    const char *NCT_NULLABLE headers;
    /// Body; copied.
    const void *NCT_NULLABLE body;
    /// Bytes in `body`.
    size_t body_length;
    /// When not 0, the body is this many bytes of a fixed pattern (byte i is 'a'
    /// + i % 26), made as it is sent.
    uint64_t pattern_length;
    /// True sends the received request body back as the body, with the request's
    /// Content-Type.
    bool is_echo;
    /// True sends `body` (or the pattern) alone, as the whole reply, also to
    /// HEAD: the head is the script's affair.
    bool is_raw;
    /// When not 0, the body is sent chunked, in chunks of this many bytes, and
    /// Transfer-Encoding is added.
    size_t chunk_bytes;
    /// When `is_cut` is set, sends this many bytes of the whole reply (interim
    /// heads, head and body), then `ending`.
    uint64_t cut_after;
    /// True makes `cut_after` count, also when it is 0.
    bool is_cut;
    /// True makes `cut_after` count bytes of the body, without the framing of
    /// chunks.
    bool is_cut_in_body;
    /// What follows the reply or the cut.
    nct_ending ending;
    /// When not NULL, a Location header with this value is added (and status 0
    /// then means 302).
    const char *NCT_NULLABLE location;
    /// When not 0, the reply is sent in pieces of this many bytes, each in a
    /// write (and TLS record) of its own, the next one only once the kernel has
    /// put the one before on its way.
    size_t drip_bytes;
    /// Milliseconds between two pieces. A client that leaves meanwhile is
    /// noticed.
    uint32_t drip_ms;
    /// Whether the reply waits for the request's body.
    nct_early early;
    /// What of the reply never ends. CHUNKS, EXTENSION and TRAILER mean chunks of
    /// 16 bytes when `chunk_bytes` is 0.
    nct_endless endless;
    /// Sent as it is before the head: whole heads such as "HTTP/1.1 103 Early
    /// Hints\r\nLink: x\r\n\r\n"; NULL for none.
    const char *NCT_NULLABLE interim;
    /// Trailer lines, each ended by CR LF, sent after the last chunk when the
    /// body is chunked; NULL for none.
    const char *NCT_NULLABLE trailers;
    /// True answers GET with `Range: bytes=a-b`, `a-` or `-n` with 206, the part
    /// and Content-Range, or with 416 when it cannot be satisfied. Several
    /// ranges, or an If-Range whose value `headers` do not hold, get the whole
    /// body. Counts only for status 200, and not for an echo.
    bool answers_ranges;
    /// When not NULL, a request without `Authorization: Basic` of this user and
    /// `password` gets 401 with `WWW-Authenticate: Basic realm="nettesting"` and
    /// an empty body instead (as early as `early` says).
    const char *NCT_NULLABLE user;
    /// The password; NULL means the empty one.
    const char *NCT_NULLABLE password;
    /// True makes the body bytes of `file`, read as they are sent, instead of
    /// `body` and the pattern. Only with nct_choice_answer(), which takes the
    /// descriptor over; a file that turns out to be shorter ends the connection.
    bool has_file;
    /// The descriptor; a regular file's.
    int file;
    /// Where in it the body begins.
    uint64_t file_offset;
    /// Bytes of it.
    uint64_t file_length;
    /// Milliseconds before the reply begins. A client that leaves meanwhile is
    /// noticed.
    uint32_t delay_ms;
} nct_reply;

NCT_ASSUME_NONNULL_END

#endif
