/// Contents from callbacks, and the progress of a reading.
#include "parts.h"

#include <string.h>

/* --- sources --- */

typedef struct text_source {
    const char *text;
    size_t at;
    size_t step;
    bool is_late;         // returns NC_PULL_LATER twice before each piece
    bool ends_separately; // reports the end in a separate call
    bool fails;
    nc_pull answer; // a wrong result, with `wrong_count` bytes, if `is_wrong`
    size_t wrong_count;
    bool is_wrong;
    unsigned asked;
    unsigned rewinds;
    nc_transfer_id id;
} text_source;

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    text_source *source = ctx;
    size_t left = strlen(source->text) - source->at;
    size_t count = left < source->step ? left : source->step;
    count = count < capacity ? count : capacity;
    source->id = id;
    if (source->is_wrong) {
        *filled = source->wrong_count;
        return source->answer;
    }
    if (source->fails && source->at > 0) {
        return NC_PULL_FAIL;
    }
    if (source->is_late && source->asked++ % 3 != 2) {
        return NC_PULL_LATER;
    }
    memcpy(bytes, source->text + source->at, count);
    source->at += count;
    *filled = count;
    bool is_over = source->text[source->at] == '\0' && (count == 0 || !source->ends_separately);
    return is_over ? NC_PULL_END : NC_PULL_MORE;
}

static bool rewind_source(void *ctx, nc_transfer_id id, uint64_t offset) {
    text_source *source = ctx;
    (void)id;
    source->at = offset;
    source->rewinds++;
    return true;
}

static nc_multipart *form_of(text_source *source, uint64_t length, bool rewinds) {
    nc_multipart *form = parts_form(NULL);
    const nc_part part = {
        .name = nc_slice_of("f"), .source = {source, pull, rewinds ? rewind_source : NULL}, .source_length = length};
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
    assert_status(nc_multipart_add_field(form, nc_slice_of("f"), nc_slice_of("1"), NULL), NC_OK);
    return form;
}

static const char sourced[] = "--B\r\n" PARTS_FRAME("") "piece by piece\r\n--B\r\n" PARTS_FRAME("") "1\r\n--B--\r\n";

static void multipart__a_source_is_read_with_and_without_a_declared_length(void **state) {
    (void)state;
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t piece_bytes = 1; piece_bytes < 140; piece_bytes++) {
            text_source source = {.text = "piece by piece", .step = 3, .ends_separately = kind % 2 == 1};
            bool is_known = kind < 2;
            nc_multipart *form = form_of(&source, is_known ? 14 : NC_LENGTH_UNKNOWN, true);
            nc_multipart_reader *reader = parts_reader(form);
            assert_int_equal(nc_multipart_reader_length(reader), is_known ? sizeof sourced - 1 : NC_LENGTH_UNKNOWN);
            parts_expect(reader, sourced, piece_bytes);
            assert_int_equal(source.id, 7);
            nc_multipart_reader_free(reader);
            nc_multipart_release(form);
        }
    }
}

static void multipart__a_source_without_data_is_called_again(void **state) {
    text_source source = {.text = "piece by piece", .step = 3, .is_late = true, .ends_separately = true};
    nc_buf out = nc_buf_init(4096);
    unsigned waits = 0;
    (void)state;
    nc_multipart *form = form_of(&source, 14, true);
    nc_multipart_reader *reader = parts_reader(form);
    while (parts_read(reader, &out, 200) == NC_PULL_LATER) {
        waits++;
    }
    assert_slice_equals(nc_buf_slice(&out), sourced);
    assert_true(waits > 0);
    nc_buf_deinit(&out);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void multipart__a_source_with_another_length_than_declared_is_an_error(void **state) {
    static const uint64_t announced[] = {0, 1, 13, 15, 1000};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof announced / sizeof *announced; i++) {
        text_source source = {.text = "piece by piece", .step = 20, .ends_separately = i % 2 == 1};
        nc_multipart *form = form_of(&source, announced[i / 2], true);
        nc_multipart_reader *reader = parts_reader(form);
        parts_expect_failure(reader, NC_ERR_BODY_LENGTH,
                             announced[i / 2] < 14 ? "part 1: the body source returned more" : "returned fewer");
        nc_multipart_reader_free(reader);
        nc_multipart_release(form);
    }
}

