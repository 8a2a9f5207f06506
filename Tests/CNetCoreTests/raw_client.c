#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "raw_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- a server per case --- */

int raw_setup_plain(void **state) {
    return nct_server_start((nct_server **)state, NULL);
}

int raw_stop(void **state) {
    nct_server_stop(*state);
    return 0;
}

void raw_script(nct_server *server, const char *path, nct_reply reply) {
    assert_int_equal(nct_server_script(server, path, &reply), 0);
}

void raw_script_text(nct_server *server, const char *path, const char *body) {
    raw_script(server, path, (nct_reply){.body = body, .body_length = strlen(body)});
}

/* --- plain --- */

int raw_dial_port(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct timeval limit = {.tv_sec = RAW_LIMIT_MS / 1000};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

int raw_dial(const nct_server *server) {
    return raw_dial_port(nct_server_port(server));
}

void raw_send(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

int raw_request(const nct_server *server, const char *request) {
    int fd = raw_dial(server);
    raw_send(fd, request);
    return fd;
}

void raw_expect_bytes(int fd, const void *bytes, size_t length) {
    char received[512];
    for (size_t filled = 0; filled < length;) {
        size_t wanted = length - filled < sizeof received ? length - filled : sizeof received;
        ssize_t count = recv(fd, received, wanted, 0);
        assert_true(count > 0);
        assert_memory_equal(received, (const char *)bytes + filled, (size_t)count);
        filled += (size_t)count;
    }
}

void raw_expect(int fd, const char *text) {
    raw_expect_bytes(fd, text, strlen(text));
}

void raw_expect_end(int fd, bool is_reset) {
    char byte;
    errno = 0;
    ssize_t count = recv(fd, &byte, 1, 0);
    assert_int_equal(count, is_reset ? -1 : 0);
    assert_int_equal(errno, is_reset ? ECONNRESET : 0);
    close(fd);
}

void raw_expect_nothing(int fd) {
    assert_int_equal(recv(fd, &(char){0}, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

void raw_exchange(nct_server *server, const char *request, const char *reply) {
    for (size_t step = strlen(request); step != 0; step = step == 1 ? 0 : 1) {
        int fd = raw_dial(server);
        assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), 0);
        for (size_t sent = 0; sent < strlen(request); sent += step)
            assert_int_equal(send(fd, request + sent, step, MSG_NOSIGNAL), (ssize_t)step);
        raw_expect(fd, reply);
        shutdown(fd, SHUT_WR);
        raw_expect_end(fd, false);
    }
}

/* --- TLS --- */

void raw_trust(SSL_CTX *context, const char *ca_pem) {
    BIO *bio = BIO_new_mem_buf(ca_pem, -1);
    X509 *authority = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority), 1);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_X509_STRICT);
    X509_free(authority);
    BIO_free(bio);
}

raw_pair raw_start_pair(const nct_server_options *options) {
    raw_pair pair = {.context = SSL_CTX_new(TLS_client_method())};
    assert_int_equal(nct_server_start(&pair.server, options), 0);
    raw_script_text(pair.server, "/a", "hello");
    raw_trust(pair.context, nct_server_ca_pem(pair.server));
    return pair;
}

void raw_stop_pair(raw_pair *pair) {
    SSL_CTX_free(pair->context);
    nct_server_stop(pair->server);
}

void raw_greet(raw_pair *pair, const char *host, SSL_SESSION *session) {
    pair->ssl = SSL_new(pair->context);
    SSL_set_fd(pair->ssl, raw_dial(pair->server));
    assert_int_equal(SSL_set1_host(pair->ssl, host), 1);
    assert_int_equal(SSL_set_alpn_protos(pair->ssl, (const unsigned char *)"\x02h2\x08http/1.1", 12), 0);
    if (session != NULL)
        SSL_set_session(pair->ssl, session);
    pair->returned = SSL_connect(pair->ssl);
}

void raw_part(raw_pair *pair) {
    close(SSL_get_fd(pair->ssl));
    SSL_free(pair->ssl);
    ERR_clear_error();
}

void raw_exchange_tls(SSL *ssl, const char *request, const char *reply) {
    char bytes[512] = {0};
    assert_true(SSL_write(ssl, request, (int)strlen(request)) > 0);
    for (size_t filled = 0; filled < strlen(reply);) {
        int count = SSL_read(ssl, bytes + filled, (int)(strlen(reply) - filled));
        assert_true(count > 0);
        filled += (size_t)count;
    }
    assert_string_equal(bytes, reply);
}
