/// One request in the engine, from submit to on_done.
///
/// It is created on the submitting thread, and belongs to the event loop thread from the mailbox on. It is in one list
/// at a time: the mailbox, its host's queue, or its pool's list.
#ifndef NETCORE_PRIVATE_TRANSFER_H
#define NETCORE_PRIVATE_TRANSFER_H

#include "base/error.h"
#include "base/list.h"
#include "net/auth_answer.h"
#include "net/delivery.h"
#include "net/description.h"
#include "net/flow.h"
#include "net/framing.h"
#include "net/h2_tap.h"
#include "net/progress.h"
#include "net/redirect.h"
#include "net/timers.h"
#include "net/upload.h"

#include <netcore/engine.h>
#include <stdatomic.h>

typedef struct nc_detour nc_detour;
typedef struct nc_files nc_files;
typedef struct nc_form_upload nc_form_upload;
typedef struct nc_handle nc_handle;
typedef struct nc_host nc_host;
typedef struct nc_lane nc_lane;
typedef struct nc_tls_end nc_tls_end;

typedef enum nc_phase {
    NC_PHASE_SUBMITTED, // in the mailbox
    NC_PHASE_SLOT,      // waits for a slot
    NC_PHASE_FILES,     // waits for the worker thread to open or close its files
    NC_PHASE_ROOTS,     // waits for its pool's authorities
    NC_PHASE_CONNECT,   // libcurl resolves, connects, negotiates TLS
    NC_PHASE_SEND,      // the request body is being sent
    NC_PHASE_REPLY,     // everything is sent, no byte has arrived
    NC_PHASE_BODY,      // head and body arrive
    NC_PHASE_DONE,
} nc_phase;

/// The parties that may send a challenge.
enum { NC_PARTY_HOST = 1, NC_PARTY_PROXY = 2 };

struct nc_transfer {
    nc_link link;
    nc_engine *engine;
    size_t bytes; // its size in the engine's pool, including the request copy
    nc_transfer_id id;
    nc_sink sink;
    bool has_sink;
    nc_description description;
    nc_trust *trust;
    nc_expectation *expectation; // NULL if any body is accepted
    nc_response *response;
    nc_error error; // the first error, which ended it

    // Cancels and other commands, guarded by the engine's mutex.
    nc_link cancel_link;
    bool is_cancel_listed;
    bool is_finished;
    nc_link order_link;
    uint8_t orders; // NC_ORDER_* bits in the mailbox
    nc_priority ordered_priority;

    // For nc_engine_list(), written by the event loop.
    atomic_uint shown_phase;
    atomic_uint shown_priority;
    atomic_bool is_paused;
    atomic_ullong received_bytes; // of the hop's body, without chunk framing, before decoding

    // Event loop thread only.
    nc_phase phase;
    nc_timer timer;
    bool has_timer_room;
    uint64_t submitted_ns;
    uint64_t phase_began_ns; // or the time of the last movement
    uint64_t progressed_ns;  // time of the last progress: see nc_limits_get_on()
    nc_host *host;
    bool has_slot;
    bool has_begun;       // it had a slot: a waiting hop is a further one, or the same one again
    nc_link further_link; // in the list of waiting hops
    nc_priority priority;
    nc_lane *lane;
    nc_handle *handle;

