/// The lifecycle of one connection in the event loop. exchange.h implements the protocol. Event loop thread only.
#ifndef NCT_CONNECTION_H
#define NCT_CONNECTION_H

#include "choice.h"
#include "record.h"
#include "reply_stream.h"
#include "table.h"
#include "wire.h"

/// State that the connections share; the event loop owns it.
typedef struct nct_coordinator {
    /// Replies by path.
    nct_table table;
    /// Recorded requests and counts.
    nct_record record;
    /// Shared by TLS connections; NULL for plain.
    SSL_CTX *context;
    /// Sent to a client that expects 100 Continue.
    nct_script *interim;
    /// Sent in response to malformed requests.
    nct_script *refusal;
    /// Sent in response to a ClientHello instead of a handshake; NULL for none.
    nct_script *greeting;
    /// Every open connection.
    struct nct_connection *first;
    /// Number of connections that wait for the time of their next piece.
    size_t paused;
    /// The epoll descriptor.
    int poller;
    /// Chooses replies.
    nct_chooser chooser;
    /// Each connection stalls before it reads a request, until the stall is released.
    bool is_never_reading;
    /// Buffer for input or output. Its contents are only used within one function call.
    uint8_t scratch[64 * 1024];
} nct_coordinator;

/// The phase of a connection.
typedef enum nct_phase {
    /// The TLS handshake.
    NCT_PHASE_HANDSHAKE,
    /// Reading a request.
    NCT_PHASE_READ,
    /// Sending a reply.
    NCT_PHASE_SEND,
    /// Waiting until the reply's next piece is due.
    NCT_PHASE_PAUSED,
    /// Reading the body of a request that was answered early.
    NCT_PHASE_DISCARD,
    /// Waiting for a release.
    NCT_PHASE_STALLED,
    /// Running the steps of a WebSocket.
    NCT_PHASE_SOCKET,
    /// Waiting until all output is sent, before RST.
    NCT_PHASE_FLUSH,
    /// Announcing the end of output, then closing.
    NCT_PHASE_FINISH,
    /// Announcing the end of output, then draining.
    NCT_PHASE_HALF_FINISH,
    /// Dropping input until the client closes.
    NCT_PHASE_DRAIN,
} nct_phase;

/// A connection.
typedef struct nct_connection {
    /// The shared state.
    nct_coordinator *coordinator;
    /// The previous one in the list of open connections.
    struct nct_connection *previous;
    /// The next one.
    struct nct_connection *next;
    /// The socket.
    nct_wire wire;
    /// Bytes read and not parsed yet.
    nct_bytes in;
    /// The request being read or replied to.
    nct_request request;
    /// Chosen when the head is complete; owned until the reply begins.
    nct_script *script;
    /// The reply being sent.
    nct_reply_stream reply_stream;
    /// The WebSocket after its handshake.
    nct_socket socket;
    /// Ticket of a stall of the current reply, or of the wait for a request; 0 for none.
    uint64_t stall_ticket;
    /// Time when the reply's next piece is due, by CLOCK_MONOTONIC.
    uint64_t due_ms;
    /// Its number in the record.
    size_t number;
    /// Events that the poller is registered for.
    uint32_t events;
    /// Its phase.
    nct_phase phase;
    /// Its phase after a release.
    nct_phase resumed_phase;
    /// The poller reported the socket as readable, and no read has emptied it since.
    bool is_readable;
    /// The current output is 100 Continue; the body follows.
    bool is_interim;
    /// The reply is sent before the request's body.
    bool is_early;
    /// The reply ends with FIN without close_notify.
    bool is_truncated;
} nct_connection;

/// Takes ownership of an accepted socket. Closes it if memory is exhausted.
void nct_connection_open(nct_coordinator *coordinator, int fd);

/// Continues after the poller reported `events`. May free the connection.
void nct_connection_handle(nct_connection *connection, uint32_t events);

/// Resumes every connection whose stall was released. May free some.
void nct_connection_resume_released(nct_coordinator *coordinator);

/// Resumes every connection whose next piece is due. May free some. Returns the milliseconds until another piece is
/// due, or -1 if no connection waits for a piece.
int nct_connection_resume_due(nct_coordinator *coordinator);

/// Closes and frees every connection.
void nct_connection_close_all(nct_coordinator *coordinator);

#endif
