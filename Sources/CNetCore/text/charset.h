/// Internal interface of the charset converters; one section for each source file.
#ifndef NETCORE_PRIVATE_CHARSET_H
#define NETCORE_PRIVATE_CHARSET_H

#include <iconv.h>
#include <netcore/charset.h>

/* --- charset_labels.c: the encodings and labels of the WHATWG Encoding Standard (section 4.2) --- */

/// How an encoding is converted.
typedef enum charset_kind {
    CHARSET_UTF8,
    /// One byte per character. A table has the characters of bytes 0x80 to 0xFF.
    CHARSET_BYTES,
    /// By iconv(3), whose table is the standard's.
    CHARSET_ICONV,
    /// By iconv(3). A byte order mark selects the byte order.
    CHARSET_UTF16,
    /// These four by iconv(3), except for the characters of nc_charset_fix().
    CHARSET_GB18030,
    CHARSET_BIG5,
    CHARSET_SHIFT_JIS,
    CHARSET_EUC_KR,
    /// These two by charset_jis.c. Characters of JIS X 0208 are converted by iconv's Shift_JIS, whose table is the
    /// standard's.
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

/// Returns true if the charset that the label names does not define `byte`, although the larger encoding that the
/// standard uses for the label does. ASCII defines no bytes above 0x7F, ISO 8859 none from 0x80 to 0x9F.
bool nc_charset_label_lacks(nc_slice label, const charset_encoding *encoding, uint8_t byte);

/* --- charset_iconv.c: iconv(3) into a bounded buffer --- */

/// Opens a converter. Returns NC_ERR_BAD_CHARSET, with a message that names `charset`, if the system has none.
NC_NODISCARD nc_status nc_charset_open(iconv_t *out, const char *to, const char *from, const char *charset,
                                       nc_error *err);

/// Converts `*input`, appends to `out`, and advances `*input` past the converted characters.
///
/// - is_last: also writes pending characters and ends the shift state of a stateful charset.
/// Returns 0 if everything was converted, E2BIG if `out` could not grow, or the errno of iconv(3).
int nc_charset_run(iconv_t converter, nc_buf *out, nc_slice *input, bool is_last);

/* --- charset_tables.c: characters for which the standard's indexes differ from iconv(3) (glibc) --- */

/// A result of nc_charset_fix(): the standard does not define the sequence, although iconv accepts it.
#define CHARSET_NO_CHARACTER UINT32_MAX

/// Returns the length of the sequence at `bytes` in GB18030, Big5, Shift_JIS or EUC-KR; 0 if it exceeds `left`.
size_t nc_charset_sequence(charset_kind kind, const uint8_t *bytes, size_t left);

/// Returns the standard's character for a sequence if iconv converts the sequence differently or refuses it. Returns 0
/// if iconv is right, and CHARSET_NO_CHARACTER if the standard does not define the sequence.
uint32_t nc_charset_fix(charset_kind kind, const uint8_t *bytes, size_t length);

/// Fills in the characters of bytes 0x80 to 0xFF of a single-byte encoding; 0 means none.
///
/// Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_BAD_CHARSET if the system's iconv lacks the encoding.
NC_NODISCARD nc_status nc_charset_fill_table(uint16_t table[128], const charset_encoding *encoding);

/* --- charset_decoder.c: the decoder, for whole texts too --- */

#define CHARSET_MAX_NAME 63u
/// The longest encoded character of any charset, including a shift sequence before it.
#define CHARSET_MAX_PART 16u

/// A charset name as the caller wrote it, NUL-terminated, and the encoding that it selects.
typedef struct charset_name {
    char text[CHARSET_MAX_NAME + 1];
    /// NULL if only iconv knows the name.
    const charset_encoding *encoding;
} charset_name;

/// The character sets of ISO-2022-JP.
typedef enum charset_jis_set { JIS_ASCII, JIS_ROMAN, JIS_KATAKANA, JIS_KANJI } charset_jis_set;

struct nc_charset_decoder {
    charset_name name;
    charset_kind kind;
    bool is_open;
    bool has_second;
    bool has_begun;
    iconv_t iconv;
    iconv_t second; // for the JIS X 0212 characters of EUC-JP
    uint16_t table[128];
    charset_jis_set jis_set;
    bool is_after_escape;
    uint8_t part[CHARSET_MAX_PART]; // the first bytes of an incomplete character
    size_t part_count;
    int64_t offset; // number of bytes converted so far
};

/// Parses a charset name. Returns NC_ERR_BAD_CHARSET if it is malformed.
NC_NODISCARD nc_status nc_charset_name_parse(charset_name *out, nc_slice label, nc_error *err);

/// Prepares a decoder. Call nc_charset_decoder_deinit() for it, even after an error.
NC_NODISCARD nc_status nc_charset_decoder_init(nc_charset_decoder *decoder, const charset_name *name, nc_error *err);
void nc_charset_decoder_deinit(nc_charset_decoder *decoder);

/// Converts the complete characters of `*bytes` and advances `*bytes` past them. If `is_last` is set, an incomplete
/// character at the end is an error.
NC_NODISCARD nc_status nc_charset_decode(nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes, bool is_last,
                                         nc_error *err);

/// Fills `err` for the sticky error of `out`: NC_ERR_TOO_LARGE or NC_ERR_NO_MEMORY.
nc_status nc_charset_fail_full(nc_error *err, const nc_buf *out);

/* --- charset_jis.c: EUC-JP and ISO-2022-JP as in the standard (sections 12.1 and 12.2) --- */

/// Converts one sequence at the start of `bytes`. Appends its character to `out`, unless it is an escape sequence.
///
/// Returns the length of the sequence, 0 if `bytes` ends within it, or -1 if it is invalid.
int nc_charset_euc_jp_step(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes);
int nc_charset_iso_2022_jp_step(nc_charset_decoder *decoder, nc_buf *out, nc_slice bytes);

#endif
