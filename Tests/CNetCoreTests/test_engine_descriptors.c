/// Errors without a free descriptor: the status is exact, no file is named, and later requests succeed.
#include "faulty.h"
#include "fixture.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/// File operations that fail to open while `reason` is set.
typedef struct refusing_files {
    nc_file_ops ops; // its ctx is this struct, which must not move
    nc_file_ops system;
    atomic_int reason; // 0: none
} refusing_files;

static int open_unless(void *ctx, const char *path, int flags, mode_t mode) {
    refusing_files *files = ctx;
    int reason = atomic_load(&files->reason);
    if (reason != 0) {
        errno = reason;
        return -1;
    }
    return files->system.open(files->system.ctx, path, flags, mode);
}

static void refuse(refusing_files *files) {
    *files = (refusing_files){.ops = nc_file_ops_system(), .system = nc_file_ops_system()};
    files->ops.ctx = files;
    files->ops.open = open_unless;
}

/// Sends the same request while no file can be opened, for each reason, and again when files can be opened.
static void send_for_each_reason(fixture *f, refusing_files *files, const nc_request *request) {
    static const struct {
        int reason;
        nc_status status;
    } cases[] = {
        {EMFILE, NC_ERR_DESCRIPTORS}, {ENFILE, NC_ERR_DESCRIPTORS}, {ENOMEM, NC_ERR_NO_MEMORY}, {EACCES, NC_ERR_FILE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        atomic_store(&files->reason, cases[i].reason);
        assert_ended(fixture_send(f, request), cases[i].status, cases[i].reason, strerror(cases[i].reason));
    }
    atomic_store(&files->reason, 0);
    assert_ended(fixture_send(f, request), NC_OK, 0, "");
}

static void engine__descriptor_exhaustion_is_not_reported_as_a_file_error(void **state) {
    refusing_files files;
    char path[PATH_MAX];
    fixture f;
    (void)state;
    refuse(&files);
    temp_directory at = temp_directory_make();
    (void)snprintf(path, sizeof path, "%s/film", at.root);
    fixture_start_with(&f, NULL, &(nc_engine_options){.file_ops = &files.ops});
    fixture_script(&f, "/x", (nct_reply){.body = "x", .body_length = 1});
    nc_request request = fixture_request(&f, "/x");
    request.save_path = nc_slice_of(path);
    send_for_each_reason(&f, &files, &request);
    request = fixture_request(&f, "/x");
    request.method = nc_slice_of("PUT");
    request.body_file = nc_slice_of(path);
    send_for_each_reason(&f, &files, &request);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

static void engine__descriptor_exhaustion_is_not_reported_as_missing_ca_certificates(void **state) {
    refusing_files files;
    char path[PATH_MAX];
    nc_trust *trust = NULL;
    nc_error err;
    fixture f;
    (void)state;
    refuse(&files);
    temp_directory at = temp_directory_make();
    fixture_start_with(&f, &(nct_server_options){.identity = NCT_TLS_VALID},
                       &(nc_engine_options){.file_ops = &files.ops});
    (void)snprintf(path, sizeof path, "%s/ca.pem", at.root);
    temp_file_write(path, nc_slice_of(nct_server_ca_pem(f.server)));
    fixture_script(&f, "/x", (nct_reply){.body = "x", .body_length = 1});
    const nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    assert_status(nc_trust_new(&trust, &options, &err), NC_OK);
    nc_request request = fixture_request(&f, "/x");
    request.trust = trust;
    atomic_store(&files.reason, EMFILE);
    assert_ended(fixture_send(&f, &request), NC_ERR_DESCRIPTORS, EMFILE, strerror(EMFILE));
    atomic_store(&files.reason, 0);
    assert_response(fixture_send(&f, &request), 200, "x");
    nc_trust_release(trust);
    fixture_stop(&f);
    temp_directory_remove(&at);
}

/* --- creation of an engine --- */

/// The errno of a failing call of the test's own functions; 0: it succeeds.
static int epoll_refused;
static int timerfd_refused;
static int eventfd_refused;

static int answer_of(int refused, long number, unsigned first, int second) {
    if (refused != 0) {
        errno = refused;
        return -1;
    }
    return (int)syscall(number, first, second);
}

/// Replaces the C library's function. It can fail like a call that a sandbox's filter rejects.
int epoll_create1(int flags) {
    return answer_of(epoll_refused, SYS_epoll_create1, (unsigned)flags, 0);
}

int timerfd_create(clockid_t clock, int flags) {
    return answer_of(timerfd_refused, SYS_timerfd_create, (unsigned)clock, flags);
}

int eventfd(unsigned count, int flags) {
    return answer_of(eventfd_refused, SYS_eventfd2, count, flags);
}

static void engine__a_failed_system_call_is_reported_with_its_reason(void **state) {
    static const struct {
        int *refused;
        const char *name;
    } calls[] = {
        {&epoll_refused, "epoll_create1"}, {&timerfd_refused, "timerfd_create"}, {&eventfd_refused, "eventfd"}};
    static const struct {
        int reason;
        nc_status status;
    } cases[] = {{ENOSYS, NC_ERR_UNSUPPORTED},
                 {EPERM, NC_ERR_UNSUPPORTED},
                 {EMFILE, NC_ERR_DESCRIPTORS},
                 {ENOMEM, NC_ERR_NO_MEMORY}};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
            char line[128];
            nc_engine *engine = NULL;
            nc_error err;
            (void)snprintf(line, sizeof line, "an engine cannot be started: %s: %s", calls[i].name,
                           strerror(cases[j].reason));
            *calls[i].refused = cases[j].reason;
            assert_status(nc_engine_new(&engine, NULL, &err), cases[j].status);
            assert_status(nc_engine_new(&engine, NULL, NULL), cases[j].status);
            *calls[i].refused = 0;
            assert_string_equal(err.message, line);
            assert_int_equal(err.native_code, cases[j].reason);
        }
    }
}

int main(void) {
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_failed_system_call_is_reported_with_its_reason),
        harness_case(engine__descriptor_exhaustion_is_not_reported_as_a_file_error),
        harness_case(engine__descriptor_exhaustion_is_not_reported_as_missing_ca_certificates),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
