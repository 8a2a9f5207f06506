/// The loopback servers that the examples of all languages use: one plain, one with TLS.
///
/// usage: server DIRECTORY. Writes DIRECTORY/ca.pem, prints shell assignments, and serves until its input ends.
#include <nettesting.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

enum { FILM_BYTES = 1000000, PATH_BYTES = 4096, PIN_BYTES = 64 };

/// Writes the authority's public key as a pin, which is in every chain that verifies.
static bool pin_of(char *out, size_t capacity, const char *pem) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    unsigned char text[PIN_BYTES];
    unsigned char *der = NULL;
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *certificate = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, NULL, NULL);
    int length = certificate == NULL ? -1 : i2d_PUBKEY(X509_get0_pubkey(certificate), &der);
    if (length > 0) {
        SHA256(der, (size_t)length, digest);
        EVP_EncodeBlock(text, digest, sizeof digest);
        (void)snprintf(out, capacity, "sha256/%s", (const char *)text);
    }
    OPENSSL_free(der);
    X509_free(certificate);
    BIO_free(bio);
    return length > 0;
}

static int script(nct_server *server) {
    static const char good[] = "[{\"id\":1,\"name\":\"Oslo\"},{\"id\":2,\"name\":\"Lima\"}]";
    static const char bad[] = "[{\"id\":1,\"name\":\"Oslo\"},{\"id\":2,\"name\":null}]";
    const char *json = "Content-Type: application/json\r\n";
    const nct_reply cities = {.headers = json, .body = good, .body_length = sizeof good - 1};
    const nct_reply broken = {.headers = json, .body = bad, .body_length = sizeof bad - 1};
    const nct_reply film = {.headers = "ETag: \"1\"\r\n", .pattern_length = FILM_BYTES, .answers_ranges = true};
    // Sends its head and a little of its body, and then nothing.
    const nct_reply slow = {.pattern_length = FILM_BYTES, .is_cut = true, .cut_after = 1000, .ending = NCT_STALL};
    int error = nct_server_script(server, "/cities", &cities);
    error = error == 0 ? nct_server_script(server, "/broken", &broken) : error;
    error = error == 0 ? nct_server_script(server, "/film", &film) : error;
    return error == 0 ? nct_server_script(server, "/slow", &slow) : error;
}

static bool write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && is_written;
}

int main(int argc, char **argv) {
    char path[PATH_BYTES];
    char pin[PIN_BYTES + 8];
    nct_server *plain = NULL;
    nct_server *secure = NULL;
    const nct_server_options tls = {.identity = NCT_TLS_VALID};
    int status = 1;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: server DIRECTORY\n");
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s/ca.pem", argv[1]);
    if (nct_server_start(&plain, NULL) == 0 && nct_server_start(&secure, &tls) == 0 && script(plain) == 0 &&
        script(secure) == 0 && pin_of(pin, sizeof pin, nct_server_ca_pem(secure)) &&
        write_text(path, nct_server_ca_pem(secure))) {
        printf("NETCORE_PLAIN=http://127.0.0.1:%u\n", (unsigned)nct_server_port(plain));
        printf("NETCORE_SECURE=https://localhost:%u\n", (unsigned)nct_server_port(secure));
        printf("NETCORE_CA='%s'\nNETCORE_PIN='%s'\n", path, pin);
        printf("# ready\n");
        (void)fflush(stdout);
        while (getchar() != EOF) {
        }
        status = 0;
    }
    nct_server_stop(plain);
    nct_server_stop(secure);
    return status;
}
