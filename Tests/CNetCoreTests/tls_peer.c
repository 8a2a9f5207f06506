#include "tls_peer.h"

#include "harness.h"
#include "listening.h"
#include "nettesting.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void tls_peer_present(SSL_CTX *context, const nct_test_certificate *made) {
    BIO *leaf_text = BIO_new_mem_buf(nct_test_certificate_pem(made), -1);
    BIO *key_text = BIO_new_mem_buf(nct_test_certificate_key_pem(made), -1);
    X509 *leaf = PEM_read_bio_X509(leaf_text, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL);
    assert_int_equal(SSL_CTX_use_certificate(context, leaf), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, key), 1);
    X509_free(leaf);
    EVP_PKEY_free(key);
    BIO_free(leaf_text);
    BIO_free(key_text);
}

void tls_peer_present_certificate(SSL_CTX *context) {
    nct_test_certificate *made =
        nct_test_certificate_create(&(nct_certificate_options){.common_name = "peer", .names = "IP:127.0.0.1"});
    tls_peer_present(context, made);
    nct_test_certificate_free(made);
}

static int choose(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                  unsigned offered_length, void *ctx) {
    const tls_peer *peer = ctx;
    const tls_peer_connection *connection = SSL_get_app_data(ssl);
    size_t last = strlen(peer->members) - 1;
    char member = peer->members[connection->index < last ? connection->index : last];
    bool may_be_2 = false;
    for (unsigned at = 0; at + 2 < offered_length; at += offered[at] + 1u) {
        may_be_2 = may_be_2 || memcmp(offered + at, "\2h2", 3) == 0;
    }
    const unsigned char *protocol = (const unsigned char *)(member == '2' && may_be_2 ? "\2h2" : "\x08http/1.1");
    *out = protocol + 1;
    *length = protocol[0];
    return SSL_TLSEXT_ERR_OK;
}

/// Sends each byte in its own TLS record. All records leave in one segment with the handshake's first flight, so that
/// the client receives them together.
static bool send_early(SSL *ssl, int fd, const char *text, size_t length) {
    int is_corked = 1;
    char none[16];
    size_t count = 0;
    if (text == NULL) {
        return true;
    }
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &is_corked, sizeof is_corked), 0);
    bool is_sent = SSL_read_early_data(ssl, none, sizeof none, &count) == SSL_READ_EARLY_DATA_FINISH;
    for (size_t i = 0; i < length; i++) {
        is_sent = is_sent && SSL_write_early_data(ssl, text + i, 1, &count) == 1;
    }
    is_corked = 0;
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &is_corked, sizeof is_corked), 0);
    return is_sent;
}

static void *run_connection(void *ctx) {
    tls_peer_connection *connection = ctx;
    int fd = connection->fd;
    sigset_t broken_pipe; // OpenSSL writes to a socket that the client may have closed
    (void)sigemptyset(&broken_pipe);
    (void)sigaddset(&broken_pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    SSL *ssl = SSL_new(connection->peer->context);
    if (ssl != NULL && SSL_set_app_data(ssl, connection) == 1 && SSL_set_fd(ssl, fd) == 1 &&
        send_early(ssl, fd, connection->peer->early, connection->peer->early_length) && SSL_accept(ssl) == 1) {
        connection->peer->serve(ssl, connection);
    }
    SSL_free(ssl);
    ERR_clear_error();
    (void)pthread_mutex_lock(&connection->peer->mutex);
    connection->fd = -1;
    (void)close(fd);
    (void)pthread_mutex_unlock(&connection->peer->mutex);
    return NULL;
}

static void *run(void *ctx) {
    tls_peer *peer = ctx;
    for (size_t i = 0; i < TLS_PEER_CONNECTIONS; i++) {
        int fd = accept(peer->listener, NULL, NULL);
        if (fd < 0) {
            break;
        }
        tls_peer_connection *connection = &peer->connections[i];
        connection->peer = peer;
        connection->index = i;
        connection->fd = fd;
        atomic_store(&peer->count, i + 1); // before the client can have a response
        assert_int_equal(pthread_create(&connection->thread, NULL, run_connection, connection), 0);
    }
    return NULL;
}

void tls_peer_start(tls_peer *peer) {
    peer->context = SSL_CTX_new(TLS_server_method());
    tls_peer_present_certificate(peer->context);
    if (peer->early != NULL) {
        SSL_CTX_set_num_tickets(peer->context, 0); // session tickets would also arrive early
    }
    SSL_CTX_set_alpn_select_cb(peer->context, choose, peer);
    atomic_init(&peer->count, 0);
    assert_int_equal(pthread_mutex_init(&peer->mutex, NULL), 0);
    peer->listener = listen_anywhere(&peer->port, TLS_PEER_CONNECTIONS);
    assert_int_equal(pthread_create(&peer->thread, NULL, run, peer), 0);
}

void tls_peer_stop(tls_peer *peer) {
    (void)shutdown(peer->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(peer->thread, NULL), 0);
    for (size_t i = 0; i < atomic_load(&peer->count); i++) {
        (void)pthread_mutex_lock(&peer->mutex);
        (void)shutdown(peer->connections[i].fd, SHUT_RDWR);
        (void)pthread_mutex_unlock(&peer->mutex);
        assert_int_equal(pthread_join(peer->connections[i].thread, NULL), 0);
    }
    assert_int_equal(close(peer->listener), 0);
    (void)pthread_mutex_destroy(&peer->mutex);
    SSL_CTX_free(peer->context);
}

bool tls_peer_read_to(SSL *ssl, char *text, size_t capacity, const char *end) {
    size_t length = 0;
    text[0] = '\0';
    while (strstr(text, end) == NULL) {
        int got = SSL_read(ssl, text + length, (int)(capacity - 1 - length));
        if (got <= 0) {
            return false;
        }
        length += (size_t)got;
        text[length] = '\0';
    }
    return true;
}
