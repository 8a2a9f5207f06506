/// The proxy of a request or an engine.
///
/// The environment's proxies are used only on request, because their operator can read the traffic. A request's trust
/// policy evaluates the certificate of an https proxy. No client certificate is sent to a proxy.
///
/// Credentials and fields for the proxy never reach a server. A server's credentials and fields reach the proxy only
/// for plain http without a tunnel. The proxy then receives both in one head and decides which fields it forwards.
///
///     nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of("socks5h://127.0.0.1:1080")};
///     request.proxy = &proxy;
#ifndef NETCORE_PROXY_H
#define NETCORE_PROXY_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/credentials.h>
#include <netcore/header.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The source of a proxy's URL.
typedef NC_ENUM(nc_proxy_choice){
    /// No proxy. The environment is ignored.
    NC_PROXY_NONE = 0,
    /// http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY of the environment, as libcurl reads them.
    NC_PROXY_ENVIRONMENT = 1,
    /// nc_proxy.url.
    NC_PROXY_URL = 2,
} nc_proxy_choice;

/// A proxy.
typedef struct nc_proxy {
    /// Source of the URL.
    nc_proxy_choice choice;
    /// Scheme, host and port. Schemes are http://, https://, socks4://, socks4a://, socks5:// and socks5h:// (the proxy
    /// resolves names).
    nc_slice url;
    /// Credentials for the proxy: NC_AUTH_BASIC, _DIGEST, _NTLM or _NEGOTIATE. SOCKS5 supports only BASIC (RFC 1929)
    /// and NEGOTIATE (RFC 1961).
    nc_credentials credentials;
    /// Hosts to connect to directly, separated by commas. "*" means all.
    nc_slice except;
    /// Fields for the proxy only. A proxy that forwards a plain http request decides which of them it forwards.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// True uses a tunnel (CONNECT) through an HTTP proxy for http URLs too.
    bool uses_tunnel;
} nc_proxy;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
