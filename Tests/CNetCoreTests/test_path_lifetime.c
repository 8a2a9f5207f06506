/// The life of a path monitor: released in its callback, without memory, and with a full socket buffer.
#include "netns.h"
#include "reachability/path_source.h"
#include "torture.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const netns_route over_a = {.gateway = "10.9.0.2", .link = "eth0"};

/// Creates eth0, which is up and has an address and a route.
static void begin(void) {
    netns_add_pair("eth0", "peer0");
    netns_set("peer0", true);
    netns_set("eth0", true);
    netns_await_running("eth0");
    netns_add_address("eth0", "10.9.0.1", 24);
    netns_add_route(&over_a);
}

/* --- its life --- */

static void release_self(void *ctx, const nc_path_state *state) {
    nc_path *_Atomic *own = ctx;
    (void)state;
    nc_path *path;
    while ((path = atomic_load(own)) == NULL) {
        sched_yield();
    }
    nc_path_release(path);
}

static void path__can_be_released_inside_its_own_callback(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        nc_path *_Atomic own = NULL;
        nc_path_options options = {.ctx = (void *)&own, .on_change = release_self};
        nc_path *path = NULL;
        assert_status(nc_path_new(&path, &options, NULL), NC_OK);
        atomic_store(&own, path);
        assert_true(harness_wait_for_live_blocks(0, TORTURE_PATIENCE_MS));
    }
}

static void path__leaks_no_descriptor(void **state) {
    (void)state;
    size_t before = torture_open_descriptors();
    for (int i = 0; i < 100; i++) {
        nc_path *path = NULL;
        nc_path_state look;
        nc_path_options options = {.host = nc_slice_of(i % 2 == 0 ? "" : "localhost")};
        assert_status(nc_path_new(&path, &options, NULL), NC_OK);
        assert_status(nc_path_lookup(&look, nc_slice_of(""), NULL), NC_OK);
        nc_path_release(path);
    }
    assert_true(torture_wait_for_descriptors(before));
}

static void path__rejects_invalid_hosts(void **state) {
    (void)state;
    char text[300];
    nc_path *path = NULL;
    nc_path_state look;
    nc_error err;
    memset(text, 'a', sizeof text);
    nc_path_options options = {.host = nc_slice_make(text, 256)};
    assert_status(nc_path_new(&path, &options, &err), NC_ERR_USAGE);
    assert_status(nc_path_lookup(&look, nc_slice_make("a\0b", 3), &err), NC_ERR_USAGE);
    assert_true(strlen(err.message) > 0);
}

static void create_and_release(void *ctx) {
    (void)ctx;
    nc_path *path = NULL;
    nc_error err;
    nc_status status = nc_path_new(&path, NULL, &err);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_int_equal(err.status, status);
    nc_path_release(status == NC_OK ? path : NULL);
}

static void path__survives_each_allocation_failure(void **state) {
    (void)state;
    begin();
    assert_true(each_allocation_failure(create_and_release, NULL) >= 4);
    netns_delete("eth0");
}

static void count_change(void *ctx) {
    (*(unsigned *)ctx)++;
}

static void path__recovers_when_the_kernels_buffer_overflowed(void **state) {
    (void)state;
    nc_path_source *source = NULL;
    nc_path_state now;
    unsigned changes = 0;
    int room = 1; // the kernel rounds this up to a few KiB
    begin();
    assert_status(nc_path_source_open(&source, NULL), NC_OK);
    int fd = nc_path_source_fd(source);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    netns_route other = over_a;
    other.metric = 77;
    for (int i = 0; i < 50; i++) {
        netns_add_route(&other);
        netns_remove_route(&other);
    }
    netns_remove_route(&over_a); // not reported
    for (int i = 0; i < 20; i++) {
        nc_path_source_read(source, count_change, &changes);
    }
    nc_path_source_state(source, &now);
    assert_int_equal(now.status, NC_PATH_NOT_REACHABLE);
    // The socket had room for the first few notifications. The dump after the overflow replaces the rest.
    assert_true(changes > 0 && changes < 50);
    nc_path_source_close(source);
    netns_delete("eth0");
}

int main(void) {
    harness_begin();
    if (!netns_enter()) {
        return getenv("CI") == NULL ? 0 : 1;
    }
    const struct CMUnitTest cases[] = {
        harness_case(path__can_be_released_inside_its_own_callback),
        harness_case(path__leaks_no_descriptor),
        harness_case(path__rejects_invalid_hosts),
        harness_case(path__survives_each_allocation_failure),
        harness_case(path__recovers_when_the_kernels_buffer_overflowed),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
