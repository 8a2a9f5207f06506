/// Trailer fields of a request, sent after its body (RFC 9110, 6.5), such as a checksum of the body.
///
/// Trailers are sent over HTTP/1.1, after a chunked body, whether its length is known or not. The library announces
/// their names in a Trailer field.
///
///     static const nc_header fields[] = {{.name = {"Content-Digest", 14}}};
///     request.body_source = (nc_body_source){&upload, read_and_hash, NULL};
///     request.trailers = (nc_trailers){.fields = fields, .count = 1, .compute = append_digest, .ctx = &upload};
#ifndef NETCORE_TRAILERS_H
#define NETCORE_TRAILERS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/header.h>
#include <netcore/trace.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest number of trailer fields of one request.
#define NC_MAX_TRAILERS 64u
/// The largest total length of the names and values of these fields, in bytes.
#define NC_MAX_TRAILER_BYTES (32u * 1024u)

/// The result of a trailer callback.
typedef NC_ENUM(nc_trailer_result){
    /// The field is sent with the appended value, which may be empty.
    NC_TRAILER_SEND = 0,
    /// The field is not sent.
    NC_TRAILER_OMIT = 1,
    /// No value yet. The callback is called again after nc_engine_resume(). The transfer is paused until then.
    NC_TRAILER_LATER = 2,
    /// Failure. The transfer ends with NC_ERR_BODY_SOURCE.
    NC_TRAILER_FAIL = 3,
} nc_trailer_result;

/// Appends the value of field `index` to `value`. Called on the loop thread after the whole body was read, for each
/// field in order; again for each further send, such as after a redirect. Must not block.
typedef nc_trailer_result (*nc_trailer_fn)(void *NC_NULLABLE ctx, nc_transfer_id id, size_t index, nc_buf *value);

/// The trailer fields of a request.
///
/// A server that supports only HTTP/1.0 may refuse the chunked body. Trailers are not sent after a redirect that is
/// cross-origin or drops the body.
typedef struct nc_trailers {
    /// The fields, in the order in which they are sent. Fields that a recipient needs before the body are refused with
    /// NC_ERR_BAD_HEADER (RFC 9110, 6.5.1): framing, routing, request modifiers, authentication, cookies, response
    /// control data such as Date, and the type and coding of the content.
    const nc_header *NC_NULLABLE fields;
    /// Number of fields, at most NC_MAX_TRAILERS. 0 means no trailers.
    size_t count;
    /// Returns the value of each field; those in `fields` must then be empty. NULL sends the values in `fields`.
    nc_trailer_fn NC_NULLABLE compute;
    /// Passed to `compute`, which is not called after on_done.
    void *NC_NULLABLE ctx;
} nc_trailers;

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
