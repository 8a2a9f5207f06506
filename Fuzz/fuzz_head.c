/// Covers: transfer/response_head.c http/framing.c transfer/flow_control.c transfer/body_pipeline.c
/// request/response.c Covers: transfer/libcurl_callbacks.c transfer/transfer.c curl/curl_error.c
///
/// A server on loopback sends the input's bytes in response to an engine's GET or HEAD, and closes. Every transfer ends
/// exactly once, a success is complete, and bytes after a response are never taken for the next one.
/// Input: flags (a byte), then the response. A request that follows a redirect gets a fixed response.
#include "input.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { IS_HEAD = 1, ACCEPTS_CODINGS = 2, IS_TIGHT = 4, RETURNS_REDIRECTS = 8, STREAMS_BODY = 16 };
enum { RUNS_PER_ENGINE = 512, LIMIT_MS = 20000, TIGHT_HEAD_BYTES = 300, TIGHT_FIELDS = 5, TIGHT_BODY_BYTES = 40 };

static int listener;
static uint16_t port;
static nc_engine *engine;
static unsigned run_count;

/// What the event loop thread has observed of one transfer. The fuzzer reads it after the event that on_done sends.
typedef struct record {
    int done_event;
    unsigned heads;
    bool has_last_head;
    size_t body_bytes;
    unsigned done_count;
    nc_response *response;
    nc_error error;
} record;

static nc_action on_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    record *seen = ctx;
    (void)id;
    CHECK(seen->done_count == 0 && !seen->has_last_head && seen->body_bytes == 0);
    CHECK(nc_response_status(response) >= 100 && nc_response_body(response).length == 0);
    seen->heads++;
    seen->has_last_head = is_last;
    return NC_ACTION_CONTINUE;
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    record *seen = ctx;
    (void)id;
    CHECK(seen->done_count == 0 && seen->has_last_head && bytes.length > 0);
    seen->body_bytes += bytes.length;
    return NC_ACTION_CONTINUE;
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    record *seen = ctx;
    (void)id;
    CHECK(seen->done_count++ == 0);
    seen->response = nc_response_retain(response);
    seen->error = *error;
    uint64_t one = 1;
    CHECK(write(seen->done_event, &one, sizeof one) == sizeof one);
}

/* --- the server: the fuzzer's own thread --- */

/// Reads a request's head. Other bytes (a TLS ClientHello) are accepted.
static void read_request(int fd) {
    char text[8192];
    size_t length = 0;
    while (length < sizeof text) {
        ssize_t count = recv(fd, text + length, sizeof text - length, 0);
        if (count <= 0) {
            return;
        }
        length += (size_t)count;
        if (text[0] < 'A' || text[0] > 'Z' || memmem(text, length, "\r\n\r\n", 4) != NULL) {
            return;
        }
    }
}

static void answer_one(nc_slice reply) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    read_request(fd);
    size_t sent = 0;
    while (sent < reply.length) {
        ssize_t count = send(fd, reply.data + sent, reply.length - sent, MSG_NOSIGNAL);
        if (count <= 0) {
            break; // the engine has closed the connection
        }
        sent += (size_t)count;
    }
    close(fd);
}

/// Serves until the transfer is done. Returns the number of connections.
static unsigned serve(record *seen, nc_slice reply) {
    static const char next[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    unsigned connections = 0;
    for (;;) {
        struct pollfd fds[2] = {{listener, POLLIN, 0}, {seen->done_event, POLLIN, 0}};
        int ready = poll(fds, 2, LIMIT_MS);
        if (ready < 0 && errno == EINTR) {
            continue; // libFuzzer's alarm signal
        }
        CHECK(ready > 0); // a timeout means that the transfer hangs although its connection is closed
        if ((fds[0].revents & POLLIN) != 0) {
            answer_one(connections++ == 0 ? reply : nc_slice_of(next));
        } else if ((fds[1].revents & POLLIN) != 0) {
            return connections;
        }
    }
}

/* --- checks of the result --- */

/// Returns true if the response's framing is its Content-Length.
static bool has_length(const nc_response *response, uint8_t flags, size_t *length) {
    nc_slice field;
    uint16_t status = nc_response_status(response);
    char text[32] = {0};
    if ((flags & IS_HEAD) != 0 || status < 200 || status == 204 || status == 304 ||
        nc_response_find_header(response, nc_slice_of("Transfer-Encoding"), &field) ||
        nc_response_find_header(response, nc_slice_of("Content-Encoding"), &field) ||
        !nc_response_find_header(response, nc_slice_of("Content-Length"), &field)) {
        return false;
    }
    CHECK(field.length > 0 && field.length < sizeof text);
    memcpy(text, field.data, field.length);
    CHECK(strspn(text, "0123456789") == field.length);
    *length = strtoull(text, NULL, 10);
    return true;
}

static void check_fields(const nc_response *response, uint8_t flags) {
    size_t bytes = 0;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        CHECK(field.name.length > 0 && !holds_any(field.name, "\n:") && !holds_any(field.value, "\n"));
        if (field.value.length > 0) {
            const uint8_t ends[2] = {field.value.data[0], field.value.data[field.value.length - 1]};
            CHECK(strchr(" \t", ends[0]) == NULL && strchr(" \t", ends[1]) == NULL);
        }
        bytes += field.name.length + field.value.length;
    }
    if ((flags & IS_TIGHT) != 0) {
        CHECK(nc_response_header_count(response) <= TIGHT_FIELDS && bytes <= TIGHT_HEAD_BYTES);
    }
}

