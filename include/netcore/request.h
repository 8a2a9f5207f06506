/// What to ask: one request, described by a struct of borrowed views.
///
/// All zero but method and URL is a sensible request: 0 always means the default, and every default is finite.
/// The description is copied by nc_engine_submit(); nothing in it needs to live longer than that call.
///
///     nc_request request = {.url = nc_slice_of("https://example.com/")};
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
#include <netcore/trust.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Where 0 means a default, this asks for no limit in a 32-bit field; nc_limits.max_redirects alone has none to ask for
/// and takes this value for NC_NO_REDIRECTS.
#define NC_UNLIMITED UINT32_MAX
/// Where 0 means a default, this asks for no limit in a 64-bit field.
#define NC_UNLIMITED_BYTES UINT64_MAX

/// Where 0 means the default size of a body, this refuses any byte of one.
#define NC_NO_BODY (UINT64_MAX - 1)

/// Where 0 means the default number of redirects, this asks for none.
#define NC_NO_REDIRECTS UINT32_MAX

/// Where 0 means the default number of content codings, this asks for none and refuses any.
#define NC_NO_CODINGS (UINT32_MAX - 1)

/// The last of the 64 classes of service.
#define NC_DSCP_MAX 63u

/// nc_limits.connect_ms where it is 0.
#define NC_DEFAULT_CONNECT_MS 10000u
/// nc_limits.first_byte_ms where it is 0.
#define NC_DEFAULT_FIRST_BYTE_MS 60000u
/// nc_limits.idle_ms where it is 0.
#define NC_DEFAULT_IDLE_MS 60000u
/// nc_limits.slot_ms where it is 0.
#define NC_DEFAULT_SLOT_MS 60000u
/// nc_limits.total_ms where it is 0.
#define NC_DEFAULT_TOTAL_MS 300000u
/// nc_limits.max_body_bytes where it is 0.
#define NC_DEFAULT_MAX_BODY_BYTES (64u * 1024u * 1024u)
/// nc_limits.max_head_bytes where it is 0.
#define NC_DEFAULT_MAX_HEAD_BYTES (256u * 1024u)
/// nc_limits.max_head_fields where it is 0.
#define NC_DEFAULT_MAX_HEAD_FIELDS 256u
/// nc_limits.max_redirects where it is 0.
#define NC_DEFAULT_MAX_REDIRECTS 20u
/// nc_limits.max_codings where it is 0.
#define NC_DEFAULT_MAX_CODINGS 3u

/// Limits of one request; 0 is the default beside each.
typedef struct nc_limits {
    /// Name lookup, TCP and TLS of one hop, in milliseconds (10 s).
    uint32_t connect_ms;
    /// From the last request byte to the first response byte of one hop, in milliseconds (60 s).
    uint32_t first_byte_ms;
    /// Between two pieces of the body, either way, in milliseconds (60 s). Interim heads, head lines, trailers and
    /// chunk extensions that come bit by bit, without a byte of the body, may take ten times as long in all.
    uint32_t idle_ms;
    /// Waiting for a slot, in milliseconds (60 s).
    uint32_t slot_ms;
    /// Everything from submit to done, in milliseconds (300 s); waiting for the disk counts here alone.
    uint32_t total_ms;
    /// Redirects followed (20); NC_NO_REDIRECTS fails on the first one.
    uint32_t max_redirects;
    /// The response body, after decoding, in bytes (64 MiB); NC_NO_BODY is none.
    uint64_t max_body_bytes;
    /// One response head, status line included, and the interim heads before it, in bytes (256 KiB).
    uint32_t max_head_bytes;
    /// Fields in one response head (256).
    uint32_t max_head_fields;
    /// Content codings of one body, one upon the other (3), where accepts_codings has them undone; at most 16 fields
    /// may name some. NC_NO_CODINGS is none.
    uint32_t max_codings;
    /// Body bytes sent a second, on average; 0 is no limit.
    uint64_t max_send_bytes_per_s;
    /// Body bytes received a second, before decoding, on average; 0 is no limit.
    uint64_t max_receive_bytes_per_s;
} nc_limits;

