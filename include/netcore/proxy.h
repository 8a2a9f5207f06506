/// The proxy of a request or an engine.
///
/// The proxies of the environment are used only with NC_PROXY_ENVIRONMENT, because the operator of a proxy can read the
/// traffic. The request's trust policy also evaluates the certificate of an https proxy. No client certificate is sent
/// to a proxy.
///
/// The credentials and fields of this struct are sent to the proxy only, never to a server through a tunnel. The
/// request's own credentials and fields reach the proxy only for plain http without a tunnel. In that case the proxy
/// receives all of them in one head and decides which fields it forwards.
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
    /// The environment variables http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY, as libcurl reads them.
    NC_PROXY_ENVIRONMENT = 1,
    /// The URL in nc_proxy.url.
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
    /// Fields for the proxy only. A proxy that forwards a plain http request may forward them too.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// True uses a tunnel (CONNECT) through an HTTP proxy for http URLs too. https URLs always use a tunnel.
    bool uses_tunnel;
} nc_proxy;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
