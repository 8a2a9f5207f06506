/// Detects the charset of a text and converts it to UTF-8. libxml2's own conversion depends on how the input is cut
/// into pieces: bytes that are invalid in the charset were rejected or not. So libxml2 only receives UTF-8.
#ifndef NETXML_CHARSET_H
#define NETXML_CHARSET_H

#include <netcore/charset.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /// The longest name of a charset, with its NUL.
    CHARSET_BYTES = 48,
    /// Enough bytes to determine the charset; no declaration is longer.
    HEAD_BYTES = 1024,
};

/// A conversion in progress. A zeroed struct passes UTF-8 through.
typedef struct charset_converter {
    nc_charset_decoder *decoder; // NULL for UTF-8
} charset_converter;

/// Receives converted bytes. Returning false ends the conversion.
typedef bool (*converted_fn)(void *ctx, const uint8_t *bytes, size_t count);

/// Returns true if a charset of this name exists.
bool charset_is_known(const char *name);

/// Returns true if more bytes may change the detected charset.
bool charset_needs_more(const uint8_t *head, size_t count, bool is_named);

/// Detects the charset of a text from its first bytes. In order of precedence: its byte order mark, `name` (which may
/// be empty), the encoding of '<', its declaration, "utf-8". Returns the mark's length.
size_t charset_find(char out[CHARSET_BYTES], const char *name, const uint8_t *head, size_t count);

/// Begins a conversion. Returns false if the charset is unknown.
bool converter_init(charset_converter *converter, const char *charset);
void converter_deinit(charset_converter *converter);
/// Converts the next bytes. Returns false if they are invalid in the charset, or `take` returned false.
bool converter_feed(charset_converter *converter, const uint8_t *bytes, size_t count, converted_fn take, void *ctx);
/// Ends the text. Returns false within a character.
bool converter_end(charset_converter *converter, converted_fn take, void *ctx);

#endif
