/// Through whom requests go: nobody, a proxy of one's own choice, or what the environment says.
///
/// The environment counts only where it is asked for, because whoever sets it reads what goes through. What a proxy is
/// told (credentials, fields) never reaches the servers behind it, and what servers are told does not reach the proxy
/// but for plain http without a tunnel: there a proxy gets both in one head, and passes on what it likes. A proxy's own
/// certificate is judged by the request's trust policy; no client certificate is shown to it.
///
///     nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of("socks5h://127.0.0.1:1080")};
#ifndef NETCORE_PROXY_H
#define NETCORE_PROXY_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/credentials.h>
#include <netcore/header.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Where a proxy is taken from.
typedef NC_ENUM(nc_proxy_choice){
    /// None; the environment does not count.
    NC_PROXY_NONE = 0,
    /// http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY of the environment, as libcurl reads them.
    NC_PROXY_ENVIRONMENT = 1,
    /// The URL beside.
    NC_PROXY_URL = 2,
} nc_proxy_choice;

/// A proxy.
typedef struct nc_proxy {
    /// Where it is taken from.
    nc_proxy_choice choice;
    /// http://, https://, socks4://, socks4a://, socks5:// or socks5h:// (the proxy looks the name up), host and port.
    nc_slice url;
    /// Who asks the proxy; NC_AUTH_BASIC, _DIGEST, _NTLM and _NEGOTIATE. A SOCKS5 proxy knows BASIC (RFC 1929) and
    /// NEGOTIATE (RFC 1961) alone.
    nc_credentials credentials;
    /// Hosts asked without it, separated by commas; "*" is all.
    nc_slice except;
    /// Fields for the proxy alone; of a plain http request that it forwards, it alone decides what it hands on.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// True asks an HTTP proxy for a tunnel (CONNECT) for http URLs too.
    bool uses_tunnel;
} nc_proxy;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
