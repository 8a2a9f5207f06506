/// Streams of HTTP/2 that end in unusual ways, frame by frame (RFC 9113), in the clear.
///
/// The server is a row of frames: it waits for the request, and where the row says so for the reply to a PING, by which
/// the client shows that it has read all that came before.
#include "fixture.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAME_DATA = 0, FRAME_HEADERS = 1, FRAME_RESET = 3, FRAME_SETTINGS = 4, FRAME_PING = 6, HEAD_BYTES = 9 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

/// What the server sends, in order; PING waits for its answer.
typedef struct frame {
    uint8_t type;
    uint8_t flags;
    const char *payload;
    uint16_t length;
} frame;

#define OK_OF_2 "\x88\x0f\x0d\x01\x32" // :status: 200, content-length: 2
#define OK_OF_3 "\x88\x0f\x0d\x01\x33"
#define OK_OPEN "\x88"
// trailer: x-sum, content-length: 2 (and 3)
#define TOLD_OF_2 "\x88\x00\x07trailer\x05x-sum\x0f\x0d\x01\x32"
#define TOLD_OF_3 "\x88\x00\x07trailer\x05x-sum\x0f\x0d\x01\x33"
#define NO_CONTENT "\x89" // :status: 204
#define TOO_LARGE                                                                                                      \
    "\x08\x03"                                                                                                         \
    "413" // :status: 413
#define TRAILER "\x00\x05x-sum\x01\x31"
#define F(type, flags, payload)                                                                                        \
    { (type), (flags), (payload), sizeof(payload) - 1 }
#define HEADERS(payload) F(FRAME_HEADERS, END_HEADERS, payload)
#define LAST_HEADERS(payload) F(FRAME_HEADERS, END_HEADERS | END_STREAM, payload)
#define DATA(payload) F(FRAME_DATA, 0, payload)
#define LAST_DATA(payload) F(FRAME_DATA, END_STREAM, payload)
#define RESET(code) F(FRAME_RESET, 0, "\0\0\0" code)
#define PING F(FRAME_PING, 0, "12345678")

enum { MAX_FRAMES = 8 };

/// What the client sends beside its head.
typedef enum upload {
    NOTHING,
    FEW_BYTES, // which are sent at once
    NO_END,    // the reply begins when some of it has come
} upload;

typedef struct stream_server {
    int listener;
    uint16_t port;
    pthread_t thread;
    const frame *frames;
    upload kind;
    atomic_int accepted;
    atomic_bool was_reset;
} stream_server;

static bool read_exactly(int fd, uint8_t *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t got = recv(fd, bytes + at, count - at, 0);
        if (got <= 0) {
            return false;
        }
        at += (size_t)got;
    }
    return true;
}

static bool send_frame(int fd, uint8_t type, uint8_t flags, uint32_t stream, const char *payload, uint8_t length) {
    uint8_t bytes[HEAD_BYTES + 255] = {0, 0, length, type, flags, 0, 0, 0, (uint8_t)stream};
    memcpy(bytes + HEAD_BYTES, payload, length);
    return send(fd, bytes, HEAD_BYTES + (size_t)length, MSG_NOSIGNAL) == HEAD_BYTES + length;
}

static void append_frame(nc_buf *out, const frame *one, uint32_t stream) {
    bool is_ping = one->type == FRAME_PING;
    const uint8_t head[HEAD_BYTES] = {
        0, (uint8_t)(one->length >> 8),  (uint8_t)one->length, one->type, one->flags, 0, 0,
        0, is_ping ? 0 : (uint8_t)stream};
    nc_buf_append(out, nc_slice_make(head, sizeof head));
    nc_buf_append(out, nc_slice_make((const uint8_t *)one->payload, one->length));
}

/// Reads frames up to one of this type and these flags; gives the number of its stream, 0 at the end of everything.
static uint32_t await_frame(int fd, uint8_t type, uint8_t flags, size_t bytes) {
    static uint8_t payload[1 << 14];
    uint8_t head[HEAD_BYTES];
    size_t seen = 0;
    while (read_exactly(fd, head, sizeof head)) {
        size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (length > sizeof payload || !read_exactly(fd, payload, length)) {
            return 0;
        }
        seen += head[3] == type && (head[4] & flags) == flags ? length + 1 : 0;
        if (seen > bytes) {
            return type == FRAME_PING ? 1 : head[8];
        }
    }
    return 0;
}

