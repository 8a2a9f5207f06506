/// A scripted HTTP/1.1 server on 127.0.0.1, for tests and demonstrations.
///
/// One thread, non-blocking, plain or TLS; the kernel chooses the port. What it answers is scripted by path before or
/// while it runs; what it received is kept byte for byte. It uses malloc, never the library's allocator hook, so that
/// allocation tests count the library alone. Nothing here sleeps: a test waits for an event with a time limit.
///
///     nct_server *server;
///     nct_server_start(&server, NULL);
///     nct_reply reply = {.status = 200, .body = "hi", .body_length = 2};
///     nct_server_script(server, "/greeting", &reply);
///     … http://127.0.0.1:<nct_server_port(server)>/greeting …
///     nct_server_stop(server);
#ifndef NETTESTING_H
#define NETTESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define NCT_NULLABLE _Nullable
#define NCT_NONNULL _Nonnull
#define NCT_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NCT_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NCT_ENUM(name) enum __attribute__((enum_extensibility(open))) name
#else
#define NCT_NULLABLE
#define NCT_NONNULL
#define NCT_ASSUME_NONNULL_BEGIN
#define NCT_ASSUME_NONNULL_END
#define NCT_ENUM(name) enum name
#endif

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A running server.
typedef struct nct_server nct_server;

/// The certificate that a TLS server shows; all are made when the server starts.
typedef NCT_ENUM(nct_identity){
    /// Plain HTTP, no certificate.
    NCT_PLAIN = 0,
    /// Signed by the server's own authority, valid for "localhost" and 127.0.0.1.
    NCT_TLS_VALID = 1,
    /// As VALID, but it expired a day ago.
    NCT_TLS_EXPIRED = 2,
    /// As VALID, but it begins in a day.
    NCT_TLS_NOT_YET_VALID = 3,
    /// Signed by the authority, but for "other.example" only.
    NCT_TLS_WRONG_NAME = 4,
    /// Signed by an authority that nct_server_ca_pem() does not show.
    NCT_TLS_UNTRUSTED = 5,
    /// Accepts the connection and answers the handshake with bytes that are not TLS.
    NCT_TLS_GARBAGE = 6,
} nct_identity;

/// How a connection ends after the reply, or after `cut_after` bytes of it.
typedef NCT_ENUM(nct_ending){
    /// It stays open for the next request, unless the request said Connection: close or HTTP/1.0.
    NCT_KEEP = 0,
    /// FIN (with close_notify over TLS).
    NCT_CLOSE = 1,
    /// RST, once every byte before it is on its way.
    NCT_RESET = 2,
    /// It stays open and silent until nct_server_release_stalled() or stop; then the reply goes on where it was cut,
    /// and the connection stays open as after KEEP. A client that leaves while it is stalled is noticed.
    NCT_STALL = 3,
} nct_ending;

/// What is sent for one path.
typedef struct nct_reply {
    /// Status code; 0 means 200.
    uint16_t status;
    /// Header lines without the final empty line, each ended by CR LF; NULL for none. Content-Length is added unless
    /// `is_raw` is set, `chunk_bytes` is not 0 or the lines already hold Content-Length or Transfer-Encoding. Status
    /// 1xx, 204 and 304 have neither body nor Content-Length; nothing else is ever added.
    const char *NCT_NULLABLE headers;
    /// Body; copied.
    const void *NCT_NULLABLE body;
    /// Bytes in `body`.
    size_t body_length;
    /// When not 0, the body is this many bytes of a fixed pattern (byte i is 'a' + i % 26), made as it is sent.
    uint64_t pattern_length;
    /// True sends the received request body back as the body, with the request's Content-Type.
    bool is_echo;
    /// True sends `body` (or the pattern) alone, as the whole reply, also to HEAD: the head is the script's affair.
    bool is_raw;
    /// When not 0, the body is sent chunked, in chunks of this many bytes, and Transfer-Encoding is added.
    size_t chunk_bytes;
    /// When `is_cut` is set, sends this many bytes of the whole reply (head and body), then `ending`.
    uint64_t cut_after;
    /// True makes `cut_after` count, also when it is 0.
    bool is_cut;
    /// What follows the reply or the cut.
    nct_ending ending;
    /// When not NULL, a Location header with this value is added (and status 0 then means 302).
    const char *NCT_NULLABLE location;
} nct_reply;

/// How a server starts; all zero is plain HTTP.
typedef struct nct_server_options {
    /// Plain, or which certificate.
    nct_identity identity;
    /// Offers at most TLS 1.2.
    bool is_tls_1_2_only;
} nct_server_options;

/// Starts a server on 127.0.0.1; unknown paths are answered with 404 and an empty body.
///
/// What is no HTTP/1.1 request is answered with 400 and closed, and is not recorded. Expect: 100-continue is answered
/// with 100 Continue as soon as the head is whole. The reply is chosen when the request's head is whole.
/// Returns 0 or an errno. Give it up with nct_server_stop().
int nct_server_start(nct_server *NCT_NULLABLE *NCT_NONNULL out, const nct_server_options *NCT_NULLABLE options);

/// Closes every connection, joins the thread and frees the server. NULL is harmless.
void nct_server_stop(nct_server *NCT_NULLABLE server);

/// The port that the kernel chose.
uint16_t nct_server_port(const nct_server *server);

/// The PEM text of the authority to trust, NUL-terminated; empty for a plain server. Borrowed.
const char *nct_server_ca_pem(const nct_server *server);

/// Sets what is sent for `path` (everything before '?'), replacing an earlier script; the reply is copied.
///
/// The path "*" answers whatever has no script of its own. Returns 0 or ENOMEM. Thread-safe.
int nct_server_script(nct_server *server, const char *path, const nct_reply *reply);

/// Lets every stalled reply go on, those stalled now only. Thread-safe.
void nct_server_release_stalled(nct_server *server);

/// Waits until `count` requests in total have been received whole (head and body).
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_requests(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until `count` replies are stalled at once (each NCT_STALL after its cut or its end).
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_stalled(nct_server *server, size_t count, uint32_t timeout_ms);

/// Waits until no connection is open.
///
/// Returns false when `timeout_ms` passed first. Thread-safe.
bool nct_server_wait_for_silence(nct_server *server, uint32_t timeout_ms);

/// Requests received whole so far. Thread-safe.
size_t nct_server_request_count(nct_server *server);

/// Connections accepted so far. Thread-safe.
size_t nct_server_connection_count(nct_server *server);

/// Copies the exact bytes of request `index` (head and body as received, chunk framing included).
///
/// The first 64 KiB of a request are kept; recording, but not counting, ends after 64 MiB in total. Returns the full
/// length, and copies at most `capacity` bytes; 0 when there is no such request. Thread-safe.
size_t nct_server_copy_request(nct_server *server, size_t index, void *NCT_NULLABLE bytes, size_t capacity);

/// Forgets what was recorded, so that counting requests and connections begins at 0 again. Thread-safe.
void nct_server_forget(nct_server *server);

/// Makes a certificate for another server: writes ca.pem, cert.pem and key.pem (mode 0600) into `directory`.
///
/// Returns 0 or an errno. Thread-safe.
int nct_identity_write(nct_identity identity, const char *directory);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
