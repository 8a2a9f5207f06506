/// Delivers a response that nghttp2 has refused although it is valid, from our own reading of it (h2_answer.h).
///
/// Only what libcurl's TLS has received and verified is delivered, and only a response that is whole: one without
/// content, or whose content came together with its head. For the rest of a longer body the server gets a reset.
///
/// Loop-confined; the hop still has its handle.
#ifndef NETCORE_PRIVATE_H2_REFUSED_H
#define NETCORE_PRIVATE_H2_REFUSED_H

#include "net/transfer.h"

#include <curl/curl.h>

/// Returns whether the hop has ended because of such a response, and it can be delivered.
NC_NODISCARD bool nc_h2_refused_is_readable(const nc_transfer *transfer);
/// Delivers the heads, and leaves the body to nc_flow_end_body(). Returns the code that libcurl would return.
NC_NODISCARD CURLcode nc_h2_refused_deliver(nc_transfer *transfer);
/// Returns why nghttp2 has refused the hop's response although it is valid; NULL where that is not so.
const char *nc_h2_refused_quirk(const nc_transfer *transfer);

#endif
