/// The state of a running server.
#ifndef NCT_SERVER_H
#define NCT_SERVER_H

#include "connection.h"
#include "nettesting.h"

/// A running server.
struct nct_server {
    /// State that its connections share.
    nct_coordinator coordinator;
    /// Created when the server starts; zeroed for a plain server.
    nct_certificate certificate;
    /// The event loop's thread.
    pthread_t thread;
    /// Path to remove when the server stops; malloc'ed, NULL for none.
    char *unix_path;
    /// The event loop must end.
    atomic_bool is_stopping;
    /// The event loop must begin to accept.
    atomic_bool is_opening;
    /// The listening socket.
    int listener;
    /// The eventfd that wakes the event loop.
    int waker;
    /// The port that it listens on.
    uint16_t port;
    /// The event loop is running.
    bool has_thread;
    /// The process has no free descriptors, so the listener is not polled until a connection closes. Event loop thread
    /// only.
    bool is_full;
};

/// Wakes the event loop. Thread-safe.
void nct_server_wake(nct_server *server);

#endif
