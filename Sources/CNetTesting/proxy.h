/// The state of a running proxy, and of the sessions with its clients.
#ifndef NCT_PROXY_H
#define NCT_PROXY_H

#include "courier.h"
#include "nettesting/proxy.h"
#include "record.h"

#include <pthread.h>
#include <stdatomic.h>

/// A running proxy. Only the record and the sessions change after its start.
struct nct_proxy {
    /// Recorded requests and counts.
    nct_record record;
    /// Created at its start; zeroed for plain.
    nct_certificate certificate;
    /// Shared by TLS connections; NULL for plain.
    SSL_CTX *context;
    /// Its protocol.
    nct_proxy_kind kind;
    /// `Basic …` that a request must have; empty for none.
    nct_bytes credentials;
    /// User and password as RFC 1929 encodes them; empty for none.
    nct_bytes login;
    /// The response to CONNECT instead of a tunnel; empty for none.
    nct_bytes connect_reply;
    /// The response to SOCKS5 instead of a tunnel; 0 for none.
    uint8_t socks_reply;
    /// Accepts connections, and joins ended sessions.
    pthread_t thread;
    /// Sessions; used by the acceptor only.
    struct nct_proxy_session *sessions;
    /// The listening socket.
    int listener;
    /// An eventfd, readable once the proxy stops.
    int stop;
    /// The port that it listens on.
    uint16_t port;
    /// The acceptor is running.
    bool has_thread;
};

/// One client.
typedef struct nct_proxy_session {
    /// Its proxy.
    nct_proxy *proxy;
    /// The next one in the list.
    struct nct_proxy_session *next;
    /// Its connection.
    nct_courier courier;
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
