/// Text in any charset to UTF-8 and back.
///
/// Labels mean what the WHATWG Encoding Standard says (section 4.2), and text is read by the standard's indexes:
/// "iso-8859-1" and "us-ascii" are windows-1252, "gb2312" is GBK, "euc-kr" is code page 949, Shift_JIS is code page
/// 932. Other names that iconv(3) knows ("utf-32", "cp437") are read by iconv.
///
/// Strict: a byte that means nothing in the charset is an error with its offset, never a replacement character. The
/// standard's "replacement" encodings ("iso-2022-kr", "hz-gb-2312" and four more) are known and always refused: text
/// in them is ASCII to a filter and something else to a reader.
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

/// Reads text that arrives in pieces.
typedef struct nc_charset_decoder nc_charset_decoder;

/// Returns the WHATWG Encoding Standard's name for a label ("latin1": "windows-1252"), as a constant string; NULL if
/// the standard has no such label, even if iconv(3) has.
///
/// - label: letter case and ASCII whitespace around it are ignored.
/// Pure; call from any thread.
NC_API const char *NC_NULLABLE nc_charset_name(nc_slice label);

/// Appends `text` to `out`, converted from `charset` to UTF-8.
///
/// "utf-16" without an order is read in the order of its byte order mark, which is no part of the text, else with the
/// little end first.
/// - charset: a label of the standard, or a name that iconv knows; letter case and whitespace around it are ignored,
/// and
///   without that whitespace it has at most 63 bytes.
/// Returns NC_OK, NC_ERR_BAD_CHARSET when the name is unknown or a byte does not fit (err->offset is its place),
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_charset_to_utf8(nc_buf *out, nc_slice text, nc_slice charset,
                                                 nc_error *NC_NULLABLE err);

/// Appends `text`, which is UTF-8, to `out`, converted to `charset`.
///
/// Single-byte encodings are written by the standard's indexes, others by iconv(3). UTF-16 and UTF-32 without LE or BE
/// in their names get a byte order mark. Under a name of ASCII or ISO 8859 only the characters of that charset are
/// written, so that strict readers understand them too: no euro sign as "iso-8859-1".
/// - charset: as for nc_charset_to_utf8().
/// Returns NC_OK, NC_ERR_BAD_CHARSET when the name is unknown, when the text is not UTF-8 or when the charset has not a
/// character of it (err->offset is its place), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY; `out` then holds what it held.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_charset_from_utf8(nc_buf *out, nc_slice text, nc_slice charset,
                                                   nc_error *NC_NULLABLE err);

/// Creates a decoder for text that arrives in pieces.
///
/// - out: owned by the caller; release with nc_charset_decoder_free().
/// - charset: as for nc_charset_to_utf8().
/// Returns NC_OK, NC_ERR_BAD_CHARSET when the name is unknown, NC_ERR_NO_MEMORY.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_charset_decoder_new(nc_charset_decoder *NC_NULLABLE *NC_NONNULL out, nc_slice charset,
                                                     nc_error *NC_NULLABLE err);

/// Appends the UTF-8 text of the next bytes to `out`; the beginning of a character is kept for the next call.
///
/// Returns as nc_charset_to_utf8(); err->offset counts from the first byte of the first piece. After an error the
/// decoder can only be freed. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_charset_decoder_feed(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes,
                                                      nc_error *NC_NULLABLE err);

/// Ends the text: appends what a charset still holds back.
///
/// Returns as nc_charset_decoder_feed(); NC_ERR_BAD_CHARSET within a character.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_charset_decoder_finish(nc_charset_decoder *decoder, nc_buf *out,
                                                        nc_error *NC_NULLABLE err);

/// Frees a decoder; NULL is allowed. Confined: one thread at a time.
NC_API void nc_charset_decoder_free(nc_charset_decoder *NC_NULLABLE decoder);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
