/// libcurl's built-in CA bundle is neither read nor needed, and never adds trust.
///
/// The program runs in a private mount namespace, where the bundle's path is a file of this test.
#include "fixture.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONNECTIONS = 3 };

static const char *built_in; // libcurl's built-in path

static bool write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

static bool map_ids(uid_t user, gid_t group) {
    char map[64];
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
    bool is_mapped = write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)group);
    return is_mapped && write_file("/proc/self/gid_map", map);
}

/// Enters a new mount namespace; without root this needs a user namespace.
static bool enter_namespace(void) {
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWNS) != 0 &&
        (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !map_ids(user, group))) {
        return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/// Puts a file with `pem` at the path of the built-in bundle. The fixture keeps the file's own path.
static const char *replace_bundle(fixture *f, const char *pem) {
    char *path = (char *)(uintptr_t)fixture_text(f, "/tmp/netcore-bundle-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write_file(path, pem));
    close(fd);
    assert_int_equal(mount(path, built_in, NULL, MS_BIND, NULL), 0);
    return path;
}

static void restore_bundle(const char *path) {
    assert_int_equal(umount2(built_in, MNT_DETACH), 0);
    unlink(path);
}

/// Fetches as a program does that uses libcurl directly, with its built-in bundle.
static CURLcode fetch_with_plain_curl(const char *url) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_cleanup(easy);
    return code;
}

/// Returns whether the watched file was opened since the last call.
static bool was_opened(int watch) {
    char events[4096];
    return read(watch, events, sizeof events) > 0;
}

static void engine__a_connection_does_not_open_the_built_in_ca_bundle(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2, .headers = "Connection: close\r\n"});
    const char *path = replace_bundle(&f, nct_server_ca_pem(f.server));
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
    for (int i = 0; i < CONNECTIONS; i++) {
        answer one = fixture_get(&f, "/t");
        assert_response(one, 200, "ok");
        assert_int_equal(nc_response_hop_at(one.response, 0).connections_opened, 1);
    }
    assert_false(was_opened(watch));
    // libcurl itself opens it, so the watch works.
    assert_int_equal(fetch_with_plain_curl(fixture_url(&f, "/t")), CURLE_OK);
    assert_true(was_opened(watch));
    close(watch);
    restore_bundle(path);
    fixture_stop(&f);
}

static void engine__the_built_in_ca_bundle_adds_no_trust(void **state) {
    fixture f, other;
    (void)state;
    fixture_start(&f, NCT_TLS_VALID);
    fixture_start(&other, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    const char *path = replace_bundle(&f, nct_server_ca_pem(f.server));
    assert_int_equal(fetch_with_plain_curl(fixture_url(&f, "/t")), CURLE_OK);
    nc_request request = fixture_request(&f, "/t");
    request.trust = fixture_trust_of(&f, other.server);
    assert_ended(fixture_send(&f, &request), NC_ERR_TLS_UNTRUSTED, CURLE_PEER_FAILED_VERIFICATION, "127.0.0.1:");
    restore_bundle(path);
    fixture_stop(&other);
    fixture_stop(&f);
}

static void engine__explicit_roots_work_without_a_built_in_ca_bundle(void **state) {
    fixture f;
    (void)state;
    char folder[4096];
    (void)snprintf(folder, sizeof folder, "%s", built_in);
    *strrchr(folder, '/') = '\0';
    fixture_start(&f, NCT_TLS_VALID);
    fixture_script(&f, "/t", (nct_reply){.body = "ok", .body_length = 2});
    assert_int_equal(mount("none", folder, "tmpfs", 0, NULL), 0);
    assert_int_not_equal(access(built_in, F_OK), 0);
    assert_response(fixture_get(&f, "/t"), 200, "ok");
    // Without a bundle the system's roots are an error, not an empty list.
    nc_request request = fixture_request(&f, "/t");
    nc_trust_options system = {.roots = NC_ROOTS_SYSTEM};
    request.trust = fixture_trust(&f, &system);
    answer refused = fixture_send(&f, &request);
    assert_true(refused.error.status == NC_ERR_TLS_ROOTS || refused.error.status == NC_ERR_TLS_UNTRUSTED);
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    built_in = curl_version_info(CURLVERSION_NOW)->cainfo;
    if (built_in == NULL || access(built_in, R_OK) != 0) {
        puts("skipped: this libcurl has no built-in CA bundle");
        return 0;
    }
    if (!enter_namespace()) {
        perror("skipped: no mount namespace: unshare(2)");
        return getenv("CI") != NULL;
    }
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_connection_does_not_open_the_built_in_ca_bundle),
        harness_case(engine__the_built_in_ca_bundle_adds_no_trust),
        harness_case(engine__explicit_roots_work_without_a_built_in_ca_bundle),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
