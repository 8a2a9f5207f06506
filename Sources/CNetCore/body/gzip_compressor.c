#define ZLIB_CONST

#include "base/alloc.h"
#include "base/error.h"
#include "body/decoder_io.h"

#include <limits.h>
#include <netcore/gzip.h>
#include <zlib.h>

enum {
    /// The window bits that make zlib write the gzip format.
    BITS_GZIP = MAX_WBITS + 16,
    MEMORY_LEVEL = 8,
    /// The number of bytes by which the output buffer grows.
    STEP_BYTES = 16 * 1024,
};

struct nc_gzip {
    z_stream stream;
};

nc_status nc_gzip_new(nc_gzip **out, int level, nc_error *err) {
    if (out == NULL || level < 0 || level > Z_BEST_COMPRESSION) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the gzip level %d is not in the range 0 to 9", level);
    }
    nc_gzip *gzip = nc_alloc_zeroed(1, sizeof *gzip);
    if (gzip != NULL) {
        gzip->stream.zalloc = nc_zlib_allocate;
        gzip->stream.zfree = nc_zlib_release;
        int code = deflateInit2(&gzip->stream, level == 0 ? Z_DEFAULT_COMPRESSION : level, Z_DEFLATED, BITS_GZIP,
                                MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
        if (code != Z_OK) {
            nc_free(gzip);
            gzip = NULL;
        }
    }
    if (gzip == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to compress a body");
    }
    *out = gzip;
    return nc_error_clear(err);
}

void nc_gzip_free(nc_gzip *gzip) {
    if (gzip != NULL) {
        (void)deflateEnd(&gzip->stream);
        nc_free(gzip);
    }
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/// Reserves STEP_BYTES of output, or less if the buffer's maximum is near.
static nc_status make_room(nc_buf *out, nc_error *err) {
    size_t left = out->max_bytes - smaller(out->max_bytes, out->length);
    if (nc_buf_reserve(out, left == 0 ? 1 : smaller(left, STEP_BYTES)) != NC_OK) {
        return nc_error_set(err, out->status, 0, -1, "cannot store the compressed body: %s",
                            nc_status_text(out->status));
    }
    return NC_OK;
}

/// Runs zlib until it leaves output space unused, because then it holds no more output.
static nc_status run(nc_buf *out, nc_gzip *gzip, int flush, nc_error *err) {
    z_stream *stream = &gzip->stream;
    for (;;) {
        nc_status status = make_room(out, err);
        if (status != NC_OK) {
            return status;
        }
        uInt room = (uInt)smaller(out->capacity - out->length, UINT_MAX);
        stream->next_out = out->data + out->length;
        stream->avail_out = room;
        int code = deflate(stream, flush);
        out->length += room - stream->avail_out;
        if (code == Z_STREAM_END || (flush == Z_NO_FLUSH && stream->avail_in == 0 && stream->avail_out > 0)) {
            return NC_OK;
        }
        if (code != Z_OK && code != Z_BUF_ERROR) {
            return nc_error_set(err, NC_ERR_INTERNAL, code, -1, "zlib could not compress the body");
        }
    }
}

static nc_status check(const nc_buf *out, const nc_gzip *gzip, nc_slice bytes, nc_error *err) {
    return out != NULL && gzip != NULL && (bytes.data != NULL || bytes.length == 0)
               ? NC_OK
               : nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer, a slice or the compressor is NULL");
}

nc_status nc_gzip_add(nc_buf *out, nc_gzip *gzip, nc_slice bytes, nc_error *err) {
    nc_status status = check(out, gzip, bytes, err);
    while (status == NC_OK && bytes.length > 0) {
        uInt step = (uInt)smaller(bytes.length, UINT_MAX);
        gzip->stream.next_in = bytes.data;
        gzip->stream.avail_in = step;
        status = run(out, gzip, Z_NO_FLUSH, err);
        bytes = nc_slice_make(bytes.data + step, bytes.length - step);
    }
    return status == NC_OK ? nc_error_clear(err) : status;
}

nc_status nc_gzip_finish(nc_buf *out, nc_gzip *gzip, nc_error *err) {
    nc_status status = check(out, gzip, nc_slice_make(NULL, 0), err);
    if (status != NC_OK) {
        return status;
    }
    gzip->stream.next_in = NULL;
    gzip->stream.avail_in = 0;
    status = run(out, gzip, Z_FINISH, err);
    (void)deflateReset(&gzip->stream);
    return status == NC_OK ? nc_error_clear(err) : status;
}
