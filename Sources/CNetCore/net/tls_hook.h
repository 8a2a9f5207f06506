/// The one place where libcurl's TLS contexts and connections are reached.
#ifndef NETCORE_PRIVATE_TLS_HOOK_H
#define NETCORE_PRIVATE_TLS_HOOK_H

#include "net/lane.h"

#include <curl/curl.h>

/// Has every TLS context of this handle filled from the lane's authorities and identity. It takes
/// CURLOPT_PROXY_SSL_OPTIONS for itself.
CURLcode nc_tls_hook_install(CURL *easy, const nc_lane *lane);

/// Names the protocol version ("TLSv1.3") and the cipher of the handle's live connection, cut to fit; empty without
/// TLS of OpenSSL's. An HTTPS proxy's connection counts where no TLS runs inside it.
void nc_tls_describe(CURL *easy, char *version, size_t version_bytes, char *cipher, size_t cipher_bytes);

#endif
