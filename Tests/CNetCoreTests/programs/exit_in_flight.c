/// Exits with TLS transfers in flight: main returns, or a thread calls exit().
///
///     exit_in_flight return|exit-thread|no-sink|released|two-engines MICROSECONDS
///
/// The time is the delay before the exit, so that many runs end at many moments.
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRANSFERS = 12, PATHS = 3 };

// Transfers that are in flight at the exit are not freed, by design. The leak check would report them.
#if defined(__SANITIZE_ADDRESS__)
NC_API const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}
#endif
// TSan would sleep for a second in each exit() to catch late races; 500 exits at 500 moments are a better test. The
// program does not close its engines, so their threads are not joined.
#if defined(__SANITIZE_THREAD__)
NC_API const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "atexit_sleep_ms=0:report_thread_leaks=0";
}
#endif

static const char *const paths[PATHS] = {"/page", "/stalled", "/silent"};

static void fail_program(const char *what) {
    fprintf(stderr, "exit_in_flight: %s\n", what);
    _exit(3);
}

static atomic_uint submitted;
static atomic_uint done;

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)ctx;
    (void)id;
    (void)response;
    (void)error;
    atomic_fetch_add(&done, 1);
}

/// Runs after the engine's own exit handler, which must have ended every loop and every transfer.
static void check_that_all_ended(void) {
    if (atomic_load(&done) != atomic_load(&submitted)) {
        fail_program("exit() went on beside a live loop");
    }
}

static void script(nct_server *server) {
    const nct_reply page = {.pattern_length = 200000, .chunk_bytes = 1000};
    const nct_reply stalled = {.pattern_length = 200000, .is_cut = true, .cut_after = 100000, .ending = NCT_STALL};
    const nct_reply silent = {.is_cut = true, .ending = NCT_STALL};
    if (nct_server_script(server, paths[0], &page) != 0 || nct_server_script(server, paths[1], &stalled) != 0 ||
        nct_server_script(server, paths[2], &silent) != 0) {
        fail_program("no script");
    }
}

static nc_engine *start_engine(const nct_server *server, nc_trust *trust, bool has_sink) {
    nc_engine *engine = NULL;
    const nc_sink sink = {.on_done = on_done};
    if (nc_engine_new(&engine, &(nc_engine_options){.trust = trust, .max_per_host = TRANSFERS}, NULL) != NC_OK) {
        fail_program("no engine");
    }
    for (size_t i = 0; i < TRANSFERS; i++) {
        char url[128];
        nc_transfer_id id;
        (void)snprintf(url, sizeof url, "https://127.0.0.1:%u%s", nct_server_port(server), paths[i % PATHS]);
        nc_request request = {.url = nc_slice_of(url), .http = i % 2 == 0 ? NC_HTTP_AUTO : NC_HTTP_1_1};
        if (nc_engine_submit(engine, &request, has_sink ? &sink : NULL, &id, NULL) != NC_OK) {
            fail_program("no transfer");
        }
        atomic_fetch_add(&submitted, has_sink ? 1 : 0);
    }
    return engine;
}

static void *exit_thread(void *argument) {
    usleep((useconds_t) * (unsigned *)argument);
    exit(0);
}

int main(int count, char **arguments) {
    nct_server *server = NULL;
    nc_trust *trust = NULL;
    pthread_t thread;
    if (count != 3 || atexit(check_that_all_ended) != 0) {
        fail_program("wrong arguments, or no room for an exit handler");
    }
    const char *how = arguments[1];
    unsigned microseconds = (unsigned)strtoul(arguments[2], NULL, 10);
    if (nct_server_start(&server, &(nct_server_options){.identity = NCT_TLS_VALID}) != 0) {
        fail_program("no server");
    }
    const nc_trust_options trusting = {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of(nct_server_ca_pem(server))};
    if (nc_trust_new(&trust, &trusting, NULL) != NC_OK) {
        fail_program("no policy");
    }
    script(server);
    nc_engine *engine = start_engine(server, trust, strcmp(how, "no-sink") != 0);
    if (strcmp(how, "two-engines") == 0) {
        (void)start_engine(server, trust, true);
    }
    if (strcmp(how, "exit-thread") == 0 && pthread_create(&thread, NULL, exit_thread, &microseconds) == 0) {
        (void)pthread_join(thread, NULL);
    }
    usleep(microseconds); // The caller varies the time of the exit.
    if (strcmp(how, "released") == 0) {
        nc_engine_release(engine);
    }
    return 0;
}
