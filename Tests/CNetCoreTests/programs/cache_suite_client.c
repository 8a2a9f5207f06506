/// The client that Tests/Suites/cache-tests.mjs uses to test the cache of libnetcore: reads one request per line, as
/// JSON, and prints one response per line, in the order of arrival.
///
/// usage: cache_suite_client memory | disk DIRECTORY
///
///     {"id":1,"method":"GET","url":"…","headers":[["name","value"]],"body":"…","follows":true}
///         {"id":1,"status":200,"headers":[["name","value"]],"body":"…"}  or  {"id":1,"error":"…"}
///
/// The members are in this order, as the runner writes them. `body` may be missing.
#include <netcore.h>

#include <netcore/client.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 64, MAX_LINE = 1 << 20 };

/* --- reading --- */

static const char *after(const char *at, const char *text) {
    const char *found = at == NULL ? NULL : strstr(at, text);
    return found == NULL ? NULL : found + strlen(text);
}

static void append_code_point(nc_buf *out, unsigned code) {
    const uint8_t bytes[] = {(uint8_t)(0xE0 | code >> 12), (uint8_t)(0x80 | (code >> 6 & 0x3F)),
                             (uint8_t)(0x80 | (code & 0x3F))};
    if (code < 0x80) {
        nc_buf_append_byte(out, (uint8_t)code);
    } else if (code < 0x800) {
        nc_buf_append_byte(out, (uint8_t)(0xC0 | code >> 6));
        nc_buf_append_byte(out, bytes[2]);
    } else {
        nc_buf_append(out, nc_slice_make(bytes, sizeof bytes));
    }
}

/// Appends the characters of a string, which begins at its opening quote. Returns the text after it.
static const char *read_string(nc_buf *out, const char *at) {
    static const char escapes[] = "b\bf\fn\nr\rt\t";
    nc_buf_reset(out);
    if (at == NULL || *at++ != '"') {
        return NULL;
    }
    for (; *at != '\0' && *at != '"'; at++) {
        const char *escape = *at == '\\' ? strchr(escapes, at[1]) : NULL;
        if (*at != '\\') {
            nc_buf_append_byte(out, (uint8_t)*at);
        } else if (at[1] == 'u') {
            char digits[5] = {0};
            memcpy(digits, at + 2, strnlen(at + 2, 4));
            append_code_point(out, (unsigned)strtoul(digits, NULL, 16));
            at += 1 + strlen(digits);
        } else {
            nc_buf_append_byte(out, (uint8_t)(escape != NULL ? escape[1] : at[1]));
            at++;
        }
    }
    return *at == '"' ? at + 1 : NULL;
}

/// A request and its texts.
typedef struct command {
    unsigned long id;
    nc_buf texts[2 * MAX_FIELDS + 3];
    size_t text_count;
    nc_header fields[MAX_FIELDS];
    nc_request request;
} command;

static nc_slice take_string(command *c, const char **at) {
    nc_buf *text = &c->texts[c->text_count++];
    *text = nc_buf_init(MAX_LINE);
    *at = read_string(text, *at);
    return nc_buf_slice(text);
}

/// Reads the pairs of names and values.
static void read_fields(command *c, const char **at) {
    size_t count = 0;
    while (*at != NULL && (**at == '[' || **at == ',') && count < MAX_FIELDS - 1) {
        *at = after(*at, "[");
        c->fields[count].name = take_string(c, at);
        *at = after(*at, ",");
        c->fields[count++].value = take_string(c, at);
        *at = after(*at, "]");
    }
    c->request.headers = c->fields;
    c->request.header_count = count;
}

static bool read_command(command *c, const char *line) {
    const char *at = after(line, "\"id\":");
    c->id = at != NULL ? strtoul(at, NULL, 10) : 0;
    at = after(line, "\"method\":");
    c->request.method = take_string(c, &at);
    at = after(at, "\"url\":");
    c->request.url = take_string(c, &at);
    at = after(at, "\"headers\":[");
    read_fields(c, &at);
    const char *body = after(at, "\"body\":");
    if (body != NULL && *body == '"') {
        c->request.body = take_string(c, &body);
        c->request.has_body = true;
        c->fields[c->request.header_count++] =
            (nc_header){nc_slice_of("Content-Type"), nc_slice_of("text/plain;charset=UTF-8")};
    }
    const char *follows = after(at, "\"follows\":");
    c->request.redirects = follows != NULL && *follows == 'f' ? NC_REDIRECTS_RETURN : NC_REDIRECTS_FOLLOW;
    c->request.accepts_codings = true;
    return at != NULL && c->id != 0;
}

