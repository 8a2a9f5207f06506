/// What the fields of a response head say of where its body ends, gathered field by field (RFC 9112, 6.3).
///
/// libcurl takes the first length that it can read and forgives the rest; two parties that read one head in two ways
/// are how responses get smuggled, so whatever is not plain is refused here. Pure.
#ifndef NETCORE_PRIVATE_FRAMING_H
#define NETCORE_PRIVATE_FRAMING_H

#include <netcore/bytes.h>

typedef struct nc_framing {
    uint64_t length;
    bool has_length;
    bool is_chunked;
    bool has_transfer_coding; // "identity" included
    bool has_location;
    bool has_cookies;
    bool has_folded_challenge; // libcurl before 8.18 reads its first line alone
    uint32_t coding_count;     // content codings, "identity" left out
    bool is_behind_dropped;    // the last line was a malformed one that was dropped
    const char *fault;         // what is wrong, NULL when nothing is
} nc_framing;

/// Takes note of one field; a continuation line changes nothing that was noted, and is a fault of a noted field.
void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value);
/// Whether a malformed line, up to its colon, could mean a field that frames the body to another reader: a name with
/// blanks, controls, quotes or foreign letters in or around it. Such a line is refused, where others may be dropped.
bool nc_framing_hides_in(nc_slice line);
/// The last field is continued on another line.
void nc_framing_take_fold(nc_framing *framing, nc_slice name);

#endif
