/// The only place that accesses libcurl's TLS contexts and connections.
#ifndef NETCORE_PRIVATE_TLS_HOOK_H
#define NETCORE_PRIVATE_TLS_HOOK_H

#include "curl/connection_pool.h"
#include "curl/tls_wire.h"
#include "http/h2_tap.h"

#include <curl/curl.h>

/// Installs the pool's authorities and identity in every TLS context of this handle, and makes its policy evaluate
/// every handshake with an origin. Reserves CURLOPT_PROXY_SSL_OPTIONS.
CURLcode nc_tls_hook_install(CURL *easy, nc_conn_pool *conn_pool);

/// Writes the protocol version, the cipher and the key exchange group of the handle's live connection, truncated to
/// fit. They are empty if OpenSSL is not the TLS library. An HTTPS proxy's connection counts if no TLS runs inside it.
void nc_tls_describe(CURL *easy, nc_hop_metrics *hop);

/// Returns true if the handle's live connection has negotiated a protocol of two letters, "h2" or "h3" (ALPN), or
/// cannot be queried. With some backends of QUIC, libcurl reports only TLS over TCP.
bool nc_tls_may_speak(CURL *easy, const char *protocol);

/// Returns true if the handle's live connection has decrypted bytes that libcurl has not read. Also checks the TLS of
/// an HTTPS proxy around the connection.
bool nc_tls_has_unread(CURL *easy);

/// The state of a TLS connection. The connection and its transfers each own a reference. Event loop thread only.
typedef struct nc_tls_connection nc_tls_connection;

/// Watches the handle's live connection, which is in the pool, from now on. Returns NC_OK, with NULL in `out` without
/// TLS by OpenSSL, or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_tls_watch(CURL *easy, nc_conn_pool *conn_pool, nc_tls_connection **out);
/// Returns the tap of the connection's frames, which lives as long as `connection`; NULL without HTTP/2 or if memory
/// was exhausted.
nc_h2_tap *nc_tls_tap(const nc_tls_connection *connection);
/// Returns true if the peer has sent close_notify (RFC 8446, 6.1).
bool nc_tls_has_close_notify(const nc_tls_connection *connection);
/// Returns the TCP connection below `connection`. If `connection` runs through an HTTPS proxy whose TCP connection has
/// ended, returns that connection instead. Returns NULL for NULL.
const nc_tls_wire *nc_tls_wire_of(const nc_tls_connection *connection);
/// Returns the fatal alert that ended the connection, or that of the HTTPS proxy around it (RFC 8446, 6); 0 for none,
/// also for NULL.
int nc_tls_alert(const nc_tls_connection *connection);
/// Returns true if reading was stopped because the peer sent too much besides responses; false for NULL.
bool nc_tls_is_flooded(const nc_tls_connection *connection);
/// Returns true if an HTTP/2 connection has ended, or has failed by an HTTP/2 error: nothing more arrives.
bool nc_tls_is_over(const nc_tls_connection *connection);
/// Returns true if OpenSSL has verified all bytes that nc_tls_tap() has received, as far as they were read.
bool nc_tls_is_verified(const nc_tls_connection *connection);
/// Releases a reference. NULL is allowed.
void nc_tls_release(nc_tls_connection *connection);

#endif