/* --- printing --- */

/// The client's thread and the main thread print.
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static void print_string(nc_slice text) {
    (void)putchar('"');
    for (size_t i = 0; i < text.length; i++) {
        bool is_plain = text.data[i] >= ' ' && text.data[i] < 0x7F && text.data[i] != '"' && text.data[i] != '\\';
        (void)printf(is_plain ? "%c" : "\\u%04x", text.data[i]);
    }
    (void)putchar('"');
}

static void print_result(unsigned long id, nc_response *response, const nc_error *error) {
    (void)pthread_mutex_lock(&printing);
    (void)printf("{\"id\":%lu,", id);
    if (error->status != NC_OK || response == NULL) {
        (void)printf("\"error\":");
        print_string(nc_slice_of(error->message));
    } else {
        (void)printf("\"status\":%u,\"headers\":[", nc_response_status(response));
        for (size_t i = 0; i < nc_response_header_count(response); i++) {
            nc_header field = nc_response_header_at(response, i);
            (void)printf(i > 0 ? ",[" : "[");
            print_string(field.name);
            (void)putchar(',');
            print_string(field.value);
            (void)putchar(']');
        }
        (void)printf("],\"body\":");
        print_string(nc_response_body(response));
    }
    (void)printf("}\n");
    (void)fflush(stdout);
    (void)pthread_mutex_unlock(&printing);
}

static void call_ended(void *ctx, nc_call *call, nc_response *response, const nc_error *error) {
    (void)call;
    print_result((unsigned long)(uintptr_t)ctx, response, error);
}

static void perform(nc_client *client, const char *line) {
    static const nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    const nc_call_options options = {.cache = &policy};
    command *c = calloc(1, sizeof *c);
    nc_error err = {.status = NC_ERR_USAGE, .message = "not a command"};
    if (c != NULL) {
        bool is_command = read_command(c, line);
        const nc_call_sink sink = {.ctx = (void *)(uintptr_t)c->id, .on_done = call_ended};
        if (!is_command || nc_client_send(client, &c->request, &options, &sink, NULL, &err) != NC_OK) {
            print_result(c->id, NULL, &err);
        }
        for (size_t i = 0; i < c->text_count; i++) {
            nc_buf_deinit(&c->texts[i]);
        }
    }
    free(c);
}

static void serve(nc_client *client) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        perform(client, line);
    }
    free(line);
}

int main(int argc, char **argv) {
    nc_store_options files = NC_STORE_OPTIONS_INIT;
    nc_store *store = NULL;
    nc_http_cache *cache = NULL;
    nc_engine *engine = NULL;
    nc_client *client = NULL;
    nc_error err = {.status = NC_OK};
    bool has_disk = argc == 3 && strcmp(argv[1], "disk") == 0;
    if (!has_disk && !(argc == 2 && strcmp(argv[1], "memory") == 0)) {
        (void)fprintf(stderr, "usage: cache_suite_client memory | disk DIRECTORY\n");
        return 2;
    }
    files.directory = has_disk ? argv[2] : NULL;
    if ((!has_disk || nc_store_new(&store, &files, &err) == NC_OK) &&
        nc_http_cache_new(&cache, &(nc_http_cache_options){.store = store}, &err) == NC_OK &&
        nc_engine_new(&engine, NULL, &err) == NC_OK &&
        nc_client_new(&client, engine, &(nc_client_options){.cache = cache}, &err) == NC_OK) {
        serve(client);
        (void)nc_client_wait_idle(client, 10000);
    } else {
        (void)fprintf(stderr, "%s\n", err.message);
    }
    (void)nc_client_close(client);
    (void)nc_engine_close(engine, NC_UNLIMITED);
    nc_http_cache_free(cache);
    nc_store_free(store);
    return client != NULL ? 0 : 1;
}
