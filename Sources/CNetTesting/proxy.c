#define _GNU_SOURCE 1
#include "proxy.h"

#include "basic.h"
#include "listener.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- sessions --- */

static void *run_session(void *context) {
    nct_proxy_session *session = context;
    nct_proxy *proxy = session->proxy;
    if (nct_relay_handshake(&session->relay)) {
        if (proxy->kind == NCT_PROXY_SOCKS5)
            nct_proxy_serve_socks(session);
        else
            nct_proxy_serve_http(session);
        nct_relay_finish(&session->relay);
    }
    nct_relay_deinit(&session->relay);
    nct_record_closed(&proxy->record);
    if (proxy->context != NULL)
        OPENSSL_thread_stop();
    atomic_store(&session->has_ended, true);
    return NULL;
}

static void begin_session(nct_proxy *proxy, int fd) {
    nct_proxy_session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        close(fd);
        return;
    }
    session->proxy = proxy;
    session->number = nct_record_opened(&proxy->record);
    bool is_open = nct_relay_init(&session->relay, fd, proxy->context, proxy->stop);
    if (is_open && pthread_create(&session->thread, NULL, run_session, session) == 0) {
        session->next = proxy->sessions;
        proxy->sessions = session;
        return;
    }
    nct_relay_deinit(&session->relay);
    nct_record_closed(&proxy->record);
    free(session);
}

/// Joins the sessions that have ended, or all sessions if `is_all` is true.
static void join_sessions(nct_proxy *proxy, bool is_all) {
    for (nct_proxy_session **link = &proxy->sessions; *link != NULL;) {
        nct_proxy_session *session = *link;
        if (!is_all && !atomic_load(&session->has_ended)) {
            link = &session->next;
            continue;
        }
        *link = session->next;
        pthread_join(session->thread, NULL);
        free(session);
    }
}

static void *run_acceptor(void *context) {
    nct_proxy *proxy = context;
    struct pollfd fds[] = {{.fd = proxy->stop, .events = POLLIN}, {.fd = proxy->listener, .events = POLLIN}};
    for (;;) {
        while (poll(fds, 2, -1) < 0 && errno == EINTR)
            continue;
        if (fds[0].revents != 0)
            break;
        join_sessions(proxy, false);
        int fd = accept4(proxy->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            begin_session(proxy, fd);
    }
    join_sessions(proxy, true);
    return NULL;
}

/* --- lifecycle --- */

/// Copies the options. Returns 0 or an errno.
static int copy_options(nct_proxy *proxy, const nct_proxy_options *options) {
    proxy->kind = options->kind;
    proxy->socks_reply = options->socks_reply;
    bool is_whole =
        options->connect_reply == NULL || nct_bytes_append_text(&proxy->connect_reply, options->connect_reply);
    if (options->user != NULL) {
        const char *password = options->password == NULL ? "" : options->password;
        size_t user_length = strlen(options->user);
        size_t password_length = strlen(password);
        if (user_length > UINT8_MAX || password_length > UINT8_MAX)
            return EINVAL;
        is_whole = is_whole && nct_basic_append(&proxy->credentials, options->user, password) &&
                   nct_bytes_append(&proxy->login, &(uint8_t){(uint8_t)user_length}, 1) &&
                   nct_bytes_append(&proxy->login, options->user, user_length) &&
                   nct_bytes_append(&proxy->login, &(uint8_t){(uint8_t)password_length}, 1) &&
                   nct_bytes_append(&proxy->login, password, password_length);
    }
    return is_whole ? 0 : ENOMEM;
}

static int make_context(nct_proxy *proxy, nct_identity identity) {
    if (identity == NCT_PLAIN)
        return 0;
    // For the reason, see make_context() in server.c.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    if (!nct_certificate_make(&proxy->certificate, identity, NULL))
        return EPROTO;
    proxy->context = nct_wire_context_new(&proxy->certificate, &(nct_server_options){.identity = identity});
    return proxy->context == NULL ? EPROTO : 0;
}

/// Starts the thread that accepts connections, with every signal blocked, above all SIGPIPE. The threads of sessions
/// inherit the blocked signals.
static int start_thread(nct_proxy *proxy) {
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    int failure = pthread_create(&proxy->thread, NULL, run_acceptor, proxy);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    proxy->has_thread = failure == 0;
    return failure;
}

int nct_proxy_start(nct_proxy **out, const nct_proxy_options *options) {
    static const nct_proxy_options plain = {.kind = NCT_PROXY_HTTP};
    if (options == NULL)
        options = &plain;
    if (options->kind > NCT_PROXY_SOCKS5 || options->identity > NCT_TLS_UNTRUSTED)
        return EINVAL;
    nct_proxy *proxy = calloc(1, sizeof *proxy);
    if (proxy == NULL)
        return ENOMEM;
    proxy->listener = -1;
    nct_record_init(&proxy->record);
    proxy->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int failure = proxy->stop < 0 ? errno : copy_options(proxy, options);
    if (failure == 0)
        failure = make_context(proxy, options->identity);
    if (failure == 0)
        failure = nct_listener_open(&proxy->listener, &proxy->port, &(nct_server_options){0});
    if (failure == 0)
        failure = start_thread(proxy);
    if (failure == 0)
        *out = proxy;
    else
        nct_proxy_stop(proxy);
    return failure;
}

void nct_proxy_stop(nct_proxy *proxy) {
    if (proxy == NULL)
        return;
    if (proxy->has_thread) {
        uint64_t one = 1;
        while (write(proxy->stop, &one, sizeof one) < 0 && errno == EINTR)
            continue;
        pthread_join(proxy->thread, NULL);
    }
    if (proxy->listener >= 0)
        close(proxy->listener);
    if (proxy->stop >= 0)
        close(proxy->stop);
    SSL_CTX_free(proxy->context);
    nct_certificate_deinit(&proxy->certificate);
    nct_bytes_deinit(&proxy->credentials);
    nct_bytes_deinit(&proxy->login);
    nct_bytes_deinit(&proxy->connect_reply);
    nct_record_deinit(&proxy->record);
    free(proxy);
}

/* --- inspection --- */

uint16_t nct_proxy_port(const nct_proxy *proxy) {
    return proxy->port;
}

const char *nct_proxy_ca_pem(const nct_proxy *proxy) {
    return proxy->certificate.ca_pem == NULL ? "" : proxy->certificate.ca_pem;
}

size_t nct_proxy_request_count(nct_proxy *proxy) {
    return nct_record_now(&proxy->record, NCT_COUNT_REQUESTS);
}

size_t nct_proxy_connection_count(nct_proxy *proxy) {
    return nct_record_now(&proxy->record, NCT_COUNT_CONNECTIONS);
}

size_t nct_proxy_tunnel_count(nct_proxy *proxy) {
    return nct_record_now(&proxy->record, NCT_COUNT_TUNNELS);
}

size_t nct_proxy_name_count(nct_proxy *proxy) {
    return nct_record_now(&proxy->record, NCT_COUNT_NAMES);
}

size_t nct_proxy_copy_request(nct_proxy *proxy, size_t index, void *bytes, size_t capacity) {
    return nct_record_copy(&proxy->record, index, bytes, capacity);
}

bool nct_proxy_wait_for_silence(nct_proxy *proxy, uint32_t timeout_ms) {
    return nct_record_wait_for_silence(&proxy->record, timeout_ms);
}
