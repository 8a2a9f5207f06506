/// One HTTP request, described by a struct of borrowed slices.
///
/// Only `method` and `url` have to be set. 0 always selects a default, and every default is finite. nc_engine_submit()
/// copies the request; its memory may be freed after that call.
///
///     nc_request request = {.url = nc_slice_of("https://example.com/")};
///     if (nc_request_check(&request, &err) != NC_OK) puts(err.message);
#ifndef NETCORE_REQUEST_H
#define NETCORE_REQUEST_H

#include <netcore/base.h>
#include <netcore/body_source.h>
#include <netcore/bytes.h>
#include <netcore/credentials.h>
#include <netcore/header.h>
#include <netcore/multipart.h>
#include <netcore/proxy.h>
#include <netcore/trace.h>
#include <netcore/trailers.h>
#include <netcore/trust.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// In a 32-bit limit: no limit, except in nc_limits.max_redirects (NC_NO_REDIRECTS).
#define NC_UNLIMITED UINT32_MAX
/// In a 64-bit limit: no limit.
#define NC_UNLIMITED_BYTES UINT64_MAX
/// In nc_limits.max_body_bytes: refuses a body of one byte or more.
#define NC_NO_BODY (UINT64_MAX - 1)
/// In nc_limits.max_redirects: follows no redirect.
#define NC_NO_REDIRECTS UINT32_MAX
/// In nc_limits.max_codings: refuses every content coding.
#define NC_NO_CODINGS (UINT32_MAX - 1)

/// The largest value of nc_request.dscp.
#define NC_DSCP_MAX 63u

/// The default of nc_limits.connect_ms.
#define NC_DEFAULT_CONNECT_MS 10000u
/// The default of nc_limits.first_byte_ms.
#define NC_DEFAULT_FIRST_BYTE_MS 60000u
/// The default of nc_limits.idle_ms.
#define NC_DEFAULT_IDLE_MS 60000u
/// The default of nc_limits.slot_ms.
#define NC_DEFAULT_SLOT_MS 60000u
/// The default of nc_limits.total_ms.
#define NC_DEFAULT_TOTAL_MS 300000u
/// The default of nc_limits.max_body_bytes.
#define NC_DEFAULT_MAX_BODY_BYTES (64u * 1024u * 1024u)
/// The default of nc_limits.max_head_bytes.
#define NC_DEFAULT_MAX_HEAD_BYTES (256u * 1024u)
/// The default of nc_limits.max_head_fields.
#define NC_DEFAULT_MAX_HEAD_FIELDS 256u
/// The default of nc_limits.max_redirects.
#define NC_DEFAULT_MAX_REDIRECTS 20u
/// The default of nc_limits.max_codings.
#define NC_DEFAULT_MAX_CODINGS 3u

/// Limits of one request. 0 selects the default in parentheses.
typedef struct nc_limits {
    /// Name lookup, TCP and TLS of one hop, in milliseconds (10 s).
    uint32_t connect_ms;
    /// From the last request byte to the first response byte of one hop, in milliseconds (60 s).
    uint32_t first_byte_ms;
    /// Between two pieces of the body, in either direction, in milliseconds (60 s). A head, trailer or chunk extension
    /// that arrives in small pieces may take ten times this limit in total.
    uint32_t idle_ms;
    /// Waiting for a slot, in milliseconds (60 s).
    uint32_t slot_ms;
    /// From submit to done, in milliseconds (300 s). No other limit covers the time spent waiting for the disk.
    uint32_t total_ms;
    /// Redirects to follow (20). NC_NO_REDIRECTS fails on the first one.
    uint32_t max_redirects;
    /// The response body after decoding, in bytes (64 MiB). NC_NO_BODY allows none.
    uint64_t max_body_bytes;
    /// One response head with its status line and the interim heads before it, in bytes (256 KiB).
    uint32_t max_head_bytes;
    /// Fields in one response head (256).
    uint32_t max_head_fields;
    /// Nested codings (3) to decode if the request accepts them, from at most 16 fields. NC_NO_CODINGS: none.
    uint32_t max_codings;
    /// Average rate of body bytes sent, in bytes per second. 0 is no limit.
    uint64_t max_send_bytes_per_s;
    /// Average rate of body bytes received, before decoding, in bytes per second. 0 is no limit.
    uint64_t max_receive_bytes_per_s;
} nc_limits;

