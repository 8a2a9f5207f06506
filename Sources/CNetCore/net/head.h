/// Parses response heads line by line, as libcurl delivers them.
#ifndef NETCORE_PRIVATE_HEAD_H
#define NETCORE_PRIVATE_HEAD_H

#include "net/transfer.h"

/// More than the rounds of any scheme, and than stale nonces that a server or proxy sends in a row.
enum { NC_MAX_CHALLENGES = 10 };

/// Processes one line. Returns NC_OK, or the error that it recorded in the transfer.
NC_NODISCARD nc_status nc_head_take_line(nc_transfer *transfer, nc_slice line);

/// Returns true if the next body bytes belong to a challenge that was held back. libcurl did not respond to it then;
/// otherwise the bytes are a line of the next head.
bool nc_head_is_followed_by_body(const nc_transfer *transfer);
/// Accepts the held challenge as the final head. Returns NC_OK, or the error that it recorded in the transfer.
NC_NODISCARD nc_status nc_head_release(nc_transfer *transfer);

#endif
