/// The Content-Range field of a partial response (RFC 9110, 14.4).
///
///     nc_content_range range;
///     if (nc_content_range_parse(&range, nc_slice_of("bytes 100-199/1000")))
///         printf("%llu bytes\n", (unsigned long long)(range.last - range.first + 1));
#ifndef NETCORE_CONTENT_RANGE_H
#define NETCORE_CONTENT_RANGE_H

#include <netcore/base.h>
#include <netcore/body_source.h>
#include <netcore/bytes.h>
#include <netcore/header.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A range in bytes.
typedef struct nc_content_range {
    /// True for "bytes */N" of a 416 response: `first` and `last` are 0 and mean nothing.
    bool is_unsatisfied;
    /// Position of the first byte.
    uint64_t first;
    /// Position of the last byte (inclusive).
    uint64_t last;
    /// Length of the whole; NC_LENGTH_UNKNOWN for '*'.
    uint64_t total;
} nc_content_range;

/// Parses the value of a Content-Range field. All numbers are at most INT64_MAX.
///
/// Returns false, with `out` unchanged, if it is invalid or has another unit than "bytes".
/// Pure; call from any thread.
NC_API bool nc_content_range_parse(nc_content_range *out, nc_slice value);

/// Returns true if a response's body is a part of the whole: with status 206, and with another success whose
/// Content-Range covers less than the whole, because some servers send a part with status 200.
///
/// A Content-Range in bytes also counts as a part if it is invalid, not the only one, has no total, or contradicts the
/// Content-Length. A Content-Range in another unit is ignored.
/// - headers: the response's fields.
/// Pure; call from any thread.
NC_API bool nc_content_range_is_part(uint16_t status, const nc_header *NC_NULLABLE headers, size_t header_count);

/// Returns true if the validators of a response are strong (RFC 9110, 8.8.2): equal ones in another response prove that
/// the bytes are equal. A tag is strong if it is not weak. Without a tag, a Last-Modified date is strong if it is at
/// least 60 s before Date.
///
/// - etag, modified, date: the fields ETag, Last-Modified and Date; empty if missing.
/// Pure; call from any thread.
NC_API bool nc_validators_are_strong(nc_slice etag, nc_slice modified, nc_slice date);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
