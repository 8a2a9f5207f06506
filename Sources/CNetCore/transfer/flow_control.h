/// Flow control of a body in both directions: pausing, rate limits, resuming.
///
/// To pause, the write callback returns CURL_WRITEFUNC_PAUSE. libcurl then keeps the rejected bytes and the rest of its
/// receive buffer, and delivers them again after the pause. libcurl decodes nothing, so it buffers no decoded bytes.
/// Bytes that were accepted but not delivered wait in the body pipeline. Event loop thread only.
#ifndef NETCORE_PRIVATE_FLOW_CONTROL_H
#define NETCORE_PRIVATE_FLOW_CONTROL_H

#include "state/body_record.h"
#include "state/transfer_record.h"

void nc_flow_control_deinit(nc_transfer *transfer);

/// Resets the state for a new hop, except the caller's pauses.
void nc_flow_control_hop_start(nc_transfer *transfer);
/// Counts received bytes. If a rate limit is exceeded, pauses until it allows more. With 0 bytes, only checks the
/// limits, because other transfers may have used up the engine's limit.
void nc_flow_control_received(nc_transfer *transfer, size_t bytes);
/// Returns the time from which the rate limits of the transfer and of the engine allow more bytes; 0 if they do now.
uint64_t nc_flow_control_ready_ns(nc_pace *own, nc_pace *shared, uint64_t now_ns);
/// Sets the timer that ends a rate limit's pause. If the timer is already set to an earlier time, it is not changed.
void nc_flow_control_set_timer(nc_transfer *transfer, uint64_t at_ns);
/// Returns how many bytes may be sent now; 0 to pause.
size_t nc_flow_control_send_room(nc_transfer *transfer, size_t capacity);
/// Pauses sending, because the source has no bytes now.
void nc_flow_control_pause_sending(nc_transfer *transfer);
/// Counts sent bytes.
void nc_flow_control_sent(nc_transfer *transfer, size_t bytes);

/// Pauses receiving for a reason of nc_pause_reason.
void nc_flow_control_pause_for(nc_transfer *transfer, uint8_t reason);
/// Updates the paused state that nc_engine_list() reports.
void nc_flow_control_publish_paused(nc_transfer *transfer);
/// Pauses receiving, because a callback returned NC_ACTION_PAUSE.
void nc_flow_control_pause_reading(nc_transfer *transfer);
/// Changes a receive rate. Neither the old nor the new one is 0.
void nc_flow_control_set_receive_rate(nc_transfer *transfer, uint64_t bytes_per_s);
/// Ends the turn of the transfer's decoder. The decoder continues in the next round of the event loop.
void nc_flow_control_end_turn(nc_transfer *transfer);
/// Resumes a paused hop before it is removed from libcurl. Otherwise libcurl could lose the stream's buffered bytes
/// while other streams use the connection, or deliver them to the handle's next request.
///
/// Returns false if libcurl may still have buffered bytes. The handle must not be reused then.
bool nc_flow_control_hop_end(nc_transfer *transfer);

/* --- flow_resume.c: pauses and resumes, which may end a transfer --- */

/// Prepares the transfer's rate limits and their timer, if there are any. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_flow_control_init(nc_transfer *transfer);
/// Handles nc_engine_pause() on the event loop.
void nc_flow_control_pause(nc_transfer *transfer);
/// Handles nc_engine_resume() on the event loop. `reasons` are the bits of nc_pause_reason that end.
void nc_flow_control_resume(nc_transfer *transfer, uint8_t reasons);
/// Continues the decoders whose turn ended in the previous round.
void nc_flow_control_take_turns(nc_engine *engine);

#endif
