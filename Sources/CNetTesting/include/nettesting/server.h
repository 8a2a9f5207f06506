/// The scripted server: its lifecycle, its script and what it received.
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

/// How to start a server. A zeroed struct is plain HTTP on 127.0.0.1.
typedef struct nct_server_options {
    /// Plain, or the certificate to present.
    nct_identity identity;
    /// Offers at most TLS 1.2.
    bool is_tls_1_2_only;
    /// Numeric address to listen on, such as "127.0.0.2" or "::1". The certificate then names it too. NULL means
    /// 127.0.0.1. Another loopback address is another origin.
    const char *NCT_NULLABLE host;
    /// The port; 0 lets the kernel choose.
    uint16_t port;
    /// If not NULL, the path of a Unix socket to listen on instead. It is removed when the server stops.
    const char *NCT_NULLABLE unix_path;
    /// Further names of the certificate, as OpenSSL writes them:
    /// "DNS:a.example,IP:127.0.0.3"; NULL for none.
    const char *NCT_NULLABLE names;
    /// Accepts no connection before nct_server_accept_now(). The kernel completes two connections; the SYN of the next
    /// one gets no response.
    bool is_accepting_late;
    /// Reads no request (after the TLS handshake). This is a stall like NCT_STALL. After a release, one request is
    /// read.
    bool is_never_reading;
    /// If not 0, the kernel's receive buffer (SO_RCVBUF), so that an upload that is not read stalls sooner.
    uint32_t receive_buffer_bytes;
    /// Whether clients must present a certificate.
    nct_client_check client_check;
    /// The policy for session tickets.
    nct_tickets tickets;
    /// If not NULL, the chain to present instead, as PEM with the leaf first. It is sent unchanged and unchecked.
    /// `identity` is NCT_TLS_VALID.
    const char *NCT_NULLABLE chain_pem;
    /// The private key of that leaf, as PEM.
    const char *NCT_NULLABLE key_pem;
    /// If not NULL, the OCSP response to staple.
    const void *NCT_NULLABLE staple;
    /// Bytes in `staple`.
    size_t staple_length;
    /// If not NULL, chooses every reply. Scripts are ignored then.
    nct_choose_fn NCT_NULLABLE choose;
    /// If not NULL, called for every request.
    nct_received_fn NCT_NULLABLE received;
    /// If not NULL, called for every reply.
    nct_replied_fn NCT_NULLABLE replied;
    /// Passed to the callbacks; must outlive the server.
    void *NCT_NULLABLE context;
    /// True to count requests without keeping their bytes.
    bool is_forgetful;
} nct_server_options;

/// Starts a server. The reply for an unknown path is 404 with an empty body.
///
/// A malformed HTTP/1.1 request gets 400, the connection is closed, and the request is not recorded. With Expect:
/// 100-continue, 100 Continue is sent as soon as the head is complete. The reply is chosen when the request's head is
/// complete. Returns 0 or an errno. Stop it with nct_server_stop().
int nct_server_start(nct_server *NCT_NULLABLE *NCT_NONNULL out, const nct_server_options *NCT_NULLABLE options);

/// Closes every connection, joins the thread and frees the server. NULL is allowed.
void nct_server_stop(nct_server *NCT_NULLABLE server);

/// Returns the port that it listens on; 0 for a Unix socket.
uint16_t nct_server_port(const nct_server *server);

/// Returns the PEM text of the authority to trust, NUL-terminated; empty for a plain server. Borrowed.
const char *nct_server_ca_pem(const nct_server *server);

/// Writes a client certificate, signed by the server's authority, into `directory`: cert.pem, key.pem, and both in
/// client.p12 with the password "secret" (mode 0600).
///
/// Returns 0, EINVAL for a plain server, or an errno. Thread-safe.
int nct_server_client_identity_write(const nct_server *server, const char *directory);

/// Sets the reply for `path` (everything before '?') and replaces an earlier script. The reply is copied.
///
/// The path "*" is for requests without their own script. Returns 0 or ENOMEM. Thread-safe.
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

/// Waits until `count` replies are stalled simultaneously (each NCT_STALL after its cut or its end).
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

/// Returns the number of body bytes received so far, without chunk framing. They are counted as they arrive, also if
/// they are not kept. Thread-safe.
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
