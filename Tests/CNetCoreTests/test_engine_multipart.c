/// Forms in transfers: lengths, redirects, files that a worker thread opens.
#include "fixture.h"

#include <errno.h>
#include <netcore/transfers.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define B "Boundary"
#define FRAME(more) "Content-Disposition: form-data; name=\"f\"" more "\r\n\r\n"

static nc_multipart *new_form(const nc_multipart_options *options) {
    nc_multipart *form = NULL;
    nc_multipart_options chosen = options != NULL ? *options : (nc_multipart_options){0};
    chosen.boundary = nc_slice_of(B);
    assert_status(nc_multipart_new(&form, &chosen, NULL), NC_OK);
    return form;
}

static void add_field(nc_multipart *form, const char *value) {
    assert_status(nc_multipart_add_field(form, nc_slice_of("f"), nc_slice_of(value), NULL), NC_OK);
}

static nc_request post_of(fixture *f, const char *path, nc_multipart *form) {
    nc_request request = fixture_request(f, path);
    request.method = nc_slice_of("POST");
    request.multipart = form;
    return request;
}

static void start(fixture *f) {
    fixture_start(f, NCT_PLAIN);
    fixture_script(f, "/echo", (nct_reply){.is_echo = true});
    fixture_script(f, "/moved", (nct_reply){.status = 307, .location = "/echo"});
    fixture_script(f, "/see", (nct_reply){.status = 303, .location = "/echo"});
}

typedef struct temporary {
    char path[64];
} temporary;

static temporary file_of(const char *text) {
    temporary file = {"/tmp/netcore-part.XXXXXX"};
    int fd = mkstemp(file.path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return file;
}

static void add_file(nc_multipart *form, const temporary *file) {
    const nc_part part = {.name = nc_slice_of("f"), .path = nc_slice_of(file->path), .is_field = true};
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
}

#define TWO_PARTS "--" B "\r\n" FRAME("") "one\r\n--" B "\r\n" FRAME("") "two\r\n--" B "--\r\n"

/* --- as it is sent --- */

static void engine__a_form_is_sent_with_its_type_and_its_length(void **state) {
    fixture f;
    static const nc_header mine[] = {{{(const uint8_t *)"content-type", 12}, {(const uint8_t *)"text/wrong", 10}}};
    (void)state;
    start(&f);
    nc_multipart *form = new_form(NULL);
    add_field(form, "one");
    add_field(form, "two");
    nc_request request = post_of(&f, "/echo", form);
    request.headers = mine;
    request.header_count = 1;
    assert_response(fixture_send(&f, &request), 200, TWO_PARTS);
    const char *received = fixture_received(&f, 0);
    assert_non_null(strstr(received, "Content-Length: " /* of TWO_PARTS */));
    assert_int_equal(strtoul(strstr(received, "Content-Length: ") + 16, NULL, 10), sizeof TWO_PARTS - 1);
    assert_non_null(strstr(received, "Content-Type: multipart/form-data; boundary=" B "\r\n"));
    assert_null(strstr(received, "text/wrong"));
    nc_multipart_release(form);
    fixture_stop(&f);
}

static void engine__a_form_without_parts_is_an_empty_urlencoded_post(void **state) {
    fixture f;
    (void)state;
    start(&f);
    nc_multipart *form = new_form(NULL);
    nc_request request = post_of(&f, "/echo", form);
    assert_response(fixture_send(&f, &request), 200, "");
    assert_non_null(strstr(fixture_received(&f, 0), "Content-Length: 0\r\n"));
    assert_non_null(strstr(fixture_received(&f, 0), "Content-Type: application/x-www-form-urlencoded\r\n"));
    nc_multipart_release(form);
    fixture_stop(&f);
}

static void engine__options_that_conflict_with_a_form_are_rejected(void **state) {
    static const nc_header length[] = {{{(const uint8_t *)"Content-Length", 14}, {(const uint8_t *)"3", 1}}};
    static const char *const methods[] = {"", "GET", "HEAD"};
    nc_transfer_id id;
    fixture f;
    (void)state;
    start(&f);
    nc_multipart *form = new_form(NULL);
    nc_request request = post_of(&f, "/echo", form);
    for (size_t i = 0; i < 3; i++) {
        request.method = nc_slice_of(methods[i]);
        assert_status(nc_engine_submit(f.engine, &request, NULL, &id, NULL), NC_ERR_USAGE);
    }
    request.method = nc_slice_of("PUT");
    request.body = nc_slice_of("x");
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, NULL), NC_ERR_USAGE);
    request.body.length = 0;
    request.headers = length;
    request.header_count = 1;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, NULL), NC_ERR_BAD_HEADER);
    nc_multipart_release(form);
    fixture_stop(&f);
}

