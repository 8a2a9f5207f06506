/// The hop result: libcurl's result code, corrected by what the head and the connection show.
///
/// Event loop thread only; the hop still has its handle.
#ifndef NETCORE_PRIVATE_HOP_RESULT_H
#define NETCORE_PRIVATE_HOP_RESULT_H

#include "state/transfer_record.h"

/// Returns the code that the hop ends with. It differs from libcurl's in two cases:
///   - A connection ended without close_notify: see nc_quirk_end_without_close_notify().
///   - A response that nghttp2 has rejected is delivered here, if possible (h2_refused_response.c).
NC_NODISCARD CURLcode nc_hop_result_end(nc_transfer *transfer, CURLcode code);
/// Returns true if the server is known not to have processed the request (RFC 9113, 8.7).
bool nc_hop_result_is_unprocessed(const nc_transfer *transfer);
/// Returns true if a request without a response may be resent: its method is idempotent (RFC 9110, 9.2.2), or its body
/// was not sent completely.
bool nc_hop_result_can_resend(const nc_transfer *transfer);
/// Returns true if the hop may begin again on a new connection. Its body must be repeatable, and there is a limit of
/// attempts.
bool nc_hop_result_can_use_new_connection(const nc_transfer *transfer);
/// Returns true if the hop must be resent, up to five times, in one of these cases:
///   - The server has not processed it (RFC 9113, 8.7).
///   - The server closed (GOAWAY; RFC 9113, 6.8), or reset the stream without an error, before its response, and the
///     method is idempotent (RFC 9110, 9.2.2).
///   - An idle connection ended while the body's source had no bytes, or over HTTP/2 with an idempotent method.
///   - An idle connection had other bytes before the response, or cannot carry the request's chunks (HTTP/1.0).
///   - nghttp2 rejected the response, and the hop can use HTTP/1.1.
NC_NODISCARD bool nc_hop_result_will_retry(nc_transfer *transfer, CURLcode code);
/// Returns true if a hop that failed with this code must be resent on a new connection. The state of the idle
/// connection caused the failure.
bool nc_hop_result_is_reused_connection_error(CURLcode code);
/// Returns true if the connection's server has reported overload (GOAWAY with ENHANCE_YOUR_CALM), and records that as
/// the transfer's error. The request must not be resent immediately.
bool nc_hop_result_is_enhance_your_calm(nc_transfer *transfer);
/// Returns true if a hop over HTTP/2 may have ended because its connection was closed, not by an HTTP/2 error. Only
/// then may libcurl check the other streams: after an HTTP/2 error it would resend each of them, idempotent or not.
bool nc_hop_result_is_connection_error(const nc_transfer *transfer, CURLcode code);
/// Records libcurl's result, unless a callback of the engine has recorded an error before.
void nc_hop_result_evaluate(nc_transfer *transfer, CURLcode code);

#endif
