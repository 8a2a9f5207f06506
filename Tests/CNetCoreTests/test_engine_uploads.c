/// Request bodies from memory, files and sources: what arrives, and what ends the transfer before it has arrived.
#include "witness.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_BYTES = 300000 };

/// Fails unless the transfer worked and the echo is the pattern.
static void assert_echoed(answer one, uint64_t length) {
    assert_ended(one, NC_OK, 0, "");
    assert_int_equal(nc_response_status(one.response), 200);
    witness_assert_pattern(nc_response_body(one.response), length);
}

/// Takes the chunks of a recorded request apart, in place; returns the body's length.
static size_t join_chunks(char *body) {
    size_t length = 0;
    for (char *at = body;;) {
        char *end = NULL;
        unsigned long count = strtoul(at, &end, 16);
        assert_true(end > at && strncmp(end, "\r\n", 2) == 0);
        at = end + 2;
        if (count == 0) {
            assert_string_equal(at, "\r\n");
            return length;
        }
        memmove(body + length, at, count);
        length += count;
        assert_true(strncmp(at + count, "\r\n", 2) == 0);
        at += count + 2;
    }
}

/* --- what arrives --- */

static void engine__a_source_of_known_length_is_sent_with_that_length(void **state) {
    static const size_t pieces[] = {0, 1, 7, 4096};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 8; i++) {
        witness_source source = {.length = 1000, .piece_bytes = pieces[i % 4], .ends_apart = i >= 4};
        nc_request request = witness_post(&f, "/e", &source, 1000);
        assert_echoed(fixture_send(&f, &request), 1000);
        const char *head = fixture_text(&f, "POST /e HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: 1000\r\n\r\nabc",
                                        nct_server_port(f.server));
        assert_true(strncmp(fixture_received(&f, i), head, strlen(head)) == 0);
        assert_int_equal(atomic_load(&source.rewinds), 0);
    }
    witness_source long_source = {.length = LONG_BYTES, .piece_bytes = 3001};
    nc_request request = witness_post(&f, "/e", &long_source, LONG_BYTES);
    assert_echoed(fixture_send(&f, &request), LONG_BYTES);
    assert_int_equal(nct_server_connection_count(f.server), 1);
    fixture_stop(&f);
}

static void engine__a_source_of_unknown_length_is_sent_in_chunks(void **state) {
    static const uint64_t lengths[] = {0, 1, 26, 1000, 60000};
    static const size_t pieces[] = {1000, 1, 7, 0, 12345};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 10; i++) {
        witness_source source = {.length = lengths[i % 5], .piece_bytes = pieces[i % 5], .ends_apart = i >= 5};
        nc_request request = witness_post(&f, "/e", &source, NC_LENGTH_UNKNOWN);
        assert_echoed(fixture_send(&f, &request), source.length);
        char *received = (char *)(uintptr_t)fixture_received(&f, i);
        assert_non_null(strstr(received, "\r\nTransfer-Encoding: chunked\r\n"));
        assert_null(strstr(received, "Content-Length"));
        char *body = strstr(received, "\r\n\r\n") + 4;
        size_t length = join_chunks(body);
        witness_assert_pattern(nc_slice_make(body, length), source.length);
    }
    witness_source source = {.length = LONG_BYTES * 3, .piece_bytes = 30001};
    nc_request request = witness_post(&f, "/e", &source, NC_LENGTH_UNKNOWN);
    assert_echoed(fixture_send(&f, &request), LONG_BYTES * 3);
    fixture_stop(&f);
}

static void engine__a_source_of_nothing_has_a_length_of_0(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    witness_source source = {.length = 0};
    nc_request request = witness_post(&f, "/e", &source, 0);
    assert_echoed(fixture_send(&f, &request), 0);
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nContent-Length: 0\r\n"));
    fixture_stop(&f);
}

