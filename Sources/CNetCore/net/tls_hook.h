/// The one place where libcurl's TLS contexts and connections are reached.
#ifndef NETCORE_PRIVATE_TLS_HOOK_H
#define NETCORE_PRIVATE_TLS_HOOK_H

#include "net/h2_tap.h"
#include "net/lane.h"

#include <curl/curl.h>

/// Has every TLS context of this handle filled from the lane's authorities and identity, and every handshake with an
/// origin judged by its policy. It takes CURLOPT_PROXY_SSL_OPTIONS for itself.
CURLcode nc_tls_hook_install(CURL *easy, nc_lane *lane);

/// Writes the protocol version, the cipher and the key exchange's group of the handle's live connection, cut to fit;
/// they are empty if OpenSSL does not run the TLS. An HTTPS proxy's connection counts where no TLS runs inside it.
void nc_tls_describe(CURL *easy, nc_hop_metrics *hop);

/// Tells whether the handle's live connection agreed on HTTP/2 (ALPN), or is one that cannot be asked.
bool nc_tls_may_be_multiplexed(CURL *easy);

/// Tells whether the handle's live connection holds bytes that were decrypted and not read yet, as they came from an
/// HTTPS proxy or within that.
bool nc_tls_has_unread(CURL *easy);

/// How the TLS connection under some transfers ends; loop-confined, kept by each of them and by the connection.
typedef struct nc_tls_end nc_tls_end;

/// Watches the handle's live connection, one of the lane's, from now on. NC_OK, with NULL in `out` where no TLS of
/// OpenSSL's is, or NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_tls_watch(CURL *easy, nc_lane *lane, nc_tls_end **out);
/// Returns the view of the connection's frames, which lives as long as `end`; NULL without HTTP/2 or without memory.
nc_h2_tap *nc_tls_tap(const nc_tls_end *end);
/// Tells whether the other end has said close_notify (RFC 8446, 6.1).
bool nc_tls_has_close_notify(const nc_tls_end *end);
/// Returns the fatal alert that ended the connection, or that of the HTTPS proxy around it (RFC 8446, 6); 0 for none,
/// also for NULL.
int nc_tls_alert(const nc_tls_end *end);
/// Tells whether the other end sent on and on what is no response, and was read no more for it. NULL was not.
bool nc_tls_is_flooded(const nc_tls_end *end);
/// Returns whether a connection of HTTP/2 has ended, or has failed by an error of HTTP/2: nothing more comes of it.
bool nc_tls_is_over(const nc_tls_end *end);
/// Returns whether OpenSSL has verified all bytes that nc_tls_tap() was shown, as far as they were read.
bool nc_tls_is_verified(const nc_tls_end *end);
/// Drops a reference; NULL is harmless.
void nc_tls_release_end(nc_tls_end *end);

#endif
