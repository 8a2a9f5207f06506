/// The scan as a template. The including file declares its hooks first, so that the compiler inlines them.
///
///     typedef struct scan_hooks { … } scan_hooks;
///     static bool scan_on_begin(scan_hooks *hooks, bool is_object, uint64_t offset);
///     static bool scan_on_end(scan_hooks *hooks, bool is_object, uint64_t offset);
///     static nc_scan_answer scan_on_scalar(scan_hooks *hooks, nc_json_kind kind, bool is_plain, uint64_t offset);
///         called at its first byte; a number that certainly has only digits and a sign is plain
///     static bool scan_reads_name(const scan_hooks *hooks);
///     static bool scan_on_text(scan_hooks *hooks, nc_json_kind kind, nc_slice part, unsigned place, uint64_t offset);
///
/// A consumer that ignores the contents of some containers defines SCAN_SKIPS and
///
///     static uint64_t scan_skipped(const scan_hooks *hooks);             number of open containers that are ignored
///     static void scan_set_skipped(scan_hooks *hooks, uint64_t count);   sets that number
///
/// A hook that returns false stops the scan. A text is delivered in parts as the pieces are cut. NC_TEXT_LAST marks
/// the last part.
#ifndef NETCORE_PRIVATE_JSON_SCAN_CORE_H
#define NETCORE_PRIVATE_JSON_SCAN_CORE_H

#include "json/scan.h"

#ifndef SCAN_SKIPS
static inline uint64_t scan_skipped(const scan_hooks *hooks) {
    (void)hooks;
    return 0;
}

static inline void scan_set_skipped(scan_hooks *hooks, uint64_t count) {
    (void)hooks, (void)count;
}
#endif

#include "json/scan_bytes.h"
#include "json/scan_run.h"

/// Scans a piece; with `is_last`, also ends the text.
static void core_feed(nc_scan *s, scan_hooks *hooks, nc_slice piece, bool is_last) {
    const uint8_t *text = piece.length == 0 ? (const uint8_t *)"" : piece.data;
    uint64_t room = s->max_bytes - s->offset;
    size_t length = piece.length > room ? (size_t)room : piece.length;
    s->token_at = 0;
    size_t at = 0;
    while (at < length && !s->is_over) {
        if (length - at >= NC_BLOCK_BYTES && nc_scan_is_calm(s)) {
            at = walk_run(s, hooks, text, at, length);
        }
        // The byte machine scans what the blocks could not decide, and the rest of a piece.
        size_t more = length - at > NC_BLOCK_BYTES ? at + NC_BLOCK_BYTES : length;
        at = bytes_run(s, hooks, text, at, more, length);
    }
    if (s->is_over) {
        return;
    }
    if (length < piece.length) {
        nc_scan_fail(s, NC_JSON_FAULT_SIZE, s->offset + length, text[length], "the end of the text");
    } else if (is_last) {
        bytes_end(s, hooks, text, at);
    } else if (s->inside != NC_INSIDE_NOTHING && s->inside != NC_INSIDE_LITERAL && s->token_at < at) {
        bytes_hand_over(s, hooks, text, at, 0);
    }
    s->offset += length;
}

#endif
