/// Our own reading of a response that nghttp2 refuses because of its Content-Length.
///
/// nghttp2 resets a stream, without an option, where a response has one of these:
///   - a 204 with a Content-Length that is not 0. The sender must not generate it (RFC 9110, 8.6), but the response is
///     well-formed: no content is expected (RFC 9113, 8.1.1).
///   - the same Content-Length twice, also as a list. A recipient may take it for one (RFC 9110, 8.6).
///   - an interim response with a Content-Length, which has no meaning there.
/// Other clients and HTTP/1.1 accept them all. nc_h2_head_read() finds such a head, and nc_h2_answer collects the
/// response as far as it comes.
///
/// Loop-confined.
#ifndef NETCORE_PRIVATE_H2_ANSWER_H
#define NETCORE_PRIVATE_H2_ANSWER_H

#include "http/hpack.h"

/// A header block of a response, as it is read.
typedef struct nc_h2_head {
    nc_buf lines;      // "HTTP/2 204 \r\n", the fields, and an empty line: as libcurl delivers them
    const char *quirk; // why nghttp2 may refuse it although it is valid, for messages; NULL where it has no reason
    uint64_t length;   // Content-Length
    uint32_t fields;   // read so far
    uint32_t lengths;  // of these, Content-Length
    uint16_t status;   // 0 when it is not valid
    bool has_list;     // a Content-Length is a list
    bool has_length;   // a Content-Length can be read
    bool is_not_valid; // RFC 9113, 8.2 and 8.3
} nc_h2_head;

/// A response that nghttp2 refuses.
typedef struct nc_h2_answer {
    nc_buf heads; // the lines of the interim responses and of the final one
    nc_buf body;
    const char *quirk;
    uint64_t length;
    uint16_t status; // of the final response; 0 before it
    bool has_length;
    bool is_lost;       // it has trailers, or is too large
    bool spans_records; // it goes on behind the record of TLS that ended its first head
    uint64_t record;    // the number of that record
} nc_h2_answer;

/// A head without memory.
nc_h2_head nc_h2_head_init(void);
void nc_h2_head_deinit(nc_h2_head *head);
/// Decodes a header block. Returns NC_OK, also for a block that is no valid head (`status` is 0), or what
/// nc_hpack_decode() returns.
NC_NODISCARD nc_status nc_h2_head_read(nc_h2_head *head, nc_hpack *hpack, nc_slice block);

/// Makes an answer whose first head is `head`, with a quirk; NULL when memory is short. The caller frees it.
NC_NODISCARD nc_h2_answer *nc_h2_answer_new(const nc_h2_head *head);
/// Frees an answer; NULL is harmless.
void nc_h2_answer_free(nc_h2_answer *answer);
/// Takes a further head of the stream, or its trailers.
void nc_h2_answer_take_head(nc_h2_answer *answer, const nc_h2_head *head);
/// Takes content of DATA: returns where `count` bytes of it are to be written, or NULL for nowhere.
uint8_t *nc_h2_answer_take_content(nc_h2_answer *answer, size_t count);

#endif
