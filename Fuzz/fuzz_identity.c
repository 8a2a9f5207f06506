/// Covers: trust/identity.c
///
/// A client's certificate and key from PEM text. They are accepted completely, or rejected with a reason that reveals
/// neither the key nor its passphrase. No memory and no entry in OpenSSL's error queue is left.
/// Input: a byte (1: the key is separate, 2: there is a passphrase), then pieces: certificates, key.
#include "input.h"

#include "trust/identity.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

enum { IS_APART = 1, HAS_PASSWORD = 2, SECRET_BYTES = 20 };

static const char password[] = "correct horse battery";

/// No line of the key may appear in the message.
static void check_discretion(const nc_error *err, nc_slice key) {
    CHECK(strstr(err->message, password) == NULL);
    for (size_t i = 0; i + SECRET_BYTES <= key.length; i += SECRET_BYTES / 2) {
        CHECK(memmem(err->message, strlen(err->message), key.data + i, SECRET_BYTES) == NULL);
    }
}

static void check_identity(const nc_identity *identity) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    CHECK(context != NULL);
    SSL_CTX_set_security_level(context, NC_TLS_SECURITY_LEVEL);
    CHECK(nc_identity_apply(identity, context));
    CHECK(SSL_CTX_check_private_key(context) == 1);
    CHECK(ERR_peek_error() == 0);
    SSL_CTX_free(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t flags = input_byte(&in);
    nc_slice certificates = input_piece(&in);
    nc_slice key = input_rest(&in);
    const nc_trust_options options = {
        .accepts_anything = true,
        .identity_pem = certificates,
        .identity_key_pem = (flags & IS_APART) != 0 ? key : nc_slice_of(NULL),
        .identity_password = nc_slice_of((flags & HAS_PASSWORD) != 0 ? password : NULL),
    };
    nc_file_ops files = nc_file_ops_system();
    nc_identity *identity = NULL;
    nc_trust *trust = NULL;
    nc_error err;
    nc_status status = nc_trust_new(&trust, &options, &err);
    check_error(&err, status, 0);
    if (status == NC_OK) {
        status = nc_trust_load_identity(&identity, trust, &files, &err);
        check_error(&err, status, 0);
        CHECK(status == NC_OK || status == NC_ERR_TLS_IDENTITY);
        CHECK((identity != NULL) == (status == NC_OK && nc_trust_has_identity(trust)));
        CHECK(ERR_peek_error() == 0);
        check_discretion(&err, (flags & IS_APART) != 0 ? key : certificates);
        if (identity != NULL) {
            check_identity(identity);
        }
        nc_identity_free(identity);
        nc_trust_release(trust);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
