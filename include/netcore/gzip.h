/// Request bodies as gzip (RFC 1952): in one piece, or as they come.
///
/// The same bytes give the same result everywhere with one version of zlib: the header holds neither a time nor a name.
/// Whoever sends the result says so in Content-Encoding.
///
///     nc_gzip *gzip = NULL;
///     nc_gzip_new(&gzip, 0, &err);
///     nc_gzip_add(&out, gzip, piece, &err);       // as often as there are pieces; send and reset `out` in between
///     nc_gzip_finish(&out, gzip, &err);
///     nc_gzip_free(gzip);
#ifndef NETCORE_GZIP_H
#define NETCORE_GZIP_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A body that is being compressed; about 270 KiB.
typedef struct nc_gzip nc_gzip;

/// Makes a compressor that has seen nothing yet.
///
/// - level: 1, fast, to 9, small; 0 means zlib's own choice, 6.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_gzip_new(nc_gzip *NC_NULLABLE *NC_NONNULL out, int level, nc_error *NC_NULLABLE err);

/// Frees a compressor, finished or not; NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_gzip_free(nc_gzip *NC_NULLABLE gzip);

/// Takes more of the body, and appends what is ready of the result: often nothing.
///
/// Returns NC_OK; NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY, NC_ERR_INTERNAL, after which the result
/// is of no use. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_gzip_add(nc_buf *out, nc_gzip *gzip, nc_slice bytes, nc_error *NC_NULLABLE err);

/// Appends the rest of the result, and begins anew.
///
/// Statuses as for nc_gzip_add(). Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_gzip_finish(nc_buf *out, nc_gzip *gzip, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
