#include "parts.h"

#include <string.h>

nc_multipart *parts_form(const nc_file_ops *files) {
    nc_multipart *form = NULL;
    const nc_multipart_options options = {.boundary = nc_slice_of("B"), .files = files};
    assert_status(nc_multipart_new(&form, &options, NULL), NC_OK);
    return form;
}

nc_multipart_reader *parts_reader(nc_multipart *form) {
    nc_multipart_reader *reader = NULL;
    assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_OK);
    return reader;
}

/// Continues in pieces until the result is not NC_PULL_MORE.
nc_pull parts_read(nc_multipart_reader *reader, nc_buf *out, size_t piece_bytes) {
    uint8_t piece[256];
    size_t filled = 0;
    nc_pull pulled = NC_PULL_MORE;
    while (pulled == NC_PULL_MORE) {
        pulled = nc_multipart_read(reader, 7, piece, piece_bytes, &filled);
        nc_buf_append(out, nc_slice_make(piece, filled));
    }
    return pulled;
}

void parts_expect(nc_multipart_reader *reader, const char *expected, size_t piece_bytes) {
    nc_buf out = nc_buf_init(4096);
    assert_int_equal(parts_read(reader, &out, piece_bytes), NC_PULL_END);
    assert_slice_equals(nc_buf_slice(&out), expected);
    nc_buf_deinit(&out);
}

void parts_expect_failure(nc_multipart_reader *reader, nc_status status, const char *part) {
    nc_buf out = nc_buf_init(4096);
    nc_error err;
    uint8_t byte;
    size_t filled = 9;
    assert_int_equal(parts_read(reader, &out, 16), NC_PULL_FAIL);
    assert_status(nc_multipart_reader_error(reader, &err), status);
    assert_non_null(strstr(err.message, part));
    assert_int_equal(nc_multipart_read(reader, 0, &byte, 1, &filled), NC_PULL_FAIL); // the failure is permanent
    assert_int_equal(filled, 0);
    nc_buf_deinit(&out);
}
