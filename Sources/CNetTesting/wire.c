#define _GNU_SOURCE 1
#include "wire.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length, const unsigned char *offered,
                           unsigned offered_length, void *context) {
    (void)ssl;
    (void)context;
    static const unsigned char spoken[] = "\x08http/1.1";
    for (unsigned i = 0; i < offered_length; i += offered[i] + 1U) {
        if (offered_length - i >= sizeof spoken - 1 && memcmp(offered + i, spoken, sizeof spoken - 1) == 0) {
            *out = offered + i + 1;
            *out_length = offered[i];
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_NOACK;
}

static bool set_versions(SSL_CTX *context, const nct_server_options *options) {
    int least = TLS1_2_VERSION;
    int most = options->is_tls_1_2_only ? TLS1_2_VERSION : TLS1_3_VERSION;
    if (options->identity == NCT_TLS_1_1) {
        least = most = TLS1_1_VERSION;
        // TLS 1.1 signatures use SHA-1, which OpenSSL's security level 1 rejects.
        SSL_CTX_set_security_level(context, 0);
    }
    return SSL_CTX_set_min_proto_version(context, least) == 1 && SSL_CTX_set_max_proto_version(context, most) == 1;
}

static bool set_client_check(SSL_CTX *context, const nct_certificate *certificate, nct_client_check check) {
    if (check == NCT_CLIENT_ANONYMOUS)
        return true;
    int missing = check == NCT_CLIENT_REQUIRED ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | missing, NULL);
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate->authority) == 1 &&
           SSL_CTX_add_client_CA(context, certificate->authority) == 1;
}

/// Accepts a valid ticket without issuing a new one.
static SSL_TICKET_RETURN keep_ticket(SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t name_length,
                                     SSL_TICKET_STATUS status, void *context) {
    (void)ssl;
    (void)session;
    (void)name;
    (void)name_length;
    (void)context;
    if (status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW)
        return SSL_TICKET_RETURN_USE;
    return SSL_TICKET_RETURN_IGNORE_RENEW;
}

static bool set_tickets(SSL_CTX *context, nct_tickets tickets) {
    if (tickets == NCT_TICKETS_NONE) {
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        return SSL_CTX_set_num_tickets(context, 0) == 1;
    }
    return tickets != NCT_TICKETS_KEPT || SSL_CTX_set_session_ticket_cb(context, NULL, keep_ticket, NULL) == 1;
}

/// Presents the options' chain unchanged, including decoys and weak certificates.
static bool show_chain(SSL_CTX *context, const nct_server_options *options) {
    SSL_CTX_set_security_level(context, 0);
    BIO *chain = BIO_new_mem_buf(options->chain_pem, -1);
    BIO *key_text = BIO_new_mem_buf(options->key_pem, -1);
    X509 *leaf = chain == NULL ? NULL : PEM_read_bio_X509(chain, NULL, NULL, NULL);
    EVP_PKEY *key = key_text == NULL ? NULL : PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL);
    bool is_shown = leaf != NULL && key != NULL && SSL_CTX_use_certificate(context, leaf) == 1 &&
                    SSL_CTX_use_PrivateKey(context, key) == 1;
    X509 *more = NULL;
    while (is_shown && (more = PEM_read_bio_X509(chain, NULL, NULL, NULL)) != NULL) {
        is_shown = SSL_CTX_add0_chain_cert(context, more) == 1;
        if (!is_shown)
            X509_free(more);
    }
    ERR_clear_error();
    X509_free(leaf);
    EVP_PKEY_free(key);
    BIO_free(chain);
    BIO_free(key_text);
    return is_shown;
}

static bool show(SSL_CTX *context, const nct_certificate *certificate, const nct_server_options *options) {
    if (options->chain_pem != NULL)
        return show_chain(context, options);
    return SSL_CTX_use_certificate(context, certificate->leaf) == 1 &&
           SSL_CTX_use_PrivateKey(context, certificate->key) == 1;
}

/// Staples a copy of the OCSP response, because OpenSSL frees the response that it gets.
static int staple(SSL *ssl, void *data) {
    const nct_certificate *kept = data;
    void *copy = OPENSSL_memdup(kept->staple, kept->staple_length);
    if (copy == NULL || SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)kept->staple_length) != 1) {
        OPENSSL_free(copy);
        return SSL_TLSEXT_ERR_NOACK;
    }
    return SSL_TLSEXT_ERR_OK;
}

SSL_CTX *nct_wire_context_new(const nct_certificate *certificate, const nct_server_options *options) {
    static const unsigned char session_name[] = "nettesting";
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL)
        return NULL;
    SSL_CTX_set_mode(context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    if (set_versions(context, options) && set_client_check(context, certificate, options->client_check) &&
        set_tickets(context, options->tickets) &&
        SSL_CTX_set_session_id_context(context, session_name, sizeof session_name - 1) == 1 &&
        show(context, certificate, options)) {
        if (certificate->staple != NULL) {
            (void)SSL_CTX_set_tlsext_status_cb(context, staple);
            (void)SSL_CTX_set_tlsext_status_arg(context, (void *)(uintptr_t)certificate);
        }
        return context;
    }
    SSL_CTX_free(context);
    return NULL;
}

