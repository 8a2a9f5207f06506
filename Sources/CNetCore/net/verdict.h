/// How a hop ended: libcurl's word for it, and what the head and the connection tell that libcurl passes over.
///
/// Confined to the loop thread; the hop still has its handle.
#ifndef NETCORE_PRIVATE_VERDICT_H
#define NETCORE_PRIVATE_VERDICT_H

#include "net/transfer.h"

/// A connection that ends without close_notify is an error to libcurl 8, and an end like any other to 7.88: the code
/// that 7.88 would give.
NC_NODISCARD CURLcode nc_verdict_plain_end(const nc_transfer *transfer, CURLcode code);
/// Notes what libcurl said, unless one of our own callbacks had said why before.
void nc_verdict_judge(nc_transfer *transfer, CURLcode code);

#endif
