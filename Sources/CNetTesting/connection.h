/// One connection: reads a request, answers it as scripted, ends as scripted. Loop thread only.
#ifndef NCT_CONNECTION_H
#define NCT_CONNECTION_H

#include "outgoing.h"
#include "record.h"
#include "wire.h"

/// What connections share; the loop owns it.
typedef struct nct_desk {
    /// Replies by path.
    nct_scripts scripts;
    /// What happened.
    nct_record record;
    /// Shared by TLS connections; NULL for plain.
    SSL_CTX *context;
    /// Sent to whoever asks for 100 Continue.
    nct_script *interim;
    /// Sent for what is no request.
    nct_script *refusal;
    /// Sent for a TLS hello by NCT_TLS_GARBAGE; NULL otherwise.
    nct_script *garbage;
    /// Every open connection.
    struct nct_connection *first;
    /// The epoll descriptor.
    int poller;
    /// Bytes on their way in or out, within one call.
    uint8_t scratch[64 * 1024];
} nct_desk;

/// A connection.
typedef struct nct_connection nct_connection;

/// Takes over an accepted socket; closes it when memory ran out.
void nct_connection_open(nct_desk *desk, int fd);

/// Goes on after the poller reported `events`; may free the connection.
void nct_connection_handle(nct_connection *connection, uint32_t events);

/// Lets every connection go on whose stall was released; may free some.
void nct_connection_resume_released(nct_desk *desk);

/// Closes and frees every connection.
void nct_connection_close_all(nct_desk *desk);

#endif