static void engine__sources_go_with_any_method(void **state) {
    static const char *const methods[] = {"GET", "PUT", "DELETE", "PATCH", "OPTIONS", "REPORT"};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 12; i++) {
        witness_source source = {.length = 20000, .piece_bytes = 999};
        nc_request request = witness_post(&f, "/e", &source, i < 6 ? 20000 : NC_LENGTH_UNKNOWN);
        request.method = nc_slice_of(methods[i % 6]);
        assert_echoed(fixture_send(&f, &request), 20000);
        assert_true(strncmp(fixture_received(&f, i), methods[i % 6], strlen(methods[i % 6])) == 0);
    }
    for (size_t i = 0; i < 2; i++) {
        witness_source source = {.length = 20000};
        nc_request request = witness_post(&f, "/e", &source, i == 0 ? 20000 : NC_LENGTH_UNKNOWN);
        request.method = nc_slice_of("HEAD");
        assert_answered(fixture_send(&f, &request), 200, "");
        assert_int_equal(atomic_load(&source.given), 20000);
    }
    fixture_stop(&f);
}

static void engine__a_content_length_of_the_caller_must_be_the_bodys(void **state) {
    fixture f;
    nc_error err;
    nc_transfer_id id = 0;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    const nc_header header = {nc_slice_of("Content-Length"), nc_slice_of("500")};
    witness_source source = {.length = 500};
    nc_request request = witness_post(&f, "/e", &source, 500);
    request.headers = &header;
    request.header_count = 1;
    assert_echoed(fixture_send(&f, &request), 500);
    const char *at = strstr(fixture_received(&f, 0), "Content-Length: 500\r\n");
    assert_true(at != NULL && strstr(at + 1, "Content-Length") == NULL);
    request.body_length = 501;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_BAD_HEADER);
    request.body_length = NC_LENGTH_UNKNOWN;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_BAD_HEADER);
    request.body_source = (nc_body_source){0};
    request.body_file = nc_slice_of("/dev/null");
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, &err), NC_ERR_BAD_HEADER);
    assert_int_equal(atomic_load(&source.pulls), 1);
    fixture_stop(&f);
}

/* --- bodies that are not what was announced --- */

static void engine__a_body_of_another_length_never_arrives_whole(void **state) {
    static const uint64_t announced[] = {1000, 100000, 1, 0};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 14; i++) {
        // A body of 0 bytes is never asked for, so that it cannot be too long.
        uint64_t length = announced[i % 3];
        bool is_long = i % 2 == 0;
        witness_source source = {
            .length = is_long ? length + 1 : length - 1, .ends_apart = i >= 7, .piece_bytes = i >= 10 ? 100 : 0};
        nc_request request = witness_post(&f, "/e", &source, length);
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_ERR_BODY_LENGTH, 0, is_long ? "gave more than the" : "gave fewer than the");
        assert_int_equal(nc_response_status(one.response), 0);
    }
    assert_true(nct_server_wait_for_silence(f.server, FIXTURE_LIMIT_MS));
    assert_int_equal(nct_server_request_count(f.server), 0);
    fixture_stop(&f);
}

static void engine__a_source_that_fails_ends_the_transfer(void **state) {
    static const uint64_t points[] = {0, 1, 50000, 99900};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 16; i++) {
        witness_source source = {
            .length = 100000, .piece_bytes = 100, .odd_at = points[i % 4], .odd = i < 8 ? NC_PULL_FAIL : (nc_pull)77};
        nc_request request = witness_post(&f, "/e", &source, i % 8 < 4 ? 100000 : NC_LENGTH_UNKNOWN);
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_SOURCE, 0, "the source of the request body");
        assert_true(atomic_load(&source.given) < 100000);
    }
    assert_true(nct_server_wait_for_silence(f.server, FIXTURE_LIMIT_MS));
    assert_int_equal(nct_server_request_count(f.server), 0);
    fixture_stop(&f);
}

static nc_pull pull_too_much(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)id;
    (void)bytes;
    *filled = ctx != NULL ? capacity + 1 : 0;
    return NC_PULL_MORE;
}

