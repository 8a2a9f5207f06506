/// Threat A4: a reply that is cut after any of its bytes, by FIN, by RST or by silence, never counts as complete.
///
/// Each framing has a row: a reply with 4 KiB of body, cut after every byte by FIN (over TLS without close_notify),
/// which is the end that resembles a regular one. RST, silence and regular ends are tested in steps of NOISY_STRIDE,
/// and under a sanitizer all in steps of THREAT_STRIDE. Head and last bytes are always cut one by one.
/// `script/torture truncation` omits nothing. There is no real wait for silence: when the server is silent on every
/// connection, the test advances the engine's clock.
#include "coded.h"
#include "threat.h"
#include "torture.h"

#include <curl/curl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    BODY_BYTES = 4096,
    MAX_REPLY_BYTES = 8192,
    CHUNK_BYTES = 509,
    AT_ONCE = 48,    // concurrent connections
    LAST_BYTES = 40, // cut at each of them, without the stride
    NOISY_STRIDE = 13,
};

typedef enum framing { BY_LENGTH, BY_CHUNKS, BY_CHUNKS_AND_TRAILERS, BY_CLOSE } framing;

/// One row of the matrix.
typedef struct row {
    const char *name;
    framing framed;
    bool is_gzip;
} row;

static const row rows[] = {
    {"Content-Length", BY_LENGTH, false},
    {"chunked", BY_CHUNKS, false},
    {"chunked, trailers", BY_CHUNKS_AND_TRAILERS, false},
    {"gzip, Content-Length", BY_LENGTH, true},
    {"gzip, chunked", BY_CHUNKS, true},
    {"close-delimited", BY_CLOSE, false},
    {"gzip, close-delimited", BY_CLOSE, true},
};

/// A reply and the ends of its parts.
typedef struct reply {
    const row *of;
    uint8_t bytes[MAX_REPLY_BYTES];
    size_t length;
    size_t line_bytes; // the status line
    size_t head_bytes;
    uint8_t plain[BODY_BYTES];
    bool is_secure;
} reply;

/// The number of each result, printed because an empty matrix passes too.
typedef struct tally {
    size_t whole;
    size_t cut_short;
    size_t reset;
    size_t idle;
    size_t first_byte;
    size_t flagged;
} tally;

static atomic_size_t head_lines;

/* --- replies --- */

static void add(reply *one, const void *bytes, size_t length) {
    assert_true(one->length + length <= MAX_REPLY_BYTES);
    memcpy(one->bytes + one->length, bytes, length);
    one->length += length;
}

static void add_text(reply *one, const char *text) {
    add(one, text, strlen(text));
}

static void add_chunks(reply *one, nc_slice body) {
    char line[16];
    for (size_t at = 0; at < body.length; at += CHUNK_BYTES) {
        size_t length = body.length - at < CHUNK_BYTES ? body.length - at : CHUNK_BYTES;
        (void)snprintf(line, sizeof line, "%zx\r\n", length);
        add_text(one, line);
        add(one, body.data + at, length);
        add_text(one, "\r\n");
    }
    add_text(one, "0\r\n");
    if (one->of->framed == BY_CHUNKS_AND_TRAILERS) {
        add_text(one, "X-Sum: 12345\r\nX-More: abc\r\n");
    }
    add_text(one, "\r\n");
}

/// Random bytes, so that gzip does not shrink them: a cut in its stream is a cut in a body of this length.
static void make_reply(reply *one, const row *of, bool is_secure) {
    char line[64];
    uint64_t chance = 4711;
    *one = (reply){.of = of, .is_secure = is_secure};
    for (size_t i = 0; i < BODY_BYTES; i++) {
        one->plain[i] = (uint8_t)torture_next(&chance);
    }
    nc_slice plain = nc_slice_make(one->plain, BODY_BYTES);
    nc_buf body = of->is_gzip ? encoded_deflate(plain, ENCODED_GZIP) : encoded_copy(plain);
    add_text(one, "HTTP/1.1 200 OK\r\n");
    one->line_bytes = one->length;
    add_text(one, of->is_gzip ? "Content-Encoding: gzip\r\n" : "X-Plain: yes\r\n");
    if (of->framed == BY_LENGTH) {
        (void)snprintf(line, sizeof line, "Content-Length: %zu\r\n", body.length);
        add_text(one, line);
    } else if (of->framed != BY_CLOSE) {
        add_text(one, "Transfer-Encoding: chunked\r\n");
    }
    add_text(one, "\r\n");
    one->head_bytes = one->length;
    if (of->framed == BY_LENGTH || of->framed == BY_CLOSE) {
        add(one, body.data, body.length);
    } else {
        add_chunks(one, nc_buf_slice(&body));
    }
    nc_buf_deinit(&body);
}

/* --- expectations --- */