/// Which protocol is spoken.
typedef NC_ENUM(nc_http_choice){
    /// HTTP/2 over TLS when the server agrees by ALPN, else HTTP/1.1. A URL and headers that together have more than
    /// 48 KiB go over HTTP/1.1.
    NC_HTTP_AUTO = 0,
    /// HTTP/1.1 only.
    NC_HTTP_1_1 = 1,
    /// HTTP/1.0 only; NC_ERR_UNSUPPORTED with a body of unknown length.
    NC_HTTP_1_0 = 2,
    /// HTTP/2 over plain TCP without asking (h2c, RFC 9113, 3.3); a server without it ends as NC_ERR_HTTP2. Over TLS
    /// as NC_HTTP_AUTO: the handshake asks. NC_ERR_TOO_LARGE with a larger head than that sends over HTTP/2. In the
    /// clear a body without Content-Length ends in NC_ERR_CUT_SHORT, because it is unknown whether it is whole.
    NC_HTTP_2_PRIOR_KNOWLEDGE = 3,
    /// HTTP/3 only; NC_ERR_UNSUPPORTED where libcurl has none.
    NC_HTTP_3 = 4,
} nc_http_choice;

/// Which of those that wait goes first.
typedef NC_ENUM(nc_priority){
    /// Neither first nor last.
    NC_PRIORITY_NORMAL = 0,
    /// Before all others.
    NC_PRIORITY_HIGH = 1,
    /// When no other waits.
    NC_PRIORITY_LOW = 2,
} nc_priority;

/// Which way the engine's cookies go with a request.
typedef NC_ENUM(nc_cookie_use){
    /// Those that match are sent, and those of the answer are kept.
    NC_COOKIES_SEND_AND_STORE = 0,
    /// None is sent, none is kept.
    NC_COOKIES_IGNORE = 1,
    /// Those that match are sent; those of the answer are not kept, not for the next hop either.
    NC_COOKIES_SEND_ONLY = 2,
    /// None is sent; those of the answer are kept.
    NC_COOKIES_STORE_ONLY = 3,
} nc_cookie_use;

/// What becomes of a redirect.
typedef NC_ENUM(nc_redirect_choice){
    /// Followed, except from https to http.
    NC_REDIRECTS_FOLLOW = 0,
    /// Returned to the caller as a response.
    NC_REDIRECTS_RETURN = 1,
    /// Followed, from https to http as well.
    NC_REDIRECTS_FOLLOW_DOWNGRADE = 2,
} nc_redirect_choice;

/// Sends what is meant for one place to another; Host, SNI and certificate checks keep the first name.
typedef struct nc_connect_to {
    /// Host that the URL names; empty matches any.
    nc_slice host;
    /// Port that the URL names; 0 matches any.
    uint16_t port;
    /// Host or numeric address to connect to; empty keeps the host.
    nc_slice to_host;
    /// Port to connect to; 0 keeps the port.
    uint16_t to_port;
} nc_connect_to;

/// What a response's body has to be; <netcore/expectation.h> makes one.
typedef struct nc_expectation nc_expectation;

