#include "trust/policy.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trust/identity.h"

#include <openssl/crypto.h>
#include <string.h>

/// A path's longest length and its NUL.
enum { MAX_PATH_BYTES = 4096 };

/// Where the options of a kind have their texts.
static const size_t ca_texts[] = {
    offsetof(nc_trust_options, ca_file),
    offsetof(nc_trust_options, ca_pem),
};
static const size_t identity_texts[] = {
    offsetof(nc_trust_options, identity_file),     offsetof(nc_trust_options, identity_key_file),
    offsetof(nc_trust_options, identity_pem),      offsetof(nc_trust_options, identity_key_pem),
    offsetof(nc_trust_options, identity_password),
};
enum {
    CA_TEXT_COUNT = sizeof ca_texts / sizeof *ca_texts,
    IDENTITY_TEXT_COUNT = sizeof identity_texts / sizeof *identity_texts,
};

static nc_slice text_at(const nc_trust_options *options, size_t place) {
    return *(const nc_slice *)(const void *)((const uint8_t *)options + place);
}

static bool has_nul(nc_slice text) {
    return text.length > 0 && memchr(text.data, 0, text.length) != NULL;
}

/* --- checks --- */

static nc_status check_authorities(const nc_trust_options *from, nc_error *err) {
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
    if (from->ca_pem.length > NC_TRUST_MAX_PEM_BYTES || from->ca_file.length >= MAX_PATH_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CA bytes or the CA file's path are too long");
    }
    if (has_nul(from->ca_file)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the CA file's path holds a NUL");
    }
    return NC_OK;
}

static nc_status check_identity(const nc_trust_options *from, nc_error *err) {
    bool has_file = from->identity_file.length > 0;
    bool has_pem = from->identity_pem.length > 0;
    if (has_file && has_pem) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a client certificate comes from a file or from bytes, not both");
    }
    if ((from->identity_key_file.length > 0 && !has_file) || (from->identity_key_pem.length > 0 && !has_pem)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "a key file goes with a client certificate's file, key bytes with its bytes");
    }
    if (from->identity_password.length > 0 && !has_file && !has_pem) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a pass phrase without a client certificate");
    }
    if (from->identity_file.length >= MAX_PATH_BYTES || from->identity_key_file.length >= MAX_PATH_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the path of the client certificate or of its key is too long");
    }
    if (from->identity_pem.length > NC_IDENTITY_MAX_BYTES || from->identity_key_pem.length > NC_IDENTITY_MAX_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the client certificate or its key is larger than 1 MiB");
    }
    if (from->identity_password.length > NC_IDENTITY_MAX_PASSWORD_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the pass phrase is longer than %u bytes",
                            NC_IDENTITY_MAX_PASSWORD_BYTES);
    }
    if (has_nul(from->identity_file) || has_nul(from->identity_key_file) || has_nul(from->identity_password)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "a path or the pass phrase of the client certificate holds a NUL");
    }
    return NC_OK;
}

/* --- copies --- */

/// Makes a policy whose texts at these places are its own; the other texts are empty. The checks bound the sum.
static nc_trust *copy(const nc_trust_options *from, const size_t *places, size_t count) {
    size_t text_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        text_bytes += text_at(from, places[i]).length + 1;
    }
    nc_trust *trust = nc_alloc_zeroed(1, sizeof *trust + text_bytes);
    if (trust == NULL) {
        return NULL;
    }
    atomic_init(&trust->references, 1);
    trust->text_bytes = text_bytes;
    trust->options.roots = from->roots;
    trust->options.min_version = from->min_version;
    trust->options.accepts_anything = from->accepts_anything;
    uint8_t *end = (uint8_t *)(trust + 1);
    for (size_t i = 0; i < count; i++) {
        nc_slice text = text_at(from, places[i]);
        if (text.length > 0) {
            memcpy(end, text.data, text.length);
            *(nc_slice *)(void *)((uint8_t *)&trust->options + places[i]) = nc_slice_make(end, text.length);
        }
        end += text.length + 1;
    }
    return trust;
}

nc_status nc_trust_new(nc_trust **out, const nc_trust_options *options, nc_error *err) {
    static const nc_trust_options defaults = {0};
    const nc_trust_options *from = options != NULL ? options : &defaults;
    nc_status status = check_authorities(from, err);
    status = status == NC_OK ? check_identity(from, err) : status;
    if (status != NC_OK) {
        return status;
    }
    bool has_identity = from->identity_file.length > 0 || from->identity_pem.length > 0;
    nc_trust *trust = copy(from, ca_texts, CA_TEXT_COUNT);
    if (trust != NULL && has_identity) {
        nc_trust *anonymous = trust;
        trust = copy(from, identity_texts, IDENTITY_TEXT_COUNT);
        if (trust == NULL) {
            nc_trust_release(anonymous);
        } else {
            trust->anonymous = anonymous;
            trust->options.ca_file = anonymous->options.ca_file;
            trust->options.ca_pem = anonymous->options.ca_pem;
        }
    }
    if (trust == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a trust policy");
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
        if (trust->anonymous != NULL) {
            OPENSSL_cleanse(trust + 1, trust->text_bytes);
        }
        nc_trust_release(trust->anonymous);
        nc_free(trust);
    }
}

/* --- comparing --- */

/// The time it takes says nothing of where two secrets differ.
static bool is_equal_secret(nc_slice a, nc_slice b) {
    return a.length == b.length && (a.length == 0 || CRYPTO_memcmp(a.data, b.data, a.length) == 0);
}

static bool has_equal_identity(const nc_trust_options *a, const nc_trust_options *b) {
    bool is_equal = true;
    for (size_t i = 0; i < IDENTITY_TEXT_COUNT && is_equal; i++) {
        is_equal = is_equal_secret(text_at(a, identity_texts[i]), text_at(b, identity_texts[i]));
    }
    return is_equal;
}

bool nc_trust_is_equal(const nc_trust *a, const nc_trust *b) {
    return a == b ||
           (a->options.roots == b->options.roots && a->options.min_version == b->options.min_version &&
            a->options.accepts_anything == b->options.accepts_anything &&
            nc_slice_is_equal(a->options.ca_file, b->options.ca_file) &&
            nc_slice_is_equal(a->options.ca_pem, b->options.ca_pem) && has_equal_identity(&a->options, &b->options));
}

bool nc_trust_has_identity(const nc_trust *trust) {
    return trust->anonymous != NULL;
}

nc_trust *nc_trust_without_identity(nc_trust *trust) {
    return nc_trust_retain(trust->anonymous != NULL ? trust->anonymous : trust);
}
