#include "harness.h"

#include <string.h>
#include <zlib.h>

enum { BODY_BYTES = 300000 };

/// Writes text with high or low compression.
static void fill_body(uint8_t *bytes, bool is_random) {
    uint64_t state = 1;
    for (size_t i = 0; i < BODY_BYTES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = is_random ? (uint8_t)(state >> 56) : (uint8_t)('a' + i % 7);
    }
}

/// Fails unless zlib decodes it: one member and nothing after it.
static void assert_unpacks(nc_slice packed, nc_slice expected) {
    static uint8_t back[BODY_BYTES + 1];
    z_stream stream = {0};
    assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)packed.data;
    stream.avail_in = (uInt)packed.length;
    stream.next_out = back;
    stream.avail_out = sizeof back;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_true(nc_slice_is_equal(nc_slice_make(back, stream.total_out), expected));
    inflateEnd(&stream);
}

static void pack(nc_buf *out, nc_gzip *gzip, nc_slice body, size_t piece) {
    while (body.length > 0) {
        size_t step = body.length < piece ? body.length : piece;
        assert_status(nc_gzip_add(out, gzip, nc_slice_make(body.data, step), NULL), NC_OK);
        body = nc_slice_make(body.data + step, body.length - step);
    }
    assert_status(nc_gzip_finish(out, gzip, NULL), NC_OK);
}

static void gzip__zlib_decodes_the_output_for_any_split_of_the_input(void **state) {
    (void)state;
    static uint8_t body[BODY_BYTES];
    static const size_t pieces[] = {BODY_BYTES, 100000, 4099, 997};
    for (int is_random = 0; is_random < 2; is_random++) {
        fill_body(body, is_random != 0);
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
            nc_gzip *gzip = NULL;
            nc_buf out = nc_buf_init(1 << 20);
            assert_status(nc_gzip_new(&gzip, 0, NULL), NC_OK);
            pack(&out, gzip, nc_slice_make(body, sizeof body), pieces[i]);
            assert_unpacks(nc_buf_slice(&out), nc_slice_make(body, sizeof body));
            assert_true(is_random != 0 || out.length < sizeof body / 50);
            nc_buf_deinit(&out);
            nc_gzip_free(gzip);
        }
    }
}

static void gzip__output_has_no_timestamp_and_the_encoder_is_reusable(void **state) {
    (void)state;
    nc_gzip *gzip = NULL;
    nc_buf first = nc_buf_init(1000);
    nc_buf second = nc_buf_init(1000);
    assert_status(nc_gzip_new(&gzip, 9, NULL), NC_OK);
    pack(&first, gzip, nc_slice_of("hello, hello"), 5);
    pack(&second, gzip, nc_slice_of("hello, hello"), 12);
    assert_true(nc_slice_is_equal(nc_buf_slice(&first), nc_buf_slice(&second)));
    assert_memory_equal(first.data, "\x1F\x8B\x08\x00\x00\x00\x00\x00", 8);
    nc_buf_reset(&first);
    pack(&first, gzip, nc_slice_make(NULL, 0), 1);
    assert_unpacks(nc_buf_slice(&first), nc_slice_make(NULL, 0));
    nc_buf_deinit(&first);
    nc_buf_deinit(&second);
    nc_gzip_free(gzip);
}

static void gzip__rejects_output_that_does_not_fit(void **state) {
    (void)state;
    for (size_t max_bytes = 0; max_bytes < 40; max_bytes++) {
        nc_gzip *gzip = NULL;
        nc_buf out = nc_buf_init(max_bytes);
        assert_status(nc_gzip_new(&gzip, 1, NULL), NC_OK);
        nc_status status = nc_gzip_add(&out, gzip, nc_slice_of("0123456789"), NULL);
        if (status == NC_OK) {
            status = nc_gzip_finish(&out, gzip, NULL);
        }
        if (status == NC_OK) {
            assert_unpacks(nc_buf_slice(&out), nc_slice_of("0123456789"));
        } else {
            assert_status(status, NC_ERR_TOO_LARGE);
        }
        assert_true((status == NC_OK) == (max_bytes >= 30));
        nc_buf_deinit(&out);
        nc_gzip_free(gzip);
    }
}

static void gzip__rejects_other_levels(void **state) {
    (void)state;
    nc_gzip *gzip = NULL;
    assert_status(nc_gzip_new(&gzip, -1, NULL), NC_ERR_USAGE);
    assert_status(nc_gzip_new(&gzip, 10, NULL), NC_ERR_USAGE);
    assert_null(gzip);
    nc_gzip_free(gzip);
}

static void pack_one(void *ctx) {
    (void)ctx;
    nc_gzip *gzip = NULL;
    nc_buf out = nc_buf_init(1000);
    nc_status status = nc_gzip_new(&gzip, 0, NULL);
    if (status == NC_OK) {
        status = nc_gzip_add(&out, gzip, nc_slice_of("hello"), NULL);
    }
    if (status == NC_OK) {
        status = nc_gzip_finish(&out, gzip, NULL);
    }
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    nc_buf_deinit(&out);
    nc_gzip_free(gzip);
}

static void gzip__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(pack_one, NULL) >= 6);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(gzip__zlib_decodes_the_output_for_any_split_of_the_input),
        harness_case(gzip__output_has_no_timestamp_and_the_encoder_is_reusable),
        harness_case(gzip__rejects_output_that_does_not_fit),
        harness_case(gzip__rejects_other_levels),
        harness_case(gzip__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
