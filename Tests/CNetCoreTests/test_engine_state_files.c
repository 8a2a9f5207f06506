/// The state files of an engine: a file that another user could have written is never read.
#include "faulty.h"
#include "fixture.h"

#include <errno.h>
#include <netcore/cookies.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum kept { JAR, HSTS, ALT_SVC, KINDS } kept;

static const char *const texts[] = {"127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n", "example.com \"20991231 00:00:00\"\n",
                                    "h2 example.com 443 h2 other.example 443 \"20991231 00:00:00\" 0 0\n"};

static nc_status begin(kept kind, const char *path, nc_error *err) {
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

static void assert_refused(kept kind, const char *path, int code) {
    nc_error err;
    assert_status(begin(kind, path, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, code);
    assert_true(strstr(err.message, "trusted") != NULL || strstr(err.message, "symbolic link") != NULL);
}

static void assert_begins(kept kind, const char *path) {
    nc_error err;
    nc_status status = begin(kind, path, &err);
    if (status != NC_OK) {
        fail_msg("%s", err.message);
    }
}

static void engine__reads_no_state_that_another_user_could_have_written(void **state) {
    (void)state;
    for (kept kind = JAR; kind < KINDS; kind++) {
        char path[160];
        place at = place_make();
        (void)snprintf(path, sizeof path, "%s", place_path(at.root, "kept"));
        place_write(path, nc_slice_of(texts[kind]));
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
        place_remove(&at);
    }
}

static void engine__follows_no_link_in_the_place_of_its_state(void **state) {
    (void)state;
    for (kept kind = JAR; kind < KINDS; kind++) {
        char path[160];
        char link[160];
        place at = place_make();
        (void)snprintf(path, sizeof path, "%s", place_path(at.root, "kept"));
        (void)snprintf(link, sizeof link, "%s", place_path(at.root, "link"));
        place_write(path, nc_slice_of(texts[kind]));
        assert_int_equal(symlink(path, link), 0);
        assert_refused(kind, link, ELOOP);
        place_remove(&at);
    }
}

/// A missing file would be created there, and others could replace it at any time.
static void engine__makes_no_state_where_others_can_make_names(void **state) {
    (void)state;
    for (kept kind = JAR; kind < KINDS; kind++) {
        place at = place_make();
        assert_int_equal(chmod(at.root, 0777), 0);
        assert_refused(kind, place_path(at.root, "kept"), EPERM);
        assert_int_equal(chmod(at.root, 0755), 0);
        assert_begins(kind, place_path(at.root, "kept"));
        place_remove(&at);
    }
}

int main(void) {
    harness_begin();
    (void)umask(022);
    const struct CMUnitTest cases[] = {
        harness_case(engine__reads_no_state_that_another_user_could_have_written),
        harness_case(engine__follows_no_link_in_the_place_of_its_state),
        harness_case(engine__makes_no_state_where_others_can_make_names),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
