/// How a hop ended: libcurl's word for it, and what the head and the connection tell that libcurl passes over.
///
/// Confined to the loop thread; the hop still has its handle.
#ifndef NETCORE_PRIVATE_VERDICT_H
#define NETCORE_PRIVATE_VERDICT_H

#include "net/transfer.h"

/// Returns the code that the hop ends with. It differs from libcurl's in two cases:
///   - A connection that ends without close_notify is an error to libcurl 8, and an end like any other to 7.88: it is
///     the code of 7.88.
///   - A response that nghttp2 has refused is delivered here, where it can be (h2_refused.h).
NC_NODISCARD CURLcode nc_verdict_end(nc_transfer *transfer, CURLcode code);
/// Returns whether the server is known not to have processed the request (RFC 9113, 8.7).
bool nc_verdict_is_unprocessed(const nc_transfer *transfer);
/// Whether a request may be sent again that had no answer: its method says so (RFC 9110, 9.2.2), or its body has not
/// gone out whole.
bool nc_verdict_may_be_sent_again(const nc_transfer *transfer);
/// Whether its hop may begin again over a connection that nobody used before.
bool nc_verdict_may_go_afresh(const nc_transfer *transfer);
/// Returns whether the hop is to be sent again, up to five times, in one of these cases:
///   - The server has not processed it (RFC 9113, 8.7).
///   - The server went away (GOAWAY; RFC 9113, 6.8), or reset the stream without an error, before its answer was there,
///     and the method is idempotent (RFC 9110, 9.2.2).
///   - A kept connection ended while the body's source had nothing, or over HTTP/2.
NC_NODISCARD bool nc_verdict_asks_anew(nc_transfer *transfer, CURLcode code);
/// Whether what failed so and goes again needs a connection of its own: it was that of the kept one.
bool nc_verdict_is_of_used_connection(CURLcode code);
/// Whether the connection's server has asked for less load (GOAWAY with ENHANCE_YOUR_CALM): then nothing is sent again
/// at once. Notes it, for a hop that has failed.
bool nc_verdict_is_calmed(nc_transfer *transfer);
/// Whether a hop over HTTP/2 may have ended because its connection did, in order. (Where a server broke a rule of
/// HTTP/2 its other streams had better wait: libcurl would send each of them again, whatever it does.)
bool nc_verdict_is_of_connection(const nc_transfer *transfer, CURLcode code);
/// Notes what libcurl said, unless one of our own callbacks had said why before.
void nc_verdict_judge(nc_transfer *transfer, CURLcode code);

#endif
