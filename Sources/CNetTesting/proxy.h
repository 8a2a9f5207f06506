/// The state of a running proxy, and of the sessions with its clients.
#ifndef NCT_PROXY_H
#define NCT_PROXY_H

#include "nettesting/proxy.h"
#include "record.h"
#include "relay.h"

#include <pthread.h>
#include <stdatomic.h>

/// A running proxy. Only the record and the sessions change after its start.
struct nct_proxy {
    /// Recorded requests and counts.
    nct_record record;
    /// Created when the proxy starts; zeroed for a plain proxy.
    nct_certificate certificate;
    /// Shared by TLS connections; NULL for a plain proxy.
    SSL_CTX *context;
    /// Its protocol.
    nct_proxy_kind kind;
    /// The `Basic …` credentials that a request must have; empty if none are required.
    nct_bytes credentials;
    /// The user and password that a SOCKS5 client must send, as RFC 1929 encodes them; empty if none are required.
    nct_bytes login;
    /// The response to each CONNECT request; empty if the proxy opens tunnels.
    nct_bytes connect_reply;
    /// The reply code for each SOCKS5 request; 0 if the proxy opens tunnels.
    uint8_t socks_reply;
    /// Accepts connections, and joins ended sessions.
    pthread_t thread;
    /// The list of sessions. Only `thread` uses it.
    struct nct_proxy_session *sessions;
    /// The listening socket.
    int listener;
    /// An eventfd that becomes readable when the proxy stops.
    int stop;
    /// The port that it listens on.
    uint16_t port;
    /// `thread` is running.
    bool has_thread;
};

/// One client.
typedef struct nct_proxy_session {
    /// Its proxy.
    nct_proxy *proxy;
    /// The next one in the list.
    struct nct_proxy_session *next;
    /// Its connection.
    nct_relay relay;
    /// Its thread.
    pthread_t thread;
    /// Its number in the record.
    size_t number;
    /// Its thread is about to end.
    atomic_bool has_ended;
} nct_proxy_session;

/// Serves an HTTP client, until it ends or the proxy stops.
void nct_proxy_serve_http(nct_proxy_session *session);

/// Serves a SOCKS5 client, until it ends or the proxy stops.
void nct_proxy_serve_socks(nct_proxy_session *session);

#endif
