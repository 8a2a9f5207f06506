/// Converts text of any charset to UTF-8 and back.
///
/// Labels and indexes are those of the WHATWG Encoding Standard (section 4.2). For example, "iso-8859-1" and "us-ascii"
/// select windows-1252, "gb2312" selects GBK, "euc-kr" code page 949, and "shift_jis" code page 932. If the standard
/// has no such label ("utf-32", "cp437"), iconv(3) converts the text.
///
/// Conversion is strict: an invalid byte is an error with its offset, never a replacement character. The standard's
/// "replacement" encodings ("iso-2022-kr", "hz-gb-2312" and four more) are always refused: a filter would see harmless
/// ASCII where the final reader sees other text.
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

/// A decoder of text that arrives in pieces.
typedef struct nc_charset_decoder nc_charset_decoder;

/// Returns the encoding name of the WHATWG Encoding Standard for a label, such as "windows-1252" for "latin1", as a
/// static string.
///
/// Returns NULL if the standard has no such label, even if iconv(3) knows it.
/// - label: letter case and surrounding ASCII white space are ignored.
/// Pure; call from any thread.
NC_API const char *NC_NULLABLE nc_charset_name(nc_slice label);

/// Appends `text`, converted from `charset` to UTF-8.
///
/// With the label "utf-16" a byte order mark determines the byte order and is not part of the text. Without a mark the
/// text is little-endian.
/// - charset: a label of the standard or a name of iconv, at most 63 bytes. Letter case and surrounding white space are
///   ignored.
/// Returns NC_OK, NC_ERR_BAD_CHARSET for an unknown name or an invalid byte (err->offset is the byte),
/// NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_charset_to_utf8(nc_buf *out, nc_slice text, nc_slice charset,
                                                 nc_error *NC_NULLABLE err);

/// Appends the UTF-8 text `text`, converted to `charset`.
///
/// Single-byte encodings use the standard's indexes; iconv(3) converts to the others. If the name is UTF-16 or UTF-32
/// without LE or BE, the result starts with a byte order mark.
///
/// ASCII and the ISO 8859 charsets are not extended to windows-1252 here, so that strict readers accept the result. For
/// example, a euro sign cannot be converted to "iso-8859-1".
/// - charset: as for nc_charset_to_utf8().
/// Returns NC_OK, NC_ERR_BAD_CHARSET (an unknown name, text that is not UTF-8, or a character that the charset lacks;
/// err->offset is its position), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY. After an error `out` is unchanged.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_charset_from_utf8(nc_buf *out, nc_slice text, nc_slice charset,
                                                   nc_error *NC_NULLABLE err);

/// Creates a decoder for text that arrives in pieces.
///
/// - out: owned by the caller; release it with nc_charset_decoder_free().
/// - charset: as for nc_charset_to_utf8().
/// Returns NC_OK, NC_ERR_BAD_CHARSET for an unknown name, NC_ERR_NO_MEMORY.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_charset_decoder_new(nc_charset_decoder *NC_NULLABLE *NC_NONNULL out, nc_slice charset,
                                                     nc_error *NC_NULLABLE err);

/// Appends the UTF-8 text of the next bytes. An incomplete character is kept for the next call.
///
/// Returns the statuses of nc_charset_to_utf8(); err->offset counts from the start of the text. After an error the
/// decoder can only be freed.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_charset_decoder_feed(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes,
                                                      nc_error *NC_NULLABLE err);

/// Ends the text and appends pending characters.
///
/// Returns the statuses of nc_charset_decoder_feed(), and NC_ERR_BAD_CHARSET if the last character is incomplete.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_charset_decoder_finish(nc_charset_decoder *decoder, nc_buf *out,
                                                        nc_error *NC_NULLABLE err);

/// Frees a decoder; NULL is allowed. Confined: one thread at a time.
NC_API void nc_charset_decoder_free(nc_charset_decoder *NC_NULLABLE decoder);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