static void multipart__a_failing_or_inconsistent_source_ends_reading(void **state) {
    text_source sources[] = {
        {.text = "piece", .step = 3, .fails = true},
        {.text = "piece", .is_wrong = true, .answer = NC_PULL_MORE, .wrong_count = 0},
        {.text = "piece", .is_wrong = true, .answer = NC_PULL_MORE, .wrong_count = 1000},
        {.text = "piece", .is_wrong = true, .answer = (nc_pull)17, .wrong_count = 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        nc_multipart *form = form_of(&sources[i], NC_LENGTH_UNKNOWN, true);
        nc_multipart_reader *reader = parts_reader(form);
        parts_expect_failure(reader, NC_ERR_BODY_SOURCE, "part 1: the body source");
        nc_multipart_reader_free(reader);
        nc_multipart_release(form);
    }
}

static void multipart__a_source_is_rewound_only_after_it_was_read(void **state) {
    text_source source = {.text = "piece by piece", .step = 3};
    uint8_t piece[64];
    size_t filled;
    (void)state;
    nc_multipart *form = form_of(&source, 14, true);
    nc_multipart_reader *reader = parts_reader(form);
    assert_int_equal(nc_multipart_read(reader, 0, piece, 10, &filled), NC_PULL_MORE);
    assert_true(nc_multipart_rewind(reader, 0));
    assert_int_equal(source.rewinds, 0);
    parts_expect(reader, sourced, 50);
    assert_true(nc_multipart_rewind(reader, 0));
    assert_int_equal(source.rewinds, 1);
    parts_expect(reader, sourced, 50);
    nc_multipart_reader_free(reader);
    reader = parts_reader(form); // a second reader rewinds the source
    parts_expect(reader, sourced, 50);
    assert_int_equal(source.rewinds, 2);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void multipart__a_source_without_rewind_is_read_once(void **state) {
    text_source source = {.text = "piece by piece", .step = 3};
    nc_error err;
    (void)state;
    nc_multipart *form = form_of(&source, 14, false);
    nc_multipart_reader *reader = parts_reader(form);
    assert_true(nc_multipart_rewind(reader, 0));
    parts_expect(reader, sourced, 50);
    assert_false(nc_multipart_rewind(reader, 0));
    assert_status(nc_multipart_reader_error(reader, &err), NC_ERR_NOT_REWINDABLE);
    assert_non_null(strstr(err.message, "part 1"));
    nc_multipart_reader_free(reader);
    reader = parts_reader(form);
    parts_expect_failure(reader, NC_ERR_NOT_REWINDABLE, "part 1");
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void multipart__lengths_beyond_63_bits_are_rejected(void **state) {
    text_source source = {.text = "x"};
    nc_multipart_reader *reader = NULL;
    (void)state;
    nc_multipart *form = form_of(&source, INT64_MAX, true);
    assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_ERR_TOO_LARGE);
    nc_multipart_release(form);
    form = parts_form(NULL);
    const nc_part part = {.source = {&source, pull, NULL}, .source_length = (uint64_t)INT64_MAX + 1};
    assert_status(nc_multipart_add(form, &part, NULL), NC_ERR_BAD_PART);
    nc_multipart_release(form);
}

/* --- progress --- */

static void expect_progress(nc_multipart_reader *reader, size_t index, uint64_t sent, uint64_t total) {
    nc_part_progress progress = nc_multipart_reader_progress(reader);
    assert_int_equal(progress.index, index);
    assert_int_equal(progress.sent_bytes, sent);
    assert_int_equal(progress.total_bytes, total);
}

static void multipart__progress_names_the_current_part(void **state) {
    text_source source = {.text = "123", .step = 3};
    uint8_t byte;
    size_t filled;
    uint64_t highest[5] = {0};
    static const uint64_t totals[] = {2, 4, NC_LENGTH_UNKNOWN, 3, 0};
    (void)state;
    nc_multipart *form = parts_form(NULL);
    const nc_part sourced_part = {.source = {&source, pull, NULL}, .source_length = NC_LENGTH_UNKNOWN};
    const nc_part file = {.bytes = nc_slice_of("four"), .borrows_bytes = true};
    const nc_part borrowed = {.bytes = nc_slice_of("abc"), .borrows_bytes = true};
    assert_status(nc_multipart_add_field(form, nc_slice_of("a"), nc_slice_of("12"), NULL), NC_OK);
    assert_status(nc_multipart_add(form, &file, NULL), NC_OK);
    assert_status(nc_multipart_add(form, &sourced_part, NULL), NC_OK);
    assert_status(nc_multipart_add(form, &borrowed, NULL), NC_OK);
    assert_status(nc_multipart_add_field(form, nc_slice_of("z"), nc_slice_of(""), NULL), NC_OK);
    nc_multipart_reader *reader = parts_reader(form);
    expect_progress(reader, 0, 0, 2);
    size_t last = 0;
    while (nc_multipart_read(reader, 0, &byte, 1, &filled) == NC_PULL_MORE) {
        nc_part_progress progress = nc_multipart_reader_progress(reader);
        assert_int_equal(progress.count, 5);
        assert_true(progress.index >= last && progress.index < 5);
        assert_int_equal(progress.total_bytes, totals[progress.index]);
        assert_true(progress.sent_bytes >= highest[progress.index]);
        highest[progress.index] = progress.sent_bytes;
        last = progress.index;
    }
    assert_int_equal(highest[0], 2);
    assert_int_equal(highest[1], 4);
    assert_int_equal(highest[3], 3);
    expect_progress(reader, 4, 0, 0);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
    form = parts_form(NULL);
    reader = parts_reader(form);
    assert_int_equal(nc_multipart_reader_progress(reader).count, 0);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(multipart__a_source_is_read_with_and_without_a_declared_length),
        harness_case(multipart__a_source_without_data_is_called_again),
        harness_case(multipart__a_source_with_another_length_than_declared_is_an_error),
        harness_case(multipart__a_failing_or_inconsistent_source_ends_reading),
        harness_case(multipart__a_source_is_rewound_only_after_it_was_read),
        harness_case(multipart__a_source_without_rewind_is_read_once),
        harness_case(multipart__lengths_beyond_63_bits_are_rejected),
        harness_case(multipart__progress_names_the_current_part),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
