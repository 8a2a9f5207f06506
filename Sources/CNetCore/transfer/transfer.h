/// The life of a transfer: queued, started, passed to libcurl, followed over redirects, ended.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_TRANSFER_H
#define NETCORE_PRIVATE_TRANSFER_H

#include "curl/connection_pool.h"
#include "state/engine_record.h"
#include "state/transfer_record.h"

#include <netcore/transfers.h>

/// Checks the request and creates a transfer with a copy of it. The transfer has no id until nc_commands_submit().
NC_NODISCARD nc_status nc_transfer_new(nc_transfer **out, nc_engine *engine, const nc_request *request,
                                       const nc_sink *sink, nc_error *err);
/// Makes a new transfer one that opens a WebSocket: see nc_engine_submit_socket().
void nc_transfer_make_socket(nc_transfer *transfer);
/// Frees a transfer that is in no list.
void nc_transfer_free(nc_transfer *transfer);

/// Puts a hop into the queue; `is_first`: before all waiting ones, for a redirect or a hop that begins again.
void nc_transfer_enqueue(nc_transfer *transfer, bool is_first);
/// Continues after the transfer got a slot: opens its files, chooses its connection pool and waits for the pool's
/// authorities.
void nc_transfer_start(nc_transfer *transfer);
/// Passes the hop to libcurl, after its pool is ready.
void nc_transfer_launch(nc_transfer *transfer);
/// Handles the end of the hop, which libcurl reported with `code`.
void nc_transfer_hop_done(nc_transfer *transfer, CURLcode code);
/// Ends a transfer whose files are closed, or that has none. nc_transfer_deliver_ended() then calls its on_done.
void nc_transfer_finish_now(nc_transfer *transfer);
/// Calls on_done for the transfers that have ended, first in, first out, and frees them. The event loop calls it after
/// each step that can end a transfer, never inside a call of libcurl.
void nc_transfer_deliver_ended(nc_engine *engine);
/// Ends the transfer with an error, unless it has one already; `err` is copied.
void nc_transfer_fail(nc_transfer *transfer, const nc_error *err) NC_COLD;

/* --- commands.c: commands of callers for transfers: submit, wait, cancel, pause, priority, list --- */

/// Passes a new transfer to the event loop, from any thread. While the engine drains, accepts only transfers of
/// downloads that were accepted before. Returns NC_OK, NC_ERR_CLOSED, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE. With NC_OK, a
/// reference to the engine was added, which the caller must drop. After an error, the caller still owns the transfer.
NC_NODISCARD nc_status nc_commands_submit(nc_transfer *transfer, bool is_for_download, nc_transfer_id *out);
/// Waits, on any other thread than the event loop, until a transfer without a sink has ended. Then returns the response
/// in `out` and frees the transfer. Returns the transfer's status, NC_ERR_USAGE for an unknown id, or
/// NC_ERR_WAIT_TIMED_OUT.
nc_status nc_commands_wait(nc_engine *engine, nc_transfer_id id, uint32_t timeout_ms, nc_response **out, nc_error *err);

/// Ends every transfer that has not ended, because the engine was released. Runs on the event loop.
void nc_commands_cancel_all(nc_engine *engine);
/// Ends these transfers (nc_transfer.cancel_link) on the event loop.
void nc_commands_apply_cancels(nc_engine *engine, nc_link *cancelled);
/// Executes the commands of these transfers (nc_transfer.command_link) on the event loop, which has accepted all of the
/// transfers before (nc_transfer_events_accept()).
void nc_commands_execute(nc_engine *engine, nc_link *commanded);
/// Resumes a download's transfer that was paused after its head, on the event loop. Only the download itself may call
/// this.
void nc_commands_continue_reading(nc_engine *engine, nc_transfer_id id);
/// Changes the receive rate of a transfer that has one, immediately, on the event loop.
void nc_commands_set_receive_rate(nc_engine *engine, nc_transfer_id id, uint64_t bytes_per_s);

/* --- transfer_events.c: events of the mailbox, libcurl, timers and the worker thread --- */

/// The functions of this folder that lower folders call, through nc_engine.events.
extern const nc_transfer_events nc_transfer_events_all;

/// Accepts a transfer on the event loop; `submitted` is from the list nc_mail.submitted.
void nc_transfer_events_accept(nc_link *submitted);

/* --- connection_events.c: events of a pool's sockets and timers, and ends of hops --- */

/// Handles an event of a socket (CURL_CSELECT_* bits), or CURL_SOCKET_TIMEOUT with 0.
void nc_conn_events_act(nc_conn_pool *conn_pool, curl_socket_t fd, int events);
/// Handles the pool's timer.
void nc_conn_events_timer_due(nc_timer *timer);
/// Continues the transfers that wait for the pool's authorities, or ends them if the authorities could not be loaded.
void nc_conn_events_roots_ready(nc_conn_pool *conn_pool);
/// Ends the hops that libcurl has finished, and those that it would never finish.
void nc_conn_events_collect(nc_conn_pool *conn_pool);

/* --- timeouts.c: time limits --- */

/// Handles a cancel by the caller. If the transfer's connection seems dead, it is not reused.
void nc_timeouts_cancelled(const nc_transfer *transfer);
/// Ends the transfer if a time limit is reached. If there was progress, sets the timer again.
void nc_timeouts_timer_due(nc_timer *timer);

#endif
