/// One connection: its life in the loop. What is said on it is exchange.h. Loop
/// thread only.
#ifndef NCT_CONNECTION_H
#define NCT_CONNECTION_H

#include "choice.h"
#include "outgoing.h"
#include "record.h"
#include "table.h"
#include "wire.h"

/// What connections share; the loop owns it.
typedef struct nct_desk {
    /// Replies by path.
    nct_table table;
    /// What happened.
    nct_record record;
    /// Shared by TLS connections; NULL for plain.
    SSL_CTX *context;
    /// Sent to whoever asks for 100 Continue.
    nct_script *interim;
    /// Sent for what is no request.
    nct_script *refusal;
    /// Sent for a client's hello instead of a handshake; NULL for none.
    nct_script *greeting;
    /// Every open connection.
    struct nct_connection *first;
    /// Connections that wait for their next piece to be due.
    size_t paused;
    /// The epoll descriptor.
    int poller;
    /// Chooses replies.
    nct_chooser chooser;
    /// No request is read before it was released.
    bool is_never_reading;
    /// Bytes on their way in or out, within one call.
    uint8_t scratch[64 * 1024];
} nct_desk;

/// What a connection is doing.
typedef enum nct_phase {
    /// The TLS handshake.
    NCT_PHASE_HANDSHAKE,
    /// Reading a request.
    NCT_PHASE_READ,
    /// Sending a reply.
    NCT_PHASE_SEND,
    /// Waiting for the time of the reply's next piece.
    NCT_PHASE_PAUSED,
    /// Reading the body of a request that was answered early.
    NCT_PHASE_DISCARD,
    /// Waiting for a release.
    NCT_PHASE_STALLED,
    /// Waiting until everything is on its way, before RST.
    NCT_PHASE_FLUSH,
    /// Saying that nothing more is sent, then closing.
    NCT_PHASE_FINISH,
    /// Saying that nothing more is sent, then draining.
    NCT_PHASE_HALF_FINISH,
    /// Dropping what comes until the client ends.
    NCT_PHASE_DRAIN,
} nct_phase;

/// A connection.
typedef struct nct_connection {
    /// What it shares.
    nct_desk *desk;
    /// Neighbours in the list of open ones.
    struct nct_connection *previous;
    /// As `previous`.
    struct nct_connection *next;
    /// The socket.
    nct_wire wire;
    /// Bytes read and not yet understood.
    nct_bytes in;
    /// The request being read or answered.
    nct_request request;
    /// Chosen when the head was whole; owned until the reply begins.
    nct_script *script;
    /// The reply being sent.
    nct_outgoing outgoing;
    /// Ticket of the stall since the reply, or the wait for a request, began; 0
    /// for none.
    uint64_t stall_ticket;
    /// When the reply's next piece is due, by CLOCK_MONOTONIC.
    uint64_t due_ms;
    /// Its number, as the record gave it.
    size_t number;
    /// What the poller is asked for.
    uint32_t events;
    /// What it is doing.
    nct_phase phase;
    /// What it does once it is released.
    nct_phase resumed_phase;
    /// The poller said so, and no read has emptied the socket since.
    bool is_readable;
    /// What is being sent is 100 Continue; the body follows.
    bool is_interim;
    /// The reply goes before the request's body.
    bool is_early;
    /// The reply ends with FIN that no close_notify announces.
    bool is_truncated;
} nct_connection;

/// Takes over an accepted socket; closes it when memory ran out.
void nct_connection_open(nct_desk *desk, int fd);

/// Goes on after the poller reported `events`; may free the connection.
void nct_connection_handle(nct_connection *connection, uint32_t events);

/// Lets every connection go on whose stall was released; may free some.
void nct_connection_resume_released(nct_desk *desk);

/// Lets every connection go on whose next piece is due; may free some. Returns
/// the milliseconds to the next one, -1 for none.
int nct_connection_resume_due(nct_desk *desk);

/// Closes and frees every connection.
void nct_connection_close_all(nct_desk *desk);

#endif