/// The HTTP version to use.
typedef NC_ENUM(nc_http_choice){
    /// The engine's version. By default HTTP/2 if ALPN selects it and the head is at most 48 KiB, otherwise HTTP/1.1.
    NC_HTTP_AUTO = 0,
    /// HTTP/1.1 only.
    NC_HTTP_1_1 = 1,
    /// HTTP/1.0 only. A body of unknown length fails with NC_ERR_UNSUPPORTED.
    NC_HTTP_1_0 = 2,
    /// HTTP/2 over plain TCP without an upgrade (h2c, RFC 9113, 3.3); for https URLs HTTP/2 or HTTP/1.1. Fails with
    /// NC_ERR_HTTP2 if the server does not support it, with NC_ERR_TOO_LARGE if the head is too large for it, and with
    /// NC_ERR_CUT_SHORT for a response without Content-Length, because it may be incomplete.
    NC_HTTP_2_PRIOR_KNOWLEDGE = 3,
    /// HTTP/3 only. NC_ERR_UNSUPPORTED if libcurl has no HTTP/3, for http URLs, through a proxy and without TLS 1.3.
    NC_HTTP_3_ONLY = 4,
    /// HTTP/3 if QUIC connects before TCP, otherwise HTTP/2 or HTTP/1.1. TCP starts at most 200 ms later, and at the
    /// same time if the origin is not known to have HTTP/3. If TCP wins, QUIC is not tried for five minutes.
    NC_HTTP_3_IF_POSSIBLE = 5,
} nc_http_choice;

/// The order of transfers that wait for a slot.
typedef NC_ENUM(nc_priority){
    /// After those with NC_PRIORITY_HIGH.
    NC_PRIORITY_NORMAL = 0,
    /// Before all others.
    NC_PRIORITY_HIGH = 1,
    /// Only if no other transfer waits.
    NC_PRIORITY_LOW = 2,
} nc_priority;

/// Whether a request sends cookies of the engine's cookie jar and stores received ones.
typedef NC_ENUM(nc_cookie_use){
    /// Sends the cookies that match the URL, and stores those of the response.
    NC_COOKIES_SEND_AND_STORE = 0,
    /// Sends none and stores none.
    NC_COOKIES_IGNORE = 1,
    /// Sends the cookies that match. Stores none, not even for the next hop.
    NC_COOKIES_SEND_ONLY = 2,
    /// Sends none and stores the response's.
    NC_COOKIES_STORE_ONLY = 3,
} nc_cookie_use;

/// How redirects are handled.
typedef NC_ENUM(nc_redirect_choice){
    /// Follows redirects, except from https to http.
    NC_REDIRECTS_FOLLOW = 0,
    /// Follows none: the redirect is the result.
    NC_REDIRECTS_RETURN = 1,
    /// Follows redirects, from https to http too.
    NC_REDIRECTS_FOLLOW_DOWNGRADE = 2,
} nc_redirect_choice;

/// Connects to another host and port. The Host field, SNI and certificate checks still use the URL's host.
typedef struct nc_connect_to {
    /// Host of the URL. Empty matches every host.
    nc_slice host;
    /// Port of the URL. 0 matches every port.
    uint16_t port;
    /// Host or numeric address to connect to. Empty keeps the host.
    nc_slice to_host;
    /// Port to connect to. 0 keeps the port.
    uint16_t to_port;
} nc_connect_to;

/// Requirements on a response's body; see <netcore/expectation.h>. Immutable, reference-counted.
typedef struct nc_expectation nc_expectation;

