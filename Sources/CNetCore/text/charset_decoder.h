/// The decoder's state, also for callers that have the whole text.
#ifndef NETCORE_PRIVATE_CHARSET_DECODER_H
#define NETCORE_PRIVATE_CHARSET_DECODER_H

#include "text/charset_labels.h"

#include <iconv.h>
#include <netcore/charset.h>

#define CHARSET_MAX_NAME 63u
/// The longest character, or shift sequence and character, of any charset.
#define CHARSET_MAX_PART 16u

/// A label as the caller wrote it, NUL-terminated, with its encoding.
typedef struct charset_name {
    char text[CHARSET_MAX_NAME + 1];
    /// NULL for a name of iconv only.
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
    iconv_t second; // EUC-JP: JIS X 0212
    uint16_t table[128];
    charset_jis_set jis_set;
    bool is_after_escape;
    uint8_t part[CHARSET_MAX_PART]; // the beginning of a character
    size_t part_count;
    int64_t offset; // bytes converted before
};

/// Parses a label. Returns NC_ERR_BAD_CHARSET if no charset can have this name.
NC_NODISCARD nc_status nc_charset_name_parse(charset_name *out, nc_slice label, nc_error *err);

/// Prepares a decoder. Release it with nc_charset_decoder_deinit(), also after an error.
NC_NODISCARD nc_status nc_charset_decoder_init(nc_charset_decoder *decoder, const charset_name *name, nc_error *err);
void nc_charset_decoder_deinit(nc_charset_decoder *decoder);

/// Converts complete characters and advances `*bytes` past them. With `is_last` an incomplete character is an error.
NC_NODISCARD nc_status nc_charset_decode(nc_charset_decoder *decoder, nc_buf *out, nc_slice *bytes, bool is_last,
                                         nc_error *err);

/// Appends a character as UTF-8.
void nc_charset_append(nc_buf *out, uint32_t character);

/// Fills `err` for a failed buffer: NC_ERR_TOO_LARGE or NC_ERR_NO_MEMORY.
nc_status nc_charset_fail_full(nc_error *err, const nc_buf *out);

#endif
