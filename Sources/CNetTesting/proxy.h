/// What a running proxy holds, and what serves one of its clients.
#ifndef NCT_PROXY_H
#define NCT_PROXY_H

#include "courier.h"
#include "nettesting/proxy.h"
#include "record.h"

#include <pthread.h>
#include <stdatomic.h>

/// A running proxy; nothing but the record and the sessions changes after it started.
struct nct_proxy {
    /// What happened.
    nct_record record;
    /// Made when it started; zeroed for plain.
    nct_certificate certificate;
    /// Shared by TLS connections; NULL for plain.
    SSL_CTX *context;
    /// What it speaks.
    nct_proxy_kind kind;
    /// `Basic …` that a request must show; empty for none.
    nct_bytes credentials;
    /// User and password as RFC 1929 sends them; empty for none.
    nct_bytes login;
    /// The answer to CONNECT instead of a tunnel; empty for none.
    nct_bytes connect_reply;
    /// The answer to SOCKS5 instead of a tunnel; 0 for none.
    uint8_t socks_reply;
    /// Accepts, and joins the sessions that ended.
    pthread_t thread;
    /// Sessions, the acceptor's.
    struct nct_proxy_session *sessions;
    /// The listening socket.
    int listener;
    /// An eventfd, readable once the proxy stops.
    int stop;
    /// The port that it listens on.
    uint16_t port;
    /// The acceptor runs.
    bool has_thread;
};

/// One client.
typedef struct nct_proxy_session {
    /// Whose client it is.
    nct_proxy *proxy;
    /// The next one in the list.
    struct nct_proxy_session *next;
    /// Its bytes.
    nct_courier courier;
    /// What serves it.
    pthread_t thread;
    /// Its number, as the record gave it.
    size_t number;
    /// Its thread is about to end.
    atomic_bool has_ended;
} nct_proxy_session;

/// Serves a client that speaks HTTP, until it or the proxy ends.
void nct_proxy_serve_http(nct_proxy_session *session);

/// Serves a client that speaks SOCKS5, until it or the proxy ends.
void nct_proxy_serve_socks(nct_proxy_session *session);

#endif
