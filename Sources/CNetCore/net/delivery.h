/// The body pipeline: from libcurl's pieces through chunk and content decoding and limits to the reader.
///
/// libcurl decodes nothing here. It finds the end of a chunked body, and delivers the bytes as they were sent. Bytes
/// that a paused reader has not taken are kept. Event loop thread only.
#ifndef NETCORE_PRIVATE_DELIVERY_H
#define NETCORE_PRIVATE_DELIVERY_H

#include "body/chunked.h"
#include "body/coding.h"

#include <curl/curl.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_delivery {
    bool is_chunked;
    nc_chunked chunked;
    nc_buf kept; // chunks that arrived together with the one at which the reader paused
    size_t kept_at;
    nc_coding *coding; // NULL without a coding
} nc_delivery;

/// Clears the state of a hop's body.
void nc_delivery_reset(nc_transfer *transfer);
/// Begins the body with the framing and codings of the final head. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_delivery_begin(nc_transfer *transfer);
/// Processes a piece of the body from libcurl. Returns NC_OK, the recorded error, or NC_ERR_STOPPED_BY_CALLER if the
/// hop must end early.
NC_NODISCARD nc_status nc_delivery_take(nc_transfer *transfer, nc_slice bytes);
/// Keeps bytes of the body for nc_delivery_go_on(). An empty slice is allowed. Returns NC_OK, or the recorded error.
NC_NODISCARD nc_status nc_delivery_keep(nc_transfer *transfer, nc_slice bytes);
/// Returns true if bytes are pending that were received but not delivered.
bool nc_delivery_is_pending(const nc_transfer *transfer);
/// Delivers pending bytes until the reader pauses. Returns the same as nc_delivery_take().
NC_NODISCARD nc_status nc_delivery_go_on(nc_transfer *transfer);
/// Delivers bytes to the file, the sink or the response. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_delivery_hand_over(nc_transfer *transfer, nc_slice bytes);
/// Handles the end of the body as libcurl reports it. Records an error if the body is incomplete.
void nc_delivery_finish(nc_transfer *transfer);

/// Returns true if the request's body is still being sent.
bool nc_delivery_is_sending(const nc_transfer *transfer);
/// Returns true if the body has its announced length and libcurl still waits: a stream's last frame or trailers may
/// follow.
bool nc_delivery_awaits_end(const nc_transfer *transfer);
/// Returns true if the body's stream is known to have ended with END_STREAM after all delivered bytes.
bool nc_delivery_has_stream_end(const nc_transfer *transfer);
/// Returns true if the stream was reset, or its connection failed, after a complete response.
bool nc_delivery_is_whole_before_reset(const nc_transfer *transfer, CURLcode code);

/// Checks that a body to be saved is the whole: an unrequested range is an error. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_delivery_check_saving(nc_transfer *transfer);
/// Returns the limit of the body. A body that is not saved, although a file was requested, goes to memory, where the
/// usual limit applies.
uint64_t nc_delivery_max_bytes(const nc_transfer *transfer);
/// Returns true if a response with this final head has content (RFC 9112, 6.3, rule 1).
bool nc_delivery_has_content(const nc_transfer *transfer);

#endif
