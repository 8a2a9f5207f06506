/// Threats B1 and B5: endless heads and bodies, and slow replies, end at a limit or complete.
#include "threat.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* --- without end --- */

enum { MAX_SEEN_BYTES = NC_DEFAULT_MAX_HEAD_BYTES + 128 * 1024 };

static void expect_large_head(const char *what, const threat_transfer *transfer) {
    nc_hop_metrics hop = nc_response_hop_at(transfer->response, 0);
    if (transfer->error.status != NC_ERR_HEAD_TOO_LARGE || hop.head_bytes > MAX_SEEN_BYTES ||
        nc_response_body(transfer->response).length > 64) {
        fail_msg("%s: %s (%s) after %llu bytes of head", what, nc_status_name(transfer->error.status),
                 transfer->error.message, (unsigned long long)hop.head_bytes);
    }
}

static void endless__a_head_without_end_ends_at_its_limit(void **state) {
    static const struct {
        const char *name;
        nct_endless endless;
    } rows[] = {{"100 Continue", NCT_ENDLESS_CONTINUE},
                {"one line", NCT_ENDLESS_LINE},
                {"fields", NCT_ENDLESS_FIELDS},
                {"reason", NCT_ENDLESS_REASON},
                {"trailer", NCT_ENDLESS_TRAILER}};
    fixture f;
    threat_transfer transfers[COUNT_OF(rows)];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    threat_batch batch = THREAT_BATCH_INIT(f.engine);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *path = fixture_text(&f, "/%zu", i);
        fixture_script(&f, path, (nct_reply){.endless = rows[i].endless, .body = "x", .body_length = 1});
        nc_request request = fixture_request(&f, path);
        request.limits.max_head_fields = NC_UNLIMITED; // the limit of bytes still applies
        assert_status(threat_submit(&batch, &request, &transfers[i]), NC_OK);
    }
    threat_await(&batch, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_large_head(rows[i].name, &transfers[i]);
    }
    threat_release(transfers, COUNT_OF(rows));
    fixture_stop(&f);
}

static void endless__a_huge_head_ends_at_its_limits(void **state) {
    enum { FIELDS = 100000, LONG_FIELDS = 2048 };
    fixture f;
    threat_transfer transfers[2];
    (void)state;
    char *many = malloc((size_t)FIELDS * 8 + 1);
    char *large = malloc((size_t)LONG_FIELDS * 1024 + 1);
    assert_non_null(many);
    assert_non_null(large);
    for (size_t i = 0; i < FIELDS; i++) {
        memcpy(many + i * 8, "X-Y: z\r\n", 8);
    }
    memset(large, 'v', (size_t)LONG_FIELDS * 1024);
    for (size_t i = 0; i < LONG_FIELDS; i++) { // 2 MiB
        memcpy(large + i * 1024, "X-Long: ", 8);
        memcpy(large + i * 1024 + 1022, "\r\n", 2);
    }
    many[FIELDS * 8] = large[LONG_FIELDS * 1024] = '\0';
    fixture_start(&f, NCT_PLAIN);
    threat_batch batch = THREAT_BATCH_INIT(f.engine);
    fixture_script(&f, "/many", (nct_reply){.headers = many});
    fixture_script(&f, "/large", (nct_reply){.headers = large});
    nc_request request = fixture_request(&f, "/many");
    assert_status(threat_submit(&batch, &request, &transfers[0]), NC_OK);
    request.url = nc_slice_of(fixture_url(&f, "/large"));
    request.limits.max_head_fields = NC_UNLIMITED;
    assert_status(threat_submit(&batch, &request, &transfers[1]), NC_OK);
    threat_await(&batch, 0);
    expect_large_head("100,000 fields", &transfers[0]);
    assert_true(nc_response_header_count(transfers[0].response) <= NC_DEFAULT_MAX_HEAD_FIELDS);
    expect_large_head("2 MiB of fields", &transfers[1]);
    threat_release(transfers, 2);
    fixture_stop(&f);
    free(many);
    free(large);
}

static void endless__a_body_without_end_ends_at_its_limits(void **state) {
    fixture f;
    threat_transfer transfers[2];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    threat_batch batch = THREAT_BATCH_INIT(f.engine);
    fixture_script(&f, "/chunks", (nct_reply){.endless = NCT_ENDLESS_CHUNKS});
    nc_request request = fixture_request(&f, "/chunks");
    request.limits = (nc_limits){.max_body_bytes = 100000, .idle_ms = 100};
    assert_status(threat_submit(&batch, &request, &transfers[0]), NC_OK);
    request.limits = (nc_limits){.max_body_bytes = NC_UNLIMITED, .total_ms = 150, .max_receive_bytes_per_s = 1000};
    assert_status(threat_submit(&batch, &request, &transfers[1]), NC_OK);
    threat_await(&batch, 0);
    assert_status(transfers[0].error.status, NC_ERR_BODY_TOO_LARGE);
    assert_true(nc_response_body(transfers[0].response).length <= 100000);
    assert_status(transfers[1].error.status, NC_ERR_TOTAL_TIMED_OUT);
    threat_release(transfers, 2);
    fixture_stop(&f);
}