static void engine__a_form_is_resent_after_a_redirect_and_by_another_request(void **state) {
    fixture f;
    (void)state;
    start(&f);
    temporary file = file_of("two");
    nc_multipart *form = new_form(NULL);
    add_field(form, "one");
    add_file(form, &file);
    nc_request request = post_of(&f, "/moved", form);
    assert_response(fixture_send(&f, &request), 200, TWO_PARTS);
    request = post_of(&f, "/see", form);
    assert_response(fixture_send(&f, &request), 200, ""); // the redirect makes it a GET without a body
    assert_null(strstr(fixture_received(&f, 3), "multipart"));
    nc_transfer_id ids[5];
    request = post_of(&f, "/echo", form);
    for (size_t i = 0; i < 5; i++) {
        ids[i] = fixture_submit(&f, &request);
    }
    nc_multipart_release(form); // the transfers retain it
    for (size_t i = 0; i < 5; i++) {
        assert_response(fixture_wait(&f, ids[i]), 200, TWO_PARTS);
    }
    unlink(file.path);
    fixture_stop(&f);
}

/* --- sources --- */

typedef struct slow_source {
    const char *text;
    size_t at;
    atomic_uint asked;
    bool is_slow;        // returns NC_PULL_LATER every other time
    atomic_bool is_shut; // returns NC_PULL_LATER until this is false
} slow_source;

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    slow_source *source = ctx;
    (void)id;
    unsigned asked = atomic_fetch_add(&source->asked, 1);
    if (atomic_load(&source->is_shut) || (source->is_slow && asked % 2 == 0)) {
        return NC_PULL_LATER;
    }
    if (source->text[source->at] == '\0') {
        return NC_PULL_END;
    }
    *bytes = (uint8_t)source->text[source->at++];
    *filled = capacity > 0 ? 1 : 0;
    return NC_PULL_MORE;
}

static bool rewind_source(void *ctx, nc_transfer_id id, uint64_t offset) {
    (void)id;
    ((slow_source *)ctx)->at = offset;
    return true;
}

static void add_source(nc_multipart *form, slow_source *source, uint64_t length, bool rewinds) {
    const nc_part part = {
        .name = nc_slice_of("f"), .source = {source, pull, rewinds ? rewind_source : NULL}, .source_length = length};
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
}

static void engine__a_waiting_source_is_resumed(void **state) {
    (void)state;
    for (size_t is_known = 0; is_known < 2; is_known++) {
        slow_source source = {.text = "two", .is_slow = true};
        answer one = {0};
        nc_status status;
        fixture f;
        start(&f);
        nc_multipart *form = new_form(NULL);
        add_field(form, "one");
        add_source(form, &source, is_known ? 3 : NC_LENGTH_UNKNOWN, true);
        nc_request request = post_of(&f, "/moved", form);
        nc_transfer_id id = fixture_submit(&f, &request);
        do {
            nc_engine_resume_from(f.engine, id, NC_PAUSE_SOURCE);
            status = nc_engine_wait(f.engine, id, 2, &one.response, &one.error);
        } while (status == NC_ERR_WAIT_TIMED_OUT);
        assert_response(one, 200, TWO_PARTS);
        assert_int_equal(strstr(fixture_received(&f, 1), "Transfer-Encoding: chunked") != NULL, !is_known);
        nc_response_release(one.response);
        nc_multipart_release(form);
        fixture_stop(&f);
    }
}

