/// The write buffer of saved bodies: pieces are joined in order, and never mixed between transfers.
#include "harness.h"
#include "state/engine_record.h"
#include "transfer/body_pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 256 * 1024 };

/// The reader, and its pieces as a line "NAME:length" each.
typedef struct reader {
    nc_engine engine;
    nc_write_buffer write_buffer;
    char pieces[256];
    nc_buf bytes;
} reader;

typedef struct file {
    nc_transfer transfer;
    reader *reader;
    const char *name;
    bool is_full;
} file;

static nc_action read_piece(void *ctx, nc_transfer_id id, nc_slice bytes) {
    file *one = ctx;
    size_t at = strlen(one->reader->pieces);
    (void)id;
    (void)snprintf(one->reader->pieces + at, sizeof one->reader->pieces - at, "%s:%zu\n", one->name, bytes.length);
    nc_buf_append(&one->reader->bytes, bytes);
    return one->is_full ? NC_ACTION_STOP : NC_ACTION_CONTINUE;
}

static file file_for(reader *by, const char *name) {
    return (file){.transfer = {.engine = &by->engine, .has_sink = true, .sink = {.on_body = read_piece}},
                  .reader = by,
                  .name = name};
}

static reader *reader_make(void) {
    reader *one = calloc(1, sizeof *one);
    assert_non_null(one);
    one->bytes = nc_buf_init(64 * 1024 * 1024);
    return one;
}

static void reader_free(reader *one) {
    nc_write_buffer_deinit(&one->write_buffer);
    nc_buf_deinit(&one->bytes);
    free(one);
}

static nc_status take(reader *by, file *one, const char *text, size_t length) {
    one->transfer.sink.ctx = one;
    return nc_write_buffer_append(&by->write_buffer, &one->transfer, nc_slice_make(text, length));
}

static void write_buffer__pieces_are_joined_in_order(void **state) {
    reader *by = reader_make();
    file one = file_for(by, "a");
    (void)state;
    assert_int_equal(take(by, &one, "first ", 6), NC_OK);
    assert_int_equal(take(by, &one, "", 0), NC_OK);
    assert_int_equal(take(by, &one, "second", 6), NC_OK);
    assert_string_equal(by->pieces, "");
    nc_write_buffer_emit(&by->write_buffer);
    assert_string_equal(by->pieces, "a:12\n");
    assert_memory_equal(by->bytes.data, "first second", 12);
    nc_write_buffer_emit(&by->write_buffer);
    assert_string_equal(by->pieces, "a:12\n");
    assert_false(nc_write_buffer_take_failure(&by->write_buffer));
    reader_free(by);
}

static void write_buffer__a_piece_that_does_not_fit_follows_the_buffered_ones(void **state) {
    static const size_t lengths[] = {1, CAPACITY - 1, 1, CAPACITY, CAPACITY + 1, 1};
    reader *by = reader_make();
    file one = file_for(by, "a");
    char *text = malloc(CAPACITY + 1);
    size_t total = 0;
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(text, (int)('0' + i), CAPACITY + 1);
        assert_int_equal(take(by, &one, text, lengths[i]), NC_OK);
        total += lengths[i];
    }
    nc_write_buffer_emit(&by->write_buffer);
    assert_string_equal(by->pieces, "a:262144\na:1\na:262144\na:262145\na:1\n");
    assert_int_equal(by->bytes.length, total);
    for (size_t i = 0, at = 0; i < sizeof lengths / sizeof *lengths; at += lengths[i], i++) {
        assert_int_equal(by->bytes.data[at], '0' + i);
        assert_int_equal(by->bytes.data[at + lengths[i] - 1], '0' + i);
    }
    free(text);
    reader_free(by);
}

static void write_buffer__bytes_of_two_transfers_are_not_mixed(void **state) {
    reader *by = reader_make();
    file one = file_for(by, "a");
    file two = file_for(by, "b");
    (void)state;
    assert_int_equal(take(by, &one, "1", 1), NC_OK);
    assert_int_equal(take(by, &two, "22", 2), NC_OK);
    assert_int_equal(take(by, &two, "22", 2), NC_OK);
    assert_int_equal(take(by, &one, "1", 1), NC_OK);
    nc_write_buffer_emit(&by->write_buffer);
    assert_string_equal(by->pieces, "a:1\nb:4\na:1\n");
    reader_free(by);
}

static void write_buffer__a_failure_is_reported_once_and_to_its_own_transfer(void **state) {
    reader *by = reader_make();
    file one = file_for(by, "a");
    file two = file_for(by, "b");
    (void)state;
    one.is_full = true;
    assert_int_equal(take(by, &one, "1", 1), NC_OK);
    assert_int_equal(take(by, &two, "2", 1), NC_OK); // writes out the bytes of `one`, which fails
    assert_int_equal(one.transfer.error.status, NC_ERR_STOPPED_BY_CALLER);
    assert_int_equal(two.transfer.error.status, NC_OK);
    assert_int_equal(take(by, &one, "1", 1), NC_ERR_STOPPED_BY_CALLER);
    nc_write_buffer_emit(&by->write_buffer);
    assert_string_equal(by->pieces, "a:1\nb:1\n");
    assert_true(nc_write_buffer_take_failure(&by->write_buffer));
    assert_false(nc_write_buffer_take_failure(&by->write_buffer));
    reader_free(by);
}

static void write_buffer__pieces_are_written_unbuffered_if_allocation_fails(void **state) {
    reader *by = reader_make();
    file one = file_for(by, "a");
    (void)state;
    harness_fail_allocation(1);
    assert_int_equal(take(by, &one, "1", 1), NC_OK);
    assert_true(harness_has_failed_allocation());
    assert_string_equal(by->pieces, "a:1\n");
    assert_int_equal(take(by, &one, "22", 2), NC_OK);
    nc_write_buffer_emit(&by->write_buffer);
    assert_string_equal(by->pieces, "a:1\na:2\n");
    reader_free(by);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(write_buffer__pieces_are_joined_in_order),
        harness_case(write_buffer__a_piece_that_does_not_fit_follows_the_buffered_ones),
        harness_case(write_buffer__bytes_of_two_transfers_are_not_mixed),
        harness_case(write_buffer__a_failure_is_reported_once_and_to_its_own_transfer),
        harness_case(write_buffer__pieces_are_written_unbuffered_if_allocation_fails),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
