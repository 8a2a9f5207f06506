/// One request on its way through the engine, from submit to on_done.
///
/// Born on the submitting thread, it belongs to the loop thread from the mailbox on. It is in one list at a time:
/// the mailbox, its host's queue, or its lane's.
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
    NC_PHASE_FILES,     // waits for the worker to open or close its files
    NC_PHASE_ROOTS,     // waits for its lane's authorities
    NC_PHASE_CONNECT,   // libcurl looks up, connects, secures
    NC_PHASE_SEND,      // the request body is on its way
    NC_PHASE_REPLY,     // all is sent, no byte came back
    NC_PHASE_BODY,      // head and body come in
    NC_PHASE_DONE,
} nc_phase;

/// Who may challenge a request.
enum { NC_PARTY_HOST = 1, NC_PARTY_PROXY = 2 };

struct nc_transfer {
    nc_link link;
    nc_engine *engine;
    size_t bytes; // that it takes in the engine's pool, with what is described behind it
    nc_transfer_id id;
    nc_sink sink;
    bool has_sink;
    nc_description description;
    nc_trust *trust;
    nc_expectation *expectation; // NULL when the body may be anything
    nc_response *response;
    nc_error error; // what ended it; the first word counts

    // Cancelling and other orders, under the engine's mutex.
    nc_link cancel_link;
    bool is_cancel_listed;
    bool is_finished;
    nc_link order_link;
    uint8_t orders; // NC_ORDER_ bits that wait in the mailbox
    nc_priority ordered_priority;

    // For nc_engine_list(), written by the loop.
    atomic_uint shown_phase;
    atomic_uint shown_priority;
    atomic_bool is_paused;
    atomic_ullong received_bytes; // of the hop's body, chunks undone, codings not

    // The loop's.
    nc_phase phase;
    nc_timer timer;
    bool has_timer_room;
    uint64_t submitted_ns;
    uint64_t phase_began_ns; // or the last time that something moved
    uint64_t progressed_ns;  // the last time that the exchange got on: see nc_limits_get_on()
    nc_host *host;
    bool has_slot;
    bool has_begun;       // it had a slot: what waits is a further hop, or the same one again
    nc_link further_link; // of those, while it waits
    nc_priority priority;
    nc_lane *lane;
    nc_handle *handle;

    // The hop under way.
    nc_buf redirected_url; // NUL-terminated behind its end; empty on the first hop
    nc_buf next_url;
    bool leads_on;
    uint64_t led_on_ns; // since when
    nc_redirect_answer answer;
    uint32_t followed;
    bool is_elsewhere;       // a redirect has left the first origin, for good
    bool is_apart;           // shares its connection with no other stream
    bool is_get;             // a redirect has dropped method and body
    uint32_t attempts;       // connections that libcurl tried the hop's request on
    long opened;             // how many of them were opened for it, at the last one
    bool was_connected;      // and is connecting no more
    uint64_t tcp_at_ns;      // the round in which TCP was seen to be connected; 0 before
    bool has_tunnel_status;  // of the head that a proxy answers CONNECT with
    bool has_tunnel_field;   // behind that
    bool has_heard;          // something came since it was connected
    bool may_be_multiplexed; // the connection speaks HTTP/2 or 3
    uint32_t socket_key;     // of the connection (nc_sockets_key()); 0 when unknown
    bool is_in_head;
    bool has_head;           // a final head is complete
    bool ends_early;         // the transfer is stopped on purpose, and is a success
    bool asks_anew;          // the hop is stopped on purpose, and begins again
    bool needs_http1;        // nghttp2 refuses the server's answers to the hop
    const char *quirk;       // and why, although they are valid; NULL where that is unknown
    bool is_afresh;          // the hop begins again over a connection that nobody used before
    uint8_t met;             // NC_PARTY_ bits of those that challenged in the hop
    uint8_t at_once;         // of those that are sent the body without waiting for their challenge
    nc_auth_answers answers; // to challenges that libcurl does not answer
    uint8_t repeats;         // of the hop, because the server went away before it took the request
    nc_detour *detour;       // that the hop takes; NULL for none
    bool has_left_detour;    // that led nowhere: no other is taken
    uint64_t lost_ns;        // that it took to find that out; none of it counts once the hop was connected
    int socket_error;
    bool is_ending;             // nothing but its files is waited for
    bool is_head_held;          // a challenge that libcurl may answer by itself
    uint8_t challenges;         // of the hop
    curl_off_t challenge_bytes; // received when the idle limit of a held head was looked at last
    bool is_saving;
    bool is_download;       // its sink writes a file
    nc_tls_end *tls_end;    // of the hop's connection; NULL without TLS
    nc_h2_stream stream;    // of the hop, over HTTP/2 and TLS
    bool shows_no_identity; // although the hop's server asked for one
    uint64_t asked_bytes;   // request bytes when the head was held
    nc_files *files;        // NULL without any
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

/// Checks, copies and registers nothing: a transfer that only its caller knows.
NC_NODISCARD nc_status nc_transfer_new(nc_transfer **out, nc_engine *engine, const nc_request *request,
                                       const nc_sink *sink, nc_error *err);
/// Frees a transfer that is in no list.
void nc_transfer_free(nc_transfer *transfer);

/// The URL of the hop under way.
nc_slice nc_transfer_url(const nc_transfer *transfer);
/// The path that the hop connects to instead of its host; NULL for none.
const char *nc_transfer_unix_socket(const nc_transfer *transfer);

/// The loop takes a transfer over from the mailbox.
void nc_transfer_accept(nc_transfer *transfer);
/// It has its slot: goes on to its lane.
void nc_transfer_start(nc_transfer *transfer);
/// Its lane is ready: hands it to libcurl.
void nc_transfer_launch(nc_transfer *transfer);
/// libcurl is done with the hop.
void nc_transfer_hop_done(nc_transfer *transfer, CURLcode code);
/// Its files are open, or could not be.
void nc_transfer_files_opened(nc_transfer *transfer);
/// Its files are closed, and with that it is over.
void nc_transfer_files_closed(nc_transfer *transfer);
/// A file of its form is open, or could not be.
void nc_transfer_part_opened(nc_transfer *transfer);
/// Ends it for a reason of our own; `err` is copied.
void nc_transfer_fail(nc_transfer *transfer, const nc_error *err) NC_COLD;
/// Keeps the first reason why a transfer fails; libcurl's callbacks then return an error.
nc_status nc_transfer_note(nc_transfer *transfer, nc_status status, int32_t native_code, const char *format, ...)
    NC_PRINTF(4, 5) NC_COLD;
/// Something moved, or a new phase begins.
void nc_transfer_enter(nc_transfer *transfer, nc_phase phase);

#endif
