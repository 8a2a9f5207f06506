/// Workarounds for single versions of libcurl, each with the versions it applies to and the test that shows it.
#ifndef NETCORE_NET_QUIRKS_H
#define NETCORE_NET_QUIRKS_H

#include <curl/curl.h>

/// Keeps libcurl from reading a CA bundle of its own for connections of this handle, to servers and to proxies.
///
/// Trust comes from the connection pool's X509_STORE, which the TLS hook installs. Below 8.17, CURLOPT_CAINFO = NULL
/// means no bundle. Since 8.17 it means the built-in one: libcurl reads and parses it again for each new connection,
/// and every connection fails with CURLE_SSL_CACERT_BADFILE where the file does not exist. Test: test_engine_ca_bundle.
CURLcode nc_quirk_set_no_ca_bundle(CURL *easy, unsigned libcurl_version);

#endif
