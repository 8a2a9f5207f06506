/// Threat A4 over HTTP/2: a response in frames that is cut after any byte except its last is an error.
///
/// Head and last bytes are cut one by one, the body in steps of STRIDE, because each cut occupies a port for a while.
/// `script/torture truncation` omits nothing.
#include "fixture.h"
#include "frames.h"
#include "threat.h"
#include "torture.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    BODY_BYTES = 4096,
    FRAME_BYTES = 1024,
    FRAMES = BODY_BYTES / FRAME_BYTES,
    FRAME_HEAD_BYTES = 9,
    LAST_BYTES = 40, // cut at each of them, without the stride
    STRIDE = 13,
    LOOK_MS = 5, // between two checks of a silent server
};

/// A reply and the ends of its parts.
typedef struct reply {
    const char *name;
    frame frames[FRAMES + 3];
    size_t length;
    size_t head_bytes;
    char plain[BODY_BYTES];
} reply;

/// The number of each result, printed because an empty matrix passes too.
typedef struct tally {
    size_t whole;
    size_t cut;
    size_t timed_out;
} tally;

/// - head: of the status and the fields; - trailer: NULL for none.
static void make_reply(reply *one, const char *name, frame head, const frame *trailer) {
    uint64_t chance = 4711;
    *one = (reply){.name = name};
    for (size_t i = 0; i < BODY_BYTES; i++) {
        one->plain[i] = (char)torture_next(&chance);
    }
    one->frames[0] = head;
    for (size_t i = 0; i < FRAMES; i++) {
        uint8_t flags = i + 1 == FRAMES && trailer == NULL ? FRAME_END_STREAM : 0;
        one->frames[i + 1] = (frame){FRAME_DATA, flags, one->plain + i * FRAME_BYTES, FRAME_BYTES};
    }
    one->frames[FRAMES + 1] = trailer != NULL ? *trailer : (frame){0};
    one->head_bytes = FRAME_HEAD_BYTES + head.length;
    for (const frame *each = one->frames; each->payload != NULL; each++) {
        one->length += FRAME_HEAD_BYTES + each->length;
    }
}

/// Returns true if a time limit ended the transfer, and not the end of the connection.
static bool is_time_out(nc_status status) {
    return status == NC_ERR_FIRST_BYTE_TIMED_OUT || status == NC_ERR_IDLE_TIMED_OUT ||
           status == NC_ERR_CONNECT_TIMED_OUT;
}

/// libcurl 8.14 can miss that a connection was reset directly after its start, and then waits for the time limit.
static bool may_hang(frame_ending ending) {
    return ending == FRAME_RST && curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000;
}

static bool is_cut(nc_status status) {
    return status == NC_ERR_CUT_SHORT || status == NC_ERR_EMPTY_REPLY || status == NC_ERR_RESET ||
           status == NC_ERR_HTTP2 || status == NC_ERR_SEND || status == NC_ERR_RECEIVE;
}

static void evaluate(const reply *one, frame_ending ending, size_t cut, const nc_response *response,
                     const nc_error *error, tally *count) {
    nc_slice body = nc_response_body(response);
    bool is_prefix = body.length <= BODY_BYTES && (body.length == 0 || memcmp(body.data, one->plain, body.length) == 0);
    // Except for trailers: libcurl 7.88 loses them if the server closes directly after them.
    bool is_whole = error->status == NC_OK && body.length == BODY_BYTES && !nc_response_is_close_delimited(response);
    bool is_failure = ending == FRAME_SILENCE
                          ? is_time_out(error->status)
                          : is_cut(error->status) || (may_hang(ending) && is_time_out(error->status));
    bool is_all = cut == one->length;
    // A reset may arrive before the client has acknowledged the settings. Then a complete response may fail too.
    bool may_fail = !is_all || ending == FRAME_RST;
    if (!is_prefix || !((is_all && is_whole) || (may_fail && is_failure))) {
        fail_msg("%s, ending %d after %zu of %zu bytes: %s (%s), %zu bytes of body%s", one->name, (int)ending, cut,
                 one->length, nc_status_name(error->status), error->message, body.length,
                 is_prefix ? "" : ", and they are wrong");
    }
    count->whole += is_whole ? 1 : 0;
    count->cut += is_cut(error->status) ? 1 : 0;
    count->timed_out += is_time_out(error->status) ? 1 : 0;
}

