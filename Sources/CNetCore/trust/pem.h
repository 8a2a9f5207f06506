/// Reads the blocks of a PEM text, and certificate chains in PEM or DER.
#ifndef NETCORE_PRIVATE_PEM_H
#define NETCORE_PRIVATE_PEM_H

#include <netcore/bytes.h>
#include <netcore/status.h>
#include <openssl/x509.h>

/// One block, decoded.
typedef struct nc_pem_block {
    char *name;
    char *header;
    unsigned char *bytes;
    long length;
} nc_pem_block;

typedef struct nc_pem_reader {
    BIO *bio;
    nc_pem_block block;
    bool is_broken; // true if a block could not be decoded
} nc_pem_reader;

/// Returns true if the bytes contain the beginning of a PEM block.
bool nc_pem_is_text(nc_slice bytes);

/// Opens a reader on borrowed bytes. Fails with NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_pem_open(nc_pem_reader *out, nc_slice bytes, nc_error *err);
/// Reads the next block. Returns false at the end, and at a malformed block (`is_broken`).
bool nc_pem_next(nc_pem_reader *reader);
/// Frees the reader's memory. Allowed after a failed open.
void nc_pem_close(nc_pem_reader *reader);

/// Returns true if the block is a certificate, under any of its PEM names.
bool nc_pem_is_certificate(const nc_pem_block *block);

/// Parses a chain of at least one certificate from untrusted bytes: PEM, or concatenated DER. The caller owns `*out`.
///
/// Fails with NC_ERR_TLS_CERTIFICATE and the reason in `err`, or with NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_chain_parse(STACK_OF(X509) * *out, nc_slice bytes, nc_error *err);

#endif
