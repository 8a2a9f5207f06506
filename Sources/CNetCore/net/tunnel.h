/// What a proxy says to a CONNECT, line by line, as libcurl hands it over.
#ifndef NETCORE_PRIVATE_TUNNEL_H
#define NETCORE_PRIVATE_TUNNEL_H

#include "net/transfer.h"

/// Takes one line that came before the connection was ready for the request. NC_OK, or what the transfer has noted as
/// its end.
///
/// A 407 asks who asks, and is kept as the response of the error that the hop ends with; whatever else a proxy says is
/// no answer to the request.
NC_NODISCARD nc_status nc_tunnel_take_line(nc_transfer *transfer, nc_slice line);
/// Whether the connection ended instead of an answer to the credentials that followed a 407: the hop then begins again
/// with them (`asks_anew`), once.
bool nc_tunnel_asks_again(nc_transfer *transfer, CURLcode code);

#endif
