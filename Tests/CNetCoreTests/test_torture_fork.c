/// Programs started while transfers run inherit none of the engine's descriptors.
#include "torture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STALLED = 20, CHILDREN = 60, BUSY = 16, MAX_KNOWN = 64, LANES = 2, FORBIDDEN = 101 };

/// The command line of the child: its path, what is open already, NULL.
typedef struct command {
    char program[4096];
    char numbers[MAX_KNOWN][12];
    char *arguments[MAX_KNOWN + 2];
} command;

/// Notes what is open before the first engine: a test runner may leave descriptors of its own open.
static void note_known(command *child) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    (void)snprintf(child->program, sizeof child->program, "%s", torture_program("list_descriptors"));
    child->arguments[0] = child->program;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory)) {
            assert_true(count < MAX_KNOWN);
            (void)snprintf(child->numbers[count], sizeof child->numbers[count], "%d", atoi(entry->d_name));
            child->arguments[count + 1] = child->numbers[count];
            count++;
        }
    }
    child->arguments[count + 1] = NULL;
    closedir(directory);
}

/// Runs the child; how many of libcurl's own wake-ups it saw.
static int run_child(command *child) {
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execv(child->program, child->arguments);
        _exit(FORBIDDEN + 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) >= FORBIDDEN) {
        fail_msg("a child inherited descriptors (exit code %d)", WEXITSTATUS(status));
    }
    return WEXITSTATUS(status);
}

static nct_server *scripted_server(nct_identity identity) {
    nct_server *server = torture_start(identity);
    // Each reply ends its connection, so that sockets are opened and closed all the time.
    const nct_reply page = {
        .pattern_length = 20000, .chunk_bytes = 1000, .headers = "Connection: close\r\n", .ending = NCT_CLOSE};
    const nct_reply stalled = {.pattern_length = 2000, .is_cut = true, .cut_after = 900, .ending = NCT_STALL};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    assert_int_equal(nct_server_script(server, "/stalled", &stalled), 0);
    return server;
}

static void exec__during_transfers_hands_no_descriptor_on(void **state) {
    static command child;
    char plain_url[TORTURE_URL_BYTES];
    char tls_url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    note_known(&child);
    nct_server *plain = scripted_server(NCT_PLAIN);
    nct_server *tls = scripted_server(NCT_TLS_VALID);
    nc_trust *trust = torture_trust(tls);
    nc_engine *engine = torture_engine(&(nc_engine_options){.max_per_host = STALLED});
    nc_request first = {.url = torture_url(plain_url, "http", plain, "/stalled")};
    nc_request second = {.url = torture_url(tls_url, "https", tls, "/stalled"), .trust = trust};
    for (size_t i = 0; i < STALLED; i++) {
        (void)torture_submit(engine, i % 2 == 0 ? &first : &second, &fetch);
    }
    assert_true(nct_server_wait_for_stalled(plain, STALLED / 2, TORTURE_PATIENCE_MS));
    assert_true(nct_server_wait_for_stalled(tls, STALLED / 2, TORTURE_PATIENCE_MS));
    int wake_ups = run_child(&child);
    print_message("a child sees %d of libcurl's own wake-up descriptors, nothing else\n", wake_ups);
    assert_true(wake_ups <= 2 * LANES);
    // The parent's transfers are none the worse for it.
    nct_server_release_stalled(plain);
    nct_server_release_stalled(tls);
    assert_true(torture_await(&fetch, STALLED, TORTURE_PATIENCE_MS));
    assert_int_equal(fetch.ok_count, STALLED);
    assert_status(nc_engine_close(engine, TORTURE_PATIENCE_MS), NC_OK);
    nc_trust_release(trust);
    nct_server_stop(plain);
    nct_server_stop(tls);
}

/// Asks again from inside on_done, so that sockets are opened and closed all the time.
typedef struct carousel {
    nc_engine *engine;
    nc_request request;
    nc_sink sink;
    torture_fetch fetch;
    atomic_bool is_over;
} carousel;

static void turn(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    carousel *ride = ctx;
    nc_transfer_id next;
    nc_sink inner = torture_sink(&ride->fetch);
    if (error->status != NC_OK) {
        print_error("%s: %s\n", nc_status_name(error->status), error->message);
    }
    if (atomic_load(&ride->is_over) || error->status != NC_OK ||
        nc_engine_submit(ride->engine, &ride->request, &ride->sink, &next, NULL) != NC_OK) {
        inner.on_done(inner.ctx, id, response, error);
    }
}

static void exec__while_sockets_open_and_close_hands_no_descriptor_on(void **state) {
    static command child;
    char url[TORTURE_URL_BYTES];
    carousel ride = {.engine = NULL};
    nc_transfer_id id;
    (void)state;
    note_known(&child);
    nct_server *server = scripted_server(NCT_TLS_VALID);
    nc_trust *trust = torture_trust(server);
    ride.engine = torture_engine(&(nc_engine_options){.max_per_host = BUSY});
    ride.request = (nc_request){.url = torture_url(url, "https", server, "/page"), .trust = trust};
    ride.sink = (nc_sink){.ctx = &ride, .on_done = turn};
    for (size_t i = 0; i < BUSY; i++) {
        assert_status(nc_engine_submit(ride.engine, &ride.request, &ride.sink, &id, NULL), NC_OK);
    }
    assert_true(nct_server_wait_for_requests(server, BUSY, TORTURE_PATIENCE_MS));
    // On a busy machine children are quicker than handshakes: go on until there were more connections than children
    // are asked for.
    size_t children = 0;
    size_t connections = 0;
    while (children < CHILDREN || connections <= CHILDREN) {
        assert_true(run_child(&child) <= 2 * LANES);
        children++;
        connections = nct_server_connection_count(server);
    }
    atomic_store(&ride.is_over, true);
    assert_true(torture_await(&ride.fetch, BUSY, TORTURE_PATIENCE_MS));
    assert_int_equal(ride.fetch.ok_count, BUSY);
    print_message("%zu children during %zu connections\n", children, connections);
    assert_status(nc_engine_close(ride.engine, TORTURE_PATIENCE_MS), NC_OK);
    nc_trust_release(trust);
    nct_server_stop(server);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(exec__during_transfers_hands_no_descriptor_on),
        harness_case(exec__while_sockets_open_and_close_hands_no_descriptor_on),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
