/// Opens connections under several policies in turn, and prints the CPU time of each block.
///
/// usage: handshakes URL CA-FILE BLOCKS CONNECTIONS PINS-FILE KEPT-URL
///
/// A block opens CONNECTIONS connections under one policy. Blocks of all policies alternate, so that other load of the
/// machine affects all of them equally. It prints a line for each policy and block: row, block, microseconds.
#include <netcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIMIT_MS = 20000, MAX_PINS = 16, POLICY_COUNT = 5, CLOSED_COUNT = 3 };

static const char decoy[] = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The policies: without rules, with the leaf's pin, with the root's pin. Then the first two on persistent connections.
static const char *const names[POLICY_COUNT] = {"unpinned", "leaf-pin", "root-pin", "kept-unpinned", "kept-leaf-pin"};

/// Pins of the chain as text, the leaf's first.
static char pins[2][64];

static double cpu_us(void) {
    struct timespec used;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

static void fail(const char *what) {
    fprintf(stderr, "handshakes: %s\n", what);
    exit(1);
}

static nc_trust *make(const char *ca_file, int policy) {
    nc_slice list[MAX_PINS];
    for (size_t i = 0; i < MAX_PINS; i++) {
        list[i] = nc_slice_of(decoy);
    }
    list[0] = nc_slice_of(pins[policy == 2 ? 1 : 0]);
    const nc_trust_rule rule = {
        .hosts = nc_slice_of("localhost"), .mode = NC_PIN_PUBLIC_KEY, .pins = list, .pin_count = policy == 0 ? 0 : 2};
    const nc_trust_options options = {.roots = NC_ROOTS_FILE,
                                      .ca_file = nc_slice_of(ca_file),
                                      .rules = policy % 3 == 0 ? NULL : &rule,
                                      .rule_count = policy % 3 == 0 ? 0 : 1};
    nc_trust *trust = NULL;
    nc_error err;
    if (nc_trust_new(&trust, &options, &err) != NC_OK) {
        fail(err.message);
    }
    return trust;
}

static void ask(nc_engine *engine, nc_trust *trust, const char *url) {
    nc_response *response = NULL;
    nc_transfer_id id;
    nc_error err;
    const nc_request request = {.url = nc_slice_of(url), .trust = trust};
    if (nc_engine_submit(engine, &request, NULL, &id, &err) != NC_OK ||
        nc_engine_wait(engine, id, LIMIT_MS, &response, &err) != NC_OK) {
        fail(err.message);
    }
    nc_response_release(response);
}

static void read_pins(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%63s %63s", pins[0], pins[1]) != 2) {
        fail("no pins");
    }
    (void)fclose(file);
}

static void run_block(nc_engine *engine, nc_trust **policies, int i, long block, long connections, const char *url) {
    double before = cpu_us();
    for (long k = 0; k < connections; k++) {
        ask(engine, policies[i], url);
    }
    printf("%s %ld %.3f\n", names[i], block, (cpu_us() - before) / (double)connections);
}

int main(int argc, char **argv) {
    nc_engine *engine = NULL;
    nc_trust *policies[POLICY_COUNT];
    nc_error err;
    if (argc != 7) {
        fail("usage: handshakes URL CA-FILE BLOCKS CONNECTIONS PINS-FILE KEPT-URL");
    }
    long blocks = atol(argv[3]);
    long connections = atol(argv[4]);
    read_pins(argv[5]);
    if (nc_engine_new(&engine, NULL, &err) != NC_OK) {
        fail(err.message);
    }
    for (int i = 0; i < POLICY_COUNT; i++) {
        policies[i] = make(argv[2], i);
        ask(engine, policies[i], i < CLOSED_COUNT ? argv[1] : argv[6]);
    }
    // The order rotates, so that each policy runs equally often as the first, second and third. Persistent connections
    // have separate blocks.
    for (long block = 0; block < blocks; block++) {
        for (int turn = 0; turn < CLOSED_COUNT; turn++) {
            run_block(engine, policies, (int)(block + turn) % CLOSED_COUNT, block, connections, argv[1]);
        }
    }
    for (long block = 0; block < blocks; block++) {
        for (int turn = 0; turn < POLICY_COUNT - CLOSED_COUNT; turn++) {
            int kept = CLOSED_COUNT + (int)(block + turn) % (POLICY_COUNT - CLOSED_COUNT);
            run_block(engine, policies, kept, block, connections, argv[6]);
        }
    }
    for (int i = 0; i < POLICY_COUNT; i++) {
        nc_trust_release(policies[i]);
    }
    return nc_engine_close(engine, LIMIT_MS) == NC_OK ? 0 : 1;
}
