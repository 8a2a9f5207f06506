/// The engine's own parser for responses that nghttp2 rejects because of their Content-Length.
///
/// nghttp2 resets a stream in the following cases, and has no option to accept these responses:
///   - A 204 has a Content-Length that is not 0. A sender must not generate it (RFC 9110, 8.6). But the response is
///     well-formed, because no content is expected (RFC 9113, 8.1.1).
///   - The same Content-Length occurs twice, in two fields or in a list. A recipient may treat both as one (RFC 9110,
///     8.6).
///   - An interim response has a Content-Length, which has no meaning there.
/// Other HTTP/2 clients accept all three cases, and so do clients over HTTP/1.1. nc_h2_head_read() detects such a head.
/// nc_h2_response then collects the received part of the response.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_H2_RESPONSE_H
#define NETCORE_PRIVATE_H2_RESPONSE_H

#include "http/hpack.h"

/// A parsed header block of a response.
typedef struct nc_h2_head {
    nc_buf lines;      // "HTTP/2 204 \r\n", the fields, and an empty line, as libcurl delivers them
    const char *quirk; // for messages: the reason why nghttp2 may reject this valid head; NULL if there is none
    uint64_t length;   // Content-Length
    uint32_t fields;   // number of fields read so far
    uint32_t lengths;  // number of Content-Length fields
    uint16_t status;   // 0 if the head is invalid
    bool has_list;     // a Content-Length is a list
    bool has_length;   // a Content-Length is valid
    bool is_not_valid; // violates RFC 9113, 8.2 or 8.3
} nc_h2_head;

/// A response that nghttp2 may reject.
typedef struct nc_h2_response {
    nc_buf heads; // the lines of the interim responses and of the final one
    nc_buf body;
    const char *quirk;
    uint64_t length;
    uint16_t status; // of the final response; 0 before that
    bool has_length;
    bool is_lost;       // the response cannot be used: it has trailers, is invalid, or is too large
    bool spans_records; // the response continues after the TLS record in which its first head ended
    uint64_t record;    // the number of the TLS record in which the first head ended
} nc_h2_response;

/// Returns an empty head without allocated memory.
nc_h2_head nc_h2_head_init(void);
void nc_h2_head_deinit(nc_h2_head *head);
/// Decodes a header block. Returns NC_OK, or the failure of nc_hpack_decode(). An invalid head is not a failure: its
/// `status` is 0.
NC_NODISCARD nc_status nc_h2_head_read(nc_h2_head *head, nc_hpack *hpack, nc_slice block);

/// Creates a response whose first head is `head`, which has a quirk. Returns NULL if memory is exhausted. The caller
/// frees it.
NC_NODISCARD nc_h2_response *nc_h2_response_new(const nc_h2_head *head);
/// Frees a response. NULL is allowed.
void nc_h2_response_free(nc_h2_response *response);
/// Adds a further head of the stream, or its trailers.
void nc_h2_response_take_head(nc_h2_response *response, const nc_h2_head *head);
/// Makes room for `count` bytes of content of DATA frames. Returns the address to which the caller must copy them, or
/// NULL if the bytes are not needed.
uint8_t *nc_h2_response_take_content(nc_h2_response *response, size_t count);

#endif
