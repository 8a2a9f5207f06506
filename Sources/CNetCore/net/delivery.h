/// The body's way from libcurl's pieces to whoever wants it: chunks and codings undone, limits kept.
///
/// libcurl decodes nothing: it finds out where a chunked body ends, and gives out what was sent. What a reader that
/// rests has not taken yet waits here. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_DELIVERY_H
#define NETCORE_PRIVATE_DELIVERY_H

#include "body/chunked.h"
#include "body/coding.h"

#include <curl/curl.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_delivery {
    bool is_chunked;
    nc_chunked chunked;
    nc_buf kept; // chunks that came in one piece with the one over which the reader went to rest
    size_t kept_at;
    nc_coding *coding; // NULL without any
} nc_delivery;

/// Forgets a hop's body.
void nc_delivery_reset(nc_transfer *transfer);
/// The final head says how the body is framed and coded; NC_OK or what was noted.
NC_NODISCARD nc_status nc_delivery_begin(nc_transfer *transfer);
/// Takes a piece of the body as libcurl has it; NC_OK, or what was noted, or NC_ERR_STOPPED_BY_CALLER when the hop is
/// to end early.
NC_NODISCARD nc_status nc_delivery_take(nc_transfer *transfer, nc_slice bytes);
/// Keeps bytes of the body, which nc_delivery_go_on() takes; none is harmless. NC_OK, or what the transfer has noted as
/// its end.
NC_NODISCARD nc_status nc_delivery_keep(nc_transfer *transfer, nc_slice bytes);
/// Whether something that was taken has not been given out yet.
bool nc_delivery_is_pending(const nc_transfer *transfer);
/// Gives out what is pending, until the reader rests; as nc_delivery_take().
NC_NODISCARD nc_status nc_delivery_go_on(nc_transfer *transfer);
/// Gives bytes to the file, the sink or the response, whichever wants them; NC_OK or what was noted.
NC_NODISCARD nc_status nc_delivery_hand_over(nc_transfer *transfer, nc_slice bytes);
/// libcurl calls the body whole: notes when it is not.
void nc_delivery_finish(nc_transfer *transfer);

/// Whether the request's body is still on its way.
bool nc_delivery_is_sending(const nc_transfer *transfer);
/// Whether the body is as long as announced and libcurl waits on: a stream's last frame or its trailers may follow.
bool nc_delivery_awaits_end(const nc_transfer *transfer);
/// Whether the body's stream is known to have ended with END_STREAM, behind all that was delivered.
bool nc_delivery_has_stream_end(const nc_transfer *transfer);
/// Whether the stream was reset, or its connection failed, behind an answer that is whole.
bool nc_delivery_is_whole_before_reset(const nc_transfer *transfer, CURLcode code);

/// Whether a body that is to be saved is the whole: a part that was not asked for is an error. NC_OK or what was noted.
NC_NODISCARD nc_status nc_delivery_check_saving(nc_transfer *transfer);
/// How large the body may be: what is not saved, beside a file that was asked for, comes into memory, where the usual
/// limit holds.
uint64_t nc_delivery_max_bytes(const nc_transfer *transfer);
/// Whether the final head of a reply is followed by content at all (RFC 9112, 6.3, rule 1).
bool nc_delivery_has_content(const nc_transfer *transfer);

#endif
