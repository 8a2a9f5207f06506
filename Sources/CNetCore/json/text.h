/// Decodes the escapes of strings and names, in pieces of any size.
///
/// The input was validated by a scan. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_JSON_TEXT_H
#define NETCORE_PRIVATE_JSON_TEXT_H

#include <netcore/json.h>

/// Receives characters as UTF-8.
typedef void (*nc_text_fn)(void *ctx, nc_slice characters);

/// The state of one text. A zeroed struct is its beginning.
typedef struct nc_text {
    uint8_t left;    // hex digits that remain
    bool is_escaped; // after '\'
    uint16_t unit;   // of the digits so far
    uint16_t high;   // a high surrogate whose low surrogate is missing
    /// If true, an unpaired surrogate is emitted as the three bytes that would encode it. No valid text contains them,
    /// so different surrogates stay different. Otherwise it becomes U+FFFD.
    bool keeps_halves;
} nc_text;

/// Decodes the next part.
void nc_text_feed(nc_text *text, nc_slice part, nc_text_fn take, void *ctx);
/// Ends the text and emits a pending surrogate.
void nc_text_end(nc_text *text, nc_text_fn take, void *ctx);

#endif
