/// What a text is written in, and its way to UTF-8. libxml2 converts by whatever lies before it at the time, so that
/// bytes of no charset were refused or not as the pieces fell; it is given UTF-8 alone.
#ifndef NETXML_CHARSET_H
#define NETXML_CHARSET_H

#include <netcore/charset.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /// The longest name of a charset, with its NUL.
    CHARSET_BYTES = 48,
    /// By so much of a text its charset is known; no declaration is longer.
    HEAD_BYTES = 1024,
};

/// A conversion under way; all zero passes UTF-8 on.
typedef struct charset_converter {
    nc_charset_decoder *decoder; // NULL for UTF-8
} charset_converter;

/// Takes converted bytes; false ends the conversion.
typedef bool (*converted_fn)(void *ctx, const uint8_t *bytes, size_t count);

/// Whether there is a charset of this name.
bool charset_is_known(const char *name);

/// Whether more of a text would say more of its charset.
bool charset_needs_more(const uint8_t *head, size_t count, bool is_named);

/// What the beginning of a text is written in: by its byte order mark, by `name` (which may be empty), by the bytes
/// that
/// '<' has, by its own declaration; "utf-8" when nothing says otherwise. Returns the mark's length.
size_t charset_find(char out[CHARSET_BYTES], const char *name, const uint8_t *head, size_t count);

/// Begins; false when the charset is unknown.
bool converter_init(charset_converter *converter, const char *charset);
void converter_deinit(charset_converter *converter);
/// Converts the next bytes; false when they are none of the charset, or were not wanted.
bool converter_feed(charset_converter *converter, const uint8_t *bytes, size_t count, converted_fn take, void *ctx);
/// The text ends; false within a character.
bool converter_end(charset_converter *converter, converted_fn take, void *ctx);

#endif
