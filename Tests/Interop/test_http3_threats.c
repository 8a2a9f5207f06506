/// Hostile servers over HTTP/3: malformed heads and frames, violations on the control and QPACK streams, heads and
/// bodies without end.
///
/// A path describes what the server sends: see http3_server.py. After each row the engine must be usable.
#include "quic.h"

#include <netcore/cookies.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define OK "/frames/H:status=200"
#define NEXT "%1f"

/// What a server sends, and how the transfer ends.
typedef struct row {
    const char *path;
    nc_status status;
    const char *body;   // if the status is NC_OK
    const char *absent; // a field that the response must not have
} row;

/// Sends a POST, which is never resent.
static answer post(quic *q, const char *path) {
    nc_request request = quic_request(q, path);
    request.method = nc_slice_of("POST");
    request.body = nc_slice_of("once");
    return fixture_send(&q->f, &request);
}

static void expect_usable(quic *q) {
    assert_response(quic_get(q, "/hello"), 200, "hello");
}

static void check_rows(const row *rows, size_t count) {
    quic q;
    quic_start(&q, NULL);
    for (size_t i = 0; i < count; i++) {
        answer one = post(&q, rows[i].path);
        if (one.error.status != rows[i].status) {
            fail_msg("%s: %s: %s", rows[i].path, nc_status_name(one.error.status), one.error.message);
        }
        if (rows[i].status == NC_OK) {
            assert_response(one, 200, rows[i].body);
        }
        if (rows[i].absent != NULL) {
            nc_slice value;
            assert_false(nc_response_find_header(one.response, nc_slice_of(rows[i].absent), &value));
        }
        expect_usable(&q);
    }
    quic_stop(&q);
}

/* --- heads --- */

static const row fields[] = {
    {OK NEXT "x-a=1" NEXT "x-a=2/Dhi", NC_OK, "hi", "x-b"},
    // RFC 9114, 10.3: CR, LF and NUL could begin another field where the response is written as HTTP/1.1.
    {OK NEXT "x-a=1%0d%0ax-b:%202/Dhi", NC_OK, "hi", "x-b"},
    {OK NEXT "x-a=1%0ax-b:%202/Dhi", NC_OK, "hi", "x-b"},
    {OK NEXT "x-a=1%0dx-b:%202/Dhi", NC_OK, "hi", "x-b"},
    {OK NEXT "x-a=1%00x-b:%202/Dhi", NC_OK, "hi", "x-a"},
    {OK NEXT "x-a%0d%0ax-b=2/Dhi", NC_OK, "hi", "x-b"},
    {OK NEXT "x-b:%201%0d%0ax-c=2/Dhi", NC_OK, "hi", "x-b"},
    {OK NEXT "x-b%20=1/Dhi", NC_OK, "hi", "x-b"},
    {OK NEXT "=1/Dhi", NC_OK, "hi", ""},
    // RFC 9114, 4.2: names are in lower case, and no field describes the connection.
    {OK NEXT "X-B=1/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "connection=close/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "keep-alive=timeout%3d5/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "proxy-connection=close/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "transfer-encoding=chunked/D2%0d%0ahi%0d%0a0%0d%0a%0d%0a", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "upgrade=h2c/Dhi", NC_ERR_HTTP3, NULL, NULL},
};

