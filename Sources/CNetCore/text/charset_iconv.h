/// iconv(3) into a bounded buffer.
#ifndef NETCORE_PRIVATE_CHARSET_ICONV_H
#define NETCORE_PRIVATE_CHARSET_ICONV_H

#include <iconv.h>
#include <netcore/bytes.h>
#include <stdbool.h>

/// Opens a converter. The message names `charset`. Returns NC_ERR_BAD_CHARSET if the system has none.
NC_NODISCARD nc_status nc_charset_open(iconv_t *out, const char *to, const char *from, const char *charset,
                                       nc_error *err);

/// Converts `*input`, appends to `out`, and advances `*input` past the converted characters.
///
/// - is_last: also writes pending characters and ends the shift state of a stateful charset.
/// Returns iconv's errno, 0 if everything is converted, or E2BIG if `out` failed.
int nc_charset_run(iconv_t converter, nc_buf *out, nc_slice *input, bool is_last);

#endif
