/// The characters of strings and names as they are written: escapes undone, in pieces cut anywhere.
///
/// What goes in was checked by a scan. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_TEXT_H
#define NETCORE_PRIVATE_JSON_TEXT_H

#include <netcore/json.h>

/// Takes characters as UTF-8.
typedef void (*nc_text_fn)(void *ctx, nc_slice characters);

/// One text on its way; all zero is its beginning.
typedef struct nc_text {
    uint8_t left;    // hex digits to come
    bool is_escaped; // behind '\'
    uint16_t unit;   // of the digits that have come
    uint16_t high;   // a high surrogate that waits for its low one
    /// Half a pair comes out as the three bytes that would encode it, which no valid text holds: different halves stay
    /// different. Otherwise as U+FFFD.
    bool keeps_halves;
} nc_text;

/// Undoes the escapes of the next part.
void nc_text_feed(nc_text *text, nc_slice part, nc_text_fn take, void *ctx);
/// The text has ended: gives out what still waited.
void nc_text_end(nc_text *text, nc_text_fn take, void *ctx);

#endif
