/// Borrowed slices of bytes, and bounded buffers that own bytes.
///
/// A buffer has a maximum from its creation. Its errors are sticky: append without checking, and check the status once
/// at the end. Slices and buffers are not NUL-terminated and have no encoding.
///
///     nc_buf buf = nc_buf_init(1024);
///     nc_buf_append(&buf, nc_slice_of("hello"));
///     if (nc_buf_status(&buf) == NC_OK) fwrite(buf.data, 1, buf.length, stdout);
///     nc_buf_deinit(&buf);
#ifndef NETCORE_BYTES_H
#define NETCORE_BYTES_H

#include <netcore/base.h>
#include <netcore/status.h>
#include <string.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A borrowed range of bytes. Valid as long as the memory that it refers to.
typedef struct nc_slice {
    /// First byte; may be NULL if `length` is 0.
    const uint8_t *NC_NULLABLE data;
    /// Number of bytes.
    size_t length;
} nc_slice;

/// A growable range of bytes with a maximum.
///
/// The memory moves when the buffer grows. A slice of a buffer must therefore not be an argument of a call that writes
/// to the same buffer. nc_buf_append() alone allows that.
typedef struct nc_buf {
    /// First byte; NULL until something is appended.
    uint8_t *NC_NULLABLE data;
    /// Used bytes.
    size_t length;
    /// Allocated bytes.
    size_t capacity;
    /// Maximum of `length`.
    size_t max_bytes;
    /// NC_OK, or the first error. Later appends do nothing.
    nc_status status;
} nc_buf;

/// Returns a slice of `length` bytes at `data`. Languages that cannot call an inline function set the two fields of the
/// struct.
///
/// Pure; call from any thread.
static inline nc_slice nc_slice_make(const void *NC_NULLABLE data, size_t length) {
    nc_slice slice;
    slice.data = (const uint8_t *)data;
    slice.length = length;
    return slice;
}

/// Returns a slice of a NUL-terminated string, without its NUL.
///
/// - text: NULL results in an empty slice.
/// Pure; call from any thread.
static inline nc_slice nc_slice_of(const char *NC_NULLABLE text) {
    return nc_slice_make(text, text == NULL ? 0 : strlen(text));
}

/// Returns true if two slices have the same bytes. Not constant-time, so not for secrets.
///
/// Pure; call from any thread.
NC_API bool nc_slice_is_equal(nc_slice a, nc_slice b);

/// Returns true if two slices have the same bytes, ignoring the case of ASCII letters.
///
/// Field names are compared this way (RFC 9110, 5.1).
/// Pure; call from any thread.
NC_API bool nc_slice_is_equal_ignoring_case(nc_slice a, nc_slice b);

/// Returns an empty buffer of at most `max_bytes`. Allocates nothing.
///
/// Confined: one thread at a time.
NC_API nc_buf nc_buf_init(size_t max_bytes);

/// Frees the contents. The buffer is then empty and keeps its maximum. May be called on a zeroed buffer and more than
/// once.
///
/// Confined: one thread at a time.
NC_API void nc_buf_deinit(nc_buf *buf);

/// Empties the buffer, clears its error and keeps its capacity.
///
/// Confined: one thread at a time.
NC_API void nc_buf_reset(nc_buf *buf);

/// Appends bytes. Does nothing after an earlier error.
///
/// On NC_ERR_TOO_LARGE or NC_ERR_NO_MEMORY the contents stay unchanged, and `status` keeps the error.
/// Confined: one thread at a time.
NC_API void nc_buf_append(nc_buf *buf, nc_slice bytes);

/// Appends one byte, as nc_buf_append() does.
///
/// Confined: one thread at a time.
NC_API void nc_buf_append_byte(nc_buf *buf, uint8_t byte);

/// Reserves `more_bytes`, so that the next appends do not reallocate.
///
/// Returns NC_OK or the sticky error.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_buf_reserve(nc_buf *buf, size_t more_bytes);

/// Returns a slice of the contents, valid until the buffer changes.
///
/// Confined: one thread at a time.
NC_API nc_slice nc_buf_slice(const nc_buf *buf);

/// Returns the first error since init or reset, or NC_OK.
///
/// Confined: one thread at a time.
NC_API nc_status nc_buf_status(const nc_buf *buf);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
