/// Prints the MD5 and SHA-256 of "abc" in a process whose OpenSSL may be limited to FIPS algorithms. First prints if
/// plain OpenSSL still has MD5. The caller sets OPENSSL_CONF.
#include <netcore.h>
#include <openssl/evp.h>
#include <stdio.h>

static void print(nc_digest_kind kind, const char *name) {
    nc_digest *digest = NULL;
    nc_error err;
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    nc_status status = nc_digest_new(&digest, kind, &err);
    if (status == NC_OK) {
        status = nc_digest_of(bytes, digest, nc_slice_of("abc"), &err);
    }
    if (status != NC_OK) {
        printf("%s %s %s\n", name, nc_status_name(status), err.message);
        nc_digest_free(digest);
        return;
    }
    nc_buf text = nc_buf_init(100);
    nc_hex_encode(&text, nc_slice_make(bytes, nc_digest_bytes(kind)));
    printf("%s %.*s\n", name, (int)text.length, (const char *)text.data);
    nc_buf_deinit(&text);
    nc_digest_free(digest);
}

int main(void) {
    EVP_MD *plain = EVP_MD_fetch(NULL, "MD5", NULL);
    printf("plain %s\n", plain != NULL ? "yes" : "no");
    EVP_MD_free(plain);
    print(NC_DIGEST_MD5, "md5");
    print(NC_DIGEST_SHA256, "sha256");
    return 0;
}
