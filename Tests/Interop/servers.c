#include "servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = 65536, PATH_BYTES = 4096, EXIT_SKIPPED = 77 };

static char folder[] = "/tmp/netcore-interop-XXXXXX";
static char texts[TEXT_BYTES];
static size_t texts_used;
static unsigned logs;

/* --- programs --- */

bool server_is_installed(const char *program) {
    char path[PATH_BYTES];
    return nct_program_find(program, path, sizeof path);
}

int server_missing(const char *program) {
    const char *ci = getenv("CI");
    bool is_required = ci != NULL && strcmp(ci, "true") == 0;
    (void)printf("%s: %s is not there; script/bootstrap --tests installs it\n", is_required ? "failed" : "skipped",
                 program);
    return is_required ? 1 : EXIT_SKIPPED;
}

/* --- the folder --- */

void servers_begin(void) {
    assert_non_null(mkdtemp(folder));
    assert_int_equal(nct_identity_write(NCT_TLS_VALID, folder), 0);
}

void servers_end(void) {
    assert_int_equal(system(server_text("rm -rf '%s'", folder)), 0);
}

const char *server_text(const char *format, ...) {
    char *text = texts + texts_used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, TEXT_BYTES - texts_used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < TEXT_BYTES - texts_used);
    texts_used += (size_t)length + 1;
    return text;
}

const char *server_path(const char *name) {
    return server_text("%s/%s", folder, name);
}

void server_write_file(const char *name, const char *text, size_t length) {
    FILE *file = fopen(server_path(name), "w");
    assert_non_null(file);
    for (size_t i = 0; text == NULL && i < length; i++) {
        assert_true(putc((int)('a' + i % 26), file) != EOF);
    }
    if (text != NULL) {
        assert_true(fputs(text, file) != EOF);
    }
    assert_int_equal(fclose(file), 0);
}

const char *server_read_text(const char *path) {
    char bytes[TEXT_BYTES];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    return server_text("%.*s", (int)length, bytes);
}

/* --- servers --- */

void server_reserve(server *one) {
    *one = (server){0};
    one->held_fd = nct_port_reserve(&one->port);
    assert_true(one->held_fd >= 0);
}

void server_listen(server *one) {
    *one = (server){0};
    one->held_fd = nct_port_listen(&one->port);
    assert_true(one->held_fd >= 0);
}

static void show_log(const char *path) {
    char line[1024];
    FILE *log = fopen(path, "r");
    while (log != NULL && fgets(line, sizeof line, log) != NULL) {
        print_error("    %s", line);
    }
    if (log != NULL) {
        (void)fclose(log);
    }
}

void server_run_with(server *one, const server *second, const char *const *arguments, const char *variable) {
    const int descriptors[] = {one->held_fd, second != NULL ? second->held_fd : -1};
    const char *log = server_path(server_text("log-%u", logs++));
    const nct_process_options options = {.arguments = arguments,
                                         .variable = variable,
                                         .port = one->port,
                                         .descriptors = descriptors,
                                         .descriptor_count = second != NULL ? 2 : 1,
                                         .log_path = log};
    int error = nct_process_start(&one->process, &options);
    if (error != 0) {
        print_error("%s did not start: %s\n", arguments[0], strerror(error));
        show_log(log);
    }
    assert_int_equal(error, 0);
}

void server_run(server *one, const char *const *arguments, const char *variable) {
    server_run_with(one, NULL, arguments, variable);
}

void server_kill(server *one) {
    nct_process_stop(one->process);
    one->process = NULL;
}

void server_stop(server *one) {
    server_kill(one);
    close(one->held_fd);
}

/* --- asking --- */

void ask_start(fixture *f, const nc_engine_options *options) {
    nc_engine_options own = options != NULL ? *options : (nc_engine_options){0};
    nc_error err;
    *f = (fixture){0};
    if (own.trust == NULL) {
        const nc_trust_options trust = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(server_path("ca.pem"))};
        own.trust = fixture_trust(f, &trust);
    }
    assert_status(nc_engine_new(&f->engine, &own, &err), NC_OK);
}

nc_request ask_for(fixture *f, const server *one, const char *scheme, const char *path) {
    return (nc_request){.url = nc_slice_of(fixture_text(f, "%s://localhost:%u%s", scheme, one->port, path))};
}

answer ask_get(fixture *f, const server *one, const char *path) {
    nc_request request = ask_for(f, one, "http", path);
    return fixture_send(f, &request);
}

const char *ask_body(fixture *f, answer one) {
    nc_slice body = nc_response_body(one.response);
    return fixture_text(f, "%.*s", (int)body.length, body.length == 0 ? "" : (const char *)body.data);
}

void ask_assert_body(fixture *f, answer one, const char *part, const char *file, int line) {
    const char *body = ask_body(f, one);
    if (strstr(body, part) == NULL) {
        print_error("%s:%d: '%s' is not in:\n%s\n", file, line, part, body);
        _fail(file, line);
    }
}
