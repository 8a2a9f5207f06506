/// EUC-JP and ISO-2022-JP of the WHATWG Encoding Standard, sections 12.1 and 12.2.
#ifndef NETCORE_PRIVATE_CHARSET_JIS_H
#define NETCORE_PRIVATE_CHARSET_JIS_H

#include "text/charset_decoder.h"

/// Converts one sequence at the start of `bytes` and appends its character to `out`, if it has one.
///
/// Returns its length, 0 if `bytes` ends within it, or -1 if it is invalid.
int nc_charset_euc_jp_step(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes);
int nc_charset_iso_2022_jp_step(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes);

#endif
