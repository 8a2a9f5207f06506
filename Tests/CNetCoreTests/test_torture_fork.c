/// Programs started during transfers inherit no descriptor of the engine, and children do not disturb the transfers.
#include "torture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STALLED = 20, CHILDREN = 60, BUSY = 16, MAX_KNOWN = 64, LANES = 2, FORBIDDEN = 101 };
enum { MIXED = 100, EXITING = 25, KINDS = 5, UPLOAD_BYTES = 8 * 1024 * 1024, PAGE_BYTES = 20000, PATH_BYTES = 128 };

/// The command line of the child: its path, the known descriptors, NULL.
typedef struct command {
    char program[4096];
    char numbers[MAX_KNOWN][12];
    char *arguments[MAX_KNOWN + 2];
} command;

/// Records the open descriptors before the first engine: a test runner may have inherited some.
static void record_descriptors(command *child) {
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

/// Runs the child; returns the number of libcurl's wake-up sockets that it inherited.
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

static nct_server *scenario_server(nct_identity identity) {
    nct_server *server = torture_start(identity);
    // Each reply ends its connection, so that sockets are opened and closed continuously.
    const nct_reply page = {
        .pattern_length = 20000, .chunk_bytes = 1000, .headers = "Connection: close\r\n", .ending = NCT_CLOSE};
    const nct_reply stalled = {.pattern_length = 2000, .is_cut = true, .cut_after = 900, .ending = NCT_STALL};
    assert_int_equal(nct_server_script(server, "/page", &page), 0);
    assert_int_equal(nct_server_script(server, "/stalled", &stalled), 0);
    return server;
}

static void exec__during_transfers_inherits_no_descriptor(void **state) {
    static command child;
    char plain_url[TORTURE_URL_BYTES];
    char tls_url[TORTURE_URL_BYTES];
    torture_fetch fetch = {0};
    (void)state;
    record_descriptors(&child);
    nct_server *plain = scenario_server(NCT_PLAIN);
    nct_server *tls = scenario_server(NCT_TLS_VALID);
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
    // The parent's transfers are undisturbed.
    nct_server_release_stalled(plain);
    nct_server_release_stalled(tls);
    assert_true(torture_await(&fetch, STALLED, TORTURE_PATIENCE_MS));
    assert_int_equal(fetch.ok_count, STALLED);
    assert_status(nc_engine_close(engine, TORTURE_PATIENCE_MS), NC_OK);
    nc_trust_release(trust);
    nct_server_stop(plain);
    nct_server_stop(tls);
}

/* --- a hundred transfers of five kinds --- */

/// The kinds of the hundred transfers: each is one in five, and pauses in the middle.
typedef enum kind { KIND_PLAIN, KIND_TLS, KIND_SAVED, KIND_UPLOAD, KIND_SAVED_TLS } kind;

typedef struct mixed_transfers {
    nct_server *plain;
    nct_server *tls;
    nc_trust *trust;
    nc_engine *engine;
    torture_fetch fetches[MIXED];
    char directory[64];
    char upload_path[PATH_BYTES];
    char jar_path[PATH_BYTES];
} mixed_transfers;

static bool is_saved(kind of) {
    return of == KIND_SAVED || of == KIND_SAVED_TLS;
}

static void saved_path(const mixed_transfers *all, size_t number, char *path) {
    (void)snprintf(path, PATH_BYTES, "%s/saved-%zu", all->directory, number);
}

static void submit_one(mixed_transfers *all, size_t number) {
    char url[TORTURE_URL_BYTES];
    char path[PATH_BYTES];
    kind of = (kind)(number % KINDS);
    bool is_tls = of == KIND_TLS || of == KIND_SAVED_TLS;
    nc_request request = {.url = torture_url(url, is_tls ? "https" : "http", is_tls ? all->tls : all->plain,
                                             of == KIND_UPLOAD ? "/upload" : "/stalled")};
    saved_path(all, number, path);
    if (is_saved(of)) {
        request.save_path = nc_slice_of(path);
    }
    if (of == KIND_UPLOAD) {
        request.method = nc_slice_of("POST");
        request.body_file = nc_slice_of(all->upload_path);
    }
    all->fetches[number].keeps_response = true;
    (void)torture_submit(all->engine, &request, &all->fetches[number]);
}

static void begin_crowd(mixed_transfers *all) {
    const nct_reply stalled = {.pattern_length = PAGE_BYTES,
                               .headers = "Set-Cookie: a=1; Max-Age=1000\r\n",
                               .is_cut = true,
                               .cut_after = 9000,
                               .ending = NCT_STALL};
    const nct_reply upload = {.pattern_length = PAGE_BYTES, .early = NCT_EARLY_STOP, .is_cut = true};
    *all = (mixed_transfers){.directory = "/tmp/netcore-fork-XXXXXX"};
    assert_non_null(mkdtemp(all->directory));
    (void)snprintf(all->upload_path, PATH_BYTES, "%s/upload", all->directory);
    (void)snprintf(all->jar_path, PATH_BYTES, "%s/jar", all->directory);
    FILE *file = fopen(all->upload_path, "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), UPLOAD_BYTES), 0);
    assert_int_equal(fclose(file), 0);
    all->plain = torture_start(NCT_PLAIN);
    all->tls = torture_start(NCT_TLS_VALID);
    all->trust = torture_trust(all->tls);
    assert_int_equal(nct_server_script(all->plain, "/stalled", &stalled), 0);
    assert_int_equal(nct_server_script(all->plain, "/upload", &upload), 0);
    assert_int_equal(nct_server_script(all->tls, "/stalled", &stalled), 0);
    all->engine = torture_engine(&(nc_engine_options){.trust = all->trust,
                                                      .max_per_host = MIXED,
                                                      .cookies = NC_COOKIES_FILE,
                                                      .cookie_file = nc_slice_of(all->jar_path)});
    for (size_t i = 0; i < MIXED; i++) {
        submit_one(all, i);
    }
    assert_true(nct_server_wait_for_stalled(all->plain, MIXED * 3 / KINDS, TORTURE_PATIENCE_MS));
    assert_true(nct_server_wait_for_stalled(all->tls, MIXED * 2 / KINDS, TORTURE_PATIENCE_MS));
}

static bool is_saved_pattern(const char *path) {
    static uint8_t bytes[PAGE_BYTES + 1];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    return harness_is_pattern(nc_slice_make(bytes, length), PAGE_BYTES);
}

/// Resumes them: all complete with the correct bytes.
static void end_crowd(mixed_transfers *all) {
    nct_server_release_stalled(all->plain);
    nct_server_release_stalled(all->tls);
    for (size_t i = 0; i < MIXED; i++) {
        char path[PATH_BYTES];
        torture_fetch *fetch = &all->fetches[i];
        assert_true(torture_await(fetch, 1, TORTURE_PATIENCE_MS));
        if (fetch->status != NC_OK) {
            fail_msg("number %zu: %s, %s", i, nc_status_name(fetch->status), fetch->message);
        }
        nc_slice body = nc_response_body(fetch->response);
        saved_path(all, i, path);
        assert_true(is_saved((kind)(i % KINDS)) ? is_saved_pattern(path) : harness_is_pattern(body, PAGE_BYTES));
        (void)unlink(path);
        nc_response_release(fetch->response);
    }
    assert_status(nc_engine_close(all->engine, TORTURE_PATIENCE_MS), NC_OK);
    nc_trust_release(all->trust);
    nct_server_stop(all->plain);
    nct_server_stop(all->tls);
    assert_int_equal(unlink(all->upload_path), 0);
    assert_int_equal(unlink(all->jar_path), 0);
    assert_int_equal(rmdir(all->directory), 0);
}

static void exec__during_100_transfers_of_all_kinds_inherits_no_descriptor(void **state) {
    static command child;
    static mixed_transfers all;
    (void)state;
    record_descriptors(&child);
    begin_crowd(&all);
    for (size_t i = 0; i < 5; i++) {
        assert_true(run_child(&child) <= 2 * LANES);
    }
    end_crowd(&all);
}

static bool is_child;

#if defined(__SANITIZE_ADDRESS__)
/// A child lacks the other threads, so their memory looks leaked.
NC_API int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return is_child;
}
#endif

#if defined(__SANITIZE_THREAD__)
/// TSan would sleep for a second in each exit(), to catch late races.
NC_API const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "atexit_sleep_ms=0";
}
#endif

