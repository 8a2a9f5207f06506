/// A name server that never responds delays no cancel, no time limit and no other transfer.
///
/// Runs in a private network and mount namespace (as `unshare -n -m`), where 127.0.0.1:53 is a socket of this test.
#include "torture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

/// The time within which a cancel or a limit must take effect: long before a resolver fails (5 s), even on a busy
/// machine. Then the limit.
enum { PROMPT_MS = 2000, LIMIT_MS = 300, DNS_PORT = 53, LOOKUPS = 4 };

static int name_server = -1;

/* --- the namespace --- */

static bool write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return false;
    }
    bool is_written = fputs(text, file) >= 0;
    return fclose(file) == 0 && is_written;
}

/// Enters a new network and mount namespace; without root through a user namespace.
static bool unshare_here(void) {
    char map[64];
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) == 0) {
        return true;
    }
    if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0) {
        return false;
    }
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
    bool is_mapped = write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)group);
    return is_mapped && write_text("/proc/self/gid_map", map);
}

static bool raise_loopback(void) {
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
    is_up = is_up && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_up;
}

static bool bind_mount_text(const char *path, const char *text) {
    char temporary[] = "/tmp/netcore-names-XXXXXX";
    int fd = mkstemp(temporary);
    bool is_mounted = fd >= 0 && write_text(temporary, text) && mount(temporary, path, NULL, MS_BIND, NULL) == 0;
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    return is_mounted;
}

static bool open_name_server(void) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(DNS_PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    name_server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return name_server >= 0 && bind(name_server, (struct sockaddr *)&address, sizeof address) == 0;
}

/// Returns the reason why there is no namespace, or NULL on success.
static const char *enter_namespace(void) {
    if (!unshare_here()) {
        return "unshare(2)";
    }
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        return "making mounts private";
    }
    if (!raise_loopback()) {
        return "bringing lo up";
    }
    if (!bind_mount_text("/etc/resolv.conf", "nameserver 127.0.0.1\n") ||
        !bind_mount_text("/etc/nsswitch.conf", "hosts: dns\n")) {
        return "mounting resolv.conf and nsswitch.conf";
    }
    return open_name_server() ? NULL : "binding 127.0.0.1:53";
}

/* --- the cases --- */

/// Waits until the resolver has sent a query, and discards the queries.
static void await_question(void) {
    char question[512];
    struct pollfd entry = {.fd = name_server, .events = POLLIN};
    if (poll(&entry, 1, TORTURE_PATIENCE_MS) != 1) {
        fail_msg("the name server received no query");
    }
    while (recv(name_server, question, sizeof question, MSG_DONTWAIT) > 0) {
    }
}

/// A transfer to a numeric address that stalls in the middle of its body until it is resumed.
typedef struct other_transfer {
    nct_server *server;
    nc_engine *engine;
    torture_fetch fetch;
} other_transfer;

static void begin(other_transfer *other) {
    char url[TORTURE_URL_BYTES];
    const nct_reply stalled = {.pattern_length = 1000, .is_cut = true, .cut_after = 300, .ending = NCT_STALL};
    *other = (other_transfer){.server = torture_start(NCT_PLAIN), .engine = torture_engine(NULL)};
    other->fetch.keeps_response = true;
    assert_int_equal(nct_server_script(other->server, "/stalled", &stalled), 0);
    nc_request request = {.url = torture_url(url, "http", other->server, "/stalled")};
    (void)torture_submit(other->engine, &request, &other->fetch);
    assert_true(nct_server_wait_for_stalled(other->server, 1, TORTURE_PATIENCE_MS));
}

static void finish_transfer(other_transfer *other) {
    uint64_t began_ms = torture_now_ms();
    assert_int_equal(other->fetch.done_count, 0);
    nct_server_release_stalled(other->server);
    assert_true(torture_await(&other->fetch, 1, TORTURE_PATIENCE_MS));
    uint64_t took_ms = torture_now_ms() - began_ms;
    print_message("the other transfer ended %llu ms after it was resumed\n", (unsigned long long)took_ms);
    assert_status(other->fetch.status, NC_OK);
    assert_int_equal(nc_response_body(other->fetch.response).length, 1000);
    assert_true(took_ms <= PROMPT_MS);
    nc_response_release(other->fetch.response);
    assert_status(nc_engine_close(other->engine, PROMPT_MS), NC_OK);
    nct_server_stop(other->server);
}

