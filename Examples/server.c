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
    const char *json = "Content-Type: application/json\r\nCache-Control: max-age=60\r\n";
    const nct_reply cities = {.headers = json, .body = good, .body_length = sizeof good - 1};
    const nct_reply broken = {.headers = json, .body = bad, .body_length = sizeof bad - 1};
    const nct_reply film = {.headers = "ETag: \"1\"\r\n", .pattern_length = FILM_BYTES, .answers_ranges = true};
    // Sends its head and a little of its body, and then nothing.
    const nct_reply slow = {.pattern_length = FILM_BYTES, .is_cut = true, .cut_after = 1000, .ending = NCT_STALL};
    const nct_reply once_unavailable[] = {{.status = 503}, cities};
    int error = nct_server_script(server, "/cities", &cities);
    error = error == 0 ? nct_server_script_sequence(server, "/flaky", once_unavailable, 2) : error;
    error = error == 0 ? nct_server_script(server, "/broken", &broken) : error;
    error = error == 0 ? nct_server_script(server, "/film", &film) : error;
    return error == 0 ? nct_server_script(server, "/slow", &slow) : error;
}

/// WebSockets: an echo, and those that end in each way.
static int script_sockets(nct_server *server) {
#define TEXT(text)                                                                                                     \
    { .action = NCT_SOCKET_TEXT, .bytes = (text), .length = sizeof(text) - 1 }
    static const nct_socket_step echo[] = {{.action = NCT_SOCKET_ECHO}};
    static const nct_socket_step news[] = {
        TEXT("one"),
        {.action = NCT_SOCKET_BINARY, .bytes = "\0\1", .length = 2},
        {.action = NCT_SOCKET_PING},
        {.action = NCT_SOCKET_CLOSE, .code = 1000},
    };
    static const nct_socket_step full[] = {{.action = NCT_SOCKET_CLOSE, .code = 4001, .bytes = "full", .length = 4}};
    static const nct_socket_step malformed[] = {{.action = NCT_SOCKET_BYTES, .bytes = "\xff\0", .length = 2}};
    static const nct_socket_step cut[] = {TEXT("one"), {.action = NCT_SOCKET_END}};
    static const nct_socket_step quiet[] = {{.action = NCT_SOCKET_WAIT}};
    const struct {
        const char *path;
        nct_reply reply;
    } sockets[] = {
        {"/chat", {.socket_steps = echo, .socket_step_count = 1}},
        {"/chat/v2", {.socket_steps = echo, .socket_step_count = 1, .headers = "Sec-WebSocket-Protocol: v2\r\n"}},
        {"/news", {.socket_steps = news, .socket_step_count = 4}},
        {"/full", {.socket_steps = full, .socket_step_count = 1}},
        {"/malformed", {.socket_steps = malformed, .socket_step_count = 1}},
        {"/cut", {.socket_steps = cut, .socket_step_count = 2}},
        {"/quiet", {.socket_steps = quiet, .socket_step_count = 1}},
    };
    int error = 0;
    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0] && error == 0; i++)
        error = nct_server_script(server, sockets[i].path, &sockets[i].reply);
    return error;
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
        script(secure) == 0 && script_sockets(plain) == 0 && script_sockets(secure) == 0 &&
        pin_of(pin, sizeof pin, nct_server_ca_pem(secure)) && write_text(path, nct_server_ca_pem(secure))) {
        printf("NETCORE_PLAIN=http://127.0.0.1:%u\n", (unsigned)nct_server_port(plain));
        printf("NETCORE_SECURE=https://localhost:%u\n", (unsigned)nct_server_port(secure));
        printf("NETCORE_SOCKET=ws://127.0.0.1:%u\n", (unsigned)nct_server_port(plain));
        printf("NETCORE_SECURE_SOCKET=wss://localhost:%u\n", (unsigned)nct_server_port(secure));
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
