/// When a body moves: resting, pacing and going on, in both directions.
///
/// libcurl never decodes, so a pause is nothing but a piece refused: libcurl keeps it, with what else its receive
/// buffer holds, and gives it again. What was taken of it and not yet given out waits in the delivery. Confined to the
/// loop thread.
#ifndef NETCORE_PRIVATE_FLOW_H
#define NETCORE_PRIVATE_FLOW_H

#include "base/list.h"
#include "net/pace.h"
#include "net/timers.h"

#include <curl/curl.h>
#include <netcore/transfers.h>

typedef struct nc_transfer nc_transfer;

/// Why a direction rests, beside what nc_rest tells.
enum {
    NC_REST_PACE = 8,   // a rate
    NC_REST_TURN = 16,  // the decoder has had its turn, and others have theirs
    NC_REST_HELD = 15,  // every nc_rest, and a rate: it is not the other end that is slow
    NC_REST_CALLER = 3, // NC_REST_PAUSED and NC_REST_VERDICT
};

typedef struct nc_flow {
    uint8_t receive_rests;
    uint8_t send_rests;
    int told;       // CURLPAUSE_ bits that libcurl is under
    bool has_timer; // announced
    bool is_over;   // libcurl is done with the hop, the delivery is not
    bool is_left;   // what libcurl still has of the hop is for nobody
    CURLcode code;  // what libcurl said then
    nc_timer timer; // the end of a debt
    nc_pace send_pace;
    nc_pace receive_pace;
    nc_link turn_link; // among those whose decoders go on in the next round
} nc_flow;

/// Makes room for what the transfer's limits ask; NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_flow_init(nc_transfer *transfer);
void nc_flow_deinit(nc_transfer *transfer);

/// A hop begins: nothing rests but what the caller said.
void nc_flow_begin_hop(nc_transfer *transfer);
/// Takes a piece as libcurl has it: its length, CURL_WRITEFUNC_PAUSE, or another number for a failure.
size_t nc_flow_receive(nc_transfer *transfer, nc_slice bytes);
/// How much may be sent now; 0 when it has to rest.
size_t nc_flow_send_room(nc_transfer *transfer, size_t capacity);
/// The source has nothing to send now.
void nc_flow_rest_sending(nc_transfer *transfer);
/// Bytes were sent.
void nc_flow_sent(nc_transfer *transfer, size_t bytes);

/// A callback said NC_PAUSE: the reader rests, from now on.
void nc_flow_rest_reading(nc_transfer *transfer);
/// nc_engine_pause() reached the loop.
void nc_flow_pause(nc_transfer *transfer);
/// Changes a receiving rate; neither the old one nor the new one is 0.
void nc_flow_set_receive_rate(nc_transfer *transfer, uint64_t bytes_per_s);
/// nc_engine_resume() reached the loop; `reasons` are of nc_rest.
void nc_flow_resume(nc_transfer *transfer, uint8_t reasons);
/// A decoder has had its turn: it goes on in the next round.
void nc_flow_end_turn(nc_transfer *transfer);
/// Lets the decoders go on that had their turn in the round before.
void nc_flow_take_turns(nc_engine *engine);
/// Whether the caller or a rate holds it up, so that its idleness does not count.
bool nc_flow_is_held(const nc_transfer *transfer);

/// Whether the body's source had nothing to give when it was last asked.
bool nc_flow_awaits_source(const nc_transfer *transfer);
/// Whether nothing that has come waits for its reader, who does not rest either.
bool nc_flow_is_drained(const nc_transfer *transfer);

/// libcurl is done with the hop: false when decoded bytes still wait for the reader, and nc_transfer_hop_done() will
/// be called again when they have gone.
bool nc_flow_end_body(nc_transfer *transfer, CURLcode code);
/// Has libcurl run a transfer that connects in its next turn, for which libcurl itself does not ask.
void nc_flow_have_run(nc_transfer *transfer);
/// The hop is about to be taken from libcurl, which loses what it keeps of a stream at rest when others use its
/// connection, or gives it to the handle's next request. False when it may still have some.
bool nc_flow_leave_hop(nc_transfer *transfer);

#endif