static void cancel__during_a_lookup_takes_effect_immediately(void **state) {
    (void)state;
    other_transfer other;
    begin(&other);
    for (int i = 0; i < LOOKUPS; i++) {
        char url[TORTURE_URL_BYTES];
        torture_fetch fetch = {0};
        (void)snprintf(url, sizeof url, "http%s://silent%d.example/", i % 2 == 0 ? "" : "s", i);
        nc_request request = {.url = nc_slice_of(url)};
        nc_transfer_id id = torture_submit(other.engine, &request, &fetch);
        await_question();
        uint64_t began_ms = torture_now_ms();
        nc_engine_cancel(other.engine, id);
        assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
        uint64_t took_ms = torture_now_ms() - began_ms;
        print_message("cancelled during the lookup of %s: %llu ms\n", url, (unsigned long long)took_ms);
        assert_status(fetch.status, NC_ERR_CANCELLED);
        assert_true(took_ms <= PROMPT_MS);
    }
    finish_transfer(&other);
}

static void timeout__during_a_lookup_is_enforced(void **state) {
    (void)state;
    other_transfer other;
    begin(&other);
    for (int i = 0; i < 2; i++) {
        torture_fetch fetch = {0};
        nc_request request = {.url = nc_slice_of("http://limited.example/")};
        request.limits.total_ms = i == 0 ? LIMIT_MS : 0;
        request.limits.connect_ms = i == 0 ? 0 : LIMIT_MS;
        uint64_t began_ms = torture_now_ms();
        (void)torture_submit(other.engine, &request, &fetch);
        await_question();
        assert_true(torture_await(&fetch, 1, TORTURE_PATIENCE_MS));
        uint64_t took_ms = torture_now_ms() - began_ms;
        print_message("a limit of %d ms during a lookup: %s after %llu ms\n", LIMIT_MS, nc_status_name(fetch.status),
                      (unsigned long long)took_ms);
        assert_status(fetch.status, i == 0 ? NC_ERR_TOTAL_TIMED_OUT : NC_ERR_CONNECT_TIMED_OUT);
        assert_true(took_ms >= LIMIT_MS - 1 && took_ms <= LIMIT_MS + PROMPT_MS);
    }
    finish_transfer(&other);
}

static void close__during_a_lookup_does_not_wait_for_it(void **state) {
    (void)state;
    torture_fetch fetch = {0};
    nc_engine *engine = torture_engine(NULL);
    nc_request request = {.url = nc_slice_of("http://closed.example/")};
    (void)torture_submit(engine, &request, &fetch);
    await_question();
    uint64_t began_ms = torture_now_ms();
    assert_status(nc_engine_close(engine, TORTURE_PATIENCE_MS), NC_OK);
    uint64_t took_ms = torture_now_ms() - began_ms;
    print_message("closed during a lookup: %llu ms\n", (unsigned long long)took_ms);
    assert_int_equal(fetch.done_count, 1);
    assert_true(took_ms <= PROMPT_MS);
}

int main(void) {
    const char *obstacle = enter_namespace();
    if (obstacle != NULL) {
        const char *automated = getenv("CI");
        bool must_run = automated != NULL && strcmp(automated, "true") == 0;
        printf("NOT RUN: no namespace of its own here (%s: %s)%s\n", obstacle, strerror(errno),
               must_run ? ", but CI=true asks for it" : "");
        return must_run ? 1 : 0;
    }
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cancel__during_a_lookup_takes_effect_immediately),
        harness_case(timeout__during_a_lookup_is_enforced),
        harness_case(close__during_a_lookup_does_not_wait_for_it),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
