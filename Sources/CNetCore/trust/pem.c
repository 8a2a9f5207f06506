#include "trust/pem.h"

#include "base/error.h"

#include <netcore/trust_result.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

bool nc_pem_is_text(nc_slice bytes) {
    static const char mark[] = "-----BEGIN ";
    size_t length = sizeof mark - 1;
    for (size_t i = 0; i + length <= bytes.length; i++) {
        if (bytes.data[i] == '-' && memcmp(bytes.data + i, mark, length) == 0) {
            return true;
        }
    }
    return false;
}

nc_status nc_pem_open(nc_pem_reader *out, nc_slice bytes, nc_error *err) {
    *out =
        (nc_pem_reader){.bio = BIO_new_mem_buf(bytes.data != NULL ? (const void *)bytes.data : "", (int)bytes.length)};
    return out->bio != NULL ? NC_OK : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to read certificates");
}

static void clear(nc_pem_block *block) {
    OPENSSL_free(block->name);
    OPENSSL_free(block->header);
    OPENSSL_free(block->bytes);
    *block = (nc_pem_block){0};
}

bool nc_pem_next(nc_pem_reader *reader) {
    nc_pem_block *block = &reader->block;
    clear(block);
    ERR_clear_error();
    if (PEM_read_bio_ex(reader->bio, &block->name, &block->header, &block->bytes, &block->length,
                        PEM_FLAG_EAY_COMPATIBLE) == 1) {
        return true;
    }
    unsigned long reason = ERR_peek_last_error();
    reader->is_broken = ERR_GET_LIB(reason) != ERR_LIB_PEM || ERR_GET_REASON(reason) != PEM_R_NO_START_LINE;
    ERR_clear_error();
    return false;
}

void nc_pem_close(nc_pem_reader *reader) {
    clear(&reader->block);
    BIO_free(reader->bio);
    reader->bio = NULL;
}

bool nc_pem_is_certificate(const nc_pem_block *block) {
    return strcmp(block->name, PEM_STRING_X509) == 0 || strcmp(block->name, PEM_STRING_X509_OLD) == 0 ||
           strcmp(block->name, PEM_STRING_X509_TRUSTED) == 0;
}

/* --- a chain from untrusted bytes --- */

static nc_status refuse(const char *why, int number, nc_error *err) {
    ERR_clear_error();
    return nc_error_set(err, NC_ERR_TLS_CERTIFICATE, 0, -1, why, number);
}

/// Adds a certificate, which the chain then owns. NULL means that it could not be parsed.
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
        // Other blocks, such as keys, are ignored.
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
