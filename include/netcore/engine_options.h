/// Options of an engine, and the capabilities of the libraries below it.
///
/// A zeroed struct selects the defaults; every default limit is finite. Features that could disclose something about
/// the caller are off by default: cookies, netrc, the environment's proxies, HSTS, Alt-Svc, DNS over HTTPS.
///
///     nc_engine_options options = {.cookies = NC_COOKIES_MEMORY, .max_per_host = 2};
///     if (nc_engine_new(&engine, &options, &err) != NC_OK) puts(err.message);
#ifndef NETCORE_ENGINE_OPTIONS_H
#define NETCORE_ENGINE_OPTIONS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <netcore/proxy.h>
#include <netcore/request.h>
#include <netcore/trace.h>
#include <netcore/trust.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The default of nc_engine_options.max_in_flight.
#define NC_DEFAULT_MAX_IN_FLIGHT 256u
/// The default of nc_engine_options.max_per_host.
#define NC_DEFAULT_MAX_PER_HOST 6u
/// The default of nc_engine_options.max_streams.
#define NC_DEFAULT_MAX_STREAMS 100u
/// The default of nc_engine_options.max_idle_connections.
#define NC_DEFAULT_MAX_IDLE_CONNECTIONS 256u
/// The default of nc_engine_options.max_waiting.
#define NC_DEFAULT_MAX_WAITING 100000u

/// The system call that the event loop uses to wait for its sockets.
typedef NC_ENUM(nc_poller_choice){
    /// The fastest one that the system supports.
    NC_POLLER_AUTO = 0,
    /// epoll(7).
    NC_POLLER_EPOLL = 1,
    /// poll(2).
    NC_POLLER_POLL = 2,
    /// kqueue(2); untested.
    NC_POLLER_KQUEUE = 3,
} nc_poller_choice;

/// The address family of connections.
typedef NC_ENUM(nc_address_family){
    /// IPv6 and IPv4 are both tried; the connection that is established first is used (RFC 8305).
    NC_FAMILY_ANY = 0,
    /// IPv4 only.
    NC_FAMILY_IPV4 = 4,
    /// IPv6 only.
    NC_FAMILY_IPV6 = 6,
} nc_address_family;

/// Runs a caller's jobs on the loop thread.
///
/// The functions of this struct are called on the loop thread and must not block. One call of `drain` runs at most
/// `max_jobs` jobs, so that jobs do not delay transfers.
typedef struct nc_loop_client {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// Runs at most `max_jobs` jobs and returns true if more jobs are waiting. Called after nc_engine_wake(). May be
    /// NULL.
    bool (*NC_NULLABLE drain)(void *NC_NULLABLE ctx, uint32_t max_jobs);
    /// Called at the end of each iteration of the loop in which on_done was called. May be NULL.
    void (*NC_NULLABLE burst_done)(void *NC_NULLABLE ctx);
    /// Called once, when the loop ends. No other call follows. May be NULL.
    void (*NC_NULLABLE release)(void *NC_NULLABLE ctx);
    /// Reports that a state file of cookies, HSTS or Alt-Svc could not be saved, or that its contents exceed 16 MiB.
    /// The contents stay in memory. The engine tries to save them again after each change and before `release`. A file
    /// is reported once; it is reported again only after a successful save. `error` is borrowed. May be NULL.
    void (*NC_NULLABLE save_failed)(void *NC_NULLABLE ctx, const nc_error *error);
} nc_loop_client;

/// Where cookies are stored (RFC 6265bis).
typedef NC_ENUM(nc_cookie_choice){
    /// There is no cookie jar. Only the caller's own Cookie fields are sent.
    NC_COOKIES_OFF = 0,
    /// A cookie jar in memory, which is lost when the engine is freed.
    NC_COOKIES_MEMORY = 1,
    /// A cookie jar that is read from a file. After each change the file is replaced atomically, with mode 0600.
    NC_COOKIES_FILE = 2,
} nc_cookie_choice;