static void check_end(const record *seen, nc_slice reply, uint8_t flags, unsigned connections) {
    const nc_response *response = seen->response;
    nc_status status = seen->error.status;
    nc_slice body = nc_response_body(response);
    size_t body_bytes = (flags & STREAMS_BODY) != 0 ? seen->body_bytes : body.length;
    size_t length = 0;
    check_error(&seen->error, status, 0);
    CHECK(status < NC_ERR_CONNECT_TIMED_OUT || status > NC_ERR_SLOT_TIMED_OUT);
    CHECK(status != NC_ERR_USAGE && status != NC_ERR_NO_MEMORY && status != NC_ERR_CANCELLED);
    // The server closes each connection after one response. More heads than connections would mean that bytes after a
    // response were parsed as the next response.
    CHECK(connections >= nc_response_hop_count(response) || status != NC_OK);
    CHECK(seen->heads <= connections);
    check_fields(response, flags);
    CHECK((flags & IS_TIGHT) == 0 || body_bytes <= TIGHT_BODY_BYTES);
    CHECK((flags & IS_HEAD) == 0 || body_bytes == 0);
    if (status != NC_OK) {
        return;
    }
    CHECK(seen->has_last_head && nc_response_status(response) >= 100 && nc_response_status(response) <= 999);
    if (has_length(response, flags, &length)) {
        CHECK(body_bytes == length);
        bool is_first_hop = nc_response_hop_count(response) == 1 && (flags & STREAMS_BODY) == 0;
        CHECK(!is_first_hop || length == 0 || memmem(reply.data, reply.length, body.data, length) != NULL);
    }
}

/* --- the engine --- */

static void open_engine(void) {
    nc_trust *trust = NULL;
    nc_trust_options believing = {.accepts_anything = true};
    CHECK(nc_trust_new(&trust, &believing, NULL) == NC_OK);
    nc_engine_options options = {.trust = trust};
    CHECK(nc_engine_new(&engine, &options, NULL) == NC_OK);
    nc_trust_release(trust);
}

static void close_engine(void) {
    CHECK(nc_engine_close(engine, LIMIT_MS) == NC_OK);
    // The event loop thread frees its last blocks after it has reported its end.
    for (unsigned waited_ms = 0; memory_live_blocks() > 0 && waited_ms < LIMIT_MS; waited_ms++) {
        usleep(1000);
    }
    CHECK(memory_live_blocks() == 0);
    engine = NULL;
}

static void close_last_engine(void) {
    if (engine != NULL) {
        close_engine();
    }
}

static nc_transfer_id submit(record *seen, uint8_t flags) {
    // This process serves every host that a redirect names.
    const nc_connect_to here = {.to_host = nc_slice_of("127.0.0.1"), .to_port = port};
    nc_request request = {
        .method = nc_slice_of((flags & IS_HEAD) != 0 ? "HEAD" : "GET"),
        .url = nc_slice_of("http://a.test/b"),
        .accepts_codings = (flags & ACCEPTS_CODINGS) != 0,
        .redirects = (flags & RETURNS_REDIRECTS) != 0 ? NC_REDIRECTS_RETURN : NC_REDIRECTS_FOLLOW,
        .connect_to = &here,
        .connect_to_count = 1,
    };
    if ((flags & IS_TIGHT) != 0) {
        request.limits = (nc_limits){
            .max_head_bytes = TIGHT_HEAD_BYTES, .max_head_fields = TIGHT_FIELDS, .max_body_bytes = TIGHT_BODY_BYTES};
    }
    nc_sink sink = {
        .ctx = seen, .on_head = on_head, .on_body = (flags & STREAMS_BODY) != 0 ? on_body : NULL, .on_done = on_done};
    nc_transfer_id id = 0;
    CHECK(nc_engine_submit(engine, &request, &sink, &id, NULL) == NC_OK);
    return id;
}

/// libFuzzer would report libcurl's blocks as leaks while connections are open. The library's blocks are counted
/// instead.
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    (void)argc;
    (void)argv;
    memory_count_blocks();
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 64) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    port = ntohs(address.sin_port);
    return atexit(close_last_engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t flags = input_byte(&in);
    nc_slice reply = input_rest(&in);
    record seen = {.done_event = eventfd(0, EFD_CLOEXEC)};
    CHECK(seen.done_event >= 0);
    if (engine == NULL) {
        open_engine();
    }
    (void)submit(&seen, flags);
    unsigned connections = serve(&seen, reply);
    CHECK(seen.done_count == 1);
    check_end(&seen, reply, flags, connections);
    nc_response_release(seen.response);
    if (++run_count % RUNS_PER_ENGINE == 0) {
        close_engine();
    }
    CHECK(seen.done_count == 1);
    close(seen.done_event);
    input_deinit(&in);
    return 0;
}
