/// The time of day jumps while an engine runs. State that libcurl bases on it must not persist for years.
#include "fixture.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// The offset in seconds from the system's time of day, for libcurl and the engine.
static _Atomic int64_t ahead_s;
static atomic_uint questions;

/// Replaces libc's function, with which libcurl measures the age of an address.
NC_API time_t time(time_t *out) {
    struct timespec now;
    (void)syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    time_t shifted = (time_t)(now.tv_sec + atomic_load(&ahead_s));
    if (out != NULL) {
        *out = shifted;
    }
    return shifted;
}

static int64_t shifted_realtime_ns(void *ctx) {
    (void)ctx;
    return (int64_t)time(NULL) * 1000000000;
}

/// Replaces libc's function: every name resolves to this host.
NC_API int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out) {
    typedef int (*getaddrinfo_fn)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    getaddrinfo_fn real;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    (void)name;
    atomic_fetch_add(&questions, 1);
    return real("127.0.0.1", service, hints, out);
}

/// Requests a host over a new connection. Returns true if its address was resolved.
static bool asks_for_address(fixture *f) {
    unsigned before = atomic_load(&questions);
    nc_request request = fixture_request(f, "/");
    request.url = nc_slice_of(fixture_url_at(f, "name.test", "/"));
    assert_response(fixture_send(f, &request), 200, "hi");
    return atomic_load(&questions) > before;
}

static void engine__setting_the_clock_back_does_not_extend_the_dns_cache(void **state) {
    static const int64_t years_s = 315360000;
    fixture f;
    nc_clock clock = nc_clock_system();
    (void)state;
    clock.realtime_ns = shifted_realtime_ns;
    fixture_start_with(&f, NULL, &(nc_engine_options){.clock = &clock});
    fixture_script(&f, "/", (nct_reply){.body = "hi", .body_length = 2, .ending = NCT_CLOSE});
    atomic_store(&ahead_s, years_s);
    assert_true(asks_for_address(&f));
    assert_false(asks_for_address(&f));
    atomic_store(&ahead_s, 0);
    assert_true(asks_for_address(&f));
    assert_false(asks_for_address(&f));
    atomic_store(&ahead_s, -30); // less than an address is cached
    assert_false(asks_for_address(&f));
    atomic_store(&ahead_s, years_s);
    // Since 8.18 libcurl counts the age of an address by a clock that is never set.
    bool is_monotonic = curl_version_info(CURLVERSION_NOW)->version_num >= 0x081200;
    assert_int_equal(asks_for_address(&f), !is_monotonic);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__setting_the_clock_back_does_not_extend_the_dns_cache),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
