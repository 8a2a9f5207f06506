#define _GNU_SOURCE 1
#include "connection.h"
#include "nettesting.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096
#define MAX_EVENTS 256

struct nct_server {
    nct_desk desk;
    nct_certificate certificate;
    pthread_t thread;
    atomic_bool is_stopping;
    int listener;
    int waker;
    uint16_t port;
    bool has_thread;
    /// Loop thread only: descriptors ran out, so the listener is not polled until a connection closes.
    bool is_full;
};

/* --- the loop --- */

static void listen_for(nct_server *server, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = &server->listener};
    epoll_ctl(server->desk.poller, EPOLL_CTL_MOD, server->listener, &event);
    server->is_full = events == 0;
}

static void accept_all(nct_server *server) {
    for (;;) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            nct_connection_open(&server->desk, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            // A listener that stays readable would spin the loop.
            listen_for(server, 0);
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

static void *run_loop(void *context) {
    nct_server *server = context;
    struct epoll_event events[MAX_EVENTS];
    while (!atomic_load(&server->is_stopping)) {
        int count = epoll_wait(server->desk.poller, events, MAX_EVENTS, -1);
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
        // After the batch, because a released connection may be freed while its own event still waits in it.
        if (is_woken) {
            uint64_t wakes;
            while (read(server->waker, &wakes, sizeof wakes) < 0 && errno == EINTR)
                continue;
            nct_connection_resume_released(&server->desk);
        }
        if (was_full)
            listen_for(server, EPOLLIN);
    }
    nct_connection_close_all(&server->desk);
    if (server->desk.context != NULL)
        OPENSSL_thread_stop();
    return NULL;
}

/* --- its life --- */

static void wake(nct_server *server) {
    uint64_t one = 1;
    while (write(server->waker, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

static int open_listener(nct_server *server) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0 ||
        bind(server->listener, (struct sockaddr *)&address, length) != 0 || listen(server->listener, BACKLOG) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &length) != 0)
        return errno;
    server->port = ntohs(address.sin_port);
    return 0;
}

static int open_poller(nct_server *server) {
    server->desk.poller = epoll_create1(EPOLL_CLOEXEC);
    server->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->desk.poller < 0 || server->waker < 0)
        return errno;
    struct epoll_event listening = {.events = EPOLLIN, .data.ptr = &server->listener};
    struct epoll_event waking = {.events = EPOLLIN, .data.ptr = &server->waker};
    if (epoll_ctl(server->desk.poller, EPOLL_CTL_ADD, server->listener, &listening) != 0 ||
        epoll_ctl(server->desk.poller, EPOLL_CTL_ADD, server->waker, &waking) != 0)
        return errno;
    return 0;
}

static int make_replies(nct_desk *desk, nct_identity identity) {
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    static const char garbage[] = "These bytes are not TLS, whatever the client hoped for.\r\n";
    desk->interim = nct_script_new(&(nct_reply){.is_raw = true, .body = interim, .body_length = sizeof interim - 1});
    desk->refusal = nct_script_new(&(nct_reply){.status = 400, .ending = NCT_CLOSE});
    if (identity == NCT_TLS_GARBAGE)
        desk->garbage = nct_script_new(
            &(nct_reply){.is_raw = true, .body = garbage, .body_length = sizeof garbage - 1, .ending = NCT_CLOSE});
    bool is_made = desk->interim != NULL && desk->refusal != NULL &&
                   (identity != NCT_TLS_GARBAGE || desk->garbage != NULL) && nct_scripts_init(&desk->scripts);
    return is_made ? 0 : ENOMEM;
}

static int make_context(nct_server *server, const nct_server_options *options) {
    if (options->identity == NCT_PLAIN)
        return 0;
    // As the engine does: OpenSSL's own exit handler frees what other threads still use when a test returns from main.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    if (!nct_certificate_make(&server->certificate, options->identity))
        return EPROTO;
    if (options->identity == NCT_TLS_GARBAGE)
        return 0;
    server->desk.context = nct_wire_context_new(&server->certificate, options->is_tls_1_2_only);
    return server->desk.context == NULL ? EPROTO : 0;
}

/// Starts the thread with every signal blocked, SIGPIPE above all: OpenSSL writes without MSG_NOSIGNAL.
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
    if (options->identity > NCT_TLS_GARBAGE)
        return EINVAL;
    nct_server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return ENOMEM;
    server->listener = server->waker = server->desk.poller = -1;
    nct_record_init(&server->desk.record);
    int failure = make_replies(&server->desk, options->identity);
    if (failure == 0)
        failure = make_context(server, options);
    if (failure == 0)
        failure = open_listener(server);
    if (failure == 0)
        failure = open_poller(server);
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
        wake(server);
        pthread_join(server->thread, NULL);
    }
    close_descriptor(server->listener);
    close_descriptor(server->waker);
    close_descriptor(server->desk.poller);
    SSL_CTX_free(server->desk.context);
    nct_certificate_deinit(&server->certificate);
    nct_script_release(server->desk.interim);
    nct_script_release(server->desk.refusal);
    nct_script_release(server->desk.garbage);
    nct_scripts_deinit(&server->desk.scripts);
    nct_record_deinit(&server->desk.record);
    free(server);
}

/* --- what a test asks --- */

uint16_t nct_server_port(const nct_server *server) {
    return server->port;
}

const char *nct_server_ca_pem(const nct_server *server) {
    return server->certificate.ca_pem == NULL ? "" : server->certificate.ca_pem;
}

int nct_server_script(nct_server *server, const char *path, const nct_reply *reply) {
    nct_script *script = nct_script_new(reply);
    return script != NULL && nct_scripts_set(&server->desk.scripts, path, script) ? 0 : ENOMEM;
}

void nct_server_release_stalled(nct_server *server) {
    nct_record_release_stalls(&server->desk.record);
    wake(server);
}

bool nct_server_wait_for_requests(nct_server *server, size_t count, uint32_t timeout_ms) {
    return nct_record_wait(&server->desk.record, NCT_COUNT_REQUESTS, count, timeout_ms);
}

bool nct_server_wait_for_stalled(nct_server *server, size_t count, uint32_t timeout_ms) {
    return nct_record_wait(&server->desk.record, NCT_COUNT_STALLED, count, timeout_ms);
}

bool nct_server_wait_for_silence(nct_server *server, uint32_t timeout_ms) {
    return nct_record_wait_for_silence(&server->desk.record, timeout_ms);
}

size_t nct_server_request_count(nct_server *server) {
    return nct_record_now(&server->desk.record, NCT_COUNT_REQUESTS);
}

size_t nct_server_connection_count(nct_server *server) {
    return nct_record_now(&server->desk.record, NCT_COUNT_CONNECTIONS);
}

size_t nct_server_copy_request(nct_server *server, size_t index, void *bytes, size_t capacity) {
    return nct_record_copy(&server->desk.record, index, bytes, capacity);
}

void nct_server_forget(nct_server *server) {
    nct_record_forget(&server->desk.record);
}
