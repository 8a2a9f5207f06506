/// The record of one request in the engine, from submit to on_done.
///
/// The submitting thread creates it and puts it into the mailbox. From then on it belongs to the event loop thread. It
/// is in one list at a time: the mailbox, its host's queue, or its pool's list.
#ifndef NETCORE_PRIVATE_TRANSFER_RECORD_H
#define NETCORE_PRIVATE_TRANSFER_RECORD_H

#include "base/error.h"
#include "base/list.h"
#include "event_loop/timers.h"
#include "http/framing.h"
#include "http/h2_tap.h"
#include "http/url_text.h"
#include "request/request_copy.h"
#include "state/body_record.h"
#include <netcore/redirect.h>

#include <netcore/engine.h>
#include <stdatomic.h>

typedef struct nc_alt_svc_route nc_alt_svc_route;
typedef struct nc_files nc_files;
typedef struct nc_form_upload nc_form_upload;
typedef struct nc_easy_handle nc_easy_handle;
typedef struct nc_host nc_host;
typedef struct nc_conn_pool nc_conn_pool;
typedef struct nc_tls_connection nc_tls_connection;

typedef enum nc_phase {
    NC_PHASE_SUBMITTED, // in the mailbox
    NC_PHASE_SLOT,      // waits for a slot
    NC_PHASE_FILES,     // waits for the worker thread to open or close its files
    NC_PHASE_ROOTS,     // waits for its pool's authorities
    NC_PHASE_CONNECT,   // libcurl resolves the name, connects and negotiates TLS
    NC_PHASE_SEND,      // the request body is being sent
    NC_PHASE_REPLY,     // the request was sent, and no byte of the response has arrived
    NC_PHASE_BODY,      // head and body of the response arrive
    NC_PHASE_DONE,
} nc_phase;

/// The parties that may send an authentication challenge.
enum { NC_PARTY_HOST = 1, NC_PARTY_PROXY = 2 };

/// The response to the challenges of one party, sent with the hop's next request.
typedef struct nc_auth_response {
    nc_buf field; // "Authorization: …" or "Proxy-Authorization: …" and a NUL; empty if libcurl responds
    struct curl_slist node;
    uint8_t count; // number of responses in this hop so far
} nc_auth_response;

/// The authorization responses of one hop.
typedef struct nc_auth_responses {
    nc_auth_response host;
    nc_auth_response proxy;
} nc_auth_responses;

/// What happens after a hop, unless an error is recorded.
typedef enum nc_hop_outcome {
    NC_HOP_RESPONDS,         // the hop's response is the transfer's response
    NC_HOP_IS_COMPLETE,      // the same, but the engine stops the hop, because libcurl would wait for more bytes
    NC_HOP_REDIRECTS,        // the body is discarded, and the next hop follows the redirect
    NC_HOP_REDIRECTS_UNREAD, // the same, but the engine stops the hop before the end of the body
    NC_HOP_RETRIES,          // the engine stops the hop and sends its request again
} nc_hop_outcome;

/// Whether QUIC and TCP are both tried for a hop (NC_HTTP_3_IF_POSSIBLE).
typedef enum nc_quic_race {
    NC_QUIC_RACE_NONE,      // only one of them
    NC_QUIC_RACE_EVEN,      // both start at the same time: the origin is not known to have HTTP/3
    NC_QUIC_RACE_QUIC_FIRST // TCP starts later
} nc_quic_race;

