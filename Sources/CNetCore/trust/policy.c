#include "trust/policy.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

nc_status nc_trust_new(nc_trust **out, const nc_trust_options *options, nc_error *err) {
    static const nc_trust_options defaults = {0};
    const nc_trust_options *from = options != NULL ? options : &defaults;
    bool wants_file = from->roots == NC_ROOTS_FILE;
    bool wants_bytes = from->roots == NC_ROOTS_BYTES;
    if (!wants_file && !wants_bytes && from->roots != NC_ROOTS_SYSTEM) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown source of authorities %d", (int)from->roots);
    }
    if (from->min_version != NC_TLS_1_2 && from->min_version != NC_TLS_1_3) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown TLS version %d", (int)from->min_version);
    }
    if (wants_file != (from->ca_file.length > 0) || wants_bytes != (from->ca_pem.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "a CA file goes with NC_ROOTS_FILE, CA bytes with NC_ROOTS_BYTES");
    }
    if (from->ca_pem.length > NC_TRUST_MAX_PEM_BYTES || from->ca_file.length >= 4096) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CA bytes or the CA file's path are too long");
    }
    if (wants_file && memchr(from->ca_file.data, 0, from->ca_file.length) != NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CA file's path holds a NUL");
    }
    nc_trust *trust = nc_alloc_zeroed(1, sizeof *trust + from->ca_file.length + 1 + from->ca_pem.length);
    if (trust == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a trust policy");
    }
    atomic_init(&trust->references, 1);
    trust->options = *from;
    uint8_t *text = (uint8_t *)(trust + 1);
    if (wants_file) {
        memcpy(text, from->ca_file.data, from->ca_file.length);
        trust->options.ca_file.data = text;
    }
    if (wants_bytes) {
        memcpy(text + from->ca_file.length + 1, from->ca_pem.data, from->ca_pem.length);
        trust->options.ca_pem.data = text + from->ca_file.length + 1;
    }
    *out = trust;
    return nc_error_clear(err);
}

nc_trust *nc_trust_retain(nc_trust *trust) {
    atomic_fetch_add_explicit(&trust->references, 1, memory_order_relaxed);
    return trust;
}

void nc_trust_release(nc_trust *trust) {
    if (trust != NULL && atomic_fetch_sub_explicit(&trust->references, 1, memory_order_acq_rel) == 1) {
        nc_free(trust);
    }
}

bool nc_trust_is_equal(const nc_trust *a, const nc_trust *b) {
    return a == b || (a->options.roots == b->options.roots && a->options.min_version == b->options.min_version &&
                      a->options.accepts_anything == b->options.accepts_anything &&
                      nc_slice_is_equal(a->options.ca_file, b->options.ca_file) &&
                      nc_slice_is_equal(a->options.ca_pem, b->options.ca_pem));
}
