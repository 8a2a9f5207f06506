/// Registers an exit handler, creates an engine and closes it. The exit handler then uses OpenSSL through the library.
/// Exits with 0 if that works.
#include <netcore.h>
#include <stdlib.h>
#include <unistd.h>

static nc_trust *trust;

static void use_openssl(void) {
    nc_digest *digest = NULL;
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    nc_trust_release(trust);
    if (nc_digest_new(&digest, NC_DIGEST_SHA256, NULL) != NC_OK ||
        nc_digest_of(bytes, digest, nc_slice_of("abc"), NULL) != NC_OK || bytes[0] != 0xba) {
        _exit(3);
    }
    nc_digest_free(digest);
}

int main(void) {
    nc_engine *engine = NULL;
    if (atexit(use_openssl) != 0 || nc_engine_new(&engine, NULL, NULL) != NC_OK ||
        nc_trust_new(&trust, NULL, NULL) != NC_OK) {
        return 2;
    }
    return nc_engine_close(engine, NC_UNLIMITED) == NC_OK ? 0 : 1;
}