/// The child's exit handler would wait for loops that it lacks, on mutexes that are never unlocked.
static void fork__of_children_that_exit_does_not_disturb_100_transfers_regression_1(void **state) {
    static mixed_transfers all;
    (void)state;
    begin_crowd(&all);
    uint64_t began_ms = torture_now_ms();
    for (size_t i = 0; i < EXITING; i++) {
        int status = 0;
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            is_child = true;
            exit(7);
        }
        // Keeps the loop busy.
        (void)nc_engine_list(all.engine, NULL, 0);
        nc_engine_set_priority(all.engine, 1, NC_PRIORITY_HIGH);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        if (torture_now_ms() - began_ms > TORTURE_PATIENCE_MS) {
            fail_msg("a child takes a second and more to exit");
        }
    }
    end_crowd(&all);
}

/* --- short-lived sockets --- */

/// Submits again inside on_done, so that sockets are opened and closed continuously.
typedef struct resubmitter {
    nc_engine *engine;
    nc_request request;
    nc_sink sink;
    torture_fetch fetch;
    atomic_bool is_over;
} resubmitter;

static void submit_again(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    resubmitter *loop = ctx;
    nc_transfer_id next;
    nc_sink inner = torture_sink(&loop->fetch);
    if (error->status != NC_OK) {
        print_error("%s: %s\n", nc_status_name(error->status), error->message);
    }
    if (atomic_load(&loop->is_over) || error->status != NC_OK ||
        nc_engine_submit(loop->engine, &loop->request, &loop->sink, &next, NULL) != NC_OK) {
        inner.on_done(inner.ctx, id, response, error);
    }
}

