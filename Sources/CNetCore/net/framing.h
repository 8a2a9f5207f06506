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
    const char *fault;         // what is wrong, NULL when nothing is
} nc_framing;

/// Takes note of one field; a continuation line changes nothing that was noted, and is a fault of a noted field.
void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value);
/// The last field is continued on another line.
void nc_framing_take_fold(nc_framing *framing, nc_slice name);

#endif