/// Extensions are limited by their size, so no time limit is needed.
static void endless__chunk_extensions_end_at_their_limit(void **state) {
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(identities); i++) {
        fixture f;
        fixture_start(&f, identities[i]);
        fixture_script(&f, "/e", (nct_reply){.endless = NCT_ENDLESS_EXTENSION, .body = "x", .body_length = 1});
        answer one = fixture_get(&f, "/e");
        assert_ended(one, NC_ERR_BAD_RESPONSE, CURLE_RECV_ERROR, "the chunk extensions are too large");
        assert_slice_equals(nc_response_body(one.response), "x");
        fixture_stop(&f);
    }
}

/* --- slow responses --- */

/// The server sends each byte in its own segment. The result does not depend on segmentation.
static void endless__a_reply_may_come_byte_by_byte(void **state) {
    static const char *const replies[] = {
        OK "X-A: b\r\nContent-Length: 12\r\n\r\ndrip by drip",
        OK "X-A: b\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndrip \r\n7;x=y\r\nby drip\r\n0\r\n\r\n",
        CHUNKED "C\r\ndrip by drip\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n",
        OK "X-A: b\r\n\r\ndrip by drip",
        "HTTP/1.0 200 OK\r\n\r\ndrip by drip",
        "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" OK "X-A: b\r\n c\r\nContent-Length: 12\r\n\r\ndrip by drip",
        "HTTP/1.1 200 OK\nContent-Length: 12\n\ndrip by drip",
    };
    fixture f;
    threat_transfer transfers[COUNT_OF(replies)];
    static const nct_identity identities[] = {NCT_PLAIN, NCT_TLS_VALID};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(identities); k++) {
        fixture_start(&f, identities[k]);
        threat_batch batch = THREAT_BATCH_INIT(f.engine);
        for (size_t i = 0; i < COUNT_OF(replies); i++) {
            const char *path = fixture_text(&f, "/%zu", i);
            fixture_script(&f, path,
                           (nct_reply){.is_raw = true,
                                       .body = replies[i],
                                       .body_length = strlen(replies[i]),
                                       .drip_bytes = 1,
                                       .ending = NCT_CLOSE});
            nc_request request = fixture_request(&f, path);
            assert_status(threat_submit(&batch, &request, &transfers[i]), NC_OK);
        }
        threat_await(&batch, 0);
        for (size_t i = 0; i < COUNT_OF(replies); i++) {
            assert_status(transfers[i].error.status, NC_OK);
            assert_slice_equals(nc_response_body(transfers[i].response), "drip by drip");
            assert_int_equal(nc_response_is_close_delimited(transfers[i].response), i == 3 || i == 4);
            assert_int_equal(nc_response_trailer_count(transfers[i].response), i == 2 ? 2 : 0);
        }
        threat_release(transfers, COUNT_OF(replies));
        fixture_stop(&f);
    }
}

/// The server sends a byte at long intervals without end. A part of a head line does not restart the limits.
static void endless__slow_heads_and_bodies_end_at_their_timeouts(void **state) {
    static const struct {
        const char *name;
        nc_limits limits;
        uint32_t drip_ms;
        bool is_endless;
        nc_status status;
    } rows[] = {
        // The first line never completes within the limit.
        {"first byte", {.first_byte_ms = 60}, 20, false, NC_ERR_FIRST_BYTE_TIMED_OUT},
        {"total, in the head", {.total_ms = 90}, 20, false, NC_ERR_TOTAL_TIMED_OUT},
        // An endless field value: after the first lines no line completes.
        {"idle, in the head", {.idle_ms = 90}, 1, true, NC_ERR_IDLE_TIMED_OUT},
        {"total, in a line", {.total_ms = 120}, 1, true, NC_ERR_TOTAL_TIMED_OUT},
    };
    fixture f;
    threat_transfer transfers[COUNT_OF(rows)];
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    threat_batch batch = THREAT_BATCH_INIT(f.engine);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *path = fixture_text(&f, "/%zu", i);
        fixture_script(&f, path,
                       (nct_reply){.drip_bytes = 1,
                                   .drip_ms = rows[i].drip_ms,
                                   .pattern_length = 100000,
                                   .endless = rows[i].is_endless ? NCT_ENDLESS_LINE : NCT_FINITE});
        nc_request request = fixture_request(&f, path);
        request.limits = rows[i].limits;
        assert_status(threat_submit(&batch, &request, &transfers[i]), NC_OK);
    }
    threat_await(&batch, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (transfers[i].error.status != rows[i].status) {
            fail_msg("%s: %s (%s)", rows[i].name, nc_status_name(transfers[i].error.status),
                     transfers[i].error.message);
        }
    }
    threat_release(transfers, COUNT_OF(rows));
    fixture_stop(&f);
}

/// A body that drips is not idle, so the total limit is the one that ends it.
static void endless__a_dripping_body_ends_at_the_total_timeout(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/slow", (nct_reply){.drip_bytes = 1, .drip_ms = 1, .endless = NCT_ENDLESS_CHUNKS});
    nc_request request = fixture_request(&f, "/slow");
    request.limits = (nc_limits){.total_ms = 200};
    answer one = fixture_send(&f, &request);
    assert_status(one.error.status, NC_ERR_TOTAL_TIMED_OUT);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(endless__a_head_without_end_ends_at_its_limit),
        harness_case(endless__a_huge_head_ends_at_its_limits),
        harness_case(endless__a_body_without_end_ends_at_its_limits),
        harness_case(endless__chunk_extensions_end_at_their_limit),
        harness_case(endless__a_reply_may_come_byte_by_byte),
        harness_case(endless__slow_heads_and_bodies_end_at_their_timeouts),
        harness_case(endless__a_dripping_body_ends_at_the_total_timeout),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