    // The current hop.
    nc_buf redirected_url; // NUL-terminated after its end; empty on the first hop
    nc_buf next_url;
    bool leads_on;
    uint64_t led_on_ns; // start of the redirect
    nc_redirect_answer answer;
    uint32_t followed;
    bool is_elsewhere;       // a redirect was cross-origin; never reset
    bool is_apart;           // has an exclusive connection
    bool is_get;             // a redirect has dropped method and body
    uint32_t attempts;       // connections on which libcurl tried the hop's request
    long opened;             // how many of them were opened for it, at the last attempt
    bool was_connected;      // and is no longer connecting
    uint64_t tcp_at_ns;      // the round in which TCP was seen as connected; 0 before
    bool has_tunnel_status;  // of the head of a proxy's response to CONNECT
    bool has_tunnel_field;   // after that
    bool has_heard;          // bytes arrived since it was connected
    bool may_be_multiplexed; // the connection is HTTP/2 or 3
    uint32_t socket_key;     // of the connection (nc_sockets_key()); 0 if unknown
    bool is_in_head;
    bool has_head;           // a final head is complete
    bool ends_early;         // the transfer was stopped on purpose, and succeeds
    bool asks_anew;          // the hop was stopped on purpose, and begins again
    bool needs_http1;        // nghttp2 rejects the server's responses to the hop
    const char *quirk;       // and why, although they are valid; NULL if unknown
    bool is_afresh;          // the hop begins again on a new connection
    uint8_t met;             // NC_PARTY_* bits of the parties that sent a challenge
    uint8_t at_once;         // NC_PARTY_* bits: the body is sent without waiting for their challenge
    nc_auth_answers answers; // to challenges that libcurl does not handle
    uint8_t repeats;         // of the hop, because the server closed before it processed the request
    nc_detour *detour;       // the hop's alternative; NULL for none
    bool has_left_detour;    // that failed: no other is tried
    uint64_t lost_ns;        // time lost by that; 0 after the hop was connected
    int socket_error;
    bool is_ending;             // only its files remain
    bool is_head_held;          // a challenge that libcurl may respond to by itself
    uint8_t challenges;         // of the hop
    curl_off_t challenge_bytes; // received when the idle limit of a held head was last checked
    bool is_saving;
    bool is_download;       // its sink is a download
    nc_tls_end *tls_end;    // of the hop's connection; NULL without TLS
    nc_h2_stream stream;    // of the hop, over HTTP/2 and TLS
    bool shows_no_identity; // although the hop's server requested one
    uint64_t asked_bytes;   // request bytes when the head was held
    nc_files *files;        // NULL without files
    nc_upload upload;
    nc_form_upload *form; // NULL without a form
    nc_flow flow;
    nc_delivery delivery;
    nc_progress_state progress;
    uint32_t head_bytes;
    uint32_t head_fields;
    nc_framing framing; // of the last head
    uint64_t body_bytes;
    uint64_t hop_began_ns;
    uint64_t first_byte_ns;
};

/// Creates a transfer from a checked copy of the request. It is not registered: only its caller knows it.
NC_NODISCARD nc_status nc_transfer_new(nc_transfer **out, nc_engine *engine, const nc_request *request,
                                       const nc_sink *sink, nc_error *err);
/// Frees a transfer that is in no list.
void nc_transfer_free(nc_transfer *transfer);

/// Returns the URL of the current hop.
nc_slice nc_transfer_url(const nc_transfer *transfer);
/// Returns the Unix socket path that the hop connects to instead of its host; NULL for none.
const char *nc_transfer_unix_socket(const nc_transfer *transfer);

/// Accepts a transfer from the mailbox on the event loop.
void nc_transfer_accept(nc_transfer *transfer);
/// Continues with its pool after it got a slot.
void nc_transfer_start(nc_transfer *transfer);
/// Passes it to libcurl after its pool is ready.
void nc_transfer_launch(nc_transfer *transfer);
/// Handles libcurl's end of the hop.
void nc_transfer_hop_done(nc_transfer *transfer, CURLcode code);
/// Continues after its files were opened, or failed to open.
void nc_transfer_files_opened(nc_transfer *transfer);
/// Ends it after its files were closed.
void nc_transfer_files_closed(nc_transfer *transfer);
/// Continues after a file of its form was opened, or failed to open.
void nc_transfer_part_opened(nc_transfer *transfer);
/// Ends it with an error of the engine; `err` is copied.
void nc_transfer_fail(nc_transfer *transfer, const nc_error *err) NC_COLD;
/// Records the first error of a transfer; libcurl's callbacks then return an error.
nc_status nc_transfer_note(nc_transfer *transfer, nc_status status, int32_t native_code, const char *format, ...)
    NC_PRINTF(4, 5) NC_COLD;
/// Records movement, or the beginning of a phase.
void nc_transfer_enter(nc_transfer *transfer, nc_phase phase);

#endif
