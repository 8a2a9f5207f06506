/// The hop result: libcurl's result code, corrected by what the head and the connection show.
///
/// Event loop thread only; the hop still has its handle.
#ifndef NETCORE_PRIVATE_VERDICT_H
#define NETCORE_PRIVATE_VERDICT_H

#include "net/transfer.h"

/// Returns the code that the hop ends with. It differs from libcurl's in two cases:
///   - A connection that ends without close_notify is an error in libcurl 8, and a normal end in 7.88. The code of 7.88
///     is returned.
///   - A response that nghttp2 has rejected is delivered here, if possible (h2_refused.h).
NC_NODISCARD CURLcode nc_verdict_end(nc_transfer *transfer, CURLcode code);
/// Returns true if the server is known not to have processed the request (RFC 9113, 8.7).
bool nc_verdict_is_unprocessed(const nc_transfer *transfer);
/// Returns true if a request without a response may be resent: its method is idempotent (RFC 9110, 9.2.2), or its body
/// was not sent completely.
bool nc_verdict_may_be_sent_again(const nc_transfer *transfer);
/// Returns true if its hop may begin again on a new connection.
bool nc_verdict_may_go_afresh(const nc_transfer *transfer);
/// Returns true if the hop must be resent, up to five times, in one of these cases:
///   - The server has not processed it (RFC 9113, 8.7).
///   - The server closed (GOAWAY; RFC 9113, 6.8), or reset the stream without an error, before its response, and the
///     method is idempotent (RFC 9110, 9.2.2).
///   - An idle connection ended while the body's source had no bytes, or over HTTP/2.
NC_NODISCARD bool nc_verdict_asks_anew(nc_transfer *transfer, CURLcode code);
/// Returns true if a hop that failed with this code needs a new connection to be resent: the failure was that of the
/// idle one.
bool nc_verdict_is_of_used_connection(CURLcode code);
/// Returns true if the connection's server has reported overload (GOAWAY with ENHANCE_YOUR_CALM): then nothing is
/// resent immediately. Records it for a failed hop.
bool nc_verdict_is_calmed(nc_transfer *transfer);
/// Returns true if a hop over HTTP/2 may have ended because its connection was closed. (If a server broke a rule of
/// HTTP/2, its other streams should wait: libcurl would resend each of them, idempotent or not.)
bool nc_verdict_is_of_connection(const nc_transfer *transfer, CURLcode code);
/// Records libcurl's result, unless a callback of the engine has recorded an error before.
void nc_verdict_judge(nc_transfer *transfer, CURLcode code);

#endif
