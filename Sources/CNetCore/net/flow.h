/// Flow control of a body in both directions: pausing, rate limits, resuming.
///
/// libcurl decodes nothing, so a pause is a rejected piece: libcurl keeps it, with the rest of its receive buffer, and
/// delivers it again. Bytes that were accepted but not delivered wait in the body pipeline. Event loop thread only.
#ifndef NETCORE_PRIVATE_FLOW_H
#define NETCORE_PRIVATE_FLOW_H

#include "base/list.h"
#include "net/pace.h"
#include "net/timers.h"

#include <curl/curl.h>
#include <netcore/transfers.h>

typedef struct nc_transfer nc_transfer;

/// Reasons to pause a direction, besides those of nc_rest.
enum {
    NC_REST_PACE = 8,   // a rate limit
    NC_REST_TURN = 16,  // the decoder's turn is over, and other transfers have theirs
    NC_REST_HELD = 15,  // every nc_rest and a rate limit: the peer is not slow
    NC_REST_CALLER = 3, // NC_REST_PAUSED and NC_REST_VERDICT
};

typedef struct nc_flow {
    uint8_t receive_rests;
    uint8_t send_rests;
    int pause_mask; // CURLPAUSE_* bits last passed to curl_easy_pause()
    bool has_timer; // reported to the caller
    bool is_over;   // libcurl is done with the hop, the body pipeline is not
    bool is_left;   // the hop is over; drop what libcurl still delivers
    CURLcode code;  // libcurl's result then
    nc_timer timer; // for the end of a debt
    nc_pace send_pace;
    nc_pace receive_pace;
    nc_link turn_link; // in the list of decoders that continue in the next round
} nc_flow;

/// Allocates what the transfer's limits need. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_flow_init(nc_transfer *transfer);
void nc_flow_deinit(nc_transfer *transfer);

/// Begins a hop: only the caller's pauses stay.
void nc_flow_begin_hop(nc_transfer *transfer);
/// Receives a piece from libcurl. Returns its length, CURL_WRITEFUNC_PAUSE, or another number for a failure.
size_t nc_flow_receive(nc_transfer *transfer, nc_slice bytes);
/// Returns how many bytes may be sent now; 0 to pause.
size_t nc_flow_send_room(nc_transfer *transfer, size_t capacity);
/// Pauses sending, because the source has no bytes now.
void nc_flow_rest_sending(nc_transfer *transfer);
/// Counts sent bytes.
void nc_flow_sent(nc_transfer *transfer, size_t bytes);

/// Pauses receiving, because a callback returned NC_PAUSE.
void nc_flow_rest_reading(nc_transfer *transfer);
/// Handles nc_engine_pause() on the event loop.
void nc_flow_pause(nc_transfer *transfer);
/// Changes a receive rate. Neither the old nor the new one is 0.
void nc_flow_set_receive_rate(nc_transfer *transfer, uint64_t bytes_per_s);
/// Handles nc_engine_resume() on the event loop; `reasons` are of nc_rest.
void nc_flow_resume(nc_transfer *transfer, uint8_t reasons);
/// Ends a decoder's turn. It continues in the next round.
void nc_flow_end_turn(nc_transfer *transfer);
/// Continues the decoders whose turn ended in the previous round.
void nc_flow_take_turns(nc_engine *engine);
/// Returns true if the caller or a rate pauses it, so that its idle time does not count.
bool nc_flow_is_held(const nc_transfer *transfer);

/// Returns true if the body's source had no bytes when it was last read.
bool nc_flow_awaits_source(const nc_transfer *transfer);
/// Returns true if all received bytes were delivered and the reader is not paused.
bool nc_flow_is_drained(const nc_transfer *transfer);

/// Handles libcurl's end of the hop. Returns false if decoded bytes are not delivered yet; nc_transfer_hop_done() is
/// then called again after their delivery.
bool nc_flow_end_body(nc_transfer *transfer, CURLcode code);
/// Makes libcurl run a connecting transfer in its next turn, which libcurl itself does not schedule.
void nc_flow_have_run(nc_transfer *transfer);
/// Prepares to remove the hop from libcurl. libcurl loses the buffered bytes of a paused stream when others use its
/// connection, or delivers them to the handle's next request. Returns false if it may still have some.
bool nc_flow_leave_hop(nc_transfer *transfer);

#endif
