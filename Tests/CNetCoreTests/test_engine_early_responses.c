/// A response that is complete before its request: the server closes the connection, and the response counts.
#include "fixture.h"
#include "gate.h"
#include "listening.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Responds after the head, and resets the connection when the response was read.
typedef struct early_server {
    const char *reply;
    size_t body_length;
    int listener;
    gate was_read;
    gate is_done;
    size_t received;
    uint16_t status;
    nc_error error;
} early_server;

static void *run_early_server(void *ctx) {
    early_server *it = ctx;
    char bytes[65536];
    int fd = accept(it->listener, NULL, NULL);
    size_t count = 0;
    while (memmem(bytes, count, "\r\n\r\n", 4) == NULL && count < sizeof bytes) {
        ssize_t got = recv(fd, bytes + count, sizeof bytes - count, 0);
        if (got <= 0) {
            break;
        }
        count += (size_t)got;
    }
    (void)send(fd, it->reply, strlen(it->reply), MSG_NOSIGNAL);
    gate_wait(&it->was_read);
    (void)close(fd); // with unread input, so the connection is reset
    return NULL;
}

static nc_action record_head(void *ctx, nc_transfer_id id, const nc_response *response, bool is_final) {
    early_server *it = ctx;
    (void)id;
    (void)is_final;
    it->status = nc_response_status(response);
    if (it->body_length == 0) {
        gate_open(&it->was_read);
    }
    return NC_ACTION_CONTINUE;
}

static nc_action count_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    early_server *it = ctx;
    (void)id;
    it->received += bytes.length;
    if (it->received == it->body_length) {
        gate_open(&it->was_read);
    }
    return NC_ACTION_CONTINUE;
}

static void record_end(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    early_server *it = ctx;
    (void)id;
    (void)response;
    it->error = *error;
    gate_open(&it->was_read);
    gate_open(&it->is_done);
}

/// Uploads more than the socket buffers hold.
static void upload(fixture *f, early_server *it) {
    static uint8_t body[32 << 20];
    const nc_sink sink = {.ctx = it, .on_head = record_head, .on_body = count_body, .on_done = record_end};
    nc_transfer_id id;
    pthread_t thread;
    uint16_t port;
    it->listener = listen_anywhere(&port, 1);
    const nc_request request = {
        .method = nc_slice_of("POST"),
        .url = nc_slice_of(fixture_text(f, "http://127.0.0.1:%u/", port)),
        .body = nc_slice_make(body, sizeof body),
    };
    assert_int_equal(pthread_create(&thread, NULL, run_early_server, it), 0);
    assert_status(nc_engine_submit(f->engine, &request, &sink, &id, NULL), NC_OK);
    gate_wait(&it->is_done);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(it->listener);
}

static void early_response__a_complete_response_counts_when_the_upload_fails(void **state) {
    static const struct {
        const char *reply;
        size_t body_length;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 2},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 2},
        {"HTTP/1.1 204 No Content\r\n\r\n", 0},
        {"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno", 2},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        early_server it = {
            .reply = rows[i].reply, .body_length = rows[i].body_length, .was_read = GATE_INIT, .is_done = GATE_INIT};
        upload(&f, &it);
        assert_status(it.error.status, NC_OK);
        assert_int_equal(it.received, rows[i].body_length);
        assert_int_equal(it.status, strtol(rows[i].reply + sizeof "HTTP/1.1", NULL, 10));
    }
    fixture_stop(&f);
}

/// The response ends with its connection. The error varies: after a failed send, libcurl 8 continues to read, and
/// finds the end or the reset.
static void early_response__a_truncated_response_is_an_error(void **state) {
    static const char *const replies[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        early_server it = {.reply = replies[i], .body_length = 2, .was_read = GATE_INIT, .is_done = GATE_INIT};
        upload(&f, &it);
        assert_true(it.error.status == NC_ERR_RESET || it.error.status == NC_ERR_CUT_SHORT);
        assert_int_equal(it.received, 2);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(early_response__a_complete_response_counts_when_the_upload_fails),
        harness_case(early_response__a_truncated_response_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
