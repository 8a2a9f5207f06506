/// The engine's own parser for responses that nghttp2 rejects because of their Content-Length.
///
/// nghttp2 resets a stream, without an option, if a response has one of these:
///   - a 204 with a Content-Length that is not 0. The sender must not generate it (RFC 9110, 8.6), but the response is
///     well-formed: no content is expected (RFC 9113, 8.1.1).
///   - the same Content-Length twice, also as a list. A recipient may treat it as one (RFC 9110, 8.6).
///   - an interim response with a Content-Length, which has no meaning there.
/// Other clients and HTTP/1.1 accept them all. nc_h2_head_read() detects such a head, and nc_h2_answer collects the
/// received part of the response.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_H2_ANSWER_H
#define NETCORE_PRIVATE_H2_ANSWER_H

#include "http/hpack.h"

/// A parsed header block of a response.
typedef struct nc_h2_head {
    nc_buf lines;      // "HTTP/2 204 \r\n", the fields, and an empty line, as libcurl delivers them
    const char *quirk; // why nghttp2 may reject it although it is valid, for messages; NULL if it has no reason
    uint64_t length;   // Content-Length
    uint32_t fields;   // read so far
    uint32_t lengths;  // number of Content-Length fields among them
    uint16_t status;   // 0 if it is invalid
    bool has_list;     // a Content-Length is a list
    bool has_length;   // a Content-Length is valid
    bool is_not_valid; // violates RFC 9113, 8.2 or 8.3
} nc_h2_head;

/// A response that nghttp2 rejects.
typedef struct nc_h2_answer {
    nc_buf heads; // the lines of the interim responses and of the final one
    nc_buf body;
    const char *quirk;
    uint64_t length;
    uint16_t status; // of the final response; 0 before that
    bool has_length;
    bool is_lost;       // it has trailers, or is too large
    bool spans_records; // it continues after the TLS record that ended its first head
    uint64_t record;    // the number of that record
} nc_h2_answer;

/// Returns an empty head without allocated memory.
nc_h2_head nc_h2_head_init(void);
void nc_h2_head_deinit(nc_h2_head *head);
/// Decodes a header block. Returns NC_OK, also for an invalid head (`status` is 0), or the failure of
/// nc_hpack_decode().
NC_NODISCARD nc_status nc_h2_head_read(nc_h2_head *head, nc_hpack *hpack, nc_slice block);

/// Creates a response whose first head is `head`, which has a quirk. Returns NULL if memory is exhausted. The caller
/// frees it.
NC_NODISCARD nc_h2_answer *nc_h2_answer_new(const nc_h2_head *head);
/// Frees a response. NULL is allowed.
void nc_h2_answer_free(nc_h2_answer *answer);
/// Adds a further head of the stream, or its trailers.
void nc_h2_answer_take_head(nc_h2_answer *answer, const nc_h2_head *head);
/// Adds content of DATA. Returns where `count` bytes of it must be written, or NULL to skip them.
uint8_t *nc_h2_answer_take_content(nc_h2_answer *answer, size_t count);

#endif
