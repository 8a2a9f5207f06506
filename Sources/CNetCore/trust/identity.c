#include "trust/identity.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trust/pem.h"
#include "trust/policy.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

/// PEM text, with a name for messages.
typedef struct pem_source {
    nc_slice text;
    nc_buf file; // the bytes of a file; wiped after use
    char name[160];
} pem_source;

/// One block of PEM text, decoded.
typedef struct pem_block {
    char *name;
    char *header;
    unsigned char *bytes;
    long length;
    nc_slice text; // the block in the source, and the text between it and the previous block
} pem_block;

/// The reason for a failure of OpenSSL.
typedef struct openssl_error {
    const char *reason;
    bool is_end;       // there is no further block
    bool is_memory;    // OpenSSL ran out of memory
    bool is_algorithm; // OpenSSL lacks the algorithm
} openssl_error;

/// The pass phrase for the callback, and whether the callback was called.
typedef struct pass_phrase {
    const nc_trust_options *options;
    bool was_requested;
    bool is_known;
} pass_phrase;

static const char no_memory[] = "no memory for the client certificate";

/* --- errors of OpenSSL --- */

/// Removes all errors from OpenSSL's error queue and returns the reason. A remaining error would be reported for the
/// next handshake.
static openssl_error take_openssl_error(void) {
    openssl_error out = {.reason = NULL};
    unsigned long code;
    while ((code = ERR_get_error()) != 0) {
        int reason = ERR_GET_REASON(code);
        out.is_end = ERR_GET_LIB(code) == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE;
        out.is_memory = out.is_memory || reason == ERR_R_MALLOC_FAILURE;
        out.is_algorithm = out.is_algorithm || (ERR_GET_LIB(code) == ERR_LIB_EVP && reason == ERR_R_UNSUPPORTED);
        out.reason = ERR_reason_error_string(code);
    }
    out.reason = out.reason != NULL ? out.reason : "unknown reason";
    return out;
}

/* --- sources --- */

static nc_status open_source(pem_source *out, const nc_slice *path, const nc_slice *text, const nc_file_ops *ops,
                             nc_error *err) {
    if (path->length == 0) {
        out->text = *text;
        (void)snprintf(out->name, sizeof out->name, "the given bytes");
        return NC_OK;
    }
    (void)snprintf(out->name, sizeof out->name, "the file '%.128s'", (const char *)path->data);
    out->file = nc_buf_init(NC_IDENTITY_MAX_BYTES);
    // Reserve the maximum in one allocation, because a growing buffer would leave copies of the key in freed memory.
    nc_status status = nc_buf_reserve(&out->file, NC_IDENTITY_MAX_BYTES);
    if (status == NC_OK) {
        status = nc_file_read_all(&out->file, ops, (const char *)path->data, err);
    }
    if (status == NC_ERR_NO_MEMORY) {
        return nc_error_set(err, status, 0, -1, no_memory);
    }
    if (status == NC_ERR_TOO_LARGE) {
        return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "cannot read %s: larger than 1 MiB", out->name);
    }
    if (status != NC_OK) {
        return nc_error_set(err, NC_ERR_TLS_IDENTITY, err->native_code, -1, "cannot read %s: %s", out->name,
                            strerror(err->native_code));
    }
    out->text = nc_buf_slice(&out->file);
    return NC_OK;
}

static void close_source(pem_source *source) {
    if (source->file.data != NULL) {
        OPENSSL_cleanse(source->file.data, source->file.capacity);
        nc_buf_deinit(&source->file);
    }
}

/* --- blocks --- */

static void clear_block(pem_block *block) {
    OPENSSL_secure_free(block->name);
    OPENSSL_secure_free(block->header);
    if (block->bytes != NULL) {
        OPENSSL_secure_clear_free(block->bytes, (size_t)block->length);
    }
    *block = (pem_block){.name = NULL};
}

/// Reads the next block. Returns false at the end of the text (`*status` is then NC_OK) and after a failure.
static bool next_block(pem_block *block, BIO *bio, const pem_source *source, nc_status *status, nc_error *err) {
    size_t from = source->text.length - BIO_ctrl_pending(bio);
    clear_block(block);
    ERR_clear_error();
    // PEM_FLAG_SECURE makes OpenSSL wipe the memory of the block.
    if (PEM_read_bio_ex(bio, &block->name, &block->header, &block->bytes, &block->length,
                        PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE) == 1) {
        size_t to = source->text.length - BIO_ctrl_pending(bio);
        block->text = nc_slice_make(source->text.data + from, to - from);
        return true;
    }
    openssl_error failure = take_openssl_error();
    if (failure.is_memory) {
        *status = nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    } else if (!failure.is_end) {
        *status = nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "a PEM block in %s cannot be read: %s", source->name,
                               failure.reason);
    }
    return false;
}

