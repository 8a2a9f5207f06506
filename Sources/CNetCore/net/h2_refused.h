/// Delivers a valid response that nghttp2 has rejected, as the engine parsed it (h2_answer.h).
///
/// Only bytes that libcurl's TLS has received and verified are delivered, and only a complete response: without
/// content, or with content that arrived together with its head. A longer body is reset.
///
/// Event loop thread only; the hop still has its handle.
#ifndef NETCORE_PRIVATE_H2_REFUSED_H
#define NETCORE_PRIVATE_H2_REFUSED_H

#include "net/transfer.h"

#include <curl/curl.h>

/// Returns true if the hop has ended because of such a response, and it can be delivered.
NC_NODISCARD bool nc_h2_refused_is_readable(const nc_transfer *transfer);
/// Delivers the heads, and leaves the body to nc_flow_end_body(). Returns the code that libcurl would return.
NC_NODISCARD CURLcode nc_h2_refused_deliver(nc_transfer *transfer);
/// Returns why nghttp2 has rejected the hop's valid response, or NULL if it has not.
const char *nc_h2_refused_quirk(const nc_transfer *transfer);

#endif
