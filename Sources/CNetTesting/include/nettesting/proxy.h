/// A small proxy on 127.0.0.1 for tests: HTTP (absolute form and CONNECT) or
/// SOCKS5, recorded.
///
/// It resolves nothing: an address in 127.0.0.0/8 is used as it is, and every
/// other name or address is 127.0.0.1, so that `a.example` reaches a scripted
/// server too.
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

/// What a proxy speaks with its clients.
typedef NCT_ENUM(nct_proxy_kind){
    /// Forwards requests in absolute form, and makes tunnels for CONNECT.
    NCT_PROXY_HTTP = 0,
    /// SOCKS version 5 (RFC 1928), CONNECT only, without authentication or with
    /// user and password (RFC 1929).
    NCT_PROXY_SOCKS5 = 1,
} nct_proxy_kind;

/// How a proxy starts; all zero is HTTP for everyone.
typedef struct nct_proxy_options {
    /// What it speaks.
    nct_proxy_kind kind;
    /// Certificate of a proxy that is spoken to over TLS; NCT_PLAIN,
    /// NCT_TLS_VALID to NCT_TLS_UNTRUSTED.
    nct_identity identity;
    /// When not NULL, only who shows this user and `password` is served; others
    /// get 407 (Basic), or are refused.
    const char *NCT_NULLABLE user;
    /// The password; NULL means the empty one.
    const char *NCT_NULLABLE password;
    /// When not NULL, the answer to CONNECT, sent as it is instead of making a
    /// tunnel; then the connection is closed.
    const char *NCT_NULLABLE connect_reply;
    /// When not 0, what a SOCKS5 client is told instead of making a tunnel, such
    /// as 5: connection refused.
    uint8_t socks_reply;
} nct_proxy_options;

/// Starts a proxy. Returns 0 or an errno. Give it up with nct_proxy_stop().
int nct_proxy_start(nct_proxy *NCT_NULLABLE *NCT_NONNULL out, const nct_proxy_options *NCT_NULLABLE options);

/// Closes every connection, joins its threads and frees the proxy. NULL is
/// harmless.
void nct_proxy_stop(nct_proxy *NCT_NULLABLE proxy);

/// The port that the kernel chose.
uint16_t nct_proxy_port(const nct_proxy *proxy);

/// The PEM text of the authority to trust, NUL-terminated; empty for a plain
/// proxy. Borrowed.
const char *nct_proxy_ca_pem(const nct_proxy *proxy);

/// Requests received so far: heads, also refused ones, or SOCKS5 requests.
/// Thread-safe.
size_t nct_proxy_request_count(nct_proxy *proxy);

/// Connections accepted so far. Thread-safe.
size_t nct_proxy_connection_count(nct_proxy *proxy);

/// Tunnels made so far, by CONNECT or SOCKS5. Thread-safe.
size_t nct_proxy_tunnel_count(nct_proxy *proxy);

/// Targets so far that came as a name, not as an address. Thread-safe.
size_t nct_proxy_name_count(nct_proxy *proxy);

/// Copies the exact bytes of request `index`: the head, as it came, or the
/// SOCKS5 request.
///
/// Byte 3 of a SOCKS5 request says what it holds: 1 an IPv4 address, 3 a name,
/// 4 an IPv6 address. Returns the full length, and copies at most `capacity`
/// bytes; 0 when there is no such request. Thread-safe.
size_t nct_proxy_copy_request(nct_proxy *proxy, size_t index, void *NCT_NULLABLE bytes, size_t capacity);

/// Waits until no connection is open. Returns false when `timeout_ms` passed
/// first. Thread-safe.
bool nct_proxy_wait_for_silence(nct_proxy *proxy, uint32_t timeout_ms);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
