/// The scripted server: its life, its script and what it received.
#ifndef NETTESTING_SERVER_H
#define NETTESTING_SERVER_H

#include "choice.h"
#include "identity.h"
#include "reply.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A running server.
typedef struct nct_server nct_server;

/// How a server starts; all zero is plain HTTP on 127.0.0.1.
typedef struct nct_server_options {
    /// Plain, or which certificate.
    nct_identity identity;
    /// Offers at most TLS 1.2.
    bool is_tls_1_2_only;
    /// Numeric address to listen on, such as "127.0.0.2" or "::1", which the
    /// certificate then names too; NULL means 127.0.0.1. Another loopback address
    /// is another origin.
    const char *NCT_NULLABLE host;
    /// Port; 0 lets the kernel choose.
    uint16_t port;
    /// When not NULL, listens on a Unix socket of this path instead; removed when
    /// the server stops.
    const char *NCT_NULLABLE unix_path;
    /// Further names of the certificate, as OpenSSL writes them:
    /// "DNS:a.example,IP:127.0.0.3"; NULL for none.
    const char *NCT_NULLABLE names;
    /// Accepts nothing before nct_server_accept_now(): the kernel completes two
    /// connections, and the next one waits for an answer to its SYN.
    bool is_accepting_late;
    /// Reads no request (after the TLS handshake). This is a stall as NCT_STALL
    /// is; released, one request is read.
    bool is_never_reading;
    /// When not 0, the kernel's receive buffer (SO_RCVBUF), so that an upload
    /// that is not read stalls sooner.
    uint32_t receive_buffer_bytes;
    /// Whether clients show a certificate.
    nct_client_check client_check;
    /// What is done about session tickets.
    nct_tickets tickets;
    /// When not NULL, the chain that is shown instead, PEM, the leaf first, as it
    /// stands here, whatever it is; `identity` is NCT_TLS_VALID.
    const char *NCT_NULLABLE chain_pem;
    /// Its leaf's private key, PEM.
    const char *NCT_NULLABLE key_pem;
    /// When not NULL, the OCSP reply that is stapled.
    const void *NCT_NULLABLE staple;
    /// Bytes in `staple`.
    size_t staple_length;
    /// When not NULL, chooses every reply; what is scripted does not count then.
    nct_choose_fn NCT_NULLABLE choose;
    /// When not NULL, hears of every request.
    nct_received_fn NCT_NULLABLE received;
    /// When not NULL, hears of every reply.
    nct_replied_fn NCT_NULLABLE replied;
    /// What these are given; it outlives the server.
    void *NCT_NULLABLE context;
    /// True counts requests and keeps none of their bytes.
    bool is_forgetful;
} nct_server_options;

/// Starts a server; unknown paths are answered with 404 and an empty body.
///
/// What is no HTTP/1.1 request is answered with 400 and closed, and is not
/// recorded. Expect: 100-continue is answered with 100 Continue as soon as the
/// head is whole. The reply is chosen when the request's head is whole. Returns
/// 0 or an errno. Give it up with nct_server_stop().
int nct_server_start(nct_server *NCT_NULLABLE *NCT_NONNULL out, const nct_server_options *NCT_NULLABLE options);

/// Closes every connection, joins the thread and frees the server. NULL is
/// harmless.
void nct_server_stop(nct_server *NCT_NULLABLE server);

/// The port that it listens on; 0 for a Unix socket.
uint16_t nct_server_port(const nct_server *server);

/// The PEM text of the authority to trust, NUL-terminated; empty for a plain
/// server. Borrowed.
const char *nct_server_ca_pem(const nct_server *server);

/// Writes a client's certificate, signed by the server's authority: cert.pem,
/// key.pem, and both in client.p12 with the password "secret" (mode 0600), into
/// `directory`.
///
/// Returns 0, EINVAL for a plain server or an errno. Thread-safe.
int nct_server_client_identity_write(const nct_server *server, const char *directory);

/// Sets what is sent for `path` (everything before '?'), replacing an earlier
/// script; the reply is copied.
///
/// The path "*" answers whatever has no script of its own. Returns 0 or ENOMEM.
/// Thread-safe.
int nct_server_script(nct_server *server, const char *path, const nct_reply *reply);

/// As nct_server_script(), with a reply for each of `count` successive
/// requests; the last one answers all after it.
///
/// Returns 0, EINVAL when `count` is 0 or a reply has a file, or ENOMEM.
/// Thread-safe.
int nct_server_script_sequence(nct_server *server, const char *path, const nct_reply *replies, size_t count);

/// Begins to accept, when the options said later; harmless otherwise.
/// Thread-safe.
void nct_server_accept_now(nct_server *server);

/// Lets every stalled reply go on, those stalled now only. Thread-safe.
void nct_server_release_stalled(nct_server *server);

/// Waits until `count` requests in total have been received whole (head and
/// body).
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_requests(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until `count` replies are stalled at once (each NCT_STALL after its
/// cut or its end).
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_stalled(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until `count` body bytes in total have been received, as
/// nct_server_received_bytes() counts them.
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_received_bytes(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until no connection is open.
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_silence(nct_server *server, uint32_t timeout_ms);

/// Requests received whole so far. Thread-safe.
size_t nct_server_request_count(nct_server *server);

/// Connections accepted so far. Thread-safe.
size_t nct_server_connection_count(nct_server *server);

/// Connections open now. Thread-safe.
size_t nct_server_open_count(nct_server *server);

/// Body bytes received so far, without chunk framing, counted as they come and
/// also when they are not kept. Thread-safe.
size_t nct_server_received_bytes(nct_server *server);

/// Handshakes so far that resumed a session. Thread-safe.
size_t nct_server_resumed_count(nct_server *server);

/// Whole handshakes so far in which a client showed a certificate that the
/// server trusts. Thread-safe.
size_t nct_server_client_certificate_count(nct_server *server);

/// Copies the exact bytes of request `index` (head and body as received, chunk
/// framing included).
///
/// The first 64 KiB of a request are kept; recording, but not counting, ends
/// after 64 MiB in total. Returns the full length, and copies at most
/// `capacity` bytes; 0 when there is no such request. Thread-safe.
size_t nct_server_copy_request(nct_server *server, size_t index, void *NCT_NULLABLE bytes, size_t capacity);

/// The number of the connection that request `index` came over: 1, 2, … as they
/// were accepted, never used twice.
///
/// Returns 0 when there is no such request. Thread-safe.
size_t nct_server_request_connection(nct_server *server, size_t index);

/// Forgets what was recorded, so that counting requests, connections, bytes and
/// handshakes begins at 0 again.
///
/// Connections keep their numbers. Thread-safe.
void nct_server_forget(nct_server *server);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
