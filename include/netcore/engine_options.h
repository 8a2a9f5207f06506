/// What an engine is made from, and what the libraries underneath it can do.
///
/// All zero is the default engine; every limit is finite, and whatever would tell others about the caller (cookies,
/// .netrc, proxies of the environment, HSTS, Alt-Svc, DNS over HTTPS) is off until it is asked for.
///
///     nc_engine_options options = {.cookies = NC_COOKIES_MEMORY, .max_per_host = 2};
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

/// nc_engine_options.max_in_flight where it is 0.
#define NC_DEFAULT_MAX_IN_FLIGHT 256u
/// nc_engine_options.max_per_host where it is 0.
#define NC_DEFAULT_MAX_PER_HOST 6u
/// nc_engine_options.max_streams where it is 0.
#define NC_DEFAULT_MAX_STREAMS 100u
/// nc_engine_options.max_idle_connections where it is 0.
#define NC_DEFAULT_MAX_IDLE_CONNECTIONS 256u
/// nc_engine_options.max_waiting where it is 0.
#define NC_DEFAULT_MAX_WAITING 100000u

/// How the loop waits for sockets.
typedef NC_ENUM(nc_poller_choice){
    /// The best of this system.
    NC_POLLER_AUTO = 0,
    /// epoll(7).
    NC_POLLER_EPOLL = 1,
    /// poll(2).
    NC_POLLER_POLL = 2,
    /// kqueue(2); untested.
    NC_POLLER_KQUEUE = 3,
} nc_poller_choice;

/// The addresses that names stand for.
typedef NC_ENUM(nc_address_family){
    /// IPv6 and IPv4, and of them the one that connects first (RFC 8305).
    NC_FAMILY_ANY = 0,
    /// IPv4 alone.
    NC_FAMILY_IPV4 = 4,
    /// IPv6 alone.
    NC_FAMILY_IPV6 = 6,
} nc_address_family;

/// Work that a caller wants run on the loop thread, and word of finished rounds.
///
/// drain runs at most `max_jobs` jobs and returns whether more wait; it is called after nc_engine_wake().
/// burst_done is called at the end of each round of the loop in which on_done was called. All are called on the loop
/// thread, and must not block.
typedef struct nc_loop_client {
    /// Handed to each function.
    void *NC_NULLABLE ctx;
    /// May be NULL.
    bool (*NC_NULLABLE drain)(void *NC_NULLABLE ctx, uint32_t max_jobs);
    /// May be NULL.
    void (*NC_NULLABLE burst_done)(void *NC_NULLABLE ctx);
    /// Called once, last, when the loop will never call again; may be NULL.
    void (*NC_NULLABLE release)(void *NC_NULLABLE ctx);
    /// A file of cookies, HSTS or Alt-Svc could not be saved, or what it was to hold did not fit into it (16 MiB). That
    /// stays in memory; saving is tried again when it changes, and when the engine ends, before release is called. Told
    /// once for each file, until that has been saved again; `error` is borrowed. May be NULL.
    void (*NC_NULLABLE save_failed)(void *NC_NULLABLE ctx, const nc_error *error);
} nc_loop_client;

/// What becomes of cookies (RFC 6265bis).
typedef NC_ENUM(nc_cookie_choice){
    /// None are kept or sent, but for a caller's own Cookie field.
    NC_COOKIES_OFF = 0,
    /// A jar in memory, gone with the engine.
    NC_COOKIES_MEMORY = 1,
    /// A jar that is read from a file and saved to it after each change, whole or not at all, mode 0600.
    NC_COOKIES_FILE = 2,
} nc_cookie_choice;

