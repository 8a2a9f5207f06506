/// PEM blocks one after the other, and whether bytes are PEM at all.
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
    bool is_broken; // a block could not be decoded
} nc_pem_reader;

/// Whether there is the beginning of a block somewhere.
bool nc_pem_is_text(nc_slice bytes);

/// Begins to read; the bytes are borrowed. NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_pem_open(nc_pem_reader *out, nc_slice bytes, nc_error *err);
/// Goes on to the next block; false at the end, and when one is broken.
bool nc_pem_next(nc_pem_reader *reader);
/// Frees what it holds; legal after a failed open.
void nc_pem_close(nc_pem_reader *reader);

/// Whether the block is a certificate, by any of its names.
bool nc_pem_is_certificate(const nc_pem_block *block);

#endif
