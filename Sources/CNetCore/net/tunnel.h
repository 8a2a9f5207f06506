/// A proxy's response to CONNECT, line by line, as libcurl delivers it.
#ifndef NETCORE_PRIVATE_TUNNEL_H
#define NETCORE_PRIVATE_TUNNEL_H

#include "net/transfer.h"

/// Processes one line that arrived before the connection was ready for the request. Returns NC_OK, or the error that it
/// recorded in the transfer.
///
/// A 407 is kept as the response of the error that the hop ends with. Other responses of a proxy are not responses to
/// the request.
NC_NODISCARD nc_status nc_tunnel_take_line(nc_transfer *transfer, nc_slice line);
/// Returns true if the connection ended without a response to the credentials that followed a 407. The hop then begins
/// again with them (`asks_anew`), once.
bool nc_tunnel_asks_again(nc_transfer *transfer, CURLcode code);

#endif