/// What an engine is made from; all zero is the default engine, and NULL hooks are the system's.
typedef struct nc_engine_options {
    /// Transfers handed to libcurl at once (256).
    uint32_t max_in_flight;
    /// Connections to one host over HTTP/1.1 (6). Over TLS, transfers that may pause, and large uploads, have as many
    /// of their own: theirs are shared with nobody, whatever the protocol turns out to be.
    uint32_t max_per_host;
    /// Streams on one HTTP/2 connection (100), and requests to a host that has it. Where the server allows fewer
    /// streams, more connections are opened.
    uint32_t max_streams;
    /// Connections kept for later requests (256), those in use included; never fewer than transfers are in flight. The
    /// oldest idle one is closed when one comes back beyond that.
    uint32_t max_idle_connections;
    /// Transfers waiting for a slot (100,000); one more ends with NC_ERR_TOO_LARGE. A redirect's next hop may wait
    /// beyond that.
    uint32_t max_waiting;
    /// Whom TLS believes where a request does not say; NULL means the default policy. Retained.
    nc_trust *NC_NULLABLE trust;
    /// True refuses every request and redirect over plain http, also to hosts that are remembered for https.
    bool refuses_plaintext;
    /// Proxy of requests that name none; copied. NULL means none.
    const nc_proxy *NC_NULLABLE proxy;
    /// Cookies.
    nc_cookie_choice cookies;
    /// Path, for NC_COOKIES_FILE, in the Netscape format; copied. It may be missing, its folder not. A relative path,
    /// here and in the other files of an engine, is told from the directory in which the engine is made. A file that
    /// another user could have written (state_file.h) is NC_ERR_FILE.
    nc_slice cookie_file;
    /// True reads names and passwords from `netrc_file`, or ~/.netrc when that is empty, for requests that bring none
    /// of their own: shown as Basic at once, or as a request's nc_credentials.schemes say; never for another origin
    /// that a redirect leads to.
    bool uses_netrc;
    /// Path of a regular file, which has to be there when the engine is made, and for each request that it is to speak
    /// for: without it that is NC_ERR_FILE. Copied.
    nc_slice netrc_file;
    /// True remembers Strict-Transport-Security (RFC 6797) and turns http into https for such hosts, at most 1,000,
    /// and at most 200 of one registrable domain: no site can push another one's entry out.
    /// What is heard under a policy that accepts anything, or does not compare names, is not believed.
    bool uses_hsts;
    /// Where that is kept from one engine to the next, in libcurl's format, with mode 0600; copied. Empty: in memory
    /// alone. A file that is missing is empty; a missing folder, what is no regular file, or
    /// what another user could have written (state_file.h) is NC_ERR_FILE.
    nc_slice hsts_file;
    /// True remembers Alt-Svc (RFC 7838), at most 1,000 of them, 200 of one registrable domain, and asks an origin at
    /// the place that it names, which has to prove to be the origin. A place that cannot be connected to in half the
    /// limit of connecting is left for five minutes, and the origin asked. What is heard under a policy that accepts
    /// anything, or does not compare names, is not believed; requests with overrides, Unix sockets or a proxy (or one
    /// that the environment may name) go where those say.
    bool uses_alt_svc;
    /// Where that is kept from one engine to the next, in libcurl's format, with mode 0600; copied. Empty: in memory
    /// alone. A file that is missing is empty; a missing folder, what is no regular file, or
    /// what another user could have written (state_file.h) is NC_ERR_FILE.
    nc_slice alt_svc_file;
    /// URL of a DNS-over-HTTPS server (RFC 8484); copied. Empty: the system's resolver. It is asked directly, or
    /// through a proxy that the environment names (https_proxy, ALL_PROXY), whatever `proxy` says: libcurl takes no
    /// other word.
    nc_slice doh_url;
    /// The addresses at which servers and proxies are connected to.
    nc_address_family family;
    /// Body bytes that all transfers send a second; 0 is no limit.
    uint64_t max_send_bytes_per_s;
    /// Body bytes that all transfers receive a second; 0 is no limit.
    uint64_t max_receive_bytes_per_s;
    /// How the loop waits.
    nc_poller_choice poller;
    /// Time; copied.
    const nc_clock *NC_NULLABLE clock;
    /// Files; copied.
    const nc_file_ops *NC_NULLABLE file_ops;
    /// Trace listener.
    nc_trace trace;
    /// Jobs and rounds.
    nc_loop_client loop_client;
} nc_engine_options;

/// What the libraries underneath can do, asked at run time.
typedef struct nc_capabilities {
    /// libcurl's version, such as "7.88.1".
    const char *curl_version;
    /// The TLS backend, such as "OpenSSL/3.0.19"; empty without one.
    const char *tls_backend;
    /// TLS is there and its backend is of the OpenSSL family, so that policies can be enforced.
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
    /// Cookies are checked against the public suffix list.
    bool has_public_suffix_list;
    /// HTTPS proxies.
    bool has_https_proxy;
} nc_capabilities;

/// Tells what the libraries underneath can do.
///
/// Returns static strings and flags. Thread-safe.
NC_API nc_capabilities nc_capabilities_query(void);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
