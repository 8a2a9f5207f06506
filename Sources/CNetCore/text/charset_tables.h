/// Characters for which the WHATWG Encoding Standard's indexes differ from iconv(3) (glibc).
#ifndef NETCORE_PRIVATE_CHARSET_TABLES_H
#define NETCORE_PRIVATE_CHARSET_TABLES_H

#include "text/charset_labels.h"

#include <netcore/status.h>

/// The sequence is no character in the standard, although iconv accepts it.
#define CHARSET_NO_CHARACTER UINT32_MAX

/// Returns the length of the sequence at `bytes` in GB18030, Big5, Shift_JIS or EUC-KR; 0 if it exceeds `left`.
size_t nc_charset_sequence(charset_kind kind, const uint8_t *bytes, size_t left);

/// Returns the standard's character for a sequence that iconv converts differently or refuses; 0 if iconv is right,
/// CHARSET_NO_CHARACTER if there is none.
uint32_t nc_charset_fix(charset_kind kind, const uint8_t *bytes, size_t length);

/// Fills in the characters of bytes 0x80 to 0xFF of a single-byte encoding; 0 means none.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_BAD_CHARSET if the system's iconv lacks the encoding.
NC_NODISCARD nc_status nc_charset_fill_table(uint16_t table[128], const charset_encoding *encoding);

#endif
