/// A slow disk is not the network: no network limit ends a transfer that waits for the disk.
#include "driven.h"
#include "faulty.h"
#include "fixture.h"

#include <string.h>

enum { CONNECT_MS = 5000, LONGER_MS = 6000, TOTAL_MS = 5500 };

/// Files whose open() waits at a gate.
typedef struct slow_files {
    nc_file_ops ops; // its ctx is this struct, which must not move
    nc_file_ops system;
    gate is_asked;
    gate may_open;
} slow_files;

static int open_late(void *ctx, const char *path, int flags, mode_t mode) {
    slow_files *files = ctx;
    gate_open(&files->is_asked);
    gate_wait(&files->may_open);
    return files->system.open(files->system.ctx, path, flags, mode);
}

/// Shared by most cases: an engine with a driven clock and a slow disk.
typedef struct slow_disk_fixture {
    fixture f;
    manual_clock time;
    slow_files files;
    temp_directory at;
    nc_request request;
} slow_disk_fixture;

static void begin(slow_disk_fixture *on, nct_identity identity) {
    const nct_server_options server = {.identity = identity};
    *on = (slow_disk_fixture){.time = manual_clock_make(), .at = temp_directory_make()};
    on->files = (slow_files){nc_file_ops_system(), nc_file_ops_system(), GATE_INIT, GATE_INIT};
    on->files.ops.ctx = &on->files;
    on->files.ops.open = open_late;
    manual_clock_start_fixture_with(&on->f, &on->time, &server, (nc_engine_options){.file_ops = &on->files.ops});
    fixture_script(&on->f, "/x", (nct_reply){.body = "x", .body_length = 1});
    on->request = fixture_request(&on->f, "/x");
    on->request.limits.connect_ms = CONNECT_MS;
    on->request.limits.slot_ms = CONNECT_MS; // this timer may fire late, when the connect limit applies
}

static void end(slow_disk_fixture *on) {
    fixture_stop(&on->f);
    temp_directory_remove(&on->at);
}

static void save_body(slow_disk_fixture *on) {
    on->request.save_path = nc_slice_of(fixture_text(&on->f, "%s/saved", on->at.root));
}

static void use_authorities_file(slow_disk_fixture *on) {
    const char *path = fixture_text(&on->f, "%s/ca.pem", on->at.root);
    temp_file_write(path, nc_slice_of(nct_server_ca_pem(on->f.server)));
    const nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    on->request.trust = fixture_trust(&on->f, &options);
}

/// Sends a request, and delays the disk beyond the connect limit.
static answer send_late(slow_disk_fixture *on) {
    nc_transfer_id id = fixture_submit(&on->f, &on->request);
    gate_wait(&on->files.is_asked);
    manual_clock_advance(&on->time, on->f.engine, LONGER_MS);
    manual_clock_advance(&on->time, on->f.engine, 1); // returns when the loop has checked its timers after LONGER_MS
    gate_open(&on->files.may_open);
    return fixture_wait(&on->f, id);
}

static void engine__opening_files_does_not_count_toward_the_connect_timeout(void **state) {
    slow_disk_fixture on;
    (void)state;
    begin(&on, NCT_PLAIN);
    save_body(&on);
    assert_response(send_late(&on), 200, "");
    end(&on);
}

static void engine__reading_ca_certificates_does_not_count_toward_the_connect_timeout(void **state) {
    slow_disk_fixture on;
    (void)state;
    begin(&on, NCT_TLS_VALID);
    use_authorities_file(&on);
    assert_response(send_late(&on), 200, "x");
    end(&on);
}

static void engine__a_slow_disk_counts_toward_the_total_timeout(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        slow_disk_fixture on;
        begin(&on, i == 0 ? NCT_PLAIN : NCT_TLS_VALID);
        (i == 0 ? save_body : use_authorities_file)(&on);
        on.request.limits.total_ms = TOTAL_MS;
        answer one = send_late(&on);
        assert_status(one.error.status, NC_ERR_TOTAL_TIMED_OUT);
        assert_int_equal(nct_server_connection_count(on.f.server), 0);
        end(&on);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__opening_files_does_not_count_toward_the_connect_timeout),
        harness_case(engine__reading_ca_certificates_does_not_count_toward_the_connect_timeout),
        harness_case(engine__a_slow_disk_counts_toward_the_total_timeout),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
