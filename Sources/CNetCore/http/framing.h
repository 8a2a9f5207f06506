/// The syntax of a head's lines (RFC 9112, 2 to 5), and the framing of the body that its fields define (RFC 9112, 6.3).
///
/// libcurl accepts many invalid heads. It uses the first Content-Length that it can parse, and ignores further ones. If
/// libcurl and a proxy read one head differently, an attacker can smuggle a response. So every ambiguous head is
/// rejected here. Pure.
#ifndef NETCORE_PRIVATE_FRAMING_H
#define NETCORE_PRIVATE_FRAMING_H

#include <netcore/bytes.h>
#include <netcore/response.h>

typedef struct nc_framing {
    uint64_t length;
    bool has_length;
    bool is_chunked;
    bool has_transfer_coding; // including "identity"
    bool has_location;
    bool has_cookies;
    bool has_folded_challenge;      // a challenge has several lines, of which libcurl may read only the first
    uint32_t coding_count;          // content codings without "identity"
    uint32_t transfer_coding_count; // transfer codings except "chunked" and "identity"
    bool follows_dropped_line;      // the previous line was malformed and dropped
    const char *fault;              // the error; NULL if there is none
} nc_framing;

/// Returns the codings in a valid Transfer-Encoding value before "chunked"; the value itself if it is not chunked.
nc_slice nc_framing_transfer_codings(nc_slice value);
/// Processes one field.
void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value);
/// Returns true if another reader could mistake a malformed line for a field that frames the body. Its name may have
/// blanks, controls, quotes or foreign letters in it or around it. The caller must reject the head then. It may drop
/// other malformed lines.
bool nc_framing_hides_in(nc_slice line);
/// Processes a continuation line of the field `name`. It is an error in a field that frames or encodes the body.
void nc_framing_take_fold(nc_framing *framing, nc_slice name);

/* --- lines --- */

/// Returns the text without leading blanks, trailing blanks and line end.
nc_slice nc_head_line_trim(nc_slice text);
/// Parses a status line. Returns false if it is invalid.
bool nc_head_line_parse_status(nc_slice line, uint16_t *status, nc_http_version *version);
/// Returns true if the line has a CR that is not part of its line end.
bool nc_head_line_has_stray_cr(nc_slice line);
/// Returns true if the text is a valid field name.
bool nc_head_line_is_name(nc_slice name);

#endif
