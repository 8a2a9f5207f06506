#include "trust/pem.h"

#include "base/error.h"

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
