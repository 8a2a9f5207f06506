/// Options of an engine, and the capabilities of the libraries below it.
///
/// All zero is the default engine, and every limit is finite. Features that could disclose something about the caller
/// are off by default: cookies, netrc, the environment's proxies, HSTS, Alt-Svc, DNS over HTTPS.
///
///     nc_engine_options options = {.cookies = NC_COOKIES_MEMORY, .max_per_host = 2};
///     if (nc_engine_new(&engine, &options, &err) != NC_OK) puts(err.message);
#ifndef NETCORE_ENGINE_OPTIONS_H
#define NETCORE_ENGINE_OPTIONS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <netcore/proxy.h>
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

/// How the loop polls its sockets.
typedef NC_ENUM(nc_poller_choice){
    /// The fastest that the system supports.
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
    /// IPv6 and IPv4; the one that connects first is used (RFC 8305).
    NC_FAMILY_ANY = 0,
    /// IPv4 only.
    NC_FAMILY_IPV4 = 4,
    /// IPv6 only.
    NC_FAMILY_IPV6 = 6,
} nc_address_family;

/// Runs a caller's jobs on the loop thread.
///
/// All functions are called on the loop thread and must not block. `drain` takes at most `max_jobs` jobs at a time, so
/// that jobs do not delay transfers.
typedef struct nc_loop_client {
    /// Passed to each function.
    void *NC_NULLABLE ctx;
    /// Runs at most `max_jobs` jobs and returns true if more are waiting. Called after nc_engine_wake(). May be NULL.
    bool (*NC_NULLABLE drain)(void *NC_NULLABLE ctx, uint32_t max_jobs);
    /// Called at the end of each iteration of the loop in which on_done was called. May be NULL.
    void (*NC_NULLABLE burst_done)(void *NC_NULLABLE ctx);
    /// Called once, last. The loop makes no calls after it. May be NULL.
    void (*NC_NULLABLE release)(void *NC_NULLABLE ctx);
    /// Reports that a state file of cookies, HSTS or Alt-Svc could not be saved, or that its contents exceed 16 MiB.
    /// They stay in memory. Saving is tried again after a change and before `release`. Called once for each file until
    /// that file is saved again. `error` is borrowed. May be NULL.
    void (*NC_NULLABLE save_failed)(void *NC_NULLABLE ctx, const nc_error *error);
} nc_loop_client;

/// Where cookies are stored (RFC 6265bis).
typedef NC_ENUM(nc_cookie_choice){
    /// Stores and sends none, except the caller's own Cookie fields.
    NC_COOKIES_OFF = 0,
    /// A cookie jar in memory; it ends with the engine.
    NC_COOKIES_MEMORY = 1,
    /// A cookie jar that is read from a file. After each change the file is replaced atomically, with mode 0600.
    NC_COOKIES_FILE = 2,
} nc_cookie_choice;

/// Options of an engine. All zero is the default engine. NULL hooks are the system's.
typedef struct nc_engine_options {
    /// Transfers in flight in libcurl (256).
    uint32_t max_in_flight;
    /// Connections to one host over HTTP/1.1 (6). Over TLS there may be as many exclusive connections, for transfers
    /// that may pause and for large uploads. These are never shared, not even over HTTP/2.
    uint32_t max_per_host;
    /// Streams on one HTTP/2 connection (100), and concurrent requests to a host with HTTP/2. If the server allows
    /// fewer streams, more connections are opened.
    uint32_t max_streams;
    /// Connections to keep for later requests (256), including those in use. Never fewer than the transfers in flight.
    /// A connection that becomes idle beyond the limit closes the oldest idle one.
    uint32_t max_idle_connections;
    /// Transfers that may wait for a slot (100,000). One more ends with NC_ERR_TOO_LARGE. The next hop of a redirect
    /// may exceed this limit.
    uint32_t max_waiting;
    /// TLS trust policy of requests without one. NULL means the default policy. Retained.
    nc_trust *NC_NULLABLE trust;
    /// True refuses every request and redirect over plain http, even if HSTS would change it to https.
    bool refuses_plaintext;
    /// Proxy of requests without one; copied. NULL means none.
    const nc_proxy *NC_NULLABLE proxy;
    /// Cookie storage.
    nc_cookie_choice cookies;
    /// Path of the state file for NC_COOKIES_FILE, in the Netscape format; copied. The file may be missing; its
    /// directory must exist. A file that another user could have written (state_file.h) fails with NC_ERR_FILE.
    /// Relative paths of all files of an engine are resolved in the working directory of nc_engine_new().
    nc_slice cookie_file;
    /// True reads names and passwords from `netrc_file`, or from ~/.netrc if that is empty, for requests without their
    /// own. They are sent immediately as Basic, or as nc_credentials.schemes requires. They are never sent after a
    /// cross-origin redirect.
    bool uses_netrc;
    /// Path of a regular file; copied. It must exist when the engine starts and for each request that uses it;
    /// otherwise these fail with NC_ERR_FILE.
    nc_slice netrc_file;
    /// True stores Strict-Transport-Security (RFC 6797) and changes http to https for these hosts. At most 1,000 hosts
    /// are stored, and at most 200 of one registrable domain, so that no site can evict another site's entries. The
    /// field is ignored under a policy that accepts anything or skips the name check.
    bool uses_hsts;
    /// Path of the HSTS state file, in libcurl's format, with mode 0600; copied. Empty keeps the entries in memory
    /// only. A missing file is empty. NC_ERR_FILE if the directory is missing, if it is no regular file, or if another
    /// user could have written it (state_file.h).
    nc_slice hsts_file;
    /// True stores Alt-Svc (RFC 7838) and sends requests to the alternative service, which must present a valid
    /// certificate of the origin.
    ///
    /// - At most 1,000 entries are stored, and at most 200 of one registrable domain.
    /// - An alternative that does not connect within half of the connect limit is avoided for five minutes. The request
    ///   goes to the origin.
    /// - The field is ignored under a policy that accepts anything or skips the name check.
    /// - Not used by requests with overrides, a Unix socket or a proxy, including a possible proxy of the environment.
    bool uses_alt_svc;
    /// Path of the Alt-Svc state file, in libcurl's format, with mode 0600; copied. Empty keeps the entries in memory
    /// only. A missing file is empty. NC_ERR_FILE if the directory is missing, if it is no regular file, or if another
    /// user could have written it (state_file.h).
    nc_slice alt_svc_file;
    /// URL of a DNS-over-HTTPS server (RFC 8484); copied. Empty means the system's resolver. libcurl connects to the
    /// server directly or through a proxy of the environment (https_proxy, ALL_PROXY). It ignores `proxy` here.
    nc_slice doh_url;
    /// Address family of connections to servers and proxies.
    nc_address_family family;
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
    /// Jobs on the loop thread, and its reports.
    nc_loop_client loop_client;
} nc_engine_options;

/// Capabilities of the libraries, detected at run time.
typedef struct nc_capabilities {
    /// libcurl's version, such as "7.88.1".
    const char *curl_version;
    /// The TLS backend, such as "OpenSSL/3.0.19"; empty without one.
    const char *tls_backend;
    /// True if TLS is available from a backend of the OpenSSL family. Policies cannot be enforced otherwise.
    bool has_trust_policies;
    /// HTTP/2.
    bool has_http2;
    /// HTTP/3.
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
