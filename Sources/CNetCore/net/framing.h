/// The framing of a response body, derived from the head field by field (RFC 9112, 6.3).
///
/// libcurl uses the first length that it can parse, and ignores the rest. If two parties read one head differently, a
/// response can be smuggled. So everything ambiguous is rejected here. Pure.
#ifndef NETCORE_PRIVATE_FRAMING_H
#define NETCORE_PRIVATE_FRAMING_H

#include <netcore/bytes.h>

typedef struct nc_framing {
    uint64_t length;
    bool has_length;
    bool is_chunked;
    bool has_transfer_coding; // including "identity"
    bool has_location;
    bool has_cookies;
    bool has_folded_challenge; // libcurl before 8.18 only reads its first line
    uint32_t coding_count;     // content codings without "identity"
    bool is_behind_dropped;    // the last line was malformed and dropped
    const char *fault;         // the error; NULL if there is none
} nc_framing;

/// Processes one field. A continuation line changes nothing, and is an error in a field that matters here.
void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value);
/// Returns true if another reader could take a malformed line (up to its colon) for a field that frames the body: a
/// name with blanks, controls, quotes or foreign letters in or around it. Such a line is rejected; others may be
/// dropped.
bool nc_framing_hides_in(nc_slice line);
/// Handles a continuation line of the last field.
void nc_framing_take_fold(nc_framing *framing, nc_slice name);

#endif
