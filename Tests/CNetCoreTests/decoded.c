/// Decoding with internal functions. Separate from coded.c, so that tests of the public interface do not need them.
#include "coded.h"

enum { MAX_PLAIN_BYTES = 1 << 26 };

nc_coding *encoded_chain(const char *codings) {
    nc_slice value = nc_slice_of(codings);
    nc_coding *coding = NULL;
    nc_error err;
    nc_status status = nc_coding_new(&coding, &value, 1, 16, &err);
    assert_status(err.status, status);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    return coding;
}

nc_status encoded_drain(nc_coding *coding, nc_buf *out, nc_error *err) {
    for (;;) {
        nc_slice piece = {NULL, 0};
        nc_status status = nc_coding_next(coding, &piece, err);
        if (status != NC_OK || piece.length == 0) {
            assert_true(!nc_coding_has_input(coding));
            return status;
        }
        assert_true(piece.length <= NC_CODING_PIECE_BYTES && nc_coding_has_input(coding));
        nc_buf_append(out, piece);
    }
}

nc_status encoded_decode(nc_buf *out, const char *codings, nc_slice body, size_t step, nc_error *err) {
    nc_coding *coding = encoded_chain(codings);
    nc_status status = NC_OK;
    for (size_t at = 0; at < body.length && status == NC_OK; at += step) {
        guarded fed = guarded_copy(nc_slice_make(body.data + at, body.length - at < step ? body.length - at : step));
        status = nc_coding_feed(coding, fed.slice, err);
        if (status == NC_OK) {
            status = encoded_drain(coding, out, err);
        }
        guarded_deinit(&fed);
    }
    if (status == NC_OK) {
        status = nc_coding_finish(coding, err);
    } else {
        // A failure is permanent.
        assert_status(nc_coding_finish(coding, NULL), status);
    }
    assert_status(err->status, status);
    nc_coding_free(coding);
    return status;
}

static nc_status decode_in_steps(const char *codings, nc_slice body, const nc_slice *plain, size_t step) {
    nc_buf out = nc_buf_init(MAX_PLAIN_BYTES);
    nc_error err;
    nc_status status = encoded_decode(&out, codings, body, step, &err);
    if (plain != NULL && status != NC_OK) {
        print_error("%s, %zu bytes in steps of %zu: %s\n", codings, body.length, step, err.message);
    }
    if (plain != NULL) {
        assert_status(status, NC_OK);
        assert_true(nc_slice_is_equal(nc_buf_slice(&out), *plain));
    }
    nc_buf_deinit(&out);
    return status;
}

void encoded_assert_plain(const char *codings, nc_slice body, nc_slice plain) {
    (void)decode_in_steps(codings, body, &plain, 1);
    (void)decode_in_steps(codings, body, &plain, SIZE_MAX / 2);
}

void encoded_assert_status(const char *codings, nc_slice body, nc_status status) {
    assert_status(decode_in_steps(codings, body, NULL, 1), status);
    assert_status(decode_in_steps(codings, body, NULL, SIZE_MAX / 2), status);
}
