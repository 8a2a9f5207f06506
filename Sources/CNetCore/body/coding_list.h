/// Reads Content-Encoding (RFC 9110, 8.4) from its end: codings stand there in the order of application.
#ifndef NETCORE_PRIVATE_CODING_LIST_H
#define NETCORE_PRIVATE_CODING_LIST_H

#include "body/coding_decoder.h"

/// A place in the values of the fields, all of them borrowed.
typedef struct nc_coding_list {
    const nc_slice *values;
    /// Values not yet finished; the last of them is being read.
    size_t count;
    /// Bytes of that one which are left.
    size_t left;
} nc_coding_list;

/// Whether a member names no coding: it is empty, "identity", or "none", as a few servers say.
bool nc_coding_is_none(nc_slice name);

nc_coding_list nc_coding_list_init(const nc_slice *values, size_t count);

/// Reads the next coding to undo; `*out` is NULL when there is none. Those that name none are passed over.
///
/// Returns NC_OK, NC_ERR_BAD_CODING for a coding that is unknown here.
NC_NODISCARD nc_status nc_coding_list_next(nc_coding_list *list, const nc_decoder_kind **out, nc_error *err);

#endif