static const row pseudo_fields[] = {
    {"/frames/H:status=200" NEXT ":status=200/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=200" NEXT ":status=404/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/Hx-a=1" NEXT ":status=200/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/Hx-a=1/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT ":path=%2f/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT ":authority=evil.example/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT ":unknown=1/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=20/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=2000/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=2x0/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=-20/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=101/H:status=200/Dhi", NC_ERR_HTTP3, NULL, NULL}, // RFC 9114, 4.5
    // Trailers have no pseudo-header fields (RFC 9114, 4.3).
    {OK "/Dhi/H:status=404", NC_ERR_HTTP3, NULL, NULL},
    {OK "/Dhi/Hx-sum=1" NEXT ":status=404", NC_ERR_HTTP3, NULL, NULL},
};

static const row lengths[] = {
    {OK NEXT "content-length=2/Dhi", NC_OK, "hi", NULL},
    {OK NEXT "content-length=2/Dh/Di", NC_OK, "hi", NULL},
    // RFC 9114, 4.1.2: the length must be the sum of the DATA frames.
    {OK NEXT "content-length=3/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=1/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=0/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=2/Dhi/D!", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=2" NEXT "content-length=3/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=2,%203/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=-2/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=+2/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=0x2/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=18446744073709551618/Dhi", NC_ERR_HTTP3, NULL, NULL},
    {OK NEXT "content-length=9223372036854775807/Dhi", NC_ERR_HTTP3, NULL, NULL},
};

static const row frames[] = {
    {OK "/Dhi/R2100/D!", NC_OK, "hi!", NULL},         // a reserved type is ignored (RFC 9114, 7.2.8)
    {OK "/Dhi/R404103616263/D!", NC_OK, "hi!", NULL}, // and so is an unknown one (9)
    {OK "/Dhi/D/D!", NC_OK, "hi!", NULL},
    {OK "/Dhi/Hx-sum=1/D!", NC_ERR_HTTP3, NULL, NULL},       // DATA after trailers
    {OK "/Dhi/Hx-sum=1/Hx-sum=2", NC_ERR_HTTP3, NULL, NULL}, // two trailers
    {"/frames/H:status=103/Dhi/H:status=200", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/H:status=103", NC_ERR_HTTP3, NULL, NULL},
    {OK "/Dhi/R0501000000d9", NC_ERR_HTTP3, NULL, NULL}, // PUSH_PROMISE, and no push was allowed
    {OK "/Dhi/R030100", NC_ERR_HTTP3, NULL, NULL},       // CANCEL_PUSH on a request stream
    {OK "/Dhi/R070100", NC_ERR_HTTP3, NULL, NULL},       // GOAWAY
    {OK "/Dhi/R0d0100", NC_ERR_HTTP3, NULL, NULL},       // MAX_PUSH_ID
    {OK "/Dhi/R0200", NC_ERR_HTTP3, NULL, NULL},         // PRIORITY of HTTP/2
    {OK "/Dhi/R0600", NC_ERR_HTTP3, NULL, NULL},         // PING
    {OK "/Dhi/R0800", NC_ERR_HTTP3, NULL, NULL},         // WINDOW_UPDATE
    {OK "/Dhi/R0900", NC_ERR_HTTP3, NULL, NULL},         // CONTINUATION
    {OK "/Dhi/R00406162", NC_ERR_HTTP3, NULL, NULL},     // DATA of 97 bytes that ends after one
    // libcurl allows no dynamic table. So no head can wait for an entry, and none can repeat a large one (RFC 9204, 7).
    {"/frames/R0103650080", NC_ERR_HTTP3, NULL, NULL},
    {"/violate/encoder/3fe11f", NC_ERR_HTTP3, NULL, NULL},
    {"/frames/R0103000080", NC_ERR_HTTP3, NULL, NULL},   // an entry of the empty dynamic table
    {"/frames/R01040000ffff", NC_ERR_HTTP3, NULL, NULL}, // an entry beyond the static table
};

static void http3__malformed_fields_are_refused_or_dropped(void **state) {
    (void)state;
    check_rows(fields, COUNT_OF(fields));
}

static void http3__malformed_pseudo_header_fields_are_refused(void **state) {
    (void)state;
    check_rows(pseudo_fields, COUNT_OF(pseudo_fields));
}

static void http3__ambiguous_lengths_are_refused(void **state) {
    (void)state;
    check_rows(lengths, COUNT_OF(lengths));
}

static void http3__misplaced_frames_are_refused(void **state) {
    (void)state;
    check_rows(frames, COUNT_OF(frames));
}

/* --- the other streams of a connection --- */

static const row violations[] = {
    {"/violate/control/0400", NC_ERR_HTTP3, NULL, NULL},         // SETTINGS again
    {"/violate/control/0000", NC_ERR_HTTP3, NULL, NULL},         // DATA
    {"/violate/control/01020000", NC_ERR_HTTP3, NULL, NULL},     // HEADERS
    {"/violate/control/0d0100", NC_ERR_HTTP3, NULL, NULL},       // MAX_PUSH_ID, which only a client sends
    {"/violate/control/0501000000d9", NC_ERR_HTTP3, NULL, NULL}, // PUSH_PROMISE
    {"/violate/control/0200", NC_ERR_HTTP3, NULL, NULL},         // PRIORITY of HTTP/2
    {"/violate/control/0600", NC_ERR_HTTP3, NULL, NULL},         // PING of HTTP/2
    {"/violate/control/070101", NC_ERR_HTTP3, NULL, NULL},       // GOAWAY of a stream that no client opens
    {"/violate/control//fin", NC_ERR_HTTP3, NULL, NULL},         // RFC 9114, 6.2.1: a critical stream is never closed
    {"/violate/encoder//fin", NC_ERR_HTTP3, NULL, NULL},
    {"/violate/decoder//fin", NC_ERR_HTTP3, NULL, NULL},
    {"/violate/encoder/3fe1ffff7f", NC_ERR_HTTP3, NULL, NULL}, // a table of more bytes than allowed
    {"/violate/encoder/10", NC_ERR_HTTP3, NULL, NULL},         // a copy of a missing entry
    {"/violate/decoder/00", NC_ERR_HTTP3, NULL, NULL},         // an increment of 0
    {"/violate/decoder/3fffff7f", NC_ERR_HTTP3, NULL, NULL},   // more inserts than were sent
    {"/violate/new/000400", NC_ERR_HTTP3, NULL, NULL},         // another control stream
    {"/violate/new/0100", NC_ERR_HTTP3, NULL, NULL},           // a push, and none was allowed
    {"/violate/new/02", NC_ERR_HTTP3, NULL, NULL},             // another encoder stream
};

static void http3__violations_on_other_streams_end_the_connection(void **state) {
    (void)state;
    check_rows(violations, COUNT_OF(violations));
}

static void http3__unknown_unidirectional_streams_are_ignored(void **state) {
    quic q;
    (void)state;
    quic_start(&q, NULL);
    expect_usable(&q);
    assert_response(post(&q, "/violate/new/2161626364/respond"), 200, "after");
    answer one = quic_get(&q, "/hello");
    assert_response(one, 200, "hello");
    assert_int_equal(quic_opened(one), 0);
    quic_stop(&q);
}

/* --- without end --- */

static void http3__heads_beyond_the_limits_are_refused(void **state) {
    static const row rows[] = {
        {"/large_head/1000000", NC_ERR_HTTP3, NULL, NULL}, // nghttp3 refuses so large a value
        {"/many_fields/5000", NC_ERR_HEAD_TOO_LARGE, NULL, NULL},
    };
    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

static void http3__a_stream_of_empty_frames_ends_at_the_total_limit(void **state) {
    static const char *const paths[] = {"/endless/head/0000", "/endless/head/2100", "/endless/none/2100"};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        nc_request request = quic_request(&q, paths[i]);
        request.limits.total_ms = 700;
        nc_transfer_id id = fixture_submit(&q.f, &request);
        expect_usable(&q); // meanwhile
        assert_ended(fixture_wait(&q.f, id), NC_ERR_TOTAL_TIMED_OUT, 28, "");
    }
    quic_stop(&q);
}

static void http3__an_endless_series_of_interim_heads_is_too_large_a_head(void **state) {
    // A HEADERS frame with :status 103, again and again.
    static const row rows[] = {
        {"/endless/none/010f000027003a73746174757303313033", NC_ERR_HEAD_TOO_LARGE, NULL, NULL},
    };
    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

static void http3__bodies_beyond_the_limit_are_refused(void **state) {
    static const char *const paths[] = {"/endless/head/00026162", "/gzip/3000000", "/bytes/1000000/endless"};
    quic q;
    (void)state;
    quic_start(&q, NULL);
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        nc_request request = quic_request(&q, paths[i]);
        request.accepts_codings = true;
        request.limits.max_body_bytes = 100000;
        assert_ended(fixture_send(&q.f, &request), NC_ERR_BODY_TOO_LARGE, 63, "");
        expect_usable(&q);
    }
    quic_stop(&q);
}

/* --- state --- */

static void http3__cookies_for_other_hosts_are_not_stored(void **state) {
    static const char *const values[] = {"a=1;Domain=example.com", "a=1;Domain=com", "__Host-a=1;Secure;Path=%2Fset",
                                         "__Secure-a=1", "a=1;Path=%2Ffield%00s"};
    quic q;
    (void)state;
    quic_start_with(&q, NULL, &(nc_engine_options){.cookies = NC_COOKIES_MEMORY});
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "%s%s/Dset", OK NEXT "set-cookie=", values[i]);
        assert_response(quic_get(&q, path), 200, "set");
        if (strstr(ask_body(&q.f, quic_get(&q, "/fields")), "cookie:") != NULL) {
            fail_msg("%s is stored", values[i]);
        }
    }
    quic_stop(&q);
}

static const struct CMUnitTest cases[] = {
    harness_case(http3__malformed_fields_are_refused_or_dropped),
    harness_case(http3__malformed_pseudo_header_fields_are_refused),
    harness_case(http3__ambiguous_lengths_are_refused),
    harness_case(http3__misplaced_frames_are_refused),
    harness_case(http3__violations_on_other_streams_end_the_connection),
    harness_case(http3__unknown_unidirectional_streams_are_ignored),
    harness_case(http3__heads_beyond_the_limits_are_refused),
    harness_case(http3__a_stream_of_empty_frames_ends_at_the_total_limit),
    harness_case(http3__an_endless_series_of_interim_heads_is_too_large_a_head),
    harness_case(http3__bodies_beyond_the_limit_are_refused),
    harness_case(http3__cookies_for_other_hosts_are_not_stored),
};

QUIC_MAIN(cases)