static void engine__a_source_with_a_wrong_length_or_without_rewind_ends_the_transfer(void **state) {
    slow_source source = {.text = "two"};
    fixture f;
    (void)state;
    start(&f);
    nc_multipart *form = new_form(NULL);
    add_source(form, &source, 3, false);
    nc_request request = post_of(&f, "/moved", form);
    assert_ended(fixture_send(&f, &request), NC_ERR_NOT_REWINDABLE, 0, "part 1");
    nc_multipart_release(form);
    form = new_form(NULL);
    source.at = 0;
    add_source(form, &source, 2, true);
    request = post_of(&f, "/echo", form);
    assert_ended(fixture_send(&f, &request), NC_ERR_BODY_LENGTH, 0, "part 1: the body source returned more");
    nc_multipart_release(form);
    fixture_stop(&f);
}

static void engine__http_1_0_rejects_a_form_without_a_length(void **state) {
    slow_source source = {.text = "two"};
    nc_transfer_id id;
    fixture f;
    (void)state;
    start(&f);
    nc_multipart *form = new_form(NULL);
    add_source(form, &source, NC_LENGTH_UNKNOWN, true);
    nc_request request = post_of(&f, "/echo", form);
    request.http = NC_HTTP_1_0;
    assert_status(nc_engine_submit(f.engine, &request, NULL, &id, NULL), NC_ERR_UNSUPPORTED);
    nc_multipart_release(form);
    fixture_stop(&f);
}

/* --- files --- */

typedef struct watched_files {
    nc_file_ops real;
    pthread_mutex_t mutex;
    nc_engine *engine;
    unsigned opened;
    unsigned opened_on_loop;
    unsigned open_now;
    unsigned most_open;
} watched_files;

static int watched_open(void *ctx, const char *path, int flags, mode_t mode) {
    watched_files *files = ctx;
    int fd = files->real.open(files->real.ctx, path, flags, mode);
    pthread_mutex_lock(&files->mutex);
    files->opened++;
    files->opened_on_loop += files->engine != NULL && nc_engine_is_on_loop(files->engine) ? 1 : 0;
    files->open_now += fd >= 0 ? 1 : 0;
    files->most_open = files->open_now > files->most_open ? files->open_now : files->most_open;
    pthread_mutex_unlock(&files->mutex);
    return fd;
}

static int watched_close(void *ctx, int fd) {
    watched_files *files = ctx;
    pthread_mutex_lock(&files->mutex);
    files->open_now--;
    pthread_mutex_unlock(&files->mutex);
    return files->real.close(files->real.ctx, fd);
}

static void engine__files_are_opened_one_by_one_off_the_loop_thread(void **state) {
    enum { FILES = 20 };
    watched_files files = {.real = nc_file_ops_system(), .mutex = PTHREAD_MUTEX_INITIALIZER};
    nc_file_ops ops = files.real;
    fixture f;
    (void)state;
    ops.ctx = &files;
    ops.open = watched_open;
    ops.close = watched_close;
    const nc_multipart_options options = {.files = &ops};
    start(&f);
    temporary file = file_of("content");
    nc_multipart *form = new_form(&options);
    for (size_t i = 0; i < FILES; i++) {
        add_file(form, &file);
    }
    files.engine = f.engine;
    files.opened = 0;
    nc_request request = post_of(&f, "/moved", form);
    answer one = fixture_send(&f, &request);
    assert_int_equal(nc_response_status(one.response), 200);
    nc_multipart_release(form);
    unlink(file.path);
    fixture_stop(&f);
    assert_int_equal(files.opened_on_loop, 0);
    assert_true(files.opened > FILES);
    assert_int_equal(files.most_open, 1);
    assert_int_equal(files.open_now, 0);
}

static void engine__a_missing_or_changed_file_ends_the_transfer(void **state) {
    fixture f;
    (void)state;
    start(&f);
    temporary file = file_of("content");
    slow_source source = {.text = "x", .is_shut = true};
    nc_multipart *form = new_form(NULL);
    add_source(form, &source, 1, true);
    add_file(form, &file);
    nc_request request = post_of(&f, "/echo", form);
    nc_transfer_id id = fixture_submit(&f, &request);
    while (atomic_load(&source.asked) == 0) { // the files are measured, and the first part waits
        (void)sched_yield();
    }
    FILE *grown = fopen(file.path, "a");
    assert_non_null(grown);
    assert_true(fputs("more", grown) >= 0);
    fclose(grown);
    atomic_store(&source.is_shut, false);
    nc_engine_resume_from(f.engine, id, NC_PAUSE_SOURCE);
    assert_ended(fixture_wait(&f, id), NC_ERR_BODY_LENGTH, 0, "became longer");
    unlink(file.path);
    assert_ended(fixture_send(&f, &request), NC_ERR_FILE, ENOENT, file.path);
    assert_int_equal(nct_server_request_count(f.server), 0);
    nc_multipart_release(form);
    fixture_stop(&f);
}