/// Returns true if the engine may report NC_OK for a reply that was cut after `cut` bytes.
static bool may_be_ok(const reply *one, nct_ending ending, size_t cut) {
    if (one->of->framed != BY_CLOSE) {
        return cut >= one->length;
    }
    // RFC 9112, section 6.3, rule 8: the end of the connection ends the body; over TLS (section 9.8) only with
    // close_notify. A gzip stream marks its own end, so truncation is detected there in any case.
    bool is_an_end = ending == NCT_CLOSE || (ending == NCT_TRUNCATE && !one->is_secure);
    bool is_in_body = one->of->is_gzip ? cut == one->length || cut == one->head_bytes : cut >= one->head_bytes;
    return is_an_end && is_in_body;
}

static nc_status failure_of(const reply *one, nct_ending ending, size_t cut) {
    if (ending == NCT_RESET) {
        return NC_ERR_RESET;
    }
    if (ending == NCT_STALL) {
        return cut < one->line_bytes ? NC_ERR_FIRST_BYTE_TIMED_OUT : NC_ERR_IDLE_TIMED_OUT;
    }
    // For libcurl an incomplete status line is no response.
    return cut < one->line_bytes ? NC_ERR_EMPTY_REPLY : NC_ERR_CUT_SHORT;
}

static void evaluate(const reply *one, nct_ending ending, size_t cut, const threat_transfer *shot, tally *count) {
    nc_slice body = nc_response_body(shot->response);
    bool is_prefix = body.length <= BODY_BYTES && (body.length == 0 || memcmp(body.data, one->plain, body.length) == 0);
    bool is_ok = shot->error.status == NC_OK;
    bool may = may_be_ok(one, ending, cut);
    bool is_flagged = nc_response_is_close_delimited(shot->response);
    bool is_right = is_ok ? may : !may && shot->error.status == failure_of(one, ending, cut);
    bool is_whole = one->of->framed == BY_CLOSE ? is_flagged : body.length == BODY_BYTES && !is_flagged;
    if (!is_prefix || !is_right || (is_ok && !is_whole)) {
        fail_msg("%s%s, ending %d after %zu of %zu bytes: %s (%s), %zu bytes of body%s", one->of->name,
                 one->is_secure ? " over TLS" : "", (int)ending, cut, one->length, nc_status_name(shot->error.status),
                 shot->error.message, body.length, is_prefix ? "" : ", and they are wrong");
    }
    count->whole += is_ok && !is_flagged ? 1 : 0;
    count->flagged += is_ok && is_flagged ? 1 : 0;
    count->cut_short += shot->error.status == NC_ERR_CUT_SHORT || shot->error.status == NC_ERR_EMPTY_REPLY ? 1 : 0;
    count->reset += shot->error.status == NC_ERR_RESET ? 1 : 0;
    count->idle += shot->error.status == NC_ERR_IDLE_TIMED_OUT ? 1 : 0;
    count->first_byte += shot->error.status == NC_ERR_FIRST_BYTE_TIMED_OUT ? 1 : 0;
}

/* --- the matrix --- */

/// Returns the next cut: the next byte within the head and at the end, else with the stride.
static size_t next_cut(const reply *one, nct_ending ending, size_t cut) {
    bool is_quiet = ending == (one->is_secure ? NCT_TRUNCATE : NCT_CLOSE);
    size_t next = cut + (cut <= one->head_bytes ? 1 : threat_stride(is_quiet ? 1 : NOISY_STRIDE));
    size_t last = one->length > LAST_BYTES ? one->length - LAST_BYTES : 0;
    if (cut >= last) {
        return cut + 1;
    }
    return next < last ? next : last;
}

/// Returns true if the server keeps the connection open silently although bytes are missing.
static bool is_silent_forever(const reply *one, nct_ending ending, size_t cut) {
    return ending == NCT_STALL && (cut < one->length || one->of->framed == BY_CLOSE);
}

/// Counts the head lines that the engine has read.
static void count_line(void *ctx, nc_trace_point point, nc_transfer_id id) {
    (void)id;
    if (point == NC_TRACE_HEAD_LINE) {
        atomic_fetch_add((atomic_size_t *)ctx, 1);
    }
}

static size_t lines_within(const reply *one, size_t cut) {
    size_t lines = 0;
    // Since 8.18 libcurl holds a line until it has seen that the next one does not continue it.
    bool is_kept = curl_version_info(CURLVERSION_NOW)->version_num >= 0x081200 && cut < one->head_bytes;
    for (size_t i = 0; i < cut - (is_kept && cut > 0 ? 1 : 0) && i < one->head_bytes; i++) {
        lines += one->bytes[i] == '\n' ? 1 : 0;
    }
    return lines;
}

/// Waits for silence on all connections and until the engine has read the heads, then advances the clock.
static void end_silence(fixture *f, size_t stalled, size_t lines) {
    assert_true(nct_server_wait_for_stalled(f->server, stalled, 2 * FIXTURE_LIMIT_MS));
    uint64_t end_ms = torture_now_ms() + 2 * FIXTURE_LIMIT_MS;
    while (atomic_load(&head_lines) < lines) {
        assert_true(torture_now_ms() < end_ms);
        sched_yield(); // the server's bytes are in the socket; the engine only has to read them
    }
    threat_clock_skip_ms(2u * NC_DEFAULT_IDLE_MS);
    (void)nc_engine_wake(f->engine);
}

