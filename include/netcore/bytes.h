/// Views of bytes and bounded buffers of bytes.
///
/// A slice borrows; a buffer owns and knows its maximum from birth. A buffer's failure is sticky: append freely,
/// ask once at the end. Neither is ever NUL-terminated by promise, and neither knows about text.
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

/// A borrowed run of bytes; valid as long as what it was taken from.
typedef struct nc_slice {
    /// First byte; may be NULL when length is 0.
    const uint8_t *NC_NULLABLE data;
    /// Number of bytes.
    size_t length;
} nc_slice;

/// A growing run of bytes with a maximum.
///
/// It moves when it grows: what a call is given beside a buffer that it writes to may not lie in that buffer.
/// nc_buf_append() alone takes the buffer's own bytes.
typedef struct nc_buf {
    /// First byte; NULL while nothing was appended.
    uint8_t *NC_NULLABLE data;
    /// Bytes in use.
    size_t length;
    /// Bytes allocated.
    size_t capacity;
    /// Bytes at most.
    size_t max_bytes;
    /// NC_OK, or the first failure; later appends do nothing.
    nc_status status;
} nc_buf;

/// Views `length` bytes at `data`. Languages that cannot call it fill the two fields.
///
/// Pure; call from any thread.
static inline nc_slice nc_slice_make(const void *NC_NULLABLE data, size_t length) {
    nc_slice slice;
    slice.data = (const uint8_t *)data;
    slice.length = length;
    return slice;
}

/// Views a NUL-terminated string, without its NUL.
///
/// - text: NULL gives an empty slice.
/// Pure; call from any thread.
static inline nc_slice nc_slice_of(const char *NC_NULLABLE text) {
    return nc_slice_make(text, text == NULL ? 0 : strlen(text));
}

/// Tells whether two slices hold the same bytes. Not constant-time: not for secrets.
///
/// Pure; call from any thread.
NC_API bool nc_slice_is_equal(nc_slice a, nc_slice b);

/// Tells whether two slices hold the same bytes when ASCII letters are compared without case.
///
/// Header names compare this way (RFC 9110, 5.1). Pure; call from any thread.
NC_API bool nc_slice_is_equal_ignoring_case(nc_slice a, nc_slice b);

/// Makes an empty buffer that will hold at most `max_bytes`; allocates nothing.
///
/// Confined: one thread at a time.
NC_API nc_buf nc_buf_init(size_t max_bytes);

/// Frees what the buffer holds and leaves it empty, its maximum kept; harmless on a zeroed buffer and when repeated.
///
/// Confined: one thread at a time.
NC_API void nc_buf_deinit(nc_buf *buf);

/// Empties the buffer, clears its failure and keeps its capacity.
///
/// Confined: one thread at a time.
NC_API void nc_buf_reset(nc_buf *buf);

/// Appends bytes; does nothing after an earlier failure.
///
/// On NC_ERR_TOO_LARGE or NC_ERR_NO_MEMORY the content stays as it was and the failure is kept in `status`.
/// Confined: one thread at a time.
NC_API void nc_buf_append(nc_buf *buf, nc_slice bytes);

/// Appends one byte; otherwise as nc_buf_append().
///
/// Confined: one thread at a time.
NC_API void nc_buf_append_byte(nc_buf *buf, uint8_t byte);

/// Makes room for `more_bytes` in one step, so that the following appends do not reallocate.
///
/// Returns NC_OK, or the sticky failure. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_buf_reserve(nc_buf *buf, size_t more_bytes);

/// Views what the buffer holds, until it is next changed.
///
/// Confined: one thread at a time.
NC_API nc_slice nc_buf_slice(const nc_buf *buf);

/// Tells the first failure since init or reset, NC_OK when there was none.
///
/// Confined: one thread at a time.
NC_API nc_status nc_buf_status(const nc_buf *buf);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
