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

/// Returns CURLINFO_USED_PROXY, or -1 below 8.7, which has none. Test: test_engine_proxy.
long nc_quirk_used_proxy(CURL *easy, unsigned libcurl_version);

/// Returns true if an early response to an HTTP/2 upload can be lost when another stream reads it. Below 8.0.
/// Test: test_engine_streams.
static inline bool nc_quirk_loses_early_responses(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

/// Returns true if a stream with a full buffer is called once more, and later ignores bytes that are already in the
/// connection's buffer. Below 8.0. Test: test_engine_sharing.
static inline bool nc_quirk_leaves_stream_bytes_unread(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

/// Returns true if libcurl does not end the stream of a request that is first sent without its body; servers wait for
/// the end. Below 8.0. Test: test_engine_asked_first.
static inline bool nc_quirk_leaves_bodiless_stream_open(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

/// Returns true if a second request over a cleartext HTTP/2 connection fails with an error of framing. Below 8.0.
/// Test: test_engine_proofs.
static inline bool nc_quirk_breaks_second_cleartext_request(unsigned libcurl_version) {
    return libcurl_version < 0x080000;
}

/// Returns true if a transfer that waits for a handshake is not checked again when it negotiates HTTP/1.1, and so waits
/// for the end of the first response. 8.0 and later. Test: test_engine_sharing.
static inline bool nc_quirk_forgets_waiting_transfers(unsigned libcurl_version) {
    return libcurl_version >= 0x080000;
}

/// Returns true if head lines must also go to the body callback, before libcurl processes them: a defect with folded
/// lines damages the heap otherwise. Below 8.1. Later versions would also pass the trailers of streams to it.
/// Test: test_engine_streams.
static inline bool nc_quirk_needs_head_in_body_callback(unsigned libcurl_version) {
    return libcurl_version < 0x080100;
}

/// Returns true if CURLINFO_REQUEST_SIZE does not include the body. Below 8.7. Test: test_engine_bodies.
static inline bool nc_quirk_omits_body_from_request_size(unsigned libcurl_version) {
    return libcurl_version < 0x080700;
}

/// Returns true if user names beyond ASCII are percent-encoded in a Digest response. 8.21 and later.
/// Test: test_engine_digest.
static inline bool nc_quirk_encodes_digest_names(unsigned libcurl_version) {
    return libcurl_version >= 0x081500;
}

#endif
