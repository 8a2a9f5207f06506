/// A small proxy on 127.0.0.1 for tests, which records its requests. It supports HTTP (absolute form and CONNECT) or
/// SOCKS5.
///
/// The proxy resolves no names. It connects to an address in 127.0.0.0/8 if that is the target, and to 127.0.0.1 for
/// any other name or address. So `a.example` also reaches a scripted server.
///
///     nct_proxy *proxy;
///     nct_proxy_start(&proxy, &(nct_proxy_options){.kind = NCT_PROXY_SOCKS5});
///     … socks5h://127.0.0.1:<nct_proxy_port(proxy)> …
///     nct_proxy_stop(proxy);
#ifndef NETTESTING_PROXY_H
#define NETTESTING_PROXY_H

#include "identity.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A running proxy.
typedef struct nct_proxy nct_proxy;

/// The protocol between a proxy and its clients.
typedef NCT_ENUM(nct_proxy_kind){
    /// Forwards requests in absolute form, and opens tunnels for CONNECT.
    NCT_PROXY_HTTP = 0,
    /// SOCKS version 5 (RFC 1928), only CONNECT, without authentication or with user and password (RFC 1929).
    NCT_PROXY_SOCKS5 = 1,
} nct_proxy_kind;

/// How to start a proxy. A zeroed struct means an HTTP proxy without authentication.
typedef struct nct_proxy_options {
    /// Its protocol.
    nct_proxy_kind kind;
    /// Certificate of a proxy that clients connect to over TLS: NCT_PLAIN, or NCT_TLS_VALID to NCT_TLS_UNTRUSTED.
    nct_identity identity;
    /// If not NULL, clients must authenticate with this user and `password`. An HTTP proxy replies 407 (Basic) to other
    /// clients, and a SOCKS5 proxy refuses them.
    const char *NCT_NULLABLE user;
    /// The password; NULL means an empty one.
    const char *NCT_NULLABLE password;
    /// If not NULL, the proxy opens no tunnel, but sends this text unchanged in response to CONNECT and closes the
    /// connection.
    const char *NCT_NULLABLE connect_reply;
    /// If not 0, a SOCKS5 proxy opens no tunnel, but sends this reply code, for example 5 for "connection refused".
    uint8_t socks_reply;
} nct_proxy_options;

/// Starts a proxy. Returns 0 or an errno. Stop it with nct_proxy_stop().
int nct_proxy_start(nct_proxy *NCT_NULLABLE *NCT_NONNULL out, const nct_proxy_options *NCT_NULLABLE options);

/// Closes every connection, joins the proxy's threads and frees the proxy. NULL is allowed.
void nct_proxy_stop(nct_proxy *NCT_NULLABLE proxy);

/// Returns the port that the kernel chose.
uint16_t nct_proxy_port(const nct_proxy *proxy);

/// Returns the PEM text of the authority to trust, NUL-terminated; empty for a plain proxy. Borrowed.
const char *nct_proxy_ca_pem(const nct_proxy *proxy);

/// Returns the number of HTTP heads or SOCKS5 requests received so far, including refused ones. Thread-safe.
size_t nct_proxy_request_count(nct_proxy *proxy);

/// Returns the number of connections accepted so far. Thread-safe.
size_t nct_proxy_connection_count(nct_proxy *proxy);

/// Returns the number of tunnels opened so far, by CONNECT or SOCKS5. Thread-safe.
size_t nct_proxy_tunnel_count(nct_proxy *proxy);

/// Returns the number of requests so far whose target was a name and not an address. Thread-safe.
size_t nct_proxy_name_count(nct_proxy *proxy);

/// Copies the exact bytes of request `index`: the head as received, or the SOCKS5 request.
///
/// Byte 3 of a SOCKS5 request is its address type: 1 for IPv4, 3 for a name, 4 for IPv6. Returns the full length, and
/// copies at most `capacity` bytes. Returns 0 if there is no such request. Thread-safe.
size_t nct_proxy_copy_request(nct_proxy *proxy, size_t index, void *NCT_NULLABLE bytes, size_t capacity);

/// Waits until no connection is open. Returns false after `timeout_ms`. Thread-safe.
bool nct_proxy_wait_for_silence(nct_proxy *proxy, uint32_t timeout_ms);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
