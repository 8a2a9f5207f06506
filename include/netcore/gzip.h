/// Compresses request bodies with gzip (RFC 1952), as a whole or in pieces.
///
/// The result depends only on the bytes and the version of zlib, because the gzip header contains no time and no name.
/// The caller adds the Content-Encoding field.
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

/// A gzip compressor of about 270 KiB.
typedef struct nc_gzip nc_gzip;

/// Creates a compressor.
///
/// - level: 1 (fast) to 9 (small); 0 means zlib's default, 6.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_gzip_new(nc_gzip *NC_NULLABLE *NC_NONNULL out, int level, nc_error *NC_NULLABLE err);

/// Frees a compressor, finished or not. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_gzip_free(nc_gzip *NC_NULLABLE gzip);

/// Compresses the next bytes of the body, and appends the output that is ready, which is often none.
///
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY or NC_ERR_INTERNAL. After an error the output is
/// unusable.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_gzip_add(nc_buf *out, nc_gzip *gzip, nc_slice bytes, nc_error *NC_NULLABLE err);

/// Appends the rest of the output, and resets the compressor for another body.
///
/// Returns the statuses of nc_gzip_add().
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_gzip_finish(nc_buf *out, nc_gzip *gzip, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