/// The state of one hop, zeroed when a hop begins.
typedef struct nc_hop_state {
    // How it ends.
    nc_hop_outcome outcome;
    uint64_t redirected_ns; // start of the redirect

    // Its connection.
    uint32_t attempts;       // connections on which libcurl tried the hop's request
    long opened;             // CURLINFO_NUM_CONNECTS at the last attempt: connections that the hop has opened
    bool was_connected;      // connecting is complete
    bool may_be_multiplexed; // the connection uses HTTP/2 or HTTP/3
    nc_quic_race race;
    bool is_quic;           // the connection uses QUIC
    bool has_received;      // bytes arrived since the hop was connected
    bool shows_no_identity; // no identity was sent, although the server requested one
    uint32_t socket_key;    // of the connection (nc_sockets_key()); 0 if unknown
    int socket_error;
    uint64_t tcp_at_ns;                // time of the round in which TCP was first seen as connected; 0 before
    nc_tls_connection *tls_connection; // of the connection; NULL without TLS
    nc_h2_stream stream;               // used with HTTP/2 over TLS

    // Its response.
    bool has_tunnel_status; // the status line of a proxy's response to CONNECT has arrived
    bool has_tunnel_field;  // a header field has arrived after that status line
    bool is_in_head;
    bool has_head;     // a final head is complete
    bool is_head_held; // the head is a challenge, and libcurl may respond to it by itself
    bool is_saving;
    bool is_upgraded; // the connection belongs to a WebSocket now
    uint8_t challenges;
    uint8_t challengers;               // NC_PARTY_* bits of the parties that have sent a challenge
    curl_off_t challenge_bytes;        // bytes received when the idle limit of a held head was last checked
    bool has_sent_trailers;            // libcurl has read the whole request with its trailers
    uint64_t challenged_request_bytes; // bytes of the request sent when the challenge was held
    uint32_t head_bytes;
    uint32_t head_fields;
    nc_framing framing; // of the last head
    uint64_t body_bytes;
    uint64_t began_ns;
    uint64_t first_byte_ns;
    nc_progress_state progress;
} nc_hop_state;

/// The state of all hops to one URL, zeroed when a redirect is followed.
typedef struct nc_target {
    nc_url url;                     // of the hop, parsed once
    uint8_t repeats;                // how often the hop began again, because the server closed before it processed the
                                    // request
    uint8_t sends_body_immediately; // NC_PARTY_* bits: the body is sent without waiting for their challenge
    bool on_new_connection;         // the hop begins again on a new connection
    bool needs_http1;               // nghttp2 rejects the server's responses to the hop
    bool has_abandoned_route;       // the alternative failed, and no other one is tried
    const char *quirk;              // why HTTP/1.1 is needed although the responses are valid; NULL if unknown
    uint64_t lost_ns;               // time spent on the failed alternative; 0 after the hop was connected
} nc_target;

/// A transfer's place in the queue.
typedef struct nc_schedule {
    nc_host *host;
    nc_priority priority;
    bool has_slot;
    bool has_begun;           // had a slot before: a waiting hop is a further hop, or is repeated
    nc_link waiting_hop_link; // in the list of waiting hops
} nc_schedule;

struct nc_transfer {
    nc_link link;
    nc_engine *engine;
    size_t bytes; // its size in the engine's pool, including the request copy
    nc_transfer_id id;

    // The request. Constant.
    nc_sink sink;
    bool has_sink;
    bool is_download; // the sink belongs to a download
    nc_request_copy request;
    nc_trust *trust;
    nc_expectation *expectation; // NULL if any body is accepted

    nc_response *response;
    nc_error error; // the first error, which ends the transfer

    // Commands, including cancel. Guarded by the engine's mutex.
    nc_link cancel_link;
    bool is_cancel_listed;
    bool is_finished;
    nc_link command_link;
    uint8_t pending_commands; // NC_COMMAND_* bits
    nc_priority commanded_priority;

    // For nc_engine_list(), written by the event loop.
    atomic_uint published_phase;
    atomic_uint published_priority;
    atomic_bool is_paused;
    atomic_ullong received_bytes; // of the hop's body, without chunk framing, before decoding

    // Event loop thread only.
    nc_phase phase;
    nc_schedule schedule;
    nc_timer timer;
    bool has_timer_room;
    uint64_t submitted_ns;
    uint64_t phase_began_ns; // or time of the last movement of bytes
    uint64_t progressed_ns;  // time of the last progress, see nc_deadline_progressed()
    bool is_ending;          // only closing its files remains

    // Redirects.
    nc_buf redirected_url; // with a NUL after its end; empty on the first hop
    nc_buf next_url;
    nc_redirect_decision redirect;
    uint32_t redirect_count;
    bool is_cross_origin; // a redirect was cross-origin; never reset
    bool is_get;          // a redirect has dropped method and body

    nc_target target;
    nc_hop_state hop;
    bool is_exclusive; // has an exclusive connection
    nc_conn_pool *conn_pool;
    nc_easy_handle *handle;
    nc_alt_svc_route *alt_route;      // the hop's alternative; NULL for none
    nc_auth_responses auth_responses; // to challenges that libcurl does not handle

    // The bodies.
    nc_files *files; // NULL without files
    nc_upload upload;
    nc_form_upload *form; // NULL without a form
    nc_flow_control flow;
    nc_body_pipeline pipeline;
};

#endif
