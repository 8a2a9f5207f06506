/// Response heads, line by line, as libcurl hands them over.
#ifndef NETCORE_PRIVATE_HEAD_H
#define NETCORE_PRIVATE_HEAD_H

#include "net/transfer.h"

/// More than any scheme has rounds, and than a server or a proxy has stale nonces in a row.
enum { NC_MAX_CHALLENGES = 10 };

/// Takes one line. NC_OK, or what the transfer has noted as its end.
NC_NODISCARD nc_status nc_head_take_line(nc_transfer *transfer, nc_slice line);

/// A challenge was held back because libcurl may answer it by itself. Whether the body that comes now is that head's
/// own (libcurl did not answer); otherwise it is a line of the next head.
bool nc_head_is_followed_by_body(const nc_transfer *transfer);
/// The head that was held back is the final one after all. NC_OK, or what the transfer has noted as its end.
NC_NODISCARD nc_status nc_head_release(nc_transfer *transfer);

#endif