static void engine__a_source_that_counts_wrong_is_a_broken_one(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    witness_source source = {.length = 1};
    for (size_t i = 0; i < 4; i++) {
        nc_request request = witness_post(&f, "/e", &source, i < 2 ? NC_LENGTH_UNKNOWN : 1000000);
        request.body_source = (nc_body_source){.ctx = i % 2 == 0 ? &f : NULL, .pull = pull_too_much};
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_SOURCE, 0, "answered out of range");
    }
    fixture_stop(&f);
}

static void engine__a_source_that_fails_behind_its_last_byte_has_failed(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 2; i++) {
        witness_source source = {.length = 1000, .ends_apart = true, .odd_at = 1000, .odd = NC_PULL_FAIL};
        nc_request request = witness_post(&f, "/e", &source, i == 0 ? 1000 : NC_LENGTH_UNKNOWN);
        assert_ended(fixture_send(&f, &request), NC_ERR_BODY_SOURCE, 0, "the source of the request body");
    }
    assert_int_equal(nct_server_request_count(f.server), 0);
    fixture_stop(&f);
}

/* --- a source that has nothing now --- */

static void engine__a_source_that_has_nothing_is_asked_again_after_resume(void **state) {
    static const uint64_t points[] = {0, 1, 5000, 9999, 10000};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 10; i++) {
        bool is_known = i < 5;
        uint64_t point = points[i % 5];
        if (is_known && point == 10000) {
            continue; // Behind the last byte nobody asks but for whether there is one more.
        }
        witness_source source = {
            .length = 10000, .piece_bytes = 1, .odd_at = point, .odd = NC_PULL_LATER, .ends_apart = true};
        nc_request request = witness_post(&f, "/e", &source, is_known ? 10000 : NC_LENGTH_UNKNOWN);
        source.piece_bytes = point == 1 ? 1 : 499;
        request.limits.idle_ms = 60000;
        nc_transfer_id id = fixture_submit(&f, &request);
        // Nobody signals that the engine has taken the answer; a resume before it is not lost, which is what is tested.
        while (atomic_load(&source.laters) == 0) {
            witness_settle(&f);
        }
        unsigned pulls = atomic_load(&source.pulls);
        witness_settle(&f);
        assert_int_equal(atomic_load(&source.pulls), pulls);
        nc_engine_resume(f.engine, id);
        assert_echoed(fixture_wait(&f, id), 10000);
    }
    fixture_stop(&f);
}

static void engine__a_resume_before_the_source_says_later_is_not_lost(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 20; i++) {
        witness_source source = {.length = 50000,
                                 .piece_bytes = 1000,
                                 .odd_at = i / 2 * 5000,
                                 .odd = NC_PULL_LATER,
                                 .resumes_early = f.engine};
        nc_request request = witness_post(&f, "/e", &source, i % 2 == 0 ? 50000 : NC_LENGTH_UNKNOWN);
        assert_echoed(fixture_send(&f, &request), 50000);
        assert_int_equal(atomic_load(&source.laters), 1);
    }
    fixture_stop(&f);
}

/* --- a second time --- */

static void engine__a_redirect_that_keeps_the_body_rewinds_the_source(void **state) {
    static const uint16_t codes[] = {307, 308};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    for (size_t i = 0; i < 4; i++) {
        fixture_script(&f, "/r", (nct_reply){.status = codes[i % 2], .location = "/e"});
        witness_source source = {.length = 30000, .piece_bytes = 1000};
        nc_request request = witness_post(&f, "/r", &source, i < 2 ? 30000 : NC_LENGTH_UNKNOWN);
        assert_echoed(fixture_send(&f, &request), 30000);
        assert_int_equal(atomic_load(&source.rewinds), 1);
        source = (witness_source){.length = 30000, .stays = i < 2};
        nc_body_source cannot = request.body_source;
        cannot.rewind = i < 2 ? cannot.rewind : NULL;
        request.body_source = cannot;
        answer one = fixture_send(&f, &request);
        assert_ended(one, NC_ERR_NOT_REWINDABLE, CURLE_SEND_FAIL_REWIND, "cannot be sent a second time");
        assert_false(nc_status_is_retryable(one.error.status));
    }
    assert_int_equal(nct_server_request_count(f.server), 12);
    fixture_stop(&f);
}