/// Options of an engine. 0 selects the default in parentheses. If a hook (`clock`, `file_ops`) is NULL, the system's is
/// used.
typedef struct nc_engine_options {
    /// Transfers in flight in libcurl (256).
    uint32_t max_in_flight;
    /// Connections to one host over HTTP/1.1 (6). Over TLS a host may have the same number of exclusive connections in
    /// addition, for transfers that may pause and for large uploads. An exclusive connection is never shared, not even
    /// over HTTP/2.
    uint32_t max_per_host;
    /// Streams on one HTTP/2 connection, and also concurrent requests to a host with HTTP/2 (100). If the server allows
    /// fewer streams, more connections are opened.
    uint32_t max_streams;
    /// Connections to keep open for later requests (256). Connections in use count too, and the limit is never below
    /// the number of transfers in flight. If a connection becomes idle and the limit is exceeded, the oldest idle one
    /// is closed.
    uint32_t max_idle_connections;
    /// Transfers that may wait for a slot (100,000). A further transfer ends with NC_ERR_TOO_LARGE. The limit does not
    /// apply to the next hop of a redirect.
    uint32_t max_waiting;
    /// TLS trust policy for requests that have none. NULL means the default policy. Retained.
    nc_trust *NC_NULLABLE trust;
    /// True refuses every request and redirect to an http URL, even if HSTS would change the URL to https.
    bool refuses_plaintext;
    /// Proxy for requests that have none; copied. NULL means no proxy.
    const nc_proxy *NC_NULLABLE proxy;
    /// Cookie storage.
    nc_cookie_choice cookies;
    /// Path of the state file for NC_COOKIES_FILE, in the Netscape format; copied. The file may be missing; its
    /// directory must exist. NC_ERR_FILE if another user could have written the file (state_file.h). This and the other
    /// relative paths of an engine are resolved against the working directory at nc_engine_new().
    nc_slice cookie_file;
    /// True reads names and passwords from `netrc_file`, or from ~/.netrc if `netrc_file` is empty, for requests
    /// without their own. They are sent with the first request as Basic, unless nc_credentials.schemes selects other
    /// schemes. They are never sent after a cross-origin redirect.
    bool uses_netrc;
    /// Path of a regular file; copied. If it is missing, nc_engine_new() fails with NC_ERR_FILE. If it is missing
    /// later, each request that needs it fails with NC_ERR_FILE.
    nc_slice netrc_file;
    /// True stores the hosts that send Strict-Transport-Security (RFC 6797), and changes http to https in later URLs of
    /// these hosts. At most 1,000 hosts are stored, and at most 200 of one registrable domain, so that a site cannot
    /// evict all entries of other sites. The field is ignored if the trust policy accepts anything or skips the name
    /// check.
    bool uses_hsts;
    /// Path of the HSTS state file, in libcurl's format, with mode 0600; copied. If the path is empty, the entries are
    /// kept in memory only. The file may be missing. NC_ERR_FILE if its directory is missing, if it is not a regular
    /// file, or if another user could have written it (state_file.h).
    nc_slice hsts_file;
    /// True stores the alternative services that origins announce by Alt-Svc (RFC 7838), and sends later requests
    /// there. The alternative service must present a valid certificate for the origin's host.
    ///
    /// - At most 1,000 entries are stored, and at most 200 of one registrable domain.
    /// - If an alternative service cannot be connected to within half of the connect limit (HTTP/3: 300 ms), the
    /// request
    ///   goes to the origin. The alternative service is then avoided for five minutes.
    /// - The field is ignored if the trust policy accepts anything or skips the name check.
    /// - Requests with `connect_to`, a Unix socket or a proxy go to the origin. So do requests for which the
    ///   environment may name a proxy.
    bool uses_alt_svc;
    /// Path of the Alt-Svc state file, in libcurl's format; the rules of `hsts_file` apply.
    nc_slice alt_svc_file;
    /// URL of a DNS-over-HTTPS server (RFC 8484); copied. Empty means the system's resolver. libcurl connects to the
    /// server directly or through a proxy of the environment (https_proxy, ALL_PROXY), never through `proxy`.
    nc_slice doh_url;
    /// Address family of connections to servers and proxies.
    nc_address_family family;
    /// HTTP version for requests with NC_HTTP_AUTO, and for each of their redirects and retries. WebSockets use
    /// HTTP/1.1. A request to which this version cannot apply fails as if it had requested the version itself.
    nc_http_choice http;
    /// Body bytes per second that all transfers together send. 0 is no limit.
    uint64_t max_send_bytes_per_s;
    /// Body bytes per second that all transfers together receive. 0 is no limit.
    uint64_t max_receive_bytes_per_s;
    /// Poller of the loop.
    nc_poller_choice poller;
    /// Clock; copied.
    const nc_clock *NC_NULLABLE clock;
    /// File operations; copied.
    const nc_file_ops *NC_NULLABLE file_ops;
    /// Trace listener.
    nc_trace trace;
    /// The caller's jobs on the loop thread, and notifications from the loop.
    nc_loop_client loop_client;
} nc_engine_options;

/// Capabilities of the libraries, detected at run time.
typedef struct nc_capabilities {
    /// libcurl's version, such as "7.88.1".
    const char *curl_version;
    /// The TLS backend, such as "OpenSSL/3.0.19"; empty if libcurl has none.
    const char *tls_backend;
    /// True if libcurl uses a TLS backend of the OpenSSL family. With another backend trust policies cannot be
    /// enforced.
    bool has_trust_policies;
    /// HTTP/2.
    bool has_http2;
    /// HTTP/3. Without trust policies (`has_trust_policies`) it is not used. If libcurl uses OpenSSL's QUIC, only
    /// NC_HTTP_3_ONLY uses it, because that QUIC appends trailers to bodies.
    bool has_http3;
    /// gzip and deflate.
    bool has_gzip;
    /// brotli.
    bool has_brotli;
    /// zstd.
    bool has_zstd;
    /// WebSocket.
    bool has_websocket;
    /// NTLM.
    bool has_ntlm;
    /// Negotiate.
    bool has_negotiate;
    /// Cookies are checked with the public suffix list.
    bool has_public_suffix_list;
    /// HTTPS proxies.
    bool has_https_proxy;
} nc_capabilities;

/// Returns the capabilities of the libraries.
///
/// Returns static strings and flags.
/// Thread-safe.
NC_API nc_capabilities nc_capabilities_query(void);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
