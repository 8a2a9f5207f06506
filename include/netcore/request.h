/// What to ask: one request, described by a struct of borrowed views.
///
/// All zero but method and URL is a sensible request: 0 always means the default, and every default is finite.
/// The description is copied by nc_engine_submit(); nothing in it needs to live longer than that call.
///
///     nc_request request = {.url = nc_slice_of("https://example.com/")};
#ifndef NETCORE_REQUEST_H
#define NETCORE_REQUEST_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/credentials.h>
#include <netcore/proxy.h>
#include <netcore/trace.h>
#include <netcore/trust.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Where 0 means a default, this asks for no limit in a 32-bit field.
#define NC_UNLIMITED UINT32_MAX
/// Where 0 means a default, this asks for no limit in a 64-bit field.
#define NC_UNLIMITED_BYTES UINT64_MAX

/// Where 0 means the default, this asks for none.
#define NC_NO_REDIRECTS UINT32_MAX

#define NC_DEFAULT_CONNECT_MS 10000u
#define NC_DEFAULT_FIRST_BYTE_MS 60000u
#define NC_DEFAULT_IDLE_MS 60000u
#define NC_DEFAULT_SLOT_MS 60000u
#define NC_DEFAULT_TOTAL_MS 300000u
#define NC_DEFAULT_MAX_BODY_BYTES (64u * 1024u * 1024u)
#define NC_DEFAULT_MAX_HEAD_BYTES (256u * 1024u)
#define NC_DEFAULT_MAX_HEAD_FIELDS 256u
#define NC_DEFAULT_MAX_REDIRECTS 20u
#define NC_DEFAULT_MAX_CODINGS 3u

/// A body whose length is not known before: chunked over HTTP/1.1, without a length over HTTP/2.
#define NC_LENGTH_UNKNOWN UINT64_MAX

/// Limits of one request; 0 is the default beside each.
typedef struct nc_limits {
    /// Name lookup, TCP and TLS of one hop, in milliseconds (10 s).
    uint32_t connect_ms;
    /// From the last request byte to the first response byte of one hop, in milliseconds (60 s).
    uint32_t first_byte_ms;
    /// Between two pieces of the body, either way, in milliseconds (60 s).
    uint32_t idle_ms;
    /// Waiting for a slot, in milliseconds (60 s).
    uint32_t slot_ms;
    /// Everything from submit to done, in milliseconds (300 s).
    uint32_t total_ms;
    /// Redirects followed (20); NC_NO_REDIRECTS fails on the first one.
    uint32_t max_redirects;
    /// The response body, after decoding, in bytes (64 MiB).
    uint64_t max_body_bytes;
    /// One response head, status line included, in bytes (256 KiB).
    uint32_t max_head_bytes;
    /// Fields in one response head (256).
    uint32_t max_head_fields;
    /// Content codings of one body, one upon the other (3).
    uint32_t max_codings;
    /// Body bytes sent a second, on average; 0 is no limit.
    uint64_t max_send_bytes_per_s;
    /// Body bytes received a second, before decoding, on average; 0 is no limit.
    uint64_t max_receive_bytes_per_s;
} nc_limits;

/// Which protocol is spoken.
typedef NC_ENUM(nc_http_choice){
    /// HTTP/2 over TLS when the server agrees by ALPN, else HTTP/1.1.
    NC_HTTP_AUTO = 0,
    /// HTTP/1.1 only.
    NC_HTTP_1_1 = 1,
    /// HTTP/1.0 only; NC_ERR_UNSUPPORTED with a body of unknown length.
    NC_HTTP_1_0 = 2,
    /// HTTP/2 over plain TCP without asking (h2c, RFC 9113, 3.3); a server without it ends as NC_ERR_HTTP2. Over TLS
    /// as NC_HTTP_AUTO: the handshake asks.
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

/// What a pull callback gave.
typedef NC_ENUM(nc_pull){
    /// `*filled` bytes, at least one; there may be more.
    NC_PULL_MORE = 0,
    /// `*filled` bytes, perhaps none, and these were the last.
    NC_PULL_END = 1,
    /// Nothing now; it is asked again after nc_engine_resume().
    NC_PULL_LATER = 2,
    /// It failed; the transfer ends with NC_ERR_BODY_SOURCE.
    NC_PULL_FAIL = 3,
} nc_pull;

/// Fills at most `capacity` bytes of a request body; runs on the loop thread and must not block.
typedef nc_pull (*nc_pull_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                              size_t *filled);
/// Goes back to the body's first byte, for a redirect or a connection that died; returns whether it can.
typedef bool (*nc_rewind_fn)(void *NC_NULLABLE ctx, nc_transfer_id id);

/// A request body that is asked for piece by piece.
///
/// A response that is whole before the source has ended ends the transfer: the source is not asked any more, and an
/// HTTP/1.1 connection is closed.
typedef struct nc_body_source {
    /// Handed to both functions, until on_done.
    void *NC_NULLABLE ctx;
    /// NULL: there is no source.
    nc_pull_fn NC_NULLABLE pull;
    /// NULL: the body can be sent once only.
    nc_rewind_fn NC_NULLABLE rewind;
} nc_body_source;

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

/// One request.
typedef struct nc_request {
    /// A token; empty means GET.
    nc_slice method;
    /// Absolute, http or https, at most NC_URL_MAX_BYTES, no spaces or control characters.
    nc_slice url;
    /// Fields in the order in which they are sent.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// The body; sent when it is not empty or has_body is set.
    nc_slice body;
    /// True sends an empty body with Content-Length: 0.
    bool has_body;
    /// Path of a regular file whose content is the body; instead of `body`. Read as it is sent.
    nc_slice body_file;
    /// Where the body comes from, piece by piece; instead of `body`.
    nc_body_source body_source;
    /// Bytes that the source gives: more or fewer end with NC_ERR_BODY_LENGTH. The last byte is sent when the source
    /// has said that it is the last. NC_LENGTH_UNKNOWN sends what comes.
    uint64_t body_length;
    /// Path of a file that gets the body of a response with status 200 to 299, under another name until it is whole
    /// (limits.max_body_bytes counts, and is then unlimited by default). Other bodies go the usual way, of at most
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
    /// Who asks.
    nc_credentials credentials;
    /// Place among those that wait.
    nc_priority priority;
    /// True leaves the engine's cookies out, both ways.
    bool ignores_cookies;
    /// True sends "/../" and "/./" in the path as they are.
    bool keeps_dot_segments;
} nc_request;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