static void engine__a_redirect_that_drops_the_body_needs_no_rewind(void **state) {
    static const uint16_t codes[] = {301, 302, 303};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.body = "ok", .body_length = 2});
    for (size_t i = 0; i < 3; i++) {
        fixture_script(&f, "/r", (nct_reply){.status = codes[i], .location = "/e"});
        witness_source source = {.length = 30000};
        nc_request request = witness_post(&f, "/r", &source, NC_LENGTH_UNKNOWN);
        request.body_source.rewind = NULL;
        assert_answered(fixture_send(&f, &request), 200, "ok");
        const char *second = fixture_received(&f, i * 2 + 1);
        assert_true(strncmp(second, "GET /e HTTP/1.1\r\n", 17) == 0);
        assert_null(strstr(second, "Transfer-Encoding"));
    }
    fixture_stop(&f);
}

static void engine__a_source_is_rewound_when_a_kept_connection_turns_out_dead(void **state) {
    fixture f;
    (void)state;
    const nct_reply replies[] = {
        {.body = "ok", .body_length = 2}, {.is_cut = true, .ending = NCT_CLOSE}, {.is_echo = true}};
    for (size_t i = 0; i < 4; i++) {
        bool can_rewind = i < 2;
        fixture_start(&f, NCT_PLAIN);
        assert_int_equal(nct_server_script_sequence(f.server, "/e", replies, 3), 0);
        assert_answered(fixture_get(&f, "/e"), 200, "ok");
        witness_source source = {.length = 40000, .piece_bytes = 1000};
        nc_request request = witness_post(&f, "/e", &source, i % 2 == 0 ? 40000 : NC_LENGTH_UNKNOWN);
        request.body_source.rewind = can_rewind ? request.body_source.rewind : NULL;
        answer one = fixture_send(&f, &request);
        if (can_rewind) {
            assert_echoed(one, 40000);
            assert_int_equal(atomic_load(&source.rewinds), 1);
        } else {
            assert_status(one.error.status, NC_ERR_NOT_REWINDABLE);
        }
        fixture_stop(&f);
    }
}

/* --- files --- */

typedef struct folder {
    char path[64];
    char file[96];
} folder;

static folder folder_make(void) {
    folder one = {.path = "/tmp/netcore-uploads-XXXXXX"};
    assert_non_null(mkdtemp(one.path));
    (void)snprintf(one.file, sizeof one.file, "%s/body", one.path);
    return one;
}

static void folder_remove(folder *one) {
    (void)unlink(one->file);
    assert_int_equal(rmdir(one->path), 0);
}

static void write_file(const char *path, size_t length) {
    nc_buf bytes = witness_pattern(length);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.data, length), length);
    assert_int_equal(close(fd), 0);
    nc_buf_deinit(&bytes);
}

static nc_request post_file(fixture *f, const char *path, const char *file) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("POST");
    request.body_file = nc_slice_of(file);
    return request;
}

static void engine__a_file_arrives_with_its_length(void **state) {
    static const size_t lengths[] = {0, 1, 16384, LONG_BYTES};
    fixture f;
    folder tmp = folder_make();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/e", (nct_reply){.is_echo = true});
    fixture_script(&f, "/r", (nct_reply){.status = 307, .location = "/e"});
    for (size_t i = 0; i < 4; i++) {
        write_file(tmp.file, lengths[i]);
        nc_request request = post_file(&f, "/r", tmp.file);
        assert_echoed(fixture_send(&f, &request), lengths[i]);
        const char *field = fixture_text(&f, "\r\nContent-Length: %zu\r\n", lengths[i]);
        assert_non_null(strstr(fixture_received(&f, i * 2 + 1), field));
    }
    folder_remove(&tmp);
    fixture_stop(&f);
}