static void serve(int fd, stream_server *server) {
    uint8_t preface[24];
    bool goes_on = read_exactly(fd, preface, sizeof preface) && send_frame(fd, FRAME_SETTINGS, 0, 0, "", 0);
    uint32_t stream = goes_on ? await_frame(fd, FRAME_HEADERS, 0, 0) : 0;
    if (server->kind == NO_END && stream != 0) {
        stream = await_frame(fd, FRAME_DATA, 0, 20000);
    }
    // What stands between two PINGs comes in one piece.
    nc_buf out = nc_buf_init(1 << 16);
    for (const frame *one = server->frames; stream != 0 && one->payload != NULL; one++) {
        append_frame(&out, one, stream);
        bool is_last = one[1].payload == NULL;
        if (one->type == FRAME_PING || is_last) {
            goes_on = send(fd, out.data, out.length, MSG_NOSIGNAL) == (ssize_t)out.length &&
                      (one->type != FRAME_PING || await_frame(fd, FRAME_PING, ACK, 0) != 0);
            nc_buf_reset(&out);
        }
        stream = goes_on ? stream : 0;
    }
    nc_buf_deinit(&out);
    if (stream != 0) { // until the client has had enough
        atomic_store(&server->was_reset, await_frame(fd, FRAME_RESET, 0, 0) != 0);
    }
}

static void *run_server(void *ctx) {
    stream_server *server = ctx;
    int fd = accept(server->listener, NULL, NULL);
    atomic_store(&server->accepted, fd);
    if (fd >= 0) {
        serve(fd, server);
    }
    return NULL;
}

static void server_start(stream_server *server) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server->listener >= 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(server->listener, 1), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &length), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, run_server, server), 0);
}

/// Ends what the client may keep open for another request.
static void server_stop(stream_server *server) {
    (void)shutdown(server->listener, SHUT_RDWR);
    (void)shutdown(atomic_load(&server->accepted), SHUT_RDWR);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    (void)close(atomic_load(&server->accepted));
    assert_int_equal(close(server->listener), 0);
}

static nc_pull pull_much(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx;
    (void)id;
    *filled = capacity;
    memset(bytes, 'x', capacity);
    return NC_PULL_MORE;
}

typedef struct row {
    frame frames[MAX_FRAMES];
    nc_status status;
    const char *body;
    size_t trailers;
    const char *later_body; // over 8.x, which gives out more of a malformed response; NULL is as above
    nc_status later_status; // over 8.x, which tells of a stream's end otherwise; NC_OK is as above
} row;

static bool is_later(void) {
    return curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000;
}

static answer ask(fixture *f, const row *one, upload kind, bool *was_reset) {
    stream_server server = {.frames = one->frames, .kind = kind, .accepted = -1};
    server_start(&server);
    nc_request request = {
        .url = nc_slice_of(fixture_text(f, "http://127.0.0.1:%u/", server.port)),
        .http = NC_HTTP_2_PRIOR_KNOWLEDGE,
    };
    if (kind == FEW_BYTES) {
        request.method = nc_slice_of("POST");
        request.body = nc_slice_of("hello");
    } else if (kind == NO_END) {
        request.method = nc_slice_of("PUT");
        request.body_source = (nc_body_source){.pull = pull_much};
        request.body_length = (uint64_t)1 << 40;
    }
    answer got = fixture_send(f, &request);
    server_stop(&server);
    if (was_reset != NULL) {
        *was_reset = atomic_load(&server.was_reset);
    }
    return got;
}

