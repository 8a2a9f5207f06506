/// URL references: how a relative one becomes absolute, by RFC 3986, section 5.
///
/// Text in, text out: nothing is decoded, escaped or looked up. What libcurl will finally accept is libcurl's word.
///
///     nc_buf url = nc_buf_init(8192);
///     nc_url_resolve(&url, nc_slice_of("http://a/b/c"), nc_slice_of("../d"), NULL);   // http://a/d
#ifndef NETCORE_URL_H
#define NETCORE_URL_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A URL, in bytes, at most; longer ones are refused everywhere in the library.
#define NC_URL_MAX_BYTES (64u * 1024u)

/// Appends to `out` the URL that `reference` means when it is read at `base` (RFC 3986, 5.2, strict).
///
/// Dot segments are removed (5.2.4). The reference's fragment is kept; the base's is not inherited.
/// - base: an absolute URL with a scheme.
/// Returns NC_OK, NC_ERR_BAD_URL when the base has no scheme or a byte is a control character or space,
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_url_resolve(nc_buf *out, nc_slice base, nc_slice reference, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
