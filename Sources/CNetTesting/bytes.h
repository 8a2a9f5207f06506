/// A growing buffer. Bytes are appended at its end and can be dropped from its front. A connection uses it for input
/// that it has not parsed yet.
#ifndef NCT_BYTES_H
#define NCT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A zeroed struct is empty.
typedef struct nct_bytes {
    /// Storage; NULL until something is appended.
    uint8_t *data;
    /// Bytes dropped from the front.
    size_t start;
    /// Bytes in use, from `start` on.
    size_t length;
    /// Bytes allocated.
    size_t capacity;
} nct_bytes;

/// Returns the first byte in use.
static inline const uint8_t *nct_bytes_first(const nct_bytes *bytes) {
    return bytes->data == NULL ? (const uint8_t *)"" : bytes->data + bytes->start;
}

/// Frees the storage and leaves an empty buffer.
void nct_bytes_deinit(nct_bytes *bytes);

/// Empties the buffer, and keeps its storage.
void nct_bytes_reset(nct_bytes *bytes);

/// Appends bytes. If memory is exhausted, returns false and changes nothing.
bool nct_bytes_append(nct_bytes *bytes, const void *data, size_t length);

/// Appends a NUL-terminated text without its NUL. Returns false if memory is exhausted.
bool nct_bytes_append_text(nct_bytes *bytes, const char *text);

/// Drops `count` bytes from the front.
void nct_bytes_drop(nct_bytes *bytes, size_t count);

#endif