static void submit_cut(fixture *f, threat_batch *batch, const reply *one, nct_ending ending, size_t cut,
                       threat_transfer *shot) {
    char url[64];
    int scheme =
        snprintf(url, sizeof url, "http%s://127.0.0.1:%u", one->is_secure ? "s" : "", nct_server_port(f->server));
    (void)snprintf(url + scheme, sizeof url - (size_t)scheme, "/%zu", cut);
    nct_reply scripted = {.is_raw = true,
                          .body = one->bytes,
                          .body_length = one->length,
                          .is_cut = true,
                          .cut_after = cut,
                          .ending = ending};
    assert_int_equal(nct_server_script(f->server, url + scheme, &scripted), 0);
    nc_request request = {.url = nc_slice_of(url), .accepts_codings = one->of->is_gzip};
    assert_status(threat_submit(batch, &request, shot), NC_OK);
}

/// Requests the reply, cut after each of several numbers of bytes, concurrently. Returns the first remaining cut.
static size_t send_cuts(fixture *f, const reply *one, nct_ending ending, size_t cut, tally *count) {
    static threat_transfer transfers[AT_ONCE];
    static size_t cuts[AT_ONCE];
    threat_batch batch = THREAT_BATCH_INIT(f->engine);
    size_t submitted = 0;
    size_t stalled = 0;
    size_t lines = 0;
    atomic_store(&head_lines, 0);
    for (; cut <= one->length && submitted < AT_ONCE; cut = next_cut(one, ending, cut)) {
        cuts[submitted] = cut;
        stalled += is_silent_forever(one, ending, cut) ? 1 : 0;
        lines += lines_within(one, cut);
        submit_cut(f, &batch, one, ending, cut, &transfers[submitted++]);
    }
    if (stalled > 0) {
        threat_await(&batch, stalled); // replies that are complete must have been read before the clock is advanced
        end_silence(f, stalled, lines);
    }
    threat_await(&batch, 0);
    for (size_t i = 0; i < submitted; i++) {
        evaluate(one, ending, cuts[i], &transfers[i], count);
    }
    threat_release(transfers, submitted);
    return cut;
}

static void run_row(const row *of, nct_identity identity, const nct_ending *endings, size_t ending_count) {
    static reply one;
    fixture f;
    tally count = {0};
    nc_clock clock = threat_clock();
    const nct_server_options server = {.identity = identity, .is_tls_1_2_only = true, .tickets = NCT_TICKETS_KEPT};
    const nc_engine_options engine = {
        .max_in_flight = AT_ONCE, .max_per_host = AT_ONCE, .clock = &clock, .trace = {&head_lines, count_line}};
    uint64_t began_ms = torture_now_ms();
    make_reply(&one, of, identity != NCT_PLAIN);
    for (size_t i = 0; i < ending_count; i++) {
        fixture_start_with(&f, &server, &engine);
        for (size_t cut = 0; cut <= one.length;) {
            cut = send_cuts(&f, &one, endings[i], cut, &count);
        }
        fixture_stop(&f);
    }
    print_message("%s%s: %zu whole, %zu flagged, %zu cut short, %zu reset, %zu idle, %zu without a first line, %u ms\n",
                  of->name, identity != NCT_PLAIN ? " over TLS" : "", count.whole, count.flagged, count.cut_short,
                  count.reset, count.idle, count.first_byte, (unsigned)(torture_now_ms() - began_ms));
    assert_true(count.cut_short > 0 && count.reset > 0 && count.idle > 0 && count.whole + count.flagged > 0);
}

static const nct_ending plain_endings[] = {NCT_CLOSE, NCT_RESET, NCT_STALL};

static void truncation__a_body_with_a_length_is_complete_or_an_error(void **state) {
    (void)state;
    run_row(&rows[0], NCT_PLAIN, plain_endings, 3);
    run_row(&rows[3], NCT_PLAIN, plain_endings, 3);
}

static void truncation__a_chunked_body_is_complete_or_an_error(void **state) {
    (void)state;
    run_row(&rows[1], NCT_PLAIN, plain_endings, 3);
    run_row(&rows[4], NCT_PLAIN, plain_endings, 3);
}

static void truncation__a_body_with_trailers_is_complete_or_an_error(void **state) {
    (void)state;
    run_row(&rows[2], NCT_PLAIN, plain_endings, 3);
}

static void truncation__an_accepted_body_without_a_length_is_marked(void **state) {
    (void)state;
    run_row(&rows[5], NCT_PLAIN, plain_endings, 3);
}

static void truncation__over_tls_a_body_without_a_length_needs_close_notify(void **state) {
    static const nct_ending endings[] = {NCT_CLOSE, NCT_TRUNCATE, NCT_RESET, NCT_STALL};
    (void)state;
    run_row(&rows[5], NCT_TLS_VALID, endings, 4);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(truncation__a_body_with_a_length_is_complete_or_an_error),
        harness_case(truncation__a_chunked_body_is_complete_or_an_error),
        harness_case(truncation__a_body_with_trailers_is_complete_or_an_error),
        harness_case(truncation__an_accepted_body_without_a_length_is_marked),
        harness_case(truncation__over_tls_a_body_without_a_length_needs_close_notify),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
