/// One immutable, reference-counted response.
///
/// Pointers and slices that a getter returns are borrowed from the response. A response stays valid after its engine
/// has ended.
///
///     nc_slice type;
///     if (nc_response_find_header(response, nc_slice_of("Content-Type"), &type))
///         printf("%u, %zu bytes\n", nc_response_status(response), nc_response_body(response).length);
///     nc_response_release(response);
#ifndef NETCORE_RESPONSE_H
#define NETCORE_RESPONSE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/request.h>
#include <netcore/trust_result.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A complete response, or the part of one that arrived before a failure.
typedef struct nc_response nc_response;

/// The HTTP version of a hop.
typedef NC_ENUM(nc_http_version){
    /// Unknown: no response arrived.
    NC_HTTP_VERSION_UNKNOWN = 0,
    /// HTTP/1.0.
    NC_HTTP_VERSION_1_0 = 10,
    /// HTTP/1.1.
    NC_HTTP_VERSION_1_1 = 11,
    /// HTTP/2.
    NC_HTTP_VERSION_2 = 20,
    /// HTTP/3.
    NC_HTTP_VERSION_3 = 30,
} nc_http_version;

/// Measurements of one hop. The members that end in _ns are points in time, in nanoseconds since submit; 0 means that
/// the event did not happen.
typedef struct nc_hop_metrics {
    /// URL of the request.
    nc_slice url;
    /// Status of the response; 0 if none arrived.
    uint16_t status;
    /// HTTP version.
    nc_http_version http_version;
    /// True if an open connection was reused.
    bool is_reused;
    /// Number of connections that this hop opened; 0 if it reused one.
    uint32_t connections_opened;
    /// Port of the peer; 0 if unknown.
    uint16_t remote_port;
    /// Numeric address of the peer, NUL-terminated. Empty if unknown, and over a Unix socket.
    char remote_address[46];
    /// When the hop got its slot and was passed to libcurl.
    uint64_t started_ns;
    /// When the name lookup ended.
    uint64_t resolved_ns;
    /// When the TCP connection was open.
    uint64_t connected_ns;
    /// When the TLS handshake ended.
    uint64_t secured_ns;
    /// When the connection was ready for the request.
    uint64_t ready_ns;
    /// When the first response byte arrived.
    uint64_t first_byte_ns;
    /// When the hop ended.
    uint64_t ended_ns;
    /// Request bytes on the wire, head and body, before TLS.
    uint64_t sent_bytes;
    /// Response head bytes, before TLS.
    uint64_t head_bytes;
    /// Response body bytes, before decoding.
    uint64_t received_bytes;
    /// Response body bytes, after decoding.
    uint64_t decoded_bytes;
    /// Number of the connection within its engine, from 1; 0 if there was none.
    uint64_t connection_id;
    /// Lines of response heads and trailers that were dropped because of a malformed name, such as "X Foo: bar". See
    /// nc_request.refuses_malformed_fields.
    uint32_t dropped_fields;
    /// TLS version, such as "TLSv1.3"; empty without TLS.
    char tls_version[12];
    /// Cipher suite, such as "TLS_AES_256_GCM_SHA384"; empty without TLS.
    char tls_cipher[44];
    /// Group of the key exchange, such as "X25519MLKEM768" or "x25519"; empty without TLS or without a group.
    char tls_group[32];
    /// QUIC version of the connection, 1 (RFC 9000); 0 without QUIC. With QUIC `connected_ns` is when the first packet
    /// of the server arrived, and `secured_ns` when the handshake ended.
    uint32_t quic_version;
    /// True if request bytes were sent as early data of a resumed session (0-RTT). False: NetKit sends no early data.
    bool used_early_data;
} nc_hop_metrics;

/// Returns the TLS evaluation result of a refused certificate of the last hop, with the pins of the chain and of the
/// policy.
///
/// Returns NULL if no certificate was refused.
/// Thread-safe.
NC_API const nc_trust_result *NC_NULLABLE nc_response_trust_result(const nc_response *response);

/// Returns the number of trailer fields (RFC 9110, 6.5) of the last hop. Trailers are never merged into the head.
///
/// Thread-safe.
NC_API size_t nc_response_trailer_count(const nc_response *response);

/// Returns one trailer field, in the order of arrival; an empty one if `index` is out of range.
///
/// Thread-safe.
NC_API nc_header nc_response_trailer_at(const nc_response *response, size_t index);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_response *nc_response_retain(nc_response *response);

/// Drops a reference. The last one frees the response. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_response_release(nc_response *NC_NULLABLE response);

/// Returns the HTTP status code of the last hop, 100 to 999; 0 if no head arrived.
///
/// If the transfer ended with NC_ERR_PROXY because the proxy requires credentials for a tunnel, the status is 407, and
/// the fields are those of the proxy's response (RFC 9110, 11.7.1).
/// Thread-safe.
NC_API uint16_t nc_response_status(const nc_response *response);

/// Returns the HTTP version of the last hop.
///
/// Thread-safe.
NC_API nc_http_version nc_response_http_version(const nc_response *response);

/// Returns true if the body was delimited only by the end of the connection (RFC 9112, 6.3, rule 8).
///
/// Without TLS such a body may be truncated without an error.
/// Thread-safe.
NC_API bool nc_response_is_close_delimited(const nc_response *response);

/// Returns the URL of the last hop.
///
/// Thread-safe.
NC_API nc_slice nc_response_url(const nc_response *response);

/// Returns the decoded body; after a failure, the part that arrived before it. Empty if a sink or a file received the
/// body.
///
/// Thread-safe.
NC_API nc_slice nc_response_body(const nc_response *response);

/// Returns the number of fields of the last head.
///
/// Thread-safe.
NC_API size_t nc_response_header_count(const nc_response *response);

/// Returns one field, in the order of arrival; an empty one if `index` is out of range.
///
/// Thread-safe.
NC_API nc_header nc_response_header_at(const nc_response *response, size_t index);

/// Finds the first field with this name, case-insensitively.
///
/// - out: written only if the field exists.
/// Returns true if it exists.
/// Thread-safe.
NC_API bool nc_response_find_header(const nc_response *response, nc_slice name, nc_slice *out);

/// Returns the number of hops: 1, plus the number of followed redirects.
///
/// Thread-safe.
NC_API size_t nc_response_hop_count(const nc_response *response);

/// Copies the metrics of one hop; all zero if `index` is out of range.
///
/// Thread-safe.
NC_API nc_hop_metrics nc_response_hop_at(const nc_response *response, size_t index);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
