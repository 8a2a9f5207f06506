/// The encodings and labels of the WHATWG Encoding Standard (section 4.2), and the converter of each encoding.
#ifndef NETCORE_PRIVATE_CHARSET_LABELS_H
#define NETCORE_PRIVATE_CHARSET_LABELS_H

#include <netcore/bytes.h>
#include <stdbool.h>

/// The converter of an encoding.
typedef enum charset_kind {
    CHARSET_UTF8,
    /// One byte per character: a table of 128 characters.
    CHARSET_BYTES,
    /// iconv(3), which matches the standard.
    CHARSET_ICONV,
    /// iconv(3); a byte order mark selects the byte order.
    CHARSET_UTF16,
    /// iconv(3), with the exceptions of nc_charset_fix().
    CHARSET_GB18030,
    CHARSET_BIG5,
    CHARSET_SHIFT_JIS,
    CHARSET_EUC_KR,
    /// Rows of JIS X 0208 are converted as Shift_JIS, whose table is the standard's.
    CHARSET_EUC_JP,
    CHARSET_ISO_2022_JP,
    /// Encodings that the standard refuses, because attackers hide ASCII text in them.
    CHARSET_REPLACEMENT,
} charset_kind;

typedef struct charset_encoding {
    /// The standard's name, such as "windows-1252".
    const char *name;
    charset_kind kind;
    /// The iconv_open(3) names for reading and writing; NULL if iconv is not used.
    const char *read_as;
    const char *write_as;
    /// Labels in lower case, separated by spaces.
    const char *labels;
} charset_encoding;

/// Returns `label` without surrounding ASCII white space.
nc_slice nc_charset_label_trim(nc_slice label);

/// Returns the encoding of a label, ignoring letter case and surrounding white space; NULL if the standard has no such
/// label.
const charset_encoding *nc_charset_find_label(nc_slice label);

/// Returns true if the label's charset has no characters from `byte` on, although the standard maps the label to a
/// larger encoding. ASCII has none above 0x7F, ISO 8859 none from 0x80 to 0x9F.
bool nc_charset_label_lacks(nc_slice label, const charset_encoding *encoding, uint8_t byte);

#endif
