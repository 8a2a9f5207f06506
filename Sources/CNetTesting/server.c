#define _GNU_SOURCE 1
#include "server.h"

#include "listener.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_EVENTS 256

/* --- event loop --- */

static void listen_for(nct_server *server, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = &server->listener};
    epoll_ctl(server->coordinator.poller, EPOLL_CTL_MOD, server->listener, &event);
    server->is_full = events == 0;
}

static void accept_all(nct_server *server) {
    for (;;) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            nct_connection_open(&server->coordinator, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            // No descriptor is free. The listener would stay readable and make the loop spin, so it is not polled.
            listen_for(server, 0);
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

/// Performs the actions that other threads have requested.
static void serve_wake(nct_server *server) {
    uint64_t wakes;
    while (read(server->waker, &wakes, sizeof wakes) < 0 && errno == EINTR)
        continue;
    if (atomic_exchange(&server->is_opening, false)) {
        nct_listener_widen(server->listener);
        listen_for(server, EPOLLIN);
    }
    nct_connection_resume_released(&server->coordinator);
}

static void *run_loop(void *context) {
    nct_server *server = context;
    struct epoll_event events[MAX_EVENTS];
    int timeout_ms = -1;
    while (!atomic_load(&server->is_stopping)) {
        int count = epoll_wait(server->coordinator.poller, events, MAX_EVENTS, timeout_ms);
        bool is_woken = false;
        bool was_full = server->is_full;
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &server->listener)
                accept_all(server);
            else if (events[i].data.ptr == &server->waker)
                is_woken = true;
            else
                nct_connection_handle(events[i].data.ptr, events[i].events);
        }
        // Called after the batch of events. A released connection may be freed, and the batch may still contain an
        // event for it.
        if (is_woken)
            serve_wake(server);
        timeout_ms = nct_connection_resume_due(&server->coordinator);
        if (was_full)
            listen_for(server, EPOLLIN);
    }
    nct_connection_close_all(&server->coordinator);
    if (server->coordinator.context != NULL)
        OPENSSL_thread_stop();
    return NULL;
}

/* --- lifecycle --- */

