/// What a running server holds.
#ifndef NCT_SERVER_H
#define NCT_SERVER_H

#include "connection.h"
#include "nettesting.h"

/// A running server.
struct nct_server {
    /// What its connections share.
    nct_desk desk;
    /// Made when it started; zeroed for plain.
    nct_certificate certificate;
    /// The loop's thread.
    pthread_t thread;
    /// Path to remove when it stops; malloc'ed, NULL for none.
    char *unix_path;
    /// The loop is to end.
    atomic_bool is_stopping;
    /// The loop is to accept, which it did not so far.
    atomic_bool is_opening;
    /// The listening socket.
    int listener;
    /// The eventfd that wakes the loop.
    int waker;
    /// The port that it listens on.
    uint16_t port;
    /// The loop runs.
    bool has_thread;
    /// Loop thread only: descriptors ran out, so the listener is not polled until
    /// a connection closes.
    bool is_full;
};

/// Wakes the loop. Thread-safe.
void nct_server_wake(nct_server *server);

#endif