/// One request.
typedef struct nc_request {
    /// A token (RFC 9110, 5.6.2), sent as it is. Empty means GET.
    nc_slice method;
    /// An absolute http or https URL, up to NC_URL_MAX_BYTES, without spaces and control characters. The host is
    /// converted by IDNA. Non-ASCII bytes behind the host are percent-encoded.
    nc_slice url;
    /// Header fields, in the order in which they are sent.
    const nc_header *NC_NULLABLE headers;
    /// Number of header fields.
    size_t header_count;
    /// The body. Sent if it is not empty or `has_body` is set.
    nc_slice body;
    /// True sends an empty body with Content-Length: 0.
    bool has_body;
    /// If POST, PUT or PATCH has no body: true sends no Content-Length, false sends Content-Length: 0 (RFC 9110, 8.6).
    bool omits_zero_length;
    /// Path of a regular file to send as the body, instead of `body`. NC_ERR_BODY_LENGTH if its size changes.
    nc_slice body_file;
    /// Reads the body piece by piece, instead of `body`.
    nc_body_source body_source;
    /// Length of `body_source` in bytes, or NC_LENGTH_UNKNOWN; see nc_body_source.
    uint64_t body_length;
    /// First byte of the body to send. A source then needs a `seek`. NC_ERR_USAGE for a form and beyond the end.
    uint64_t body_offset;
    /// Fields to send after the body.
    nc_trailers trailers;
    /// A form to send as the body, instead of `body`. Retained while needed. Its Content-Type replaces the caller's.
    /// GET and HEAD with a form: NC_ERR_USAGE. Its files are measured when the transfer gets its slot.
    nc_multipart *NC_NULLABLE multipart;
    /// Path of a file that receives the body of a 2xx response, under a temporary name until it is complete. The
    /// default of limits.max_body_bytes is then NC_UNLIMITED_BYTES for it. Other bodies are collected or delivered, up
    /// to NC_DEFAULT_MAX_BODY_BYTES by default. An existing file is replaced; the new one gets its permissions, and its
    /// owner if the system allows that. Read-only files, pipes and sockets: NC_ERR_FILE. A device is written in place.
    nc_slice save_path;
    /// True sends Accept-Encoding with every coding that libcurl can decode, and decodes the body.
    bool accepts_codings;
    /// HTTP version.
    nc_http_choice http;
    /// Handling of redirects.
    nc_redirect_choice redirects;
    /// Limits.
    nc_limits limits;
    /// TLS trust policy. NULL means the engine's. Retained while needed.
    nc_trust *NC_NULLABLE trust;
    /// Connection overrides. The first one that matches host and port of the URL applies.
    const nc_connect_to *NC_NULLABLE connect_to;
    /// Number of overrides.
    size_t connect_to_count;
    /// Path of a Unix socket to connect to, for the URL's own origin only.
    nc_slice unix_socket;
    /// Proxy. NULL means the engine's.
    const nc_proxy *NC_NULLABLE proxy;
    /// Requirements on the response body, checked while it arrives. NULL means none. Retained while needed.
    nc_expectation *NC_NULLABLE expectation;
    /// Credentials to send.
    nc_credentials credentials;
    /// Priority among waiting transfers.
    nc_priority priority;
    /// An nc_cookie_use, if the engine has a cookie jar. The caller's own Cookie fields are always sent.
    uint8_t cookie_use;
    /// True sends "/../" and "/./" in the path, and in the Location of a redirect, instead of resolving them.
    bool keeps_dot_segments;
    /// True refuses a response with a malformed field name, such as "X Foo" or "Name ", with NC_ERR_BAD_RESPONSE. False
    /// drops the line and counts it in nc_hop_metrics.dropped_fields. Three kinds of lines are always refused: a folded
    /// line after such a name, a line without a colon, and a malformed line that could be read as a framing field.
    bool refuses_malformed_fields;
    /// True announces that the receiver may pause for a long time (nc_engine_pause(), NC_ACTION_PAUSE). The transfer
    /// then gets an exclusive connection, because a paused stream could block others. So does a transfer with
    /// limits.max_receive_bytes_per_s. nc_engine_options.max_per_host limits these connections too.
    bool may_pause;
    /// Class of service of the packets (DSCP; RFC 2474, 3), 1 to NC_DSCP_MAX, set by IP_TOS or IPV6_TCLASS; 0 sets
    /// nothing. Requests of different classes do not share a connection. A refusal by the system is ignored.
    uint8_t dscp;
    /// True for a cross-origin redirect that the caller follows itself: sends no client certificate, no netrc login.
    bool is_cross_origin;
    /// True sends "TE: gzip" and "Connection: TE" over HTTP/1.1, unless the caller sets TE or Upgrade, and decodes the
    /// transfer codings gzip and deflate. False refuses them with NC_ERR_BAD_RESPONSE. Downloads ignore it.
    bool accepts_transfer_codings;
    /// True sends no login of the engine's netrc file.
    bool ignores_netrc;
} nc_request;

/// Validates a request as nc_engine_submit() does, without an engine.
///
/// - request: borrowed for the call. Host names are not resolved, files are not opened, and no body is read.
/// Returns NC_OK, NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_BAD_METHOD, NC_ERR_BAD_HEADER (err->offset is the byte),
/// NC_ERR_UNSUPPORTED (CONNECT, WebSocket, a protocol or authentication scheme that libcurl lacks), NC_ERR_TOO_LARGE
/// (headers, overrides), NC_ERR_USAGE.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_request_check(const nc_request *request, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
