/// Text in any charset to UTF-8 and back, through iconv(3).
///
/// Strict: a byte that means nothing in the charset is an error with its offset, never a replacement character.
/// Shift_JIS is Windows' (code page 932), as everywhere but in iconv.
///
///     nc_buf text = nc_buf_init(1 << 20);
///     nc_charset_to_utf8(&text, bytes, nc_slice_of("gb18030"), &err);
#ifndef NETCORE_CHARSET_H
#define NETCORE_CHARSET_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Appends `text` to `out`, converted from `charset` to UTF-8.
///
/// - charset: an IANA name, letter case ignored ("utf-8", "Shift_JIS", "GB18030", "windows-1252"); at most 63 bytes.
/// Returns NC_OK, NC_ERR_BAD_CHARSET when the name is unknown or a byte does not fit (err->offset is its place),
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_charset_to_utf8(nc_buf *out, nc_slice text, nc_slice charset,
                                                 nc_error *NC_NULLABLE err);

/// Appends `text`, which is UTF-8, to `out`, converted to `charset`.
///
/// A charset with a byte order writes its mark where iconv does (UTF-16 and UTF-32 without LE or BE in their names).
/// - charset: as for nc_charset_to_utf8().
/// Returns NC_OK, NC_ERR_BAD_CHARSET when the name is unknown, when the text is not UTF-8 or when the charset has not a
/// character of it (err->offset is its place), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY; `out` then holds what it held.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_charset_from_utf8(nc_buf *out, nc_slice text, nc_slice charset,
                                                   nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
