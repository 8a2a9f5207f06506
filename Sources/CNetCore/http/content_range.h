/// Reads the fields that describe which part of a representation a body is. Pure.
#ifndef NETCORE_PRIVATE_CONTENT_RANGE_H
#define NETCORE_PRIVATE_CONTENT_RANGE_H

#include <netcore/bytes.h>
#include <netcore/content_range.h>
#include <netcore/header.h>

/// Parses a decimal number. Returns false if there are no digits, other characters, or too many digits.
bool nc_decimal_read(uint64_t *out, nc_slice text);

/// Moves the text before the next `mark` from `text` to `head`, and removes the mark. Returns false if `text` contains
/// no mark.
bool nc_slice_cut(nc_slice *head, nc_slice *text, char mark);

/// The extent of a body. Start with all fields zero.
typedef struct nc_body_extent {
    bool has_range; // exactly one valid Content-Range
    nc_content_range range;
    size_t range_count; // fields with the name Content-Range
    bool claims_range;  // there is a Content-Range in bytes, valid or invalid
    bool has_length;
    uint64_t length; // Content-Length
    bool is_coded;   // has a coding other than "identity"
} nc_body_extent;

/// Takes one field of the response. Ignores fields with other names.
void nc_body_extent_take(nc_body_extent *extent, nc_header field);
/// Returns true if the body is a part of the representation: status 206, or another success whose Content-Range covers
/// less than the whole.
bool nc_body_extent_is_part(uint16_t status, const nc_body_extent *extent);

#endif
