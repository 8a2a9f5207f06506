/// The body pipeline: from libcurl's pieces through chunk and content decoding and limits to the reader.
///
/// libcurl decodes nothing: it delivers a body's bytes as the server sent them, and only finds the end of a chunked
/// body. If the reader pauses within a piece, the pipeline keeps the rest of the piece. Event loop thread only.
#ifndef NETCORE_PRIVATE_BODY_PIPELINE_H
#define NETCORE_PRIVATE_BODY_PIPELINE_H

#include "state/body_record.h"

/// Receives a piece from libcurl. Returns its length, CURL_WRITEFUNC_PAUSE, or another number for a failure.
size_t nc_body_pipeline_receive(nc_transfer *transfer, nc_slice bytes);
/// Handles the end of the hop, which libcurl reported with `code`. Returns false if received bytes are not delivered
/// yet; nc_transfer_hop_done() is then called again after their delivery.
bool nc_body_pipeline_end(nc_transfer *transfer, CURLcode code);
/// Begins the body with the framing and codings of the final head. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_body_pipeline_begin(nc_transfer *transfer);
/// Keeps bytes of the body for nc_body_pipeline_continue(). An empty slice is allowed. Returns NC_OK, or the recorded
/// error.
NC_NODISCARD nc_status nc_body_pipeline_keep(nc_transfer *transfer, nc_slice bytes);
/// Delivers pending bytes until the reader pauses. Returns NC_OK, the recorded error, or NC_ERR_STOPPED_BY_CALLER if
/// the hop must end early.
NC_NODISCARD nc_status nc_body_pipeline_continue(nc_transfer *transfer);
/// Handles the end of the body as libcurl reports it. Records an error if the body is incomplete.
void nc_body_pipeline_finish(nc_transfer *transfer);

/// Returns true if the stream was reset, or its connection failed, after a complete response.
bool nc_body_pipeline_is_whole_before_reset(const nc_transfer *transfer, CURLcode code);

/// Records an error if a body to be saved is a partial response to a request without a Range field. Returns NC_OK or
/// the recorded error.
NC_NODISCARD nc_status nc_body_pipeline_check_saving(nc_transfer *transfer);

void nc_write_buffer_deinit(nc_write_buffer *write_buffer);
/// Buffers a piece of the transfer's body. If the buffer has bytes of another transfer, writes those first. Returns
/// NC_OK, or the error that was recorded in this transfer.
NC_NODISCARD nc_status nc_write_buffer_append(nc_write_buffer *write_buffer, nc_transfer *transfer, nc_slice bytes);
/// Writes the buffered bytes. A failure is recorded in the transfer that the bytes belong to.
void nc_write_buffer_emit(nc_write_buffer *write_buffer);
/// Returns true if a write has failed since the last call.
bool nc_write_buffer_take_failure(nc_write_buffer *write_buffer);

#endif