/// Waits for the end. When the server has fallen silent, advances the clock repeatedly, because bytes that were read
/// meanwhile restart the idle limit.
static nc_response *await(fixture *f, const frame_server *server, nc_transfer_id id, nc_error *error) {
    nc_response *response = NULL;
    uint64_t end_ms = torture_now_ms() + FIXTURE_LIMIT_MS;
    while (nc_engine_wait(f->engine, id, LOOK_MS, &response, error) == NC_ERR_WAIT_TIMED_OUT) {
        assert_true(torture_now_ms() < end_ms);
        if ((server->ending == FRAME_SILENCE || may_hang(server->ending)) && atomic_load(&server->served) > 0) {
            threat_clock_skip_ms(2u * NC_DEFAULT_IDLE_MS);
            (void)nc_engine_wake(f->engine);
        }
    }
    assert_non_null(response);
    return response;
}

static void send_cut(fixture *f, const reply *one, frame_ending ending, size_t cut, tally *count) {
    char url[64];
    nc_error error;
    nc_transfer_id id = 0;
    bool is_secure = frame_is_open(&one->frames[0]);
    frame_server server = {.ending = ending, .cut_after = cut, .is_secure = is_secure};
    for (size_t i = 0; i < FRAME_ROWS; i++) {
        server.rows[i] = one->frames; // libcurl 8 resends a request that got no response
    }
    frame_server_start(&server);
    (void)snprintf(url, sizeof url, "http%s://127.0.0.1:%u/", is_secure ? "s" : "", server.port);
    nc_request request = {.url = nc_slice_of(url), .http = NC_HTTP_2_PRIOR_KNOWLEDGE};
    request.limits.total_ms = NC_UNLIMITED;
    assert_status(nc_engine_submit(f->engine, &request, NULL, &id, &error), NC_OK);
    nc_response *response = await(f, &server, id, &error);
    frame_server_stop(&server);
    evaluate(one, ending, cut, response, &error, count);
    nc_response_release(response);
}

static size_t next_cut(const reply *one, size_t cut) {
    size_t last = one->length - LAST_BYTES;
    size_t next = cut + (cut <= one->head_bytes ? 1 : threat_stride(STRIDE));
    return cut >= last ? cut + 1 : next < last ? next : last;
}

static void run_reply(const reply *one) {
    static const frame_ending endings[] = {FRAME_FIN, FRAME_RST, FRAME_SILENCE};
    tally count = {0};
    nc_clock clock = threat_clock();
    uint64_t began_ms = torture_now_ms();
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        fixture f;
        nc_trust *all = NULL;
        assert_status(nc_trust_new(&all, &(nc_trust_options){.accepts_anything = true}, NULL), NC_OK);
        fixture_start_with(&f, NULL, &(nc_engine_options){.clock = &clock, .trust = all});
        nc_trust_release(all);
        for (size_t cut = 0; cut <= one->length; cut = next_cut(one, cut)) {
            send_cut(&f, one, endings[i], cut, &count);
        }
        fixture_stop(&f);
    }
    print_message("%s: %zu whole, %zu cut, %zu timed out, %u ms\n", one->name, count.whole, count.cut, count.timed_out,
                  (unsigned)(torture_now_ms() - began_ms));
    assert_true(count.whole >= 2 && count.cut > 0 && count.timed_out > 0);
}

static void truncation__a_cut_http_2_body_with_a_length_is_an_error(void **state) {
    static reply one;
    (void)state;
    // :status: 200, content-length: 4096
    make_reply(&one, "frames, content-length", (frame)HEADERS("\x88\x0f\x0d\x04\x34\x30\x39\x36"), NULL);
    run_reply(&one);
}

static void truncation__a_cut_http_2_body_without_a_length_is_an_error(void **state) {
    static reply one;
    (void)state;
    make_reply(&one, "frames", (frame)HEADERS(OK_OPEN), NULL);
    run_reply(&one);
}

static void truncation__a_cut_before_http_2_trailers_is_an_error(void **state) {
    static const frame trailer = LAST_HEADERS(TRAILER);
    static reply one;
    (void)state;
    make_reply(&one, "frames, trailers", (frame)HEADERS(OK_OPEN), &trailer);
    run_reply(&one);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(truncation__a_cut_http_2_body_with_a_length_is_an_error),
        harness_case(truncation__a_cut_http_2_body_without_a_length_is_an_error),
        harness_case(truncation__a_cut_before_http_2_trailers_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
