/// Bodies that begin at an offset: memory, files and sources that can seek.
#include "fixture.h"

#include <netcore/multipart.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = "piece by piece";
enum { TEXT_BYTES = sizeof text - 1 };

typedef struct text_source {
    size_t at;
    uint64_t seeks[4];
    size_t seek_count;
    bool is_fixed; // cannot seek
} text_source;

static nc_pull pull_text(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    text_source *source = ctx;
    (void)id;
    size_t left = TEXT_BYTES - source->at;
    size_t count = left < 4 ? left : 4;
    count = count < capacity ? count : capacity;
    memcpy(bytes, text + source->at, count);
    source->at += count;
    *filled = count;
    return source->at == TEXT_BYTES ? NC_PULL_END : NC_PULL_MORE;
}

static bool seek_text(void *ctx, nc_transfer_id id, uint64_t offset) {
    text_source *source = ctx;
    (void)id;
    if (source->seek_count < sizeof source->seeks / sizeof *source->seeks) {
        source->seeks[source->seek_count++] = offset;
    }
    source->at = offset;
    return !source->is_fixed;
}

static nc_request put(fixture *f, const char *path, uint64_t offset) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("PUT");
    request.body_offset = offset;
    return request;
}

static nc_request put_source(fixture *f, const char *path, text_source *source, uint64_t length, uint64_t offset) {
    nc_request request = put(f, path, offset);
    request.body_source = (nc_body_source){source, pull_text, seek_text};
    request.body_length = length;
    return request;
}

static void start(fixture *f) {
    fixture_start(f, NCT_PLAIN);
    fixture_script(f, "/echo", (nct_reply){.is_echo = true});
    fixture_script(f, "/moved", (nct_reply){.status = 307, .location = "/echo"});
}

static void body_offset__a_body_in_memory_is_sent_from_there(void **state) {
    static const uint64_t offsets[] = {0, 1, 9, TEXT_BYTES};
    fixture f;
    (void)state;
    start(&f);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        nc_request request = put(&f, "/moved", offsets[i]);
        request.body = nc_slice_of(text);
        assert_response(fixture_send(&f, &request), 200, text + offsets[i]);
        const char *length = fixture_text(&f, "\r\nContent-Length: %zu\r\n", TEXT_BYTES - (size_t)offsets[i]);
        assert_non_null(strstr(fixture_received(&f, 2 * i), length));
        assert_non_null(strstr(fixture_received(&f, 2 * i + 1), length));
    }
    fixture_stop(&f);
}

static void body_offset__a_file_is_sent_from_there(void **state) {
    char path[] = "/tmp/netcore-test.XXXXXX";
    int fd = mkstemp(path);
    fixture f;
    (void)state;
    start(&f);
    assert_int_equal(write(fd, text, TEXT_BYTES), TEXT_BYTES);
    for (uint64_t offset = 0; offset <= TEXT_BYTES; offset += 7) {
        nc_request request = put(&f, "/moved", offset);
        request.body_file = nc_slice_of(path);
        assert_response(fixture_send(&f, &request), 200, text + offset);
    }
    nc_request beyond = put(&f, "/echo", TEXT_BYTES + 1);
    beyond.body_file = nc_slice_of(path);
    assert_ended(fixture_send(&f, &beyond), NC_ERR_USAGE, 0, "the body begins at byte 15");
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    fixture_stop(&f);
}

static void body_offset__a_source_seeks_there_before_each_send(void **state) {
    static const uint64_t lengths[] = {TEXT_BYTES, NC_LENGTH_UNKNOWN};
    fixture f;
    (void)state;
    start(&f);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        text_source source = {0};
        nc_request request = put_source(&f, "/moved", &source, lengths[i], 9);
        assert_response(fixture_send(&f, &request), 200, "piece");
        assert_int_equal(source.seek_count, 2);
        assert_int_equal(source.seeks[0], 9);
        assert_int_equal(source.seeks[1], 9);
    }
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nContent-Length: 5\r\n"));
    fixture_stop(&f);
}

