/// The encodings and labels of the WHATWG Encoding Standard (section 4.2), and how each encoding is converted.
#ifndef NETCORE_PRIVATE_CHARSET_LABELS_H
#define NETCORE_PRIVATE_CHARSET_LABELS_H

#include <netcore/bytes.h>
#include <stdbool.h>

/// How the bytes of an encoding are read.
typedef enum charset_kind {
    CHARSET_UTF8,
    /// One byte a character: a table of 128 characters.
    CHARSET_BYTES,
    /// iconv(3) reads the encoding as the standard does.
    CHARSET_ICONV,
    /// iconv(3) as well; a byte order mark at the beginning decides the byte order.
    CHARSET_UTF16,
    /// iconv(3), with the exceptions of nc_charset_fix().
    CHARSET_GB18030,
    CHARSET_BIG5,
    CHARSET_SHIFT_JIS,
    CHARSET_EUC_KR,
    /// The rows of JIS X 0208 are read through Shift_JIS, whose table is the standard's.
    CHARSET_EUC_JP,
    CHARSET_ISO_2022_JP,
    /// Encodings that the standard refuses to read, because attackers hide ASCII text in them.
    CHARSET_REPLACEMENT,
} charset_kind;

typedef struct charset_encoding {
    /// The standard's name, as in "windows-1252".
    const char *name;
    charset_kind kind;
    /// What iconv_open(3) gets to read and to write the encoding; NULL where iconv is not used.
    const char *read_as;
    const char *write_as;
    /// The labels in lower case, separated by spaces.
    const char *labels;
} charset_encoding;

/// Returns `label` without the ASCII whitespace around it.
nc_slice nc_charset_label_trim(nc_slice label);

/// Finds the encoding of a label; whitespace around it and letter case are ignored. NULL if the standard has no such
/// label.
const charset_encoding *nc_charset_find_label(nc_slice label);

/// Tells whether a label names a charset that has no characters from `byte` on, although the standard reads the label
/// as a larger encoding: ASCII has none above 0x7F, ISO 8859 none between 0x80 and 0x9F.
bool nc_charset_label_lacks(nc_slice label, const charset_encoding *encoding, uint8_t byte);

#endif