/* --- ends at every point --- */

typedef struct multipart_fixture {
    fixture *f;
    const temporary *file;
} multipart_fixture;

static void send_on(nc_engine *engine, const nc_request *request) {
    nc_transfer_id id;
    nc_response *response = NULL;
    if (nc_engine_submit(engine, request, NULL, &id, NULL) != NC_OK) {
        return;
    }
    nc_status status = nc_engine_wait(engine, id, FIXTURE_LIMIT_MS, &response, NULL);
    assert_true(status != NC_ERR_WAIT_TIMED_OUT && status != NC_ERR_IDLE_TIMED_OUT);
    if (status == NC_OK) {
        assert_slice_equals(nc_response_body(response), TWO_PARTS);
    }
    nc_response_release(response);
}

static void send_short_of_memory(void *ctx) {
    const multipart_fixture *at = ctx;
    nc_multipart *form = NULL;
    nc_engine *engine = NULL;
    const nc_multipart_options options = {.boundary = nc_slice_of(B)};
    const nc_part part = {.name = nc_slice_of("f"), .path = nc_slice_of(at->file->path), .is_field = true};
    bool is_made = nc_engine_new(&engine, NULL, NULL) == NC_OK && nc_multipart_new(&form, &options, NULL) == NC_OK &&
                   nc_multipart_add_field(form, nc_slice_of("f"), nc_slice_of("one"), NULL) == NC_OK &&
                   nc_multipart_add(form, &part, NULL) == NC_OK;
    if (is_made) {
        nc_request request = {
            .method = nc_slice_of("POST"), .url = nc_slice_of(fixture_url(at->f, "/moved")), .multipart = form};
        send_on(engine, &request);
    }
    nc_multipart_release(form);
    assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
}

static void engine__a_form_is_sent_completely_or_not_at_all_when_allocations_fail(void **state) {
    fixture f;
    (void)state;
    start(&f);
    temporary file = file_of("two");
    multipart_fixture at = {&f, &file};
    send_short_of_memory(&at); // allocations that happen once per process are done
    assert_true(each_allocation_failure(send_short_of_memory, &at) > 10);
    unlink(file.path);
    fixture_stop(&f);
}

static void engine__a_forms_transfer_ends_at_any_moment_without_a_leak(void **state) {
    fixture f;
    (void)state;
    temporary file = file_of("two");
    start(&f);
    nc_multipart *form = new_form(NULL);
    for (size_t i = 0; i < 30; i++) {
        add_file(form, &file);
    }
    nc_request request = post_of(&f, "/echo", form);
    for (size_t i = 0; i < 60; i++) {
        nc_transfer_id id = fixture_submit(&f, &request);
        for (size_t yields = 0; yields < i * 4; yields++) {
            (void)sched_yield();
        }
        nc_engine_cancel(f.engine, id);
        answer one = fixture_wait(&f, id);
        assert_true(one.error.status == NC_OK || one.error.status == NC_ERR_CANCELLED);
    }
    nc_multipart_release(form);
    unlink(file.path);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_form_is_sent_with_its_type_and_its_length),
        harness_case(engine__a_form_without_parts_is_an_empty_urlencoded_post),
        harness_case(engine__options_that_conflict_with_a_form_are_rejected),
        harness_case(engine__a_form_is_resent_after_a_redirect_and_by_another_request),
        harness_case(engine__a_waiting_source_is_resumed),
        harness_case(engine__a_source_with_a_wrong_length_or_without_rewind_ends_the_transfer),
        harness_case(engine__http_1_0_rejects_a_form_without_a_length),
        harness_case(engine__files_are_opened_one_by_one_off_the_loop_thread),
        harness_case(engine__a_missing_or_changed_file_ends_the_transfer),
        harness_case(engine__a_form_is_sent_completely_or_not_at_all_when_allocations_fail),
        harness_case(engine__a_forms_transfer_ends_at_any_moment_without_a_leak),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