static void body_offset__a_rewind_is_a_seek_to_the_first_byte(void **state) {
    fixture f;
    text_source source = {0};
    (void)state;
    start(&f);
    nc_request request = put_source(&f, "/moved", &source, TEXT_BYTES, 0);
    assert_response(fixture_send(&f, &request), 200, text);
    assert_int_equal(source.seek_count, 1); // A source is at its first byte before the first send.
    assert_int_equal(source.seeks[0], 0);
    fixture_stop(&f);
}

static void body_offset__an_offset_at_the_end_sends_an_empty_body(void **state) {
    fixture f;
    text_source source = {0};
    (void)state;
    start(&f);
    nc_request request = put_source(&f, "/echo", &source, TEXT_BYTES, TEXT_BYTES);
    assert_response(fixture_send(&f, &request), 200, "");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nContent-Length: 0\r\n"));
    fixture_stop(&f);
}

static void body_offset__a_source_with_another_length_is_an_error(void **state) {
    fixture f;
    (void)state;
    start(&f);
    for (uint64_t length = TEXT_BYTES - 1; length <= TEXT_BYTES + 1; length += 2) {
        text_source source = {0};
        nc_request request = put_source(&f, "/echo", &source, length, 9);
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_LENGTH, 0, "the body source returned");
    }
    fixture_stop(&f);
}

static void body_offset__a_source_that_cannot_seek_ends_the_transfer(void **state) {
    fixture f;
    text_source source = {.is_fixed = true};
    (void)state;
    start(&f);
    nc_request request = put_source(&f, "/echo", &source, TEXT_BYTES, 9);
    assert_ended(fixture_send(&f, &request), NC_ERR_NOT_REWINDABLE, 65, "cannot be sent again");
    assert_int_equal(nct_server_request_count(f.server), 0);
    fixture_stop(&f);
}

static void body_offset__is_refused_where_it_has_no_meaning(void **state) {
    text_source source = {0};
    nc_multipart *form;
    nc_error err;
    (void)state;
    assert_int_equal(nc_multipart_new(&form, NULL, &err), NC_OK);
    nc_request request = {.url = nc_slice_of("http://a.example/"), .method = nc_slice_of("PUT")};
    request.body = nc_slice_of(text);
    request.body_offset = TEXT_BYTES + 1;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    assert_string_equal(err.message, "the body begins at byte 15, but has only 14");
    request.body_offset = UINT64_MAX;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request.body = nc_slice_of("");
    request.body_offset = 1;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    request.multipart = form;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    assert_string_equal(err.message, "a form cannot begin at an offset");
    request.multipart = NULL;
    request.body_source = (nc_body_source){&source, pull_text, NULL};
    request.body_length = TEXT_BYTES;
    assert_status(nc_request_check(&request, &err), NC_ERR_USAGE);
    assert_string_equal(err.message, "the body begins at an offset, and its source cannot seek");
    request.body_source.seek = seek_text;
    assert_status(nc_request_check(&request, &err), NC_OK);
    nc_header length = {nc_slice_of("Content-Length"), nc_slice_of("13")};
    request.headers = &length;
    request.header_count = 1;
    assert_status(nc_request_check(&request, &err), NC_OK);
    nc_multipart_release(form);
}

int main(void) {
    const struct CMUnitTest cases[] = {
        harness_case(body_offset__a_body_in_memory_is_sent_from_there),
        harness_case(body_offset__a_file_is_sent_from_there),
        harness_case(body_offset__a_source_seeks_there_before_each_send),
        harness_case(body_offset__a_rewind_is_a_seek_to_the_first_byte),
        harness_case(body_offset__an_offset_at_the_end_sends_an_empty_body),
        harness_case(body_offset__a_source_with_another_length_is_an_error),
        harness_case(body_offset__a_source_that_cannot_seek_ends_the_transfer),
        harness_case(body_offset__is_refused_where_it_has_no_meaning),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