static BIO *open_bio(nc_slice text) {
    // OpenSSL refuses a NULL pointer, even with length 0.
    return BIO_new_mem_buf(text.data != NULL ? (const void *)text.data : "", (int)text.length);
}

/* --- certificates --- */

static bool is_certificate(const pem_block *block) {
    return strcmp(block->name, PEM_STRING_X509) == 0 || strcmp(block->name, PEM_STRING_X509_OLD) == 0 ||
           strcmp(block->name, PEM_STRING_X509_TRUSTED) == 0;
}

static nc_status add_certificate(nc_identity *identity, const pem_block *block, const pem_source *source,
                                 nc_error *err) {
    const unsigned char *bytes = block->bytes;
    X509 *certificate = d2i_X509_AUX(NULL, &bytes, block->length);
    if (certificate != NULL && identity->leaf == NULL) {
        identity->leaf = certificate;
        return NC_OK;
    }
    if (certificate != NULL && sk_X509_push(identity->chain, certificate) > 0) {
        return NC_OK;
    }
    bool is_memory = certificate != NULL;
    openssl_error failure = take_openssl_error();
    X509_free(certificate);
    if (is_memory || failure.is_memory) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    }
    return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "certificate %d in %s cannot be read: %s",
                        identity->leaf == NULL ? 1 : sk_X509_num(identity->chain) + 2, source->name, failure.reason);
}

static nc_status read_certificates(nc_identity *identity, const pem_source *source, nc_error *err) {
    nc_status status = NC_OK;
    pem_block block = {.name = NULL};
    BIO *bio = open_bio(source->text);
    identity->chain = sk_X509_new_null();
    if (bio == NULL || identity->chain == NULL) {
        status = nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    }
    while (status == NC_OK && next_block(&block, bio, source, &status, err)) {
        if (is_certificate(&block)) {
            status = add_certificate(identity, &block, source, err);
        }
    }
    clear_block(&block);
    BIO_free(bio);
    if (status == NC_OK && identity->leaf == NULL) {
        status = nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "no certificate in %s", source->name);
    }
    return status;
}

/* --- the key --- */

/// Supplies the pass phrase to OpenSSL. Without a callback OpenSSL would prompt on the terminal or read standard input.
static int supply_pass_phrase(char *buffer, int bytes, int is_writing, void *ctx) {
    pass_phrase *phrase = ctx;
    (void)is_writing;
    phrase->was_requested = true;
    size_t length = bytes > 0 ? nc_identity_pass_phrase(buffer, (size_t)bytes, phrase->options) : 0;
    phrase->is_known = length > 0;
    return phrase->is_known ? (int)length : -1;
}

/// Returns true for a "PRIVATE KEY" block. The name of an algorithm or "ENCRYPTED" may precede the words.
static bool is_key(const pem_block *block) {
    static const char ending[] = "PRIVATE KEY";
    size_t length = strlen(block->name);
    size_t before = length - (sizeof ending - 1);
    return length >= sizeof ending - 1 && strcmp(block->name + before, ending) == 0 &&
           (before == 0 || block->name[before - 1] == ' ');
}

/// Describes why OpenSSL returned no key. With a wrong pass phrase the decryption may seem to succeed and give garbage.
/// So every failure after a pass phrase was requested is reported as a wrong pass phrase, except a missing algorithm.
static nc_status explain_key(const pass_phrase *phrase, const char *name, nc_error *err) {
    openssl_error failure = take_openssl_error();
    if (failure.is_memory) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    }
    if (phrase->was_requested && !phrase->is_known) {
        return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "the pass phrase of the private key in %s is missing",
                            name);
    }
    if (phrase->was_requested && !failure.is_algorithm) {
        return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "the pass phrase of the private key in %s is wrong", name);
    }
    return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "the private key in %s cannot be read: %s", name,
                        failure.reason);
}

static nc_status decode_key(nc_identity *identity, nc_slice text, pass_phrase *phrase, const char *name,
                            nc_error *err) {
    BIO *bio = open_bio(text);
    if (bio == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    }
    identity->key = PEM_read_bio_PrivateKey(bio, NULL, supply_pass_phrase, phrase);
    nc_status status = identity->key != NULL ? NC_OK : explain_key(phrase, name, err);
    BIO_free(bio);
    return status;
}