void nct_server_wake(nct_server *server) {
    uint64_t one = 1;
    while (write(server->waker, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

static int open_listener(nct_server *server, const nct_server_options *options) {
    int failure = nct_listener_open(&server->listener, &server->port, options);
    if (failure != 0 || options->unix_path == NULL)
        return failure;
    server->unix_path = strdup(options->unix_path);
    return server->unix_path == NULL ? ENOMEM : 0;
}

static int open_poller(nct_server *server, bool is_accepting_late) {
    server->coordinator.poller = epoll_create1(EPOLL_CLOEXEC);
    server->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->coordinator.poller < 0 || server->waker < 0)
        return errno;
    struct epoll_event listening = {.events = is_accepting_late ? 0 : EPOLLIN, .data.ptr = &server->listener};
    struct epoll_event waking = {.events = EPOLLIN, .data.ptr = &server->waker};
    if (epoll_ctl(server->coordinator.poller, EPOLL_CTL_ADD, server->listener, &listening) != 0 ||
        epoll_ctl(server->coordinator.poller, EPOLL_CTL_ADD, server->waker, &waking) != 0)
        return errno;
    return 0;
}

/// Returns the reply to a ClientHello instead of a handshake.
static const nct_reply *greeting_of(nct_identity identity) {
    static const char garbage[] = "These bytes are not TLS, whatever the client hoped for.\r\n";
    // RFC 8446, 5.1 and 6: an alert record of version 1.2, fatal,
    // handshake_failure.
    static const unsigned char alert[] = {21, 3, 3, 0, 2, 2, 40};
    static const nct_reply greetings[] = {
        [NCT_TLS_GARBAGE] = {.is_raw = true, .body = garbage, .body_length = sizeof garbage - 1, .ending = NCT_CLOSE},
        [NCT_TLS_CLOSED] = {.is_raw = true, .ending = NCT_CLOSE},
        [NCT_TLS_RESET] = {.is_raw = true, .ending = NCT_RESET},
        [NCT_TLS_ALERT] = {.is_raw = true, .body = alert, .body_length = sizeof alert, .ending = NCT_CLOSE},
        [NCT_TLS_STALLED] = {.is_raw = true, .ending = NCT_STALL},
    };
    return identity < NCT_TLS_GARBAGE || identity > NCT_TLS_STALLED ? NULL : &greetings[identity];
}

static int make_replies(nct_coordinator *coordinator, nct_identity identity) {
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const nct_reply *greeting = greeting_of(identity);
    coordinator->interim =
        nct_script_new(&(nct_reply){.is_raw = true, .body = interim, .body_length = sizeof interim - 1});
    coordinator->refusal = nct_script_new(&(nct_reply){.status = 400, .ending = NCT_CLOSE});
    if (greeting != NULL)
        coordinator->greeting = nct_script_new(greeting);
    bool is_made = coordinator->interim != NULL && coordinator->refusal != NULL &&
                   (greeting == NULL || coordinator->greeting != NULL) && nct_table_init(&coordinator->table);
    return is_made ? 0 : ENOMEM;
}

static int make_context(nct_server *server, const nct_server_options *options) {
    if (options->identity == NCT_PLAIN)
        return 0;
    // As in the engine, OpenSSL's exit handler is disabled. When a test returns from main, it would free state that
    // other threads still use.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    char names[768];
    int length = snprintf(
        names, sizeof names, "%s%s%s%s", options->host == NULL ? "" : "IP:", options->host == NULL ? "" : options->host,
        options->host == NULL || options->names == NULL ? "" : ",", options->names == NULL ? "" : options->names);
    if (length >= (int)sizeof names)
        return EINVAL;
    if (!nct_certificate_make(&server->certificate, options->identity, length == 0 ? NULL : names))
        return EPROTO;
    if (server->coordinator.greeting != NULL)
        return 0;
    if (options->staple != NULL) {
        server->certificate.staple = malloc(options->staple_length);
        if (server->certificate.staple == NULL)
            return ENOMEM;
        memcpy(server->certificate.staple, options->staple, options->staple_length);
        server->certificate.staple_length = options->staple_length;
    }
    server->coordinator.context = nct_wire_context_new(&server->certificate, options);
    return server->coordinator.context == NULL ? EPROTO : 0;
}

/// Starts the thread with every signal blocked, above all SIGPIPE, because OpenSSL writes without MSG_NOSIGNAL.
static int start_thread(nct_server *server) {
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    int failure = pthread_create(&server->thread, NULL, run_loop, server);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    server->has_thread = failure == 0;
    return failure;
}

int nct_server_start(nct_server **out, const nct_server_options *options) {
    static const nct_server_options plain = {.identity = NCT_PLAIN};
    if (options == NULL)
        options = &plain;
    if (options->identity > NCT_TLS_1_1)
        return EINVAL;
    nct_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return ENOMEM;
    server->listener = server->waker = server->coordinator.poller = -1;
    nct_record_init(&server->coordinator.record);
    server->coordinator.is_never_reading = options->is_never_reading;
    server->coordinator.chooser = (nct_chooser){options->choose, options->received, options->replied, options->context};
    server->coordinator.record.is_forgetful = options->is_forgetful;
    int failure = make_replies(&server->coordinator, options->identity);
    if (failure == 0)
        failure = make_context(server, options);
    if (failure == 0)
        failure = open_listener(server, options);
    if (failure == 0)
        failure = open_poller(server, options->is_accepting_late);
    if (failure == 0)
        failure = start_thread(server);
    if (failure == 0)
        *out = server;
    else
        nct_server_stop(server);
    return failure;
}

static void close_descriptor(int fd) {
    if (fd >= 0)
        close(fd);
}

void nct_server_stop(nct_server *server) {
    if (server == NULL)
        return;
    if (server->has_thread) {
        atomic_store(&server->is_stopping, true);
        nct_server_wake(server);
        pthread_join(server->thread, NULL);
    }
    close_descriptor(server->listener);
    close_descriptor(server->waker);
    close_descriptor(server->coordinator.poller);
    SSL_CTX_free(server->coordinator.context);
    nct_certificate_deinit(&server->certificate);
    nct_script_release(server->coordinator.interim);
    nct_script_release(server->coordinator.refusal);
    nct_script_release(server->coordinator.greeting);
    nct_table_deinit(&server->coordinator.table);
    nct_record_deinit(&server->coordinator.record);
    if (server->unix_path != NULL)
        unlink(server->unix_path);
    free(server->unix_path);
    free(server);
}