static void exec__while_sockets_open_and_close_inherits_no_descriptor(void **state) {
    static command child;
    char url[TORTURE_URL_BYTES];
    resubmitter loop = {.engine = NULL};
    nc_transfer_id id;
    (void)state;
    record_descriptors(&child);
    nct_server *server = scenario_server(NCT_TLS_VALID);
    nc_trust *trust = torture_trust(server);
    loop.engine = torture_engine(&(nc_engine_options){.max_per_host = BUSY});
    loop.request = (nc_request){.url = torture_url(url, "https", server, "/page"), .trust = trust};
    loop.sink = (nc_sink){.ctx = &loop, .on_done = submit_again};
    for (size_t i = 0; i < BUSY; i++) {
        assert_status(nc_engine_submit(loop.engine, &loop.request, &loop.sink, &id, NULL), NC_OK);
    }
    assert_true(nct_server_wait_for_requests(server, BUSY, TORTURE_PATIENCE_MS));
    // On a busy machine children are quicker than handshakes. So the test continues until there were more connections
    // than required children.
    size_t children = 0;
    size_t connections = 0;
    while (children < CHILDREN || connections <= CHILDREN) {
        assert_true(run_child(&child) <= 2 * LANES);
        children++;
        connections = nct_server_connection_count(server);
    }
    atomic_store(&loop.is_over, true);
    assert_true(torture_await(&loop.fetch, BUSY, TORTURE_PATIENCE_MS));
    assert_int_equal(loop.fetch.ok_count, BUSY);
    print_message("%zu children during %zu connections\n", children, connections);
    assert_status(nc_engine_close(loop.engine, TORTURE_PATIENCE_MS), NC_OK);
    nc_trust_release(trust);
    nct_server_stop(server);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(exec__during_transfers_inherits_no_descriptor),
        harness_case(exec__during_100_transfers_of_all_kinds_inherits_no_descriptor),
        harness_case(fork__of_children_that_exit_does_not_disturb_100_transfers_regression_1),
        harness_case(exec__while_sockets_open_and_close_inherits_no_descriptor),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