/// One request.
typedef struct nc_request {
    /// A token; empty means GET.
    nc_slice method;
    /// Absolute, http or https, at most NC_URL_MAX_BYTES, no spaces or control characters. Bytes of other than ASCII
    /// characters are percent-encoded behind the host, which is converted by IDNA.
    nc_slice url;
    /// Fields in the order in which they are sent.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// The body; sent when it is not empty or has_body is set.
    nc_slice body;
    /// True sends an empty body with Content-Length: 0.
    bool has_body;
    /// True sends POST, PUT and PATCH without a body as they are; false with Content-Length: 0 (RFC 9110, 8.6).
    bool omits_zero_length;
    /// Path of a regular file whose content is the body; instead of `body`. Read as it is sent: when it has become
    /// shorter or longer by its end, that is NC_ERR_BODY_LENGTH.
    nc_slice body_file;
    /// Where the body comes from, piece by piece; instead of `body`.
    nc_body_source body_source;
    /// Bytes that the source gives: more or fewer end with NC_ERR_BODY_LENGTH. The last byte is sent when the source
    /// has said that it is the last. NC_LENGTH_UNKNOWN sends what comes. With 0 it is asked once, before
    /// anything is sent; NC_PULL_LATER then means that it has nothing.
    uint64_t body_length;
    /// A form that is the body; instead of `body`. Retained while needed; the library then sends its Content-Type in
    /// place of the caller's, and refuses GET and HEAD (NC_ERR_USAGE), which carry no form. Part files are opened and
    /// measured when the transfer gets its slot; each of them is opened again when its turn comes.
    nc_multipart *NC_NULLABLE multipart;
    /// Path of a file that gets the body of a response with status 200 to 299, under another name until it is whole
    /// (limits.max_body_bytes counts, and is then unlimited by default). A file that it replaces gives it its
    /// permissions, and its owner where the system allows that; one that may not be written is NC_ERR_FILE. A device is
    /// written where it is; pipes and sockets are refused with NC_ERR_FILE. Other bodies go the usual way, of at most
    /// NC_DEFAULT_MAX_BODY_BYTES.
    nc_slice save_path;
    /// True asks for every content coding that libcurl can undo, and undoes it.
    bool accepts_codings;
    /// Protocol choice.
    nc_http_choice http;
    /// Redirect choice.
    nc_redirect_choice redirects;
    /// Limits.
    nc_limits limits;
    /// Whom TLS believes; NULL means the engine's policy. Retained while needed.
    nc_trust *NC_NULLABLE trust;
    /// Address overrides, the first match wins.
    const nc_connect_to *NC_NULLABLE connect_to;
    /// Number of overrides.
    size_t connect_to_count;
    /// Path of a Unix socket to connect to, for the URL's own origin.
    nc_slice unix_socket;
    /// Proxy; NULL means the engine's.
    const nc_proxy *NC_NULLABLE proxy;
    /// What the body has to be, checked while it arrives; NULL expects nothing. Retained while needed.
    nc_expectation *NC_NULLABLE expectation;
    /// Who asks.
    nc_credentials credentials;
    /// Place among those that wait.
    nc_priority priority;
    /// An nc_cookie_use; without a jar (nc_engine_options.cookies) all are alike. The caller's own Cookie fields are
    /// sent whatever it says.
    uint8_t cookie_use;
    /// True sends "/../" and "/./" in the path as they are, those that a redirect's Location names too.
    bool keeps_dot_segments;
    /// True refuses a response with a malformed field name, such as "X Foo" or "Name ", with NC_ERR_BAD_RESPONSE; false
    /// drops that line and counts it (nc_hop_metrics.dropped_fields). Refused in either case are a line that could mean
    /// Content-Length, Transfer-Encoding or Content-Encoding to another reader, a folded one, and one without a colon.
    bool refuses_malformed_fields;
    /// True says that the receiver may rest for long (nc_engine_pause(), NC_PAUSE). Over HTTP/2 such a transfer, and
    /// one under limits.max_receive_bytes_per_s, gets a connection of its own, of which a host has as many as over
    /// HTTP/1.1: a stream that rests could hold up the other streams of its connection. (Over libcurl below 8 one with
    /// a body of more than 65,535 bytes does, too: other streams could cost it an early answer.)
    bool may_pause;
    /// The class of service that the request's packets ask for (DSCP; RFC 2474, 3), 1 to NC_DSCP_MAX: IP_TOS or
    /// IPV6_TCLASS of its connections, which requests of another class do not share. 0 sets nothing. A system that does
    /// not take it sends as ever.
    uint8_t dscp;
    /// True shows nothing that the engine or the policy would show by itself: no client certificate, nothing of a netrc
    /// file. For a redirect to another origin that the caller follows.
    bool is_elsewhere;
} nc_request;

/// Refuses what nc_engine_submit() would, without an engine: what must not reach the wire.
///
/// Names and files are not looked up, and no body is read. `request` is borrowed for the call.
/// Returns NC_OK, NC_ERR_BAD_URL, NC_ERR_BAD_SCHEME, NC_ERR_BAD_METHOD, NC_ERR_BAD_HEADER (err->offset is the byte),
/// NC_ERR_UNSUPPORTED (CONNECT, WebSocket, a protocol or scheme of authentication that libcurl lacks),
/// NC_ERR_TOO_LARGE (headers, overrides), NC_ERR_USAGE. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_request_check(const nc_request *request, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
