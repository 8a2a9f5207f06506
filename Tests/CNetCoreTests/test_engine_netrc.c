/// The netrc file: which requests get its logins, and what an unreadable one does.
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void engine__netrc_logins_are_sent_only_to_the_original_origin(void **state) {
    char path[] = "/tmp/netcore-netrc-XXXXXX";
    static const char text[] = "machine 127.0.0.1 login us password one\nmachine localhost login us password two\n"
                               "default login us password three\n";
    fixture f;
    nct_server *other = NULL;
    char head[2000] = {0};
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    assert_int_equal(close(fd), 0);
    const nc_engine_options options = {.uses_netrc = true, .netrc_file = nc_slice_of(path)};
    fixture_start_with(&f, NULL, &options);
    assert_int_equal(nct_server_start(&other, NULL), 0);
    fixture_script(&f, "/a", (nct_reply){.location = fixture_url_of(&f, other, "127.0.0.1", "/there")});
    fixture_script(&f, "/b", (nct_reply){.location = "/c"});
    (void)fixture_get(&f, "/a");
    assert_non_null(strstr(fixture_received(&f, 0), "\r\nAuthorization: Basic dXM6b25l\r\n"));
    assert_true(nct_server_copy_request(other, 0, head, sizeof head - 1) > 0);
    assert_null(strstr(head, "uthorization")); // a netrc file has no ports
    (void)fixture_get(&f, "/b");
    assert_non_null(strstr(fixture_received(&f, 2), "\r\nAuthorization: Basic dXM6b25l\r\n"));
    nc_request request = {.url = nc_slice_of(fixture_url_at(&f, "localhost", "/"))};
    (void)fixture_send(&f, &request);
    assert_non_null(strstr(fixture_received(&f, 3), "\r\nAuthorization: Basic dXM6dHdv\r\n"));
    request = fixture_request(&f, "/");
    // Explicit credentials take precedence.
    request.credentials = (nc_credentials){
        .schemes = NC_AUTH_BASIC, .user = nc_slice_of("me"), .password = nc_slice_of("Circle of Life")};
    (void)fixture_send(&f, &request);
    assert_non_null(strstr(fixture_received(&f, 4), "\r\nAuthorization: Basic bWU6Q2lyY2xlIG9mIExpZmU=\r\n"));
    request = fixture_request(&f, "/");
    request.is_cross_origin = true; // the caller has followed a redirect
    (void)fixture_send(&f, &request);
    assert_null(strstr(fixture_received(&f, 5), "uthorization"));
    request = fixture_request(&f, "/");
    request.ignores_netrc = true;
    (void)fixture_send(&f, &request);
    assert_null(strstr(fixture_received(&f, 6), "uthorization"));
    nct_server_stop(other);
    fixture_stop(&f);
    assert_int_equal(unlink(path), 0);
}

static void engine__an_unreadable_netrc_is_an_error(void **state) {
    static const char *const paths[] = {"/tmp/netcore-no-such-netrc", "/tmp"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        nc_engine *engine = NULL;
        nc_error err;
        const nc_engine_options options = {.uses_netrc = true, .netrc_file = nc_slice_of(paths[i])};
        assert_status(nc_engine_new(&engine, &options, &err), NC_ERR_FILE);
        assert_non_null(strstr(err.message, paths[i]));
        assert_true(err.native_code != 0);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__netrc_logins_are_sent_only_to_the_original_origin),
        harness_case(engine__an_unreadable_netrc_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
