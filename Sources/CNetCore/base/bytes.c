#include "base/alloc.h"
#include "base/ascii.h"

#include <netcore/bytes.h>
#include <string.h>

/// Size of a buffer's first allocation. Short texts need no second one.
#define FIRST_CAPACITY 64u

bool nc_slice_is_equal(nc_slice a, nc_slice b) {
    // Passing NULL to memcmp() is undefined behaviour even for 0 bytes.
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

bool nc_slice_is_equal_ignoring_case(nc_slice a, nc_slice b) {
    if (a.length != b.length) {
        return false;
    }
    for (size_t i = 0; i < a.length; i++) {
        if (a.data[i] != b.data[i] && nc_ascii_lower(a.data[i]) != nc_ascii_lower(b.data[i])) {
            return false;
        }
    }
    return true;
}

static nc_status fail(nc_buf *buf, nc_status status) {
    buf->status = status;
    return status;
}

/// Returns twice the capacity, limited to the maximum, but at least `needed`.
static size_t next_capacity(const nc_buf *buf, size_t needed) {
    size_t doubled = 0;
    if (!nc_size_mul(&doubled, buf->capacity, 2) || doubled < FIRST_CAPACITY) {
        doubled = doubled == 0 && buf->capacity != 0 ? buf->max_bytes : FIRST_CAPACITY;
    }
    size_t capped = doubled < buf->max_bytes ? doubled : buf->max_bytes;
    return capped < needed ? needed : capped;
}

nc_buf nc_buf_init(size_t max_bytes) {
    return (nc_buf){.max_bytes = max_bytes, .status = NC_OK};
}

void nc_buf_deinit(nc_buf *buf) {
    if (buf == NULL) {
        return;
    }
    nc_free(buf->data);
    *buf = nc_buf_init(buf->max_bytes);
}

void nc_buf_reset(nc_buf *buf) {
    buf->length = 0;
    buf->status = NC_OK;
}

nc_status nc_buf_reserve(nc_buf *buf, size_t more_bytes) {
    if (buf->status != NC_OK) {
        return buf->status;
    }
    size_t needed = 0;
    if (!nc_size_add(&needed, buf->length, more_bytes) || needed > buf->max_bytes) {
        return fail(buf, NC_ERR_TOO_LARGE);
    }
    if (needed <= buf->capacity) {
        return NC_OK;
    }
    size_t capacity = next_capacity(buf, needed);
    uint8_t *data = nc_realloc(buf->data, capacity);
    if (data == NULL) {
        return fail(buf, NC_ERR_NO_MEMORY);
    }
    buf->data = data;
    buf->capacity = capacity;
    return NC_OK;
}

void nc_buf_append(nc_buf *buf, nc_slice bytes) {
    if (bytes.length == 0) {
        return;
    }
    // If `bytes` is a slice of this buffer, it moves with the buffer. The addresses are compared as integers, because
    // comparing pointers to unrelated objects is undefined.
    uintptr_t start = (uintptr_t)buf->data;
    uintptr_t from = (uintptr_t)bytes.data;
    bool is_own = buf->data != NULL && from >= start && from - start < buf->length;
    if (nc_buf_reserve(buf, bytes.length) != NC_OK) {
        return;
    }
    const uint8_t *source = is_own ? buf->data + (from - start) : bytes.data;
    memcpy(buf->data + buf->length, source, bytes.length);
    buf->length += bytes.length;
}

void nc_buf_append_byte(nc_buf *buf, uint8_t byte) {
    if (nc_buf_reserve(buf, 1) == NC_OK) {
        buf->data[buf->length++] = byte;
    }
}

nc_slice nc_buf_slice(const nc_buf *buf) {
    return (nc_slice){buf->data, buf->length};
}

nc_status nc_buf_status(const nc_buf *buf) {
    return buf->status;
}
