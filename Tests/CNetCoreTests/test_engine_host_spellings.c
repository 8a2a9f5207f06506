/// Requests whose URL spells the host differently from the netrc file, a stored cookie or an earlier hop.
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_netrc(char *path) {
    static const char text[] = "machine 127.0.0.1 login us password one\nmachine localhost login us password two\n";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    assert_int_equal(close(fd), 0);
}

static void engine__a_netrc_entry_applies_to_every_spelling_of_its_host(void **state) {
    static const struct {
        const char *host;
        const char *field;
    } rows[] = {
        {"127.0.0.1", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"127.1", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"0x7f.1", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"2130706433", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"%31%32%37.1", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"localhost", "\r\nAuthorization: Basic dXM6dHdv\r\n"},
        {"LocalHost", "\r\nAuthorization: Basic dXM6dHdv\r\n"},
        {"127.0.0.1.", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"\uff11\uff12\uff17.1", "\r\nAuthorization: Basic dXM6b25l\r\n"},
        {"%6cocalhost", "\r\nAuthorization: Basic dXM6dHdv\r\n"},
    };
    char path[] = "/tmp/netcore-netrc-XXXXXX";
    fixture f;
    (void)state;
    write_netrc(path);
    const nc_engine_options options = {.uses_netrc = true, .netrc_file = nc_slice_of(path)};
    fixture_start_with(&f, NULL, &options);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_request request = {.url = nc_slice_of(fixture_url_at(&f, rows[i].host, "/"))};
        answer got = fixture_send(&f, &request);
        if (got.error.status != NC_OK) {
            fail_msg("%s: %s", rows[i].host, got.error.message);
        }
        if (strstr(fixture_received(&f, i), rows[i].field) == NULL) {
            fail_msg("%s: %s", rows[i].host, fixture_received(&f, i));
        }
    }
    fixture_stop(&f);
    assert_int_equal(unlink(path), 0);
}

/// A cookie that one spelling has set is sent to all.
static void engine__a_cookie_is_sent_to_every_spelling_of_its_host(void **state) {
    static const char *const spellings[] = {"127.1", "0x7f.1", "2130706433", "%31%32%37.0.0.1", "127.0.0.1"};
    fixture f;
    (void)state;
    const nc_engine_options options = {.cookies = NC_COOKIES_MEMORY};
    fixture_start_with(&f, NULL, &options);
    fixture_script(&f, "/set", (nct_reply){.headers = "Set-Cookie: a=b; Path=/\r\n"});
    (void)fixture_get(&f, "/set");
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        nc_request request = {.url = nc_slice_of(fixture_url_at(&f, spellings[i], "/"))};
        (void)fixture_send(&f, &request);
        assert_non_null(strstr(fixture_received(&f, i + 1), "\r\nCookie: a=b\r\n"));
    }
    fixture_stop(&f);
}

/// The user's fields stay after a redirect to another spelling of the same origin.
static void engine__a_redirect_to_another_spelling_of_the_host_keeps_credentials(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/a", (nct_reply){.location = fixture_url_at(&f, "0x7f.1", "/there")});
    nc_request request = fixture_request(&f, "/a");
    request.credentials =
        (nc_credentials){.schemes = NC_AUTH_BASIC, .user = nc_slice_of("us"), .password = nc_slice_of("one")};
    (void)fixture_send(&f, &request);
    assert_non_null(strstr(fixture_received(&f, 1), "\r\nAuthorization: Basic dXM6b25l\r\n"));
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_netrc_entry_applies_to_every_spelling_of_its_host),
        harness_case(engine__a_cookie_is_sent_to_every_spelling_of_its_host),
        harness_case(engine__a_redirect_to_another_spelling_of_the_host_keeps_credentials),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
