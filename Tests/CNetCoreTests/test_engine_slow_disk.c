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
typedef struct scene {
    fixture f;
    driven time;
    slow_files files;
    place at;
    nc_request request;
} scene;

static void begin(scene *on, nct_identity identity) {
    const nct_server_options server = {.identity = identity};
    *on = (scene){.time = driven_begin(), .at = place_make()};
    on->files = (slow_files){nc_file_ops_system(), nc_file_ops_system(), GATE_INIT, GATE_INIT};
    on->files.ops.ctx = &on->files;
    on->files.ops.open = open_late;
    driven_start_with(&on->f, &on->time, &server, (nc_engine_options){.file_ops = &on->files.ops});
    fixture_script(&on->f, "/x", (nct_reply){.body = "x", .body_length = 1});
    on->request = fixture_request(&on->f, "/x");
    on->request.limits.connect_ms = CONNECT_MS;
    on->request.limits.slot_ms = CONNECT_MS; // its timer may fire after the slot is free, and then finds another limit
}

static void end(scene *on) {
    fixture_stop(&on->f);
    place_remove(&on->at);
}

static void ask_for_a_save(scene *on) {
    on->request.save_path = nc_slice_of(fixture_text(&on->f, "%s/saved", on->at.root));
}

static void ask_for_authorities(scene *on) {
    const char *path = fixture_text(&on->f, "%s/ca.pem", on->at.root);
    place_write(path, nc_slice_of(nct_server_ca_pem(on->f.server)));
    const nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)};
    on->request.trust = fixture_trust(&on->f, &options);
}

/// Sends a request, and delays the disk beyond the connect limit.
static answer send_late(scene *on) {
    nc_transfer_id id = fixture_submit(&on->f, &on->request);
    gate_wait(&on->files.is_asked);
    driven_advance(&on->time, on->f.engine, LONGER_MS);
    driven_advance(&on->time, on->f.engine, 1); // The round before has looked at its timers.
    gate_open(&on->files.may_open);
    return fixture_wait(&on->f, id);
}

static void engine__opening_files_is_not_connecting(void **state) {
    scene on;
    (void)state;
    begin(&on, NCT_PLAIN);
    ask_for_a_save(&on);
    assert_answered(send_late(&on), 200, "");
    end(&on);
}

static void engine__reading_authorities_is_not_connecting(void **state) {
    scene on;
    (void)state;
    begin(&on, NCT_TLS_VALID);
    ask_for_authorities(&on);
    assert_answered(send_late(&on), 200, "x");
    end(&on);
}

static void engine__a_slow_disk_counts_against_the_total(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        scene on;
        begin(&on, i == 0 ? NCT_PLAIN : NCT_TLS_VALID);
        (i == 0 ? ask_for_a_save : ask_for_authorities)(&on);
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
        harness_case(engine__opening_files_is_not_connecting),
        harness_case(engine__reading_authorities_is_not_connecting),
        harness_case(engine__a_slow_disk_counts_against_the_total),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
