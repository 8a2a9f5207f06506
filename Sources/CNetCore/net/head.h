/// Response heads, line by line, as libcurl hands them over.
#ifndef NETCORE_PRIVATE_HEAD_H
#define NETCORE_PRIVATE_HEAD_H

#include "net/transfer.h"

/// Takes one line. NC_OK, or what the transfer has noted as its end.
NC_NODISCARD nc_status nc_head_take_line(nc_transfer *transfer, nc_slice line);

#endif