bool nct_wire_init(nct_wire *wire, int fd, SSL_CTX *context) {
    *wire = (nct_wire){.fd = fd};
    // With Nagle's algorithm, the end of a reply could wait for an acknowledgement, and an RST would discard it.
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (context == NULL)
        return true;
    wire->ssl = SSL_new(context);
    if (wire->ssl != NULL && SSL_set_fd(wire->ssl, fd) == 1) {
        SSL_set_accept_state(wire->ssl);
        return true;
    }
    nct_wire_deinit(wire, false);
    return false;
}

void nct_wire_deinit(nct_wire *wire, bool is_reset) {
    SSL_free(wire->ssl);
    wire->ssl = NULL;
    if (is_reset)
        setsockopt(wire->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    close(wire->fd);
    wire->fd = -1;
}

static nct_wire_result result_of_tls(SSL *ssl, int returned) {
    if (returned > 0)
        return NCT_WIRE_DONE;
    switch (SSL_get_error(ssl, returned)) {
    case SSL_ERROR_WANT_READ:
        return NCT_WIRE_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return NCT_WIRE_WANT_WRITE;
    default:
        return NCT_WIRE_ENDED;
    }
}

static bool is_blocked(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

nct_wire_result nct_wire_handshake(nct_wire *wire) {
    if (wire->ssl == NULL)
        return NCT_WIRE_DONE;
    ERR_clear_error();
    return result_of_tls(wire->ssl, SSL_do_handshake(wire->ssl));
}

bool nct_wire_is_resumed(const nct_wire *wire) {
    return wire->ssl != NULL && SSL_session_reused(wire->ssl) == 1;
}

bool nct_wire_has_certificate(const nct_wire *wire) {
    return wire->ssl != NULL && SSL_get0_peer_certificate(wire->ssl) != NULL;
}

nct_wire_result nct_wire_read(nct_wire *wire, uint8_t *bytes, size_t capacity, size_t *count) {
    if (wire->ssl != NULL) {
        ERR_clear_error();
        return result_of_tls(wire->ssl, SSL_read_ex(wire->ssl, bytes, capacity, count));
    }
    ssize_t received = recv(wire->fd, bytes, capacity, MSG_DONTWAIT);
    if (received < 0 && is_blocked())
        return NCT_WIRE_WANT_READ;
    if (received <= 0)
        return NCT_WIRE_ENDED;
    *count = (size_t)received;
    return NCT_WIRE_DONE;
}

nct_wire_result nct_wire_write(nct_wire *wire, const uint8_t *bytes, size_t length, size_t *count) {
    if (wire->ssl != NULL) {
        ERR_clear_error();
        return result_of_tls(wire->ssl, SSL_write_ex(wire->ssl, bytes, length, count));
    }
    ssize_t sent = send(wire->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && is_blocked())
        return NCT_WIRE_WANT_WRITE;
    if (sent < 0)
        return NCT_WIRE_ENDED;
    *count = (size_t)sent;
    return NCT_WIRE_DONE;
}

bool nct_wire_has_pending(const nct_wire *wire) {
    return wire->ssl != NULL && SSL_pending(wire->ssl) > 0;
}

nct_wire_result nct_wire_drain(nct_wire *wire) {
    char dropped[4096];
    for (int rounds = 0; rounds < 256; rounds++) {
        ssize_t count = recv(wire->fd, dropped, sizeof dropped, MSG_DONTWAIT);
        if (count <= 0)
            return count < 0 && is_blocked() ? NCT_WIRE_WANT_READ : NCT_WIRE_ENDED;
    }
    return NCT_WIRE_DONE;
}

nct_wire_result nct_wire_end(nct_wire *wire, bool is_announced) {
    if (is_announced && wire->ssl != NULL && SSL_is_init_finished(wire->ssl)) {
        ERR_clear_error();
        int returned = SSL_shutdown(wire->ssl);
        if (returned < 0 && result_of_tls(wire->ssl, returned) == NCT_WIRE_WANT_WRITE)
            return NCT_WIRE_WANT_WRITE;
    }
    shutdown(wire->fd, SHUT_WR);
    return NCT_WIRE_DONE;
}

nct_wire_result nct_wire_finish(nct_wire *wire, bool is_announced) {
    if (nct_wire_end(wire, is_announced) == NCT_WIRE_WANT_WRITE)
        return NCT_WIRE_WANT_WRITE;
    // Closing a socket with unread bytes sends RST instead of the remaining output.
    (void)nct_wire_drain(wire);
    return NCT_WIRE_DONE;
}

nct_wire_result nct_wire_flush(nct_wire *wire) {
    int unsent = 0;
    if (ioctl(wire->fd, SIOCOUTQNSD, &unsent) != 0 || unsent == 0)
        return NCT_WIRE_DONE;
    // With this option, the poller reports the socket as writable only when no byte is unsent.
    setsockopt(wire->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){1}, sizeof(int));
    return NCT_WIRE_WANT_WRITE;
}