static void engine__what_is_no_regular_file_is_not_sent(void **state) {
    fixture f;
    folder tmp = folder_make();
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    nc_request request = post_file(&f, "/e", tmp.file);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, ENOENT, "body' cannot be opened");
    assert_int_equal(mkfifo(tmp.file, 0600), 0);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, ESPIPE, "is no regular file");
    request = post_file(&f, "/e", tmp.path);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, EISDIR, "is no regular file");
    request = post_file(&f, "/e", "/dev/zero");
    assert_status(fixture_send(&f, &request).error.status, NC_ERR_FILE);
    assert_int_equal(nct_server_connection_count(f.server), 0);
    folder_remove(&tmp);
    fixture_stop(&f);
}

/// The server reads nothing before the file has become another.
static void change_while_sent(folder *tmp, size_t length) {
    enum { FILE_BYTES = 8 * 1024 * 1024 };
    fixture f;
    const nct_server_options server = {.is_never_reading = true, .receive_buffer_bytes = 64 * 1024};
    fixture_start_with(&f, &server, NULL);
    fixture_script(&f, "/e", (nct_reply){.body = "ok", .body_length = 2});
    write_file(tmp->file, FILE_BYTES);
    nc_request request = post_file(&f, "/e", tmp->file);
    nc_transfer_id id = fixture_submit(&f, &request);
    assert_true(nct_server_wait_for_stalled(f.server, 1, FIXTURE_LIMIT_MS));
    assert_int_equal(truncate(tmp->file, (off_t)length), 0);
    nct_server_release_stalled(f.server);
    answer one = fixture_wait(&f, id);
    if (length < FILE_BYTES) {
        assert_ended(one, NC_ERR_BODY_LENGTH, 0, "became shorter");
        assert_true(nct_server_wait_for_silence(f.server, FIXTURE_LIMIT_MS));
        assert_int_equal(nct_server_request_count(f.server), 0);
    } else {
        assert_answered(one, 200, "ok");
        assert_int_equal(nct_server_received_bytes(f.server), FILE_BYTES);
    }
    fixture_stop(&f);
}

static void engine__a_file_that_changes_while_it_is_sent_keeps_its_length_or_fails(void **state) {
    folder tmp = folder_make();
    (void)state;
    change_while_sent(&tmp, 16 * 1024 * 1024);
    change_while_sent(&tmp, 16 * 1024);
    folder_remove(&tmp);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_source_of_known_length_is_sent_with_that_length),
        harness_case(engine__a_source_of_unknown_length_is_sent_in_chunks),
        harness_case(engine__a_source_of_nothing_has_a_length_of_0),
        harness_case(engine__sources_go_with_any_method),
        harness_case(engine__a_content_length_of_the_caller_must_be_the_bodys),
        harness_case(engine__a_body_of_another_length_never_arrives_whole),
        harness_case(engine__a_source_that_fails_ends_the_transfer),
        harness_case(engine__a_source_that_fails_behind_its_last_byte_has_failed),
        harness_case(engine__a_source_that_counts_wrong_is_a_broken_one),
        harness_case(engine__a_source_that_has_nothing_is_asked_again_after_resume),
        harness_case(engine__a_resume_before_the_source_says_later_is_not_lost),
        harness_case(engine__a_redirect_that_keeps_the_body_rewinds_the_source),
        harness_case(engine__a_redirect_that_drops_the_body_needs_no_rewind),
        harness_case(engine__a_source_is_rewound_when_a_kept_connection_turns_out_dead),
        harness_case(engine__a_file_arrives_with_its_length),
        harness_case(engine__what_is_no_regular_file_is_not_sent),
        harness_case(engine__a_file_that_changes_while_it_is_sent_keeps_its_length_or_fails),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
