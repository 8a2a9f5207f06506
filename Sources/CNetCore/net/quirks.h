/// Workarounds for single versions of libcurl, each with the versions it applies to and the test that shows it.
#ifndef NETCORE_NET_QUIRKS_H
#define NETCORE_NET_QUIRKS_H

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <stdbool.h>

/// Keeps libcurl from reading its own CA bundle for connections of this handle, to servers and to proxies.
///
/// Trust comes from the connection pool's X509_STORE, which the TLS hook installs. Below 8.17, CURLOPT_CAINFO = NULL
/// means no bundle. Since 8.17 it means the built-in one: libcurl reads and parses it again for each new connection,
/// and every connection fails with CURLE_SSL_CACERT_BADFILE where the file does not exist. Test: test_engine_ca_bundle.
CURLcode nc_quirk_set_no_ca_bundle(CURL *easy, unsigned libcurl_version);

/// Returns true if libcurl would send the path of `url` with other escapes than it has.
///
/// Since 8.20 libcurl writes the hex digits of escapes in a path in upper case: "/a%7eb" is sent as "/a%7Eb", and a
/// signature over the path is wrong. CURLOPT_PATH_AS_IS does not prevent it. Test: test_engine_escapes.
bool nc_quirk_rewrites_escapes(unsigned libcurl_version, nc_slice url);
/// Writes the hex digits of a path that libcurl has read from `url` as the URL has them. Returns false, and leaves the
/// path, if the two differ in more than the case of letters.
bool nc_quirk_restore_escapes(char *path, nc_slice url, bool keeps_dots);
/// Sets the request target of a connected handle, with the escapes as `url` has them (NUL-terminated). It stays set.
/// - is_for_proxy: the target is the whole URL if a proxy is in use (RFC 9112, 3.2.2).
CURLcode nc_quirk_set_target(CURL *easy, nc_slice url, bool keeps_dots, bool is_for_proxy);

#endif
