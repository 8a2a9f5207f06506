/// Queries of a transfer's record, and the recording of its first error. None of them runs a transfer of libcurl or
/// calls the caller.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_TRANSFER_STATE_H
#define NETCORE_PRIVATE_TRANSFER_STATE_H

#include "state/transfer_record.h"

/// Parses the URL of a hop that begins, once for all decisions about it. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_transfer_parse_url(nc_transfer *transfer);
/// Returns the text of the hop's URL, with a NUL after its end.
nc_slice nc_transfer_url(const nc_transfer *transfer);
/// Returns the Unix socket path that the hop connects to instead of its host; NULL for none.
const char *nc_transfer_unix_socket(const nc_transfer *transfer);
/// Returns the transfer's proxy settings.
const nc_copied_proxy *nc_transfer_proxy(const nc_transfer *transfer);
/// Returns the record of a handle; NULL for a handle that libcurl made itself to resolve names (DNS over HTTPS).
nc_easy_handle *nc_easy_handle_of(CURL *easy);

/// Returns true if the hop's response is a redirect, whose body is discarded.
static inline bool nc_hop_is_redirect(const nc_transfer *transfer) {
    return transfer->hop.outcome == NC_HOP_REDIRECTS || transfer->hop.outcome == NC_HOP_REDIRECTS_UNREAD;
}
/// Returns true if the engine stops the hop although it has not failed. The error that libcurl then reports is ignored.
static inline bool nc_hop_is_stopped(const nc_transfer *transfer) {
    return transfer->hop.outcome == NC_HOP_IS_COMPLETE || transfer->hop.outcome == NC_HOP_REDIRECTS_UNREAD;
}
/// Records that the engine stops the hop, and that nothing more is read from it.
static inline void nc_hop_stop(nc_transfer *transfer) {
    transfer->hop.outcome = nc_hop_is_redirect(transfer) ? NC_HOP_REDIRECTS_UNREAD : NC_HOP_IS_COMPLETE;
}

/// Records an error of a transfer, unless it has one already. libcurl's callbacks then return an error.
nc_status nc_transfer_record_error(nc_transfer *transfer, nc_status status, int32_t native_code, const char *format,
                                   ...) NC_PRINTF(4, 5) NC_COLD;

/// Returns the limit of the response body. If a file was requested but the body is not saved (an error page), it goes
/// to memory, and the usual limit for memory applies.
uint64_t nc_transfer_max_body_bytes(const nc_transfer *transfer);
/// Returns true if a response with this final head has content (RFC 9112, 6.3, rule 1).
bool nc_transfer_expects_content(const nc_transfer *transfer);
/// Returns true if bytes were received that were not delivered yet.
bool nc_transfer_has_pending_body(const nc_transfer *transfer);
/// Clears the state of a hop's response body.
void nc_transfer_reset_body(nc_transfer *transfer);
/// Returns true if the request's body is still being sent.
bool nc_transfer_is_sending(const nc_transfer *transfer);
/// Returns true if the hop sends trailers after the request's body.
bool nc_transfer_sends_trailers(const nc_transfer *transfer);
/// Returns true if the body has its announced length and libcurl still waits, because a stream's last frame or trailers
/// may follow.
bool nc_transfer_awaits_end(const nc_transfer *transfer);

/// Returns true if the request body can be sent from its first byte: nothing was read yet, or its source can seek.
bool nc_transfer_can_send_body_again(const nc_transfer *transfer);

/// Returns true if the caller or a rate limit pauses the transfer, so that its idle time does not count.
bool nc_transfer_is_held_back(const nc_transfer *transfer);
/// Returns true if a callback provides the request's body or its trailers, and may have none when it is called.
bool nc_transfer_has_source(const nc_transfer *transfer);
/// Returns true if the body's source had no bytes when it was last read.
bool nc_transfer_awaits_source(const nc_transfer *transfer);
/// Returns true if all received bytes were delivered and the reader is not paused.
bool nc_transfer_is_drained(const nc_transfer *transfer);

#endif
