#include "trust/chain.h"

#include "base/error.h"
#include "trust/pem.h"

#include <netcore/trust_verdict.h>
#include <openssl/err.h>

static nc_status refuse(const char *why, int number, nc_error *err) {
    ERR_clear_error();
    return nc_error_set(err, NC_ERR_TLS_CERTIFICATE, 0, -1, why, number);
}

/// Takes ownership of the certificate. NULL means that it could not be read.
static nc_status add(STACK_OF(X509) * chain, X509 *certificate, nc_error *err) {
    int number = sk_X509_num(chain) + 1;
    if (certificate == NULL) {
        return refuse("certificate %d of the chain cannot be read", number, err);
    }
    if (number > (int)NC_CHAIN_MAX_CERTIFICATES) {
        X509_free(certificate);
        return refuse("the chain has more than %d certificates", (int)NC_CHAIN_MAX_CERTIFICATES, err);
    }
    if (sk_X509_push(chain, certificate) <= 0) {
        X509_free(certificate);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a chain");
    }
    return NC_OK;
}

static nc_status add_pem(STACK_OF(X509) * chain, nc_slice bytes, nc_error *err) {
    nc_pem_reader reader;
    nc_status status = nc_pem_open(&reader, bytes, err);
    while (status == NC_OK && nc_pem_next(&reader)) {
        const unsigned char *at = reader.block.bytes;
        // The file may also contain keys.
        if (nc_pem_is_certificate(&reader.block)) {
            status = add(chain, d2i_X509_AUX(NULL, &at, reader.block.length), err);
        }
    }
    if (status == NC_OK && reader.is_broken) {
        status = refuse("PEM block %d of the chain cannot be read", sk_X509_num(chain) + 1, err);
    }
    nc_pem_close(&reader);
    return status;
}

static nc_status add_der(STACK_OF(X509) * chain, nc_slice bytes, nc_error *err) {
    const unsigned char *at = bytes.data;
    const unsigned char *end = bytes.data + bytes.length;
    nc_status status = NC_OK;
    while (status == NC_OK && at < end) {
        status = add(chain, d2i_X509(NULL, &at, (long)(end - at)), err);
    }
    return status;
}

nc_status nc_chain_parse(STACK_OF(X509) * *out, nc_slice bytes, nc_error *err) {
    if (bytes.length == 0 || bytes.length > NC_CHAIN_MAX_BYTES) {
        return refuse(bytes.length == 0 ? "the chain is empty" : "the chain is larger than %d bytes",
                      (int)NC_CHAIN_MAX_BYTES, err);
    }
    STACK_OF(X509) *chain = sk_X509_new_null();
    if (chain == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a chain");
    }
    nc_status status = nc_pem_is_text(bytes) ? add_pem(chain, bytes, err) : add_der(chain, bytes, err);
    if (status == NC_OK && sk_X509_num(chain) == 0) {
        status = refuse("no certificate in the chain", 0, err);
    }
    ERR_clear_error();
    if (status != NC_OK) {
        sk_X509_pop_free(chain, X509_free);
        return status;
    }
    *out = chain;
    return NC_OK;
}
