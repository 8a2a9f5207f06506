/// Parses a request while it arrives: first its head, then its body. The input buffer may also contain the beginning of
/// the next request.
#ifndef NCT_REQUEST_H
#define NCT_REQUEST_H

#include "bytes.h"

/// The progress of the parser.
typedef enum nct_progress {
    /// More bytes are needed.
    NCT_PROGRESS_MORE,
    /// The part is complete.
    NCT_PROGRESS_WHOLE,
    /// The bytes are not an HTTP/1 request, or memory is exhausted.
    NCT_PROGRESS_BAD,
} nct_progress;

/// The part that the parser expects next.
typedef enum nct_request_phase {
    /// Request line and header lines.
    NCT_EXPECT_HEAD,
    /// `remaining` bytes.
    NCT_EXPECT_BODY,
    /// A chunk's length line.
    NCT_EXPECT_CHUNK,
    /// `remaining` bytes of a chunk.
    NCT_EXPECT_CHUNK_DATA,
    /// The line end after a chunk's bytes.
    NCT_EXPECT_CHUNK_END,
    /// Trailer lines, up to the empty one.
    NCT_EXPECT_TRAILER,
    /// Nothing.
    NCT_EXPECT_NOTHING,
} nct_request_phase;

/// Header fields whose value is kept.
typedef enum nct_request_field {
    /// Content-Type.
    NCT_FIELD_CONTENT_TYPE,
    /// Range.
    NCT_FIELD_RANGE,
    /// If-Range.
    NCT_FIELD_IF_RANGE,
    /// Authorization.
    NCT_FIELD_AUTHORIZATION,
    /// Proxy-Authorization.
    NCT_FIELD_PROXY_AUTHORIZATION,
    /// Upgrade.
    NCT_FIELD_UPGRADE,
    /// Sec-WebSocket-Key.
    NCT_FIELD_SOCKET_KEY,
    /// Number of fields.
    NCT_FIELD_COUNT,
} nct_request_field;

/// One request. A zeroed struct is ready for use.
typedef struct nct_request {
    /// The first bytes of the request, at most NCT_RECORD_REQUEST_BYTES.
    nct_bytes first;
    /// Bytes received.
    uint64_t length;
    /// Bytes of the body received, without framing.
    uint64_t body_received;
    /// The path up to '?'.
    nct_bytes path;
    /// Values of fields; empty for none.
    nct_bytes fields[NCT_FIELD_COUNT];
    /// The body without chunk framing; empty if nct_request_take_body() does not keep it.
    nct_bytes body;
    /// Bytes of the body or chunk that are still expected.
    uint64_t remaining;
    /// Number of bytes in the input buffer that were searched for the end of the head. The next search begins after
    /// them.
    size_t searched;
    /// The part that is expected next.
    nct_request_phase phase;
    /// The method is HEAD.
    bool is_head;
    /// The method is GET.
    bool is_get;
    /// The connection ends after the reply (Connection: close, HTTP/1.0).
    bool is_last;
    /// The version is HTTP/1.0.
    bool is_1_0;
    /// The client expects 100 Continue.
    bool is_waiting;
} nct_request;

/// Frees the members.
void nct_request_deinit(nct_request *request);

/// Resets the struct for the next request, and keeps its storage.
void nct_request_reset(nct_request *request);

/// Takes the head from `in`. Returns NCT_PROGRESS_WHOLE immediately if the head was taken before.
nct_progress nct_request_take_head(nct_request *request, nct_bytes *in);

/// Takes body bytes from `in`. Appends them to `body` if `is_kept` is true; otherwise drops them.
nct_progress nct_request_take_body(nct_request *request, nct_bytes *in, bool is_kept);

#endif
