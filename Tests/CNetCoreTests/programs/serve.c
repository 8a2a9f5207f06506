/// The servers of the long torture runs, plain and TLS, in another process. Descriptors and memory of the tests are
/// then only the engine's.
///
///     serve CA_FILE
///
/// Writes the authority to the file, and both ports to standard output. Each line of standard input is a command,
/// confirmed with "ok" or "no". "stalled PLAIN TLS" waits until that many replies stall. "release" resumes them.
/// "silence" waits until no connection is open. The end of the input ends the program.
#include "coded.h"
#include "torture.h"

#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 120000 };

static void script(nct_server *server, nc_slice zipped) {
    const struct {
        const char *path;
        nct_reply reply;
    } pages[] = {
        {"/page", {.pattern_length = 300}},
        {"/large", {.pattern_length = 30000, .chunk_bytes = 3000}},
        {"/closing", {.pattern_length = 300, .headers = "Connection: close\r\n", .ending = NCT_CLOSE}},
        {"/moved", {.location = "/page"}},
        {"/zipped", {.headers = "Content-Encoding: gzip\r\n", .body = zipped.data, .body_length = zipped.length}},
        {"/echo", {.is_echo = true}},
        {"/stalled", {.pattern_length = 3000, .is_cut = true, .cut_after = 1000, .ending = NCT_STALL}},
        {"/silent", {.pattern_length = 3000, .is_cut = true, .ending = NCT_STALL}},
    };
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        assert_int_equal(nct_server_script(server, pages[i].path, &pages[i].reply), 0);
    }
}

static size_t stalled_at(nct_server *server, size_t count) {
    return nct_server_wait_for_stalled(server, count, PATIENCE_MS) ? 1 : 0;
}

static bool execute(const char *command, nct_server *plain, nct_server *tls) {
    unsigned long of_plain = 0;
    unsigned long of_tls = 0;
    if (sscanf(command, "stalled %lu %lu", &of_plain, &of_tls) == 2) {
        return stalled_at(plain, of_plain) && stalled_at(tls, of_tls);
    }
    if (strcmp(command, "release\n") == 0) {
        nct_server_release_stalled(plain);
        nct_server_release_stalled(tls);
        return true;
    }
    return strcmp(command, "silence\n") == 0 && nct_server_wait_for_silence(plain, PATIENCE_MS) &&
           nct_server_wait_for_silence(tls, PATIENCE_MS);
}

int main(int count, char **arguments) {
    char command[64];
    harness_allow_descriptors();
    FILE *authority = count == 2 ? fopen(arguments[1], "wb") : NULL;
    if (authority == NULL) {
        fprintf(stderr, "serve CA_FILE\n");
        return 2;
    }
    nct_server *plain = torture_start(NCT_PLAIN);
    nct_server *tls = torture_start(NCT_TLS_VALID);
    nc_buf zipped = encoded_deflate(encoded_text(), ENCODED_GZIP);
    script(plain, nc_buf_slice(&zipped));
    script(tls, nc_buf_slice(&zipped));
    fputs(nct_server_ca_pem(tls), authority);
    (void)fclose(authority);
    printf("%u %u\n", nct_server_port(plain), nct_server_port(tls));
    (void)fflush(stdout);
    while (fgets(command, sizeof command, stdin) != NULL) {
        puts(execute(command, plain, tls) ? "ok" : "no");
        (void)fflush(stdout);
    }
    nct_server_stop(plain);
    nct_server_stop(tls);
    nc_buf_deinit(&zipped);
    return 0;
}
