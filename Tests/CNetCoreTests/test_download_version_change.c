#include "fetched.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The resource has two versions of equal length; the server starts with the first.
enum { TOTAL = 3000, HEAD_ROOM = 600, MAX_REPLY = TOTAL * 2 + HEAD_ROOM };

#define TAG "ETag: \"v1\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define NEW_TAG "ETag: \"v2\"\r\nLast-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n"

static uint8_t versions[2][TOTAL];

/// The exact bytes of a reply.
typedef struct wire {
    char bytes[MAX_REPLY];
    size_t length;
} wire;

static void append_text(wire *out, const char *format, ...) NC_PRINTF(2, 3);

static void append_text(wire *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    out->length += (size_t)vsnprintf(out->bytes + out->length, sizeof out->bytes - out->length, format, arguments);
    va_end(arguments);
}

static void append_bytes(wire *out, const uint8_t *bytes, size_t length) {
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

/// The state when the server sends a false response. The client has `cut` bytes and requests a range from `first`.
typedef struct resume_point {
    size_t first;
    size_t cut;
} resume_point;

/// Writes a 206 with these fields and this body.
static void part(wire *out, const char *fields, const char *range, nc_slice body) {
    append_text(out, "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n%s%sContent-Length: %zu\r\n\r\n", fields,
                range, body.length);
    append_bytes(out, body.data, body.length);
}

static nc_slice from(int version, size_t at) {
    return nc_slice_make(versions[version] + at, TOTAL - at);
}

static const char *range_of(size_t first, size_t last, const char *total) {
    static char text[96];
    snprintf(text, sizeof text, "Content-Range: bytes %zu-%zu/%s\r\n", first, last, total);
    return text;
}

typedef enum false_response {
    HONEST,
    WHOLE_OLD,
    WHOLE_NEW,
    WRONG_START,
    START_BEFORE,
    START_BEHIND,
    NO_RANGE,
    OTHER_TOTAL,
    UNKNOWN_TOTAL,
    BROKEN_RANGE,
    TWO_RANGES,
    OTHER_UNIT,
    END_BEYOND,
    END_BEFORE,
    WEAK_TAG,
    NO_TAG,
    OTHER_TAG,
    OTHER_DATE,
    SAME_TAG_NEW_BYTES,
    OLD_BYTES_FROM_START,
    MULTIPART,
    CODED,
    SHORTER,
    LONGER,
    LENGTH_DISAGREES,
    UNSATISFIED_OTHER,
    UNSATISFIED_HERE,
    UNSATISFIED_SILENT,
    NO_CONTENT,
    ERROR_PAGE,
    NOT_MODIFIED,
    NEW_CUT,
    CUT_IN_HEAD,
    DIGEST_OF_ANOTHER,
    REST_AS_200, // from here on: partial bodies with status 200
    REST_AS_200_CHUNKED,
    REST_WITHOUT_RANGE,
    REST_WITHOUT_RANGE_CHUNKED,
    OTHER_PART_AS_200,
    UNKNOWN_TOTAL_AS_200,
    BROKEN_RANGE_AS_200,
    UNSATISFIED_AS_200,
    OTHER_LENGTH_AS_200,
    FALSE_RESPONSES
} false_response;

static void write_wrong_range(wire *out, false_response what, resume_point at) {
    size_t last = TOTAL - 1;
    switch (what) {
    case WRONG_START:
        part(out, TAG, range_of(0, TOTAL - 1 - at.first, "3000"), from(0, at.first));
        break;
    case START_BEFORE:
        part(out, TAG, range_of(at.first == 0 ? 0 : at.first - 1, last, "3000"),
             from(0, at.first == 0 ? 0 : at.first - 1));
        break;
    case START_BEHIND:
        part(out, TAG, range_of(at.first + 1, last, "3000"), from(0, at.first + 1));
        break;
    case NO_RANGE:
        part(out, TAG, "", from(0, at.first));
        break;
    case OTHER_TOTAL:
        part(out, TAG, range_of(at.first, last, "3001"), from(0, at.first));
        break;
    case UNKNOWN_TOTAL:
        part(out, TAG, range_of(at.first, last, "*"), from(0, at.first));
        break;
    case BROKEN_RANGE:
        part(out, TAG, "Content-Range: bytes of it\r\n", from(0, at.first));
        break;
    case TWO_RANGES:
        append_text(out, "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n" TAG "%s",
                    range_of(at.first, last, "3000"));
        append_text(out, "%sContent-Length: %zu\r\n\r\n", range_of(0, last, "3000"), TOTAL - at.first);
        append_bytes(out, versions[1] + at.first, TOTAL - at.first);
        break;
    case OTHER_UNIT:
        part(out, TAG, "Content-Range: lines 1-2/3\r\n", from(0, at.first));
        break;
    case END_BEYOND:
        part(out, TAG, range_of(at.first, TOTAL, "3000"), from(0, at.first));
        break;
    default:
        part(out, TAG, range_of(at.first, last - 1, "3000"), nc_slice_make(versions[0] + at.first, last - at.first));
        break;
    }
}

static void write_wrong_version(wire *out, false_response what, resume_point at) {
    const char *range = range_of(at.first, TOTAL - 1, "3000");
    switch (what) {
    case WEAK_TAG:
        part(out, "ETag: W/\"v1\"\r\n", range, from(1, at.first));
        break;
    case NO_TAG:
        part(out, "X-None: 1\r\n", range, from(1, at.first));
        break;
    case OTHER_TAG:
        part(out, NEW_TAG, range, from(1, at.first));
        break;
    case OTHER_DATE:
        part(out, "ETag: \"v1\"\r\nLast-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n", range, from(1, at.first));
        break;
    case SAME_TAG_NEW_BYTES:
        part(out, TAG, range, from(1, at.first));
        break;
    case OLD_BYTES_FROM_START:
        part(out, TAG, range, nc_slice_make(versions[0], TOTAL - at.first));
        break;
    case MULTIPART:
        part(out, TAG "Content-Type: multipart/byteranges; boundary=x\r\n", range, from(0, at.first));
        break;
    case CODED:
        part(out, TAG "Content-Encoding: gzip\r\n", range, from(0, at.first));
        break;
    default:
        part(out, TAG "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:\r\n", range,
             from(0, at.first));
        break;
    }
}

static void write_wrong_length(wire *out, false_response what, resume_point at) {
    const char *range = range_of(at.first, TOTAL - 1, "3000");
    switch (what) {
    case SHORTER:
        append_text(out, "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n" TAG "%sContent-Length: %zu\r\n\r\n",
                    range, TOTAL - at.first);
        append_bytes(out, versions[0] + at.first, (TOTAL - at.first) / 2);
        break;
    case LONGER:
        append_text(out, "HTTP/1.1 206 Partial Content\r\nTransfer-Encoding: chunked\r\n" TAG "%s\r\n%zx\r\n", range,
                    TOTAL - at.first + 100);
        append_bytes(out, versions[0] + at.first, TOTAL - at.first);
        append_bytes(out, versions[1], 100);
        append_text(out, "\r\n0\r\n\r\n");
        break;
    default:
        append_text(out, "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n" TAG "%sContent-Length: %zu\r\n\r\n",
                    range, TOTAL - at.first - 1);
        append_bytes(out, versions[0] + at.first, TOTAL - at.first - 1);
        break;
    }
}

/// Writes a partial body with status 200.
static void write_with_status_200(wire *out, false_response what, resume_point at) {
    static char range[96];
    bool is_chunked = what == REST_AS_200_CHUNKED || what == REST_WITHOUT_RANGE_CHUNKED;
    bool has_range = what != REST_WITHOUT_RANGE && what != REST_WITHOUT_RANGE_CHUNKED && what != OTHER_LENGTH_AS_200;
    nc_slice body = what == OTHER_PART_AS_200     ? nc_slice_make(versions[0], TOTAL / 2)
                    : what == OTHER_LENGTH_AS_200 ? nc_slice_make(versions[0], TOTAL - 1)
                                                  : from(0, at.first);
    (void)snprintf(range, sizeof range, "%s",
                   what == OTHER_PART_AS_200      ? range_of(0, TOTAL / 2 - 1, "3000")
                   : what == UNKNOWN_TOTAL_AS_200 ? range_of(at.first, TOTAL - 1, "*")
                   : what == BROKEN_RANGE_AS_200  ? "Content-Range: bytes of it\r\n"
                   : what == UNSATISFIED_AS_200   ? "Content-Range: bytes */3000\r\n"
                                                  : range_of(at.first, TOTAL - 1, "3000"));
    append_text(out, "HTTP/1.1 200 OK\r\nConnection: close\r\n%s%s", TAG, has_range ? range : "");
    if (is_chunked) {
        append_text(out, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", body.length);
        append_bytes(out, body.data, body.length);
        append_text(out, "\r\n0\r\n\r\n");
    } else {
        append_text(out, "Content-Length: %zu\r\n\r\n", body.length);
        append_bytes(out, body.data, body.length);
    }
}

static void write_response(wire *out, false_response what, resume_point at) {
    out->length = 0;
    if (what >= REST_AS_200) {
        write_with_status_200(out, what, at);
    } else if (what >= WRONG_START && what <= END_BEFORE) {
        write_wrong_range(out, what, at);
    } else if ((what >= WEAK_TAG && what <= CODED) || what == DIGEST_OF_ANOTHER) {
        write_wrong_version(out, what, at);
    } else if (what >= SHORTER && what <= LENGTH_DISAGREES) {
        write_wrong_length(out, what, at);
    } else if (what == HONEST) {
        part(out, TAG, range_of(at.first, TOTAL - 1, "3000"), from(0, at.first));
    } else if (what == WHOLE_OLD || what == WHOLE_NEW || what == NEW_CUT) {
        append_text(out, "HTTP/1.1 200 OK\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n",
                    what == WHOLE_OLD ? TAG : NEW_TAG, TOTAL);
        append_bytes(out, versions[what != WHOLE_OLD], what == NEW_CUT ? at.cut : TOTAL);
    } else if (what == UNSATISFIED_OTHER || what == UNSATISFIED_HERE) {
        append_text(out,
                    "HTTP/1.1 416 No\r\nConnection: close\r\nContent-Range: bytes */%zu\r\nContent-Length: 0\r\n\r\n",
                    what == UNSATISFIED_HERE ? at.cut : (size_t)TOTAL + 7);
    } else {
        static const char *const plain[] = {
            [UNSATISFIED_SILENT] = "HTTP/1.1 416 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            [NO_CONTENT] = "HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
            [ERROR_PAGE] = "HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 4\r\n\r\noops",
            [NOT_MODIFIED] = "HTTP/1.1 304 Same\r\nConnection: close\r\n\r\n",
            [CUT_IN_HEAD] = "HTTP/1.1 206 Partial Content\r\nContent-Ra",
        };
        append_text(out, "%s", plain[what]);
    }
}

/// Returns the overlap: a resumed request includes the last held bytes.
static size_t overlap_of(size_t held) {
    size_t wanted = held / 8 < 16 ? 16 : held / 8;
    wanted = wanted > 4096 ? 4096 : wanted;
    return wanted > held ? held : wanted;
}

static bool is_version(const char *path, int version) {
    nc_buf bytes = temp_file_read(path);
    bool is_same = nc_slice_is_equal(nc_buf_slice(&bytes), from(version, 0));
    nc_buf_deinit(&bytes);
    return is_same;
}

static nct_reply raw(const wire *from_wire) {
    return (nct_reply){.is_raw = true, .body = from_wire->bytes, .body_length = from_wire->length, .ending = NCT_CLOSE};
}

/// Sends one false response at one cut. Checks that the file is then one complete version or missing, also after
/// further attempts.
static void check_false_response(fetching *on, false_response what, size_t cut) {
    static wire replies[4];
    const nc_download_options options = {.skips_sync = true};
    resume_point at = {.first = cut - overlap_of(cut), .cut = cut};
    replies[0].length = 0;
    append_text(&replies[0], "HTTP/1.1 200 OK\r\n" TAG "Content-Length: %d\r\n\r\n", TOTAL);
    append_bytes(&replies[0], versions[0], cut);
    write_response(&replies[1], what, at);
    write_response(&replies[2], WHOLE_NEW, at);
    const nct_reply row[] = {raw(&replies[0]), raw(&replies[1]), raw(&replies[2])};
    fetching_script_row(on, row, 3);
    fetched got = fetch(on, &options);
    assert_fetched(got, NC_ERR_CUT_SHORT);
    assert_int_equal(got.byte_count, cut);
    // First the false response, then as many attempts as the server has replies.
    for (int i = 0; i < 3 && got.error.status != NC_OK; i++) {
        got = fetch(on, &options);
        bool is_there = fetch_exists(on->file);
        if (is_there != (got.error.status == NC_OK)) {
            fail_msg("lie %d at %zu: %s and the file is %s", (int)what, cut, nc_status_name(got.error.status),
                     is_there ? "there" : "missing");
        }
        if (is_there && !is_version(on->file, 0) && !is_version(on->file, 1)) {
            fail_msg("lie %d at %zu: the file is a mix", (int)what, cut);
        }
    }
    if (got.error.status != NC_OK) {
        fail_msg("lie %d at %zu: never ends well: %s", (int)what, cut, got.error.message);
    }
    bool is_rest = what == HONEST || (at.first > 0 && (what == REST_AS_200 || what == REST_AS_200_CHUNKED));
    if (is_rest && got.resumed_bytes != cut) {
        fail_msg("false response %d at %zu: the rest is not resumed", (int)what, cut);
    }
    assert_int_equal(temp_directory_count(on->at.root), 1);
    assert_int_equal(remove(on->file), 0);
}

static void download__never_mixes_two_versions_of_a_resource(void **state) {
    (void)state;
    uint64_t cuts = torture_number("NETCORE_TORTURE_CUTS", 4);
    uint64_t chance = 17;
    fetching on;
    for (size_t i = 0; i < TOTAL; i++) {
        versions[0][i] = (uint8_t)torture_next(&chance);
        versions[1][i] = (uint8_t)(versions[0][i] ^ 0x55);
    }
    fetching_start(&on);
    for (uint64_t i = 0; i < cuts; i++) {
        // Both ends, and positions between them.
        size_t cut = i == 0 ? 1 : i == 1 ? TOTAL - 1 : 1 + (size_t)((TOTAL - 2) * i / cuts);
        for (int what = 0; what < FALSE_RESPONSES; what++) {
            check_false_response(&on, (false_response)what, cut);
        }
    }
    fetching_stop(&on);
    print_message("%d false responses, each at %llu cuts\n", (int)FALSE_RESPONSES, (unsigned long long)cuts);
}

/// Responses to a request without a range. A partial body is rejected for every status. A 206 for all bytes is
/// accepted.
static void download__a_request_for_the_whole_rejects_a_partial_response(void **state) {
    static const struct {
        const char *range;
        bool is_whole;
    } rows[] = {
        {"Content-Range: bytes 500-999/3000\r\n", false},
        {"Content-Range: bytes 0-999/3000\r\n", false},
        {"Content-Range: bytes 0-999/*\r\n", false},
        {"Content-Range: bytes */1000\r\n", false},
        {"Content-Range: BYTES 0-999/3000\r\n", false},
        {"Content-Range: bytes=0-999/3000\r\n", false},
        {"Content-Range: bytes 0-999/1000\r\nContent-Range: bytes 0-999/3000\r\n", false},
        {"Content-Range: bytes 0-999/1000\r\n", true},
        {"Content-Range: items 0-9/30\r\n", true},
        {"Content-Range: 0-24/30\r\n", true},
    };
    static wire reply;
    fetching on;
    (void)state;
    fetching_start(&on);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reply.length = 0;
        append_text(&reply, "HTTP/1.1 200 OK\r\nConnection: close\r\n%sContent-Length: 1000\r\n\r\n", rows[i].range);
        append_bytes(&reply, versions[0], 1000);
        fetching_script(&on, raw(&reply));
        fetched got = fetch(&on, &(nc_download_options){.skips_sync = true});
        if (got.error.status != (rows[i].is_whole ? NC_OK : NC_ERR_BAD_RANGE)) {
            fail_msg("%s: %s", rows[i].range, nc_status_name(got.error.status));
        }
        assert_int_equal(fetch_exists(on.file), rows[i].is_whole);
        (void)remove(on.file);
    }
    fetching_stop(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(download__never_mixes_two_versions_of_a_resource),
        harness_case(download__a_request_for_the_whole_rejects_a_partial_response),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
