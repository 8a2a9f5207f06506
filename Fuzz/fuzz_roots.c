/// Covers: trust/roots.c trust/policy.c
///
/// Authorities from bytes: accepted exactly if at least one certificate was read. No memory is left.
/// Input: the PEM text.
#include "input.h"

#include "trust/policy.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <string.h>

static size_t count_markers(nc_slice pem) {
    static const char marker[] = "-----BEGIN ";
    size_t count = 0;
    nc_slice rest = pem;
    const uint8_t *found;
    while ((found = memmem(rest.data, rest.length, marker, sizeof marker - 1)) != NULL) {
        size_t past = (size_t)(found - rest.data) + sizeof marker - 1;
        rest = nc_slice_make(rest.data + past, rest.length - past);
        count++;
    }
    return count;
}

static void check_load(const nc_trust *trust, nc_slice pem) {
    nc_file_ops files = nc_file_ops_system();
    nc_root_store *store = NULL;
    nc_error err;
    nc_status status = nc_trust_load_roots(&store, trust, &files, &err);
    check_error(&err, status, 0);
    CHECK((store != NULL) == (status == NC_OK));
    CHECK(status == NC_OK || status == NC_ERR_TLS_ROOTS);
    CHECK(ERR_peek_error() == 0); // An error left in the queue would be attributed to the next handshake.
    if (store != NULL) {
        size_t count = (size_t)sk_X509_OBJECT_num(X509_STORE_get0_objects(store));
        CHECK(count > 0 && count <= count_markers(pem));
    }
    nc_trust_free_roots(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_trust_options options = {.roots = NC_ROOTS_BYTES, .ca_pem = input_rest(&in)};
    nc_trust *trust = NULL;
    nc_error err;
    nc_status status = nc_trust_new(&trust, &options, &err);
    check_error(&err, status, 0);
    CHECK((status == NC_OK) == (options.ca_pem.length > 0));
    if (status == NC_OK) {
        check_load(trust, options.ca_pem);
        nc_trust_release(trust);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
