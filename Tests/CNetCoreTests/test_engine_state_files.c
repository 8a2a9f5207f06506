/// The state files of an engine: a file that another user could have written is never read.
#include "faulty.h"
#include "fixture.h"

#include <errno.h>
#include <netcore/cookies.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum state_kind { JAR, HSTS, ALT_SVC, KINDS } state_kind;

static const char *const texts[] = {"127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n", "example.com \"20991231 00:00:00\"\n",
                                    "h2 example.com 443 h2 other.example 443 \"20991231 00:00:00\" 0 0\n"};

static nc_status begin(state_kind kind, const char *path, nc_error *err) {
    nc_engine *engine = NULL;
    nc_slice file = nc_slice_of(path);
    nc_engine_options options = {0};
    if (kind == JAR) {
        options.cookies = NC_COOKIES_FILE;
        options.cookie_file = file;
    } else if (kind == HSTS) {
        options.uses_hsts = true;
        options.hsts_file = file;
    } else {
        options.uses_alt_svc = true;
        options.alt_svc_file = file;
    }
    nc_status status = nc_engine_new(&engine, &options, err);
    if (status == NC_OK) {
        assert_status(nc_engine_close(engine, FIXTURE_LIMIT_MS), NC_OK);
    }
    return status;
}

static void assert_refused(state_kind kind, const char *path, int code) {
    nc_error err;
    assert_status(begin(kind, path, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, code);
    assert_true(strstr(err.message, "trusted") != NULL || strstr(err.message, "symbolic link") != NULL);
}

static void assert_begins(state_kind kind, const char *path) {
    nc_error err;
    nc_status status = begin(kind, path, &err);
    if (status != NC_OK) {
        fail_msg("%s", err.message);
    }
}

static void engine__a_state_file_that_another_user_could_have_written_is_not_read(void **state) {
    (void)state;
    for (state_kind kind = JAR; kind < KINDS; kind++) {
        char path[160];
        temp_directory at = temp_directory_make();
        (void)snprintf(path, sizeof path, "%s", temp_directory_path(at.root, "kept"));
        temp_file_write(path, nc_slice_of(texts[kind]));
        assert_begins(kind, path);
        assert_int_equal(chmod(path, 0660), 0);
        assert_refused(kind, path, EPERM);
        assert_int_equal(chmod(path, 0602), 0);
        assert_refused(kind, path, EPERM);
        assert_int_equal(chmod(path, 0600), 0);
        assert_int_equal(chmod(at.root, 0770), 0);
        assert_refused(kind, path, EPERM);
        assert_int_equal(chmod(at.root, 01777), 0);
        assert_begins(kind, path);
        if (geteuid() == 0) {
            assert_int_equal(chown(path, 65534, 65534), 0);
            assert_refused(kind, path, EPERM);
            assert_int_equal(chown(path, 0, 0), 0);
            assert_int_equal(chown(at.root, 65534, 65534), 0);
            assert_refused(kind, path, EPERM);
        }
        temp_directory_remove(&at);
    }
}

static void engine__a_symlink_instead_of_a_state_file_is_not_followed(void **state) {
    (void)state;
    for (state_kind kind = JAR; kind < KINDS; kind++) {
        char path[160];
        char link[160];
        temp_directory at = temp_directory_make();
        (void)snprintf(path, sizeof path, "%s", temp_directory_path(at.root, "kept"));
        (void)snprintf(link, sizeof link, "%s", temp_directory_path(at.root, "link"));
        temp_file_write(path, nc_slice_of(texts[kind]));
        assert_int_equal(symlink(path, link), 0);
        assert_refused(kind, link, ELOOP);
        temp_directory_remove(&at);
    }
}

/// A missing file would be created there, and others could replace it at any time.
static void engine__no_state_file_is_created_where_others_can_create_files(void **state) {
    (void)state;
    for (state_kind kind = JAR; kind < KINDS; kind++) {
        temp_directory at = temp_directory_make();
        assert_int_equal(chmod(at.root, 0777), 0);
        assert_refused(kind, temp_directory_path(at.root, "kept"), EPERM);
        assert_int_equal(chmod(at.root, 0755), 0);
        assert_begins(kind, temp_directory_path(at.root, "kept"));
        temp_directory_remove(&at);
    }
}

int main(void) {
    harness_begin();
    (void)umask(022);
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_state_file_that_another_user_could_have_written_is_not_read),
        harness_case(engine__a_symlink_instead_of_a_state_file_is_not_followed),
        harness_case(engine__no_state_file_is_created_where_others_can_create_files),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
