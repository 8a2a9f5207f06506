/// The scripted server: its lifecycle, its script and the requests that it received.
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

/// How to start a server. A zeroed struct means plain HTTP on 127.0.0.1.
typedef struct nct_server_options {
    /// The certificate to present; NCT_PLAIN for plain HTTP.
    nct_identity identity;
    /// True to support no later version than TLS 1.2.
    bool is_tls_1_2_only;
    /// Numeric address to listen on, such as "127.0.0.2" or "::1". The certificate is valid for it too. NULL means
    /// 127.0.0.1. A server on another loopback address is another origin for its clients.
    const char *NCT_NULLABLE host;
    /// The port; 0 lets the kernel choose.
    uint16_t port;
    /// If not NULL, the server listens on a Unix socket with this path, and not on a port. The path is removed when the
    /// server stops.
    const char *NCT_NULLABLE unix_path;
    /// Further names of the certificate, in OpenSSL's syntax: "DNS:a.example,IP:127.0.0.3"; NULL for none.
    const char *NCT_NULLABLE names;
    /// True to accept no connection before nct_server_accept_now(). Until then the kernel completes two connections,
    /// but does not reply to the SYN of a third.
    bool is_accepting_late;
    /// True to read no request after the TLS handshake. The connection stalls as with NCT_STALL. After each release,
    /// the server reads one request.
    bool is_never_reading;
    /// If not 0, the size of the kernel's receive buffer (SO_RCVBUF). With a small buffer, an upload that the server
    /// does not read stalls sooner.
    uint32_t receive_buffer_bytes;
    /// Whether clients must present a certificate.
    nct_client_check client_check;
    /// The policy for session tickets.
    nct_tickets tickets;
    /// If not NULL, the chain to present instead of the server's own, as PEM with the leaf first. The server sends it
    /// unchanged and does not check it. `identity` must be NCT_TLS_VALID.
    const char *NCT_NULLABLE chain_pem;
    /// The private key of the leaf in `chain_pem`, as PEM.
    const char *NCT_NULLABLE key_pem;
    /// If not NULL, the OCSP response to staple.
    const void *NCT_NULLABLE staple;
    /// Bytes in `staple`.
    size_t staple_length;
    /// If not NULL, this callback chooses every reply, and scripts are ignored.
    nct_choose_fn NCT_NULLABLE choose;
    /// If not NULL, this callback is called for every request.
    nct_received_fn NCT_NULLABLE received;
    /// If not NULL, this callback is called for every reply.
    nct_replied_fn NCT_NULLABLE replied;
    /// Passed to the callbacks. It must outlive the server.
    void *NCT_NULLABLE context;
    /// True to count requests without keeping their bytes.
    bool is_forgetful;
} nct_server_options;

/// Starts a server. The reply for an unknown path is 404 with an empty body.
///
/// The server replies 400 to a malformed HTTP/1.1 request, closes the connection, and does not record the request. If a
/// request has Expect: 100-continue, the server sends 100 Continue when the head is complete. It chooses the
/// reply when the request's head is complete. Returns 0 or an errno. Stop the server with nct_server_stop().
int nct_server_start(nct_server *NCT_NULLABLE *NCT_NONNULL out, const nct_server_options *NCT_NULLABLE options);

/// Closes every connection, joins the thread and frees the server. NULL is allowed.
void nct_server_stop(nct_server *NCT_NULLABLE server);

/// Returns the port that the server listens on; 0 for a Unix socket.
uint16_t nct_server_port(const nct_server *server);

/// Returns the PEM text of the authority to trust, NUL-terminated; empty for a plain server. Borrowed.
const char *nct_server_ca_pem(const nct_server *server);

/// Creates a client certificate, signed by the server's authority. Writes it to cert.pem and key.pem in `directory`,
/// and both to client.p12 with the password "secret". The files have mode 0600.
///
/// Returns 0, EINVAL for a plain server, or an errno. Thread-safe.
int nct_server_client_identity_write(const nct_server *server, const char *directory);

/// Sets the reply for `path` (everything before '?') and replaces an earlier script. The reply is copied.
///
/// The script of the path "*" is for requests whose path has no script. Returns 0 or ENOMEM. Thread-safe.
int nct_server_script(nct_server *server, const char *path, const nct_reply *reply);

/// Like nct_server_script(), with one reply for each of `count` successive requests. The last reply is used for all
/// later requests.
///
/// Returns 0, EINVAL if `count` is 0 or a reply has a file, or ENOMEM. Thread-safe.
int nct_server_script_sequence(nct_server *server, const char *path, const nct_reply *replies, size_t count);

/// Begins to accept connections if the options delayed it; otherwise does nothing. Thread-safe.
void nct_server_accept_now(nct_server *server);

/// Resumes every reply that is stalled now. Thread-safe.
void nct_server_release_stalled(nct_server *server);

/// Waits until `count` requests in total were received completely (head and body).
///
/// Returns false after `timeout_ms`. Thread-safe.
bool nct_server_wait_for_requests(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until `count` connections are stalled simultaneously: see NCT_STALL, NCT_EARLY_STOP and NCT_TLS_STALLED.
///
/// Returns false after `timeout_ms`. Thread-safe.
bool nct_server_wait_for_stalled(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until `count` body bytes in total were received, as nct_server_received_bytes() counts them.
///
/// Returns false after `timeout_ms`. Thread-safe.
bool nct_server_wait_for_received_bytes(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until no connection is open.
///
/// Returns false after `timeout_ms`. Thread-safe.
bool nct_server_wait_for_silence(nct_server *server, uint32_t timeout_ms);

/// Returns the number of requests received completely so far. Thread-safe.
size_t nct_server_request_count(nct_server *server);

/// Returns the number of connections accepted so far. Thread-safe.
size_t nct_server_connection_count(nct_server *server);

/// Returns the number of open connections. Thread-safe.
size_t nct_server_open_count(nct_server *server);

/// Returns the number of body bytes received so far, without chunk framing. They are counted when they arrive, even if
/// they are not recorded. Thread-safe.
size_t nct_server_received_bytes(nct_server *server);

/// Returns the number of handshakes so far that resumed a session. Thread-safe.
size_t nct_server_resumed_count(nct_server *server);

/// Returns the number of full handshakes so far in which a client presented a trusted certificate. Thread-safe.
size_t nct_server_client_certificate_count(nct_server *server);

/// Copies the exact bytes of request `index` (head and body as received, including chunk framing).
///
/// The first 64 KiB of a request are kept. After 64 MiB in total, requests are counted but no longer recorded. Returns
/// the full length, and copies at most `capacity` bytes. Returns 0 if there is no such request. Thread-safe.
size_t nct_server_copy_request(nct_server *server, size_t index, void *NCT_NULLABLE bytes, size_t capacity);

/// Returns the number of the connection of request `index`: 1, 2, … in the order of acceptance, never reused.
///
/// Returns 0 if there is no such request. Thread-safe.
size_t nct_server_request_connection(nct_server *server, size_t index);

/// Deletes the recorded requests, and resets the counts of requests, connections, bytes and handshakes to 0.
///
/// Connections keep their numbers. Thread-safe.
void nct_server_forget(nct_server *server);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
