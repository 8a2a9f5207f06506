/// Parses Content-Encoding (RFC 9110, 8.4) from its end, because codings are listed in the order of application.
#ifndef NETCORE_PRIVATE_CODING_LIST_H
#define NETCORE_PRIVATE_CODING_LIST_H

#include "body/coding_decoder.h"

/// A position in the values of the fields, which are borrowed.
typedef struct nc_coding_list {
    const nc_slice *values;
    /// Values that are left; the last of them is being parsed.
    size_t count;
    /// Bytes of that value that are left.
    size_t left;
} nc_coding_list;

/// Returns true if a member is no coding: empty, "identity", or the "none" of a few servers.
bool nc_coding_is_none(nc_slice name);

nc_coding_list nc_coding_list_init(const nc_slice *values, size_t count);

/// Returns the next coding to decode in `*out`; NULL if there is none. Skips members that are no codings.
///
/// Returns NC_OK, NC_ERR_BAD_CODING for an unknown coding.
NC_NODISCARD nc_status nc_coding_list_next(nc_coding_list *list, const nc_decoder_kind **out, nc_error *err);

#endif
