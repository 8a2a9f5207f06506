/// iconv(3) into a bounded buffer.
#ifndef NETCORE_PRIVATE_CHARSET_ICONV_H
#define NETCORE_PRIVATE_CHARSET_ICONV_H

#include <iconv.h>
#include <netcore/bytes.h>
#include <stdbool.h>

/// Opens a converter for `charset`, which the message names. NC_ERR_BAD_CHARSET if the system has none.
NC_NODISCARD nc_status nc_charset_open(iconv_t *out, const char *to, const char *from, const char *charset,
                                       nc_error *err);

/// Converts `*input` into the end of `out` and moves it behind the characters that were converted.
///
/// - is_last: writes what a stateful charset still holds back, and ends its shift.
/// Returns iconv's errno, 0 when everything is converted; E2BIG when `out` failed.
int nc_charset_run(iconv_t converter, nc_buf *out, nc_slice *input, bool is_last);

#endif