static void expect_row(fixture *f, const row *one, upload kind, size_t index) {
    answer got = ask(f, one, kind, NULL);
    nc_status status = is_later() && one->later_status != NC_OK ? one->later_status : one->status;
    if (got.error.status != status) {
        fail_msg("row %zu: %s (%s)", index, nc_status_name(got.error.status), got.error.message);
    }
    assert_slice_equals(nc_response_body(got.response),
                        is_later() && one->later_body != NULL ? one->later_body : one->body);
    assert_int_equal(nc_response_trailer_count(got.response), one->trailers);
}

static void expect_rows(const row *rows, size_t count, upload kind) {
    fixture f;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < count; i++) {
        expect_row(&f, &rows[i], kind, i);
    }
    fixture_stop(&f);
}

static void engine_streams__end_with_their_last_frame_and_not_with_their_length(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), DATA("hi"), LAST_DATA("")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN)}, NC_OK, "", 0, NULL, NC_OK},
        // Trailers, at once and late.
        {{HEADERS(TOLD_OF_2), DATA("hi"), LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), PING, DATA("h"), DATA("i"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        // RFC 9113, 8.1.1: a length that is not kept makes a response malformed.
        {{HEADERS(OK_OF_3), PING, LAST_DATA("hi")}, NC_ERR_HTTP2, "", 0, "hi", NC_OK},
        {{HEADERS(OK_OF_2), PING, LAST_DATA("hi!")}, NC_ERR_HTTP2, "", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_3), PING, DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OF_2)}, NC_ERR_HTTP2, "", 0, NULL, NC_OK},
        // The last frame is missing, or libcurl has lost it: the length is the last word after all.
        {{HEADERS(OK_OF_2), DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_3), PING, DATA("hi"), PING, RESET("\0")}, NC_ERR_CUT_SHORT, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_3), PING, DATA("hi"), PING, RESET("\2")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, NOTHING);
}

static void engine_streams__an_answer_counts_although_the_upload_is_refused(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), PING, LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), LAST_HEADERS(TRAILER), PING, RESET("\0")}, NC_OK, "hi", 1, NULL, NC_OK},
        // It has to be whole, and the reset to say that nothing is wrong.
        {{HEADERS(OK_OF_3), DATA("hi"), PING, RESET("\0")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_ERR_CUT_SHORT},
        {{HEADERS(OK_OF_2), LAST_DATA("hi"), PING, RESET("\2")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(NO_CONTENT), PING, RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
        // libcurl stops sending at an error, so that nothing is reset in the midst of it.
        {{LAST_HEADERS(TOO_LARGE), PING, RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
        {{HEADERS(TOO_LARGE), LAST_DATA("hi"), PING, RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), PING, RESET("\2")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, NO_END);
}

/// Nobody tells whether END_STREAM was among what came, and what libcurl dropped with the reset: it says the same of
/// both, 7.88 an error, 8.x a success.
static void engine_streams__without_a_length_end_with_a_reset_as_libcurl_says(void **state) {
    const nc_status status = is_later() ? NC_OK : NC_ERR_HTTP2;
    const row rows[] = {
        {{HEADERS(OK_OPEN), LAST_DATA("hi"), PING, RESET("\0")}, status, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), PING, RESET("\0")}, status, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN), PING, RESET("\0")}, status, "", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, NO_END);
}

/// libcurl 7.88 reads and forgets what comes in one piece with the reset, so that there is nothing to deliver; a
/// libcurl that hands it out makes it an answer. Half of one it is never, and nobody waits.
static void engine_streams__an_answer_in_one_piece_with_its_reset_is_whole_or_an_error(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi"), RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), LAST_DATA("hi"), RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(TOO_LARGE), LAST_DATA("hi"), RESET("\0")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN), RESET("\0")}, NC_OK, "", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), LAST_HEADERS(TRAILER), RESET("\0")}, NC_OK, "hi", 1, NULL, NC_OK},
    };
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answer got = ask(&f, &rows[i], NO_END, NULL);
        if (got.error.status == NC_OK) {
            assert_int_not_equal(nc_response_status(got.response), 0);
            assert_slice_equals(nc_response_body(got.response), rows[i].body);
        } else if (got.error.status != NC_ERR_BAD_RESPONSE && got.error.status != NC_ERR_CUT_SHORT) {
            assert_status(got.error.status, NC_ERR_HTTP2);
        }
    }
    fixture_stop(&f);
}