/// Reads the first private key of a source.
static nc_status read_key(nc_identity *identity, const pem_source *source, const nc_trust_options *options,
                          nc_error *err) {
    nc_status status = NC_OK;
    pem_block block = {.name = NULL};
    pass_phrase phrase = {.options = options};
    BIO *bio = open_bio(source->text);
    if (bio == NULL) {
        status = nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    }
    while (status == NC_OK && identity->key == NULL && next_block(&block, bio, source, &status, err)) {
        if (is_key(&block)) {
            status = decode_key(identity, block.text, &phrase, source->name, err);
        }
    }
    clear_block(&block);
    BIO_free(bio);
    if (status == NC_OK && identity->key == NULL) {
        status = nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "no private key in %s", source->name);
    }
    return status;
}

/* --- the whole --- */

static bool apply(const nc_identity *identity, SSL_CTX *context) {
    ERR_clear_error();
    return SSL_CTX_use_cert_and_key(context, identity->leaf, identity->key, identity->chain, 1) == 1;
}

/// Makes the checks that a connection would make later, because the message can name the reason here.
static nc_status check(const nc_identity *identity, const char *name, nc_error *err) {
    if (X509_check_private_key(identity->leaf, identity->key) != 1) {
        openssl_error failure = take_openssl_error();
        return failure.is_memory ? nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory)
                                 : nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1,
                                                "the private key does not belong to the first certificate in %s", name);
    }
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    nc_status status = NC_OK;
    if (context == NULL) {
        status = nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    } else {
        SSL_CTX_set_security_level(context, NC_TLS_SECURITY_LEVEL);
    }
    if (status == NC_OK && !apply(identity, context)) {
        openssl_error failure = take_openssl_error();
        status = failure.is_memory
                     ? nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, no_memory)
                     : nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "the client certificate in %s cannot be used: %s",
                                    name, failure.reason);
    }
    SSL_CTX_free(context);
    return status;
}

static nc_status fill(nc_identity *identity, const nc_trust_options *options, const nc_file_ops *ops, nc_error *err) {
    bool is_separate = options->identity_key_file.length > 0 || options->identity_key_pem.length > 0;
    pem_source certificates = {.text = {NULL, 0}};
    pem_source apart = {.text = {NULL, 0}};
    nc_status status = open_source(&certificates, &options->identity_file, &options->identity_pem, ops, err);
    if (status == NC_OK && is_separate) {
        status = open_source(&apart, &options->identity_key_file, &options->identity_key_pem, ops, err);
    }
    if (status == NC_OK && nc_bundle_is_one(certificates.text) && !is_separate) {
        status = nc_bundle_read(identity, certificates.text, options, certificates.name, err);
    } else if (status == NC_OK) {
        status = read_certificates(identity, &certificates, err);
        status = status == NC_OK ? read_key(identity, is_separate ? &apart : &certificates, options, err) : status;
    }
    if (status == NC_OK) {
        status = check(identity, certificates.name, err);
    }
    close_source(&certificates);
    close_source(&apart);
    ERR_clear_error();
    return status;
}

nc_status nc_trust_load_identity(nc_identity **out, const nc_trust *trust, const nc_file_ops *ops, nc_error *err) {
    nc_error detail;
    if (!nc_trust_has_identity(trust)) {
        *out = NULL;
        return nc_error_clear(err);
    }
    nc_identity *identity = nc_alloc_zeroed(1, sizeof *identity);
    nc_status status = identity != NULL ? fill(identity, &trust->options, ops, &detail)
                                        : nc_error_set(&detail, NC_ERR_NO_MEMORY, 0, -1, no_memory);
    if (status == NC_OK) {
        *out = identity;
        return nc_error_clear(err);
    }
    nc_identity_free(identity);
    if (err != NULL) {
        *err = detail;
    }
    return status;
}

bool nc_identity_apply(const nc_identity *identity, SSL_CTX *context) {
    bool is_applied = apply(identity, context);
    ERR_clear_error();
    return is_applied;
}

void nc_identity_free(nc_identity *identity) {
    if (identity != NULL) {
        X509_free(identity->leaf);
        sk_X509_pop_free(identity->chain, X509_free);
        EVP_PKEY_free(identity->key);
        nc_free(identity);
    }
}
