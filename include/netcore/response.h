/// What came back: one immutable, reference-counted response.
///
/// Pointers and slices that a getter returns are borrowed from the response. Bodies and heads live in pooled memory
/// that goes back to the engine's pool with the last reference, also after the engine itself is gone.
///
///     printf("%u, %zu bytes\n", nc_response_status(r), nc_response_body(r).length);
#ifndef NETCORE_RESPONSE_H
#define NETCORE_RESPONSE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/request.h>
#include <netcore/trust_verdict.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A finished response, or what there was of one when it failed.
typedef struct nc_response nc_response;

/// The protocol that a hop was spoken in.
typedef NC_ENUM(nc_http_version){
    /// Not known: nothing came back.
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

/// What one hop cost. Moments are nanoseconds since submit; 0 means that it did not happen.
typedef struct nc_hop_metrics {
    /// The URL asked.
    nc_slice url;
    /// The status that came back; 0 when none did.
    uint16_t status;
    /// The protocol.
    nc_http_version http_version;
    /// True when an open connection was used again.
    bool is_reused;
    /// Connections that this hop opened (0 on a reused one).
    uint32_t connections_opened;
    /// The other end's port; 0 when unknown.
    uint16_t remote_port;
    /// The other end's numeric address, NUL-terminated; empty when unknown, and over a Unix socket.
    char remote_address[46];
    /// The hop got its slot and was handed to libcurl.
    uint64_t started_ns;
    /// The name was resolved.
    uint64_t resolved_ns;
    /// TCP was connected.
    uint64_t connected_ns;
    /// TLS was ready.
    uint64_t secured_ns;
    /// The connection was ready for the request.
    uint64_t ready_ns;
    /// The first response byte arrived.
    uint64_t first_byte_ns;
    /// The hop was over.
    uint64_t ended_ns;
    /// Request bytes on the wire, head and body, before TLS.
    uint64_t sent_bytes;
    /// Response head bytes, before TLS.
    uint64_t head_bytes;
    /// Response body bytes before decoding.
    uint64_t received_bytes;
    /// Response body bytes after decoding.
    uint64_t decoded_bytes;
    /// Which of the engine's connections it was, counted from 1; 0 when there was none.
    uint64_t connection_id;
    /// Lines of the response's heads and trailers that were dropped, as their names are malformed (such as
    /// "X Foo: bar"); see nc_request.refuses_malformed_fields.
    uint32_t dropped_fields;
    /// Such as "TLSv1.3"; empty without TLS.
    char tls_version[12];
    /// Such as "TLS_AES_256_GCM_SHA384"; empty without TLS.
    char tls_cipher[44];
    /// The group of the key exchange, such as "X25519MLKEM768" or "x25519"; empty without TLS, and where none was used.
    char tls_group[32];
} nc_hop_metrics;

/// Gives the judgement that refused the last hop's certificate, with the chain's pins and the policy's.
///
/// Returns NULL when none did. Thread-safe.
NC_API const nc_trust_verdict *NC_NULLABLE nc_response_verdict(const nc_response *response);

/// Counts the trailer fields (RFC 9110, 6.5) of the last hop; they are never mixed with the head's.
///
/// Thread-safe.
NC_API size_t nc_response_trailer_count(const nc_response *response);

/// Gives one trailer field, in the order of arrival; an empty one when `index` is out of range.
///
/// Thread-safe.
NC_API nc_header nc_response_trailer_at(const nc_response *response, size_t index);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_response *nc_response_retain(nc_response *response);

/// Drops a reference; the last one frees the response. NULL is harmless.
///
/// Thread-safe.
NC_API void nc_response_release(nc_response *NC_NULLABLE response);

/// Tells the status code, 100 to 999; 0 when no head arrived. With NC_ERR_PROXY it is 407, and the fields are the
/// proxy's, where it wants to know who asks before it makes a tunnel (RFC 9110, 11.7.1).
///
/// Thread-safe.
NC_API uint16_t nc_response_status(const nc_response *response);

/// Tells the protocol of the last hop.
///
/// Thread-safe.
NC_API nc_http_version nc_response_http_version(const nc_response *response);

/// Tells whether nothing but the end of the connection told where the body ended (RFC 9112, 6.3, rule 8).
///
/// Without TLS such a body may have been cut short without anybody's knowing. Thread-safe.
NC_API bool nc_response_is_close_delimited(const nc_response *response);

/// Gives the URL of the last hop.
///
/// Thread-safe.
NC_API nc_slice nc_response_url(const nc_response *response);

/// Gives the decoded body; after a failure, what had arrived.
///
/// Thread-safe.
NC_API nc_slice nc_response_body(const nc_response *response);

/// Counts the fields of the last head.
///
/// Thread-safe.
NC_API size_t nc_response_header_count(const nc_response *response);

/// Gives one field, in the order of arrival; an empty one when `index` is out of range.
///
/// Thread-safe.
NC_API nc_header nc_response_header_at(const nc_response *response, size_t index);

/// Finds the first field with this name, letter case ignored.
///
/// - out: written only when the field is there.
/// Returns whether it is. Thread-safe.
NC_API bool nc_response_find_header(const nc_response *response, nc_slice name, nc_slice *out);

/// Counts the hops: 1 and each redirect followed.
///
/// Thread-safe.
NC_API size_t nc_response_hop_count(const nc_response *response);

/// Copies one hop's metrics; all zero when `index` is out of range.
///
/// Thread-safe.
NC_API nc_hop_metrics nc_response_hop_at(const nc_response *response, size_t index);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