/// A full receive buffer in front of the last frame makes libcurl 7.88 read that frame and forget it, for ever when the
/// connection brings nothing else.
static void engine_streams__whose_frames_come_all_at_once_hear_of_their_end(void **state) {
    enum { HALF = 16000 };
    static char half[HALF + 1];
    (void)state;
    memset(half, 'x', HALF);
    static const frame frames[] = {
        HEADERS(OK_OPEN), {FRAME_DATA, 0, half, HALF}, {FRAME_DATA, END_STREAM, half, HALF}, {0}};
    row one = {.status = NC_OK};
    memcpy(one.frames, frames, sizeof frames);
    fixture f;
    fixture_start(&f, NCT_PLAIN);
    for (upload kind = NOTHING; kind <= FEW_BYTES; kind++) {
        answer got = ask(&f, &one, kind, NULL);
        assert_status(got.error.status, NC_OK);
        assert_int_equal(nc_response_body(got.response).length, 2 * HALF);
    }
    fixture_stop(&f);
}

/// HTTP_1_1_REQUIRED (RFC 9113, 7) in the midst of an answer: libcurl 7.88 would send the request a second time, over
/// HTTP/1.1, and put that answer behind the half of this one.
static void engine_streams__that_are_broken_off_for_http_1_are_not_asked_again(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OPEN), DATA("hi"), PING, RESET("\x0d")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_3), PING, DATA("h"), DATA("i"), PING, RESET("\x0d")}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    for (upload kind = NOTHING; kind <= FEW_BYTES; kind++) {
        expect_rows(rows, sizeof rows / sizeof *rows, kind);
    }
}

/// Content-Length is not the end of a stream, also when the request had a body.
static void engine_streams__that_brought_a_body_wait_for_late_trailers(void **state) {
    static const row rows[] = {
        {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OF_2), PING, DATA("hi"), PING, LAST_DATA("")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{HEADERS(OK_OPEN), PING, DATA("hi"), PING, LAST_DATA("")}, NC_OK, "hi", 0, NULL, NC_OK},
        {{LAST_HEADERS(OK_OPEN)}, NC_OK, "", 0, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_2), PING, DATA("hi"), PING, PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(OK_OPEN), DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_OK, "hi", 1, NULL, NC_OK},
        {{HEADERS(TOLD_OF_3), PING, DATA("hi"), PING, LAST_HEADERS(TRAILER)}, NC_ERR_HTTP2, "hi", 0, NULL, NC_OK},
    };
    (void)state;
    expect_rows(rows, sizeof rows / sizeof *rows, FEW_BYTES);
}

/// Servers take many resets for an attack, and libcurl 7.88 resets what it reads to the last frame.
static void engine_streams__that_are_read_to_their_length_are_not_reset(void **state) {
    static const row one = {{HEADERS(OK_OF_2), LAST_DATA("hi")}, NC_OK, "hi", 0, NULL, NC_OK};
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (upload kind = NOTHING; kind <= FEW_BYTES; kind++) {
        bool was_reset = true;
        answer got = ask(&f, &one, kind, &was_reset);
        assert_status(got.error.status, NC_OK);
        assert_slice_equals(nc_response_body(got.response), "hi");
        assert_false(was_reset);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine_streams__end_with_their_last_frame_and_not_with_their_length),
        harness_case(engine_streams__an_answer_counts_although_the_upload_is_refused),
        harness_case(engine_streams__without_a_length_end_with_a_reset_as_libcurl_says),
        harness_case(engine_streams__an_answer_in_one_piece_with_its_reset_is_whole_or_an_error),
        harness_case(engine_streams__whose_frames_come_all_at_once_hear_of_their_end),
        harness_case(engine_streams__that_are_broken_off_for_http_1_are_not_asked_again),
        harness_case(engine_streams__that_brought_a_body_wait_for_late_trailers),
        harness_case(engine_streams__that_are_read_to_their_length_are_not_reset),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
