#include "harness.h"

#include "download/internal.h"

#include <stdio.h>
#include <string.h>

/* --- names --- */

typedef struct pair {
    const char *from;
    const char *to; // NULL: none
} pair;

static void disposition__gives_the_intended_name(void **state) {
    (void)state;
    static const pair cases[] = {
        {"attachment; filename=\"foo.html\"", "foo.html"},
        {"attachment; filename=foo.html", "foo.html"},
        {"ATTACHMENT ; FILENAME = \"foo.html\"", "foo.html"},
        {"inline; filename=\"foo.html\"", "foo.html"},
        {"attachment; filename=\"f\\oo.html\"", "foo.html"},
        {"attachment; filename=\"\\\"quoting\\\" tested.html\"", "\"quoting\" tested.html"},
        {"attachment; filename=\"a;b=c.html\"; x=y", "a;b=c.html"},
        {"attachment; foo=\"\\\"\\\\\";filename=\"foo.html\"", "foo.html"},
        {"attachment; filename=foo bar.html", "foo bar.html"},
        {"attachment; filename='foo.bar'", "'foo.bar'"},
        {"attachment; filename=\"foo-%41.html\"", "foo-%41.html"},
        {"attachment; filename=\"foo-\xc3\xa4.html\"", "foo-\xc3\xa4.html"},
        {"attachment; filename=\"foo-\xe4.html\"", "foo-\xc3\xa4.html"},
        {"attachment; filename*=UTF-8''foo-%c3%a4-%e2%82%ac.html", "foo-\xc3\xa4-\xe2\x82\xac.html"},
        {"attachment; filename*=iso-8859-1''foo-%E4.html", "foo-\xc3\xa4.html"},
        {"attachment; filename*=utf-8'en'a%20b.txt; filename=\"x\"", "a b.txt"},
        {"attachment; filename=\"x\"; filename*=UTF-8''y", "y"},
        {"attachment; filename*=UTF-8''bad%zz; filename=\"x\"", "x"},
        {"attachment; filename*=UTF-8''%ff%fe; filename=\"x\"", "x"},
        {"attachment; filename*=latin-9''y; filename=\"x\"", "x"},
        {"attachment; filename*=y; filename=\"x\"", "x"},
        {"attachment; filename=\"a\"; filename=\"b\"", "a"},
        {"attachment; xfilename=foo.html", NULL},
        {"attachment; filename=\"never ends", NULL},
        {"attachment; filename=", NULL},
        {"attachment; filename=\"\"", NULL},
        {"attachment", NULL},
        {"\"foo.html\"", NULL},
        {"attachment filename=bar", NULL},
        {"", NULL},
        {";", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        guarded field = guarded_copy(nc_slice_of(cases[i].from));
        nc_buf out = nc_buf_init(1000);
        bool is_found = nc_disposition_name(&out, field.slice);
        bool is_right = is_found == (cases[i].to != NULL) &&
                        nc_slice_is_equal(nc_buf_slice(&out), nc_slice_of(is_found ? cases[i].to : ""));
        if (!is_right) {
            fail_msg("%s: %s, '%.*s'", cases[i].from, is_found ? "found" : "none", (int)out.length, (char *)out.data);
        }
        nc_buf_deinit(&out);
        guarded_deinit(&field);
    }
}

static void url__gives_its_last_path_component(void **state) {
    (void)state;
    static const pair cases[] = {
        {"http://h/a/b.txt", "b.txt"}, {"http://h/a/b.txt?x=/y#/z", "b.txt"},
        {"http://h/a%20b", "a b"},     {"http://h/%2e%2e%2fetc", "../etc"},
        {"http://h/100%", "100%"},     {"http://h/a/", NULL},
        {"http://h/", NULL},           {"http://h", NULL},
        {"http://h?a/b", NULL},        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        guarded url = guarded_copy(nc_slice_of(cases[i].from));
        nc_buf out = nc_buf_init(1000);
        bool is_found = nc_url_last_component(&out, url.slice);
        assert_int_equal(is_found, cases[i].to != NULL);
        assert_true(nc_slice_is_equal(nc_buf_slice(&out), nc_slice_of(is_found ? cases[i].to : "")));
        nc_buf_deinit(&out);
        guarded_deinit(&url);
    }
}

static void name__is_always_sanitized(void **state) {
    (void)state;
    static const pair cases[] = {
        {"plain.txt", "plain.txt"},
        {"../../etc/passwd", "passwd"},
        {"/etc/passwd", "passwd"},
        {"..\\..\\boot.ini", "boot.ini"},
        {"C:\\x\\y.exe", "y.exe"},
        {"..", "download"},
        {".", "download"},
        {"...", "download"},
        {"", "download"},
        {"/", "download"},
        {" ", "download"},
        {".bashrc", "bashrc"},
        {"..hidden", "hidden"},
        {"end. . .", "end"},
        {"-rf", "_-rf"},
        {"~root", "_~root"},
        {"a\nb\x7f"
         "c\x01",
         "a_b_c_"},
        {"a<b>c:d\"e|f?g*h", "a_b_c_d_e_f_g_h"},
        {"con", "_con"},
        {"CON.txt", "_CON.txt"},
        {"Lpt1 .x", "_Lpt1 .x"},
        {"com10", "com10"},
        {"console", "console"},
        {"evil\xe2\x80\xaegpj.exe", "evilgpj.exe"},
        {"zero\xe2\x80\x8bwidth", "zerowidth"},
        {"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},
        {"bad\xff\xc0\xaf", "bad___"},
        {"x.part", "x.part_"},
        {"x.part.nk", "x.part.nk_"},
        {"x.part.nk~", "x.part.nk~_"},
        {"x.PART.new", "x.PART.new_"},
        {"x.PART.NK", "x.PART.NK_"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        guarded name = guarded_copy(nc_slice_of(cases[i].from));
        nc_buf out = nc_buf_init(1000);
        nc_safe_name(&out, name.slice);
        if (!nc_slice_is_equal(nc_buf_slice(&out), nc_slice_of(cases[i].to))) {
            fail_msg("'%s' became '%.*s'", cases[i].from, (int)out.length, (char *)out.data);
        }
        nc_buf_deinit(&out);
        guarded_deinit(&name);
    }
}

static void name__a_truncated_name_preserves_extension_and_whole_characters(void **state) {
    (void)state;
    char name[600] = "";
    for (int i = 0; i < 150; i++) {
        strcat(name, "\xe2\x82\xac");
    }
    strcat(name, ".tar");
    nc_buf out = nc_buf_init(1000);
    nc_safe_name(&out, nc_slice_of(name));
    assert_true(out.length <= NC_SAFE_NAME_BYTES && out.length > NC_SAFE_NAME_BYTES - 8);
    assert_memory_equal(out.data + out.length - 4, ".tar", 4);
    assert_int_equal((out.length - 4) % 3, 0);
    nc_buf_deinit(&out);
}

/// Checks the name of `length` letters and an extension.
static void assert_long_ends(size_t length, const char *end, const char *expected) {
    nc_buf name = nc_buf_init(1000);
    nc_buf out = nc_buf_init(1000);
    for (size_t i = 0; i < length; i++) {
        nc_buf_append_byte(&name, 'a');
    }
    nc_buf_append(&name, nc_slice_of(end));
    nc_safe_name(&out, nc_buf_slice(&name));
    size_t tail = strlen(expected);
    assert_true(out.length <= NC_SAFE_NAME_BYTES && out.length > tail);
    if (memcmp(out.data + out.length - tail, expected, tail) != 0) {
        fail_msg("'%s' became '%.*s'", end, (int)out.length, (char *)out.data);
    }
    nc_buf_deinit(&out);
    nc_buf_deinit(&name);
}

static void name__a_truncated_name_has_a_sanitized_end(void **state) {
    (void)state;
    assert_long_ends(NC_SAFE_NAME_BYTES - 7, ".partbbbbbbbbbbbbbbbbbbbb", ".part_");
    assert_long_ends(NC_SAFE_NAME_BYTES - 11, ".partbbbbbbbbbbbbbbbbbbbb.new", ".part.new_");
    assert_long_ends(NC_SAFE_NAME_BYTES - 4, ". bbbbbbbbbbbbbbbbbbbb", "aaa");
    assert_long_ends(300, ".part", ".part_");
}

static void name__is_one_path_component_for_any_byte(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        uint8_t bytes[] = {'a', (uint8_t)c, 'b'};
        nc_buf out = nc_buf_init(100);
        nc_safe_name(&out, nc_slice_make(bytes, sizeof bytes));
        for (size_t i = 0; i < out.length; i++) {
            assert_true(out.data[i] >= 0x20 && out.data[i] != '/' && out.data[i] != '\\' && out.data[i] != 0x7f);
        }
        assert_true(out.length > 0);
        nc_buf_deinit(&out);
    }
}

/* --- ranges and digests --- */

static void range__is_parsed_strictly(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "bytes",
                                        "bytes 0-49",
                                        "bytes 0-/100",
                                        "bytes -49/100",
                                        "bytes 49-0/100",
                                        "bytes 0-100/100",
                                        "bytes 0-49/",
                                        "bytes */*",
                                        "bytes=0-49/100",
                                        "lines 0-49/100",
                                        "bytes 0x0-49/100",
                                        "bytes +0-49/100",
                                        "bytes 0-49/99999999999999999999",
                                        "bytes 0-49/100, 50-60/100"};
    nc_content_range range;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        guarded text = guarded_copy(nc_slice_of(wrong[i]));
        if (nc_content_range_parse(&range, text.slice)) {
            fail_msg("'%s' was read", wrong[i]);
        }
        guarded_deinit(&text);
    }
    assert_true(nc_content_range_parse(&range, nc_slice_of("Bytes 7-49/100")));
    assert_true(range.first == 7 && range.last == 49 && range.total == 100 && !range.is_unsatisfied);
    assert_true(nc_content_range_parse(&range, nc_slice_of(" bytes 0-0/* ")));
    assert_true(range.first == 0 && range.last == 0 && range.total == NC_LENGTH_UNKNOWN);
    assert_true(nc_content_range_parse(&range, nc_slice_of("bytes */100")));
    assert_true(range.is_unsatisfied && range.total == 100);
}

static void range__a_body_is_a_part_unless_the_range_covers_the_whole(void **state) {
    static const struct {
        uint16_t status;
        const char *range, *other, *length, *coding; // the other one is a second Content-Range
        bool is_part;
    } cases[] = {
        {206, NULL, NULL, NULL, NULL, true},
        {206, "bytes 0-9/10", NULL, NULL, NULL, true},
        {200, NULL, NULL, "10", NULL, false},
        {200, "bytes 0-9/10", NULL, "10", NULL, false},
        {200, "Bytes 0-9/10", NULL, NULL, NULL, false},
        {200, "bytes 0-9/10", NULL, "9", NULL, true},
        {200, "bytes 0-9/10", NULL, "9", "gzip", false},
        {200, "bytes 1-9/10", NULL, NULL, NULL, true},
        {203, "bytes 0-8/10", NULL, NULL, NULL, true},
        {200, "bytes 0-9/*", NULL, NULL, NULL, true},
        {200, "bytes */10", NULL, NULL, NULL, true},
        {200, "bytes=0-9/10", NULL, NULL, NULL, true},
        {200, "bytes x", NULL, NULL, NULL, true},
        {200, "bytes 0-9/10", "bytes 0-9/10", NULL, NULL, true},
        {200, "lines 1-9/10", NULL, NULL, NULL, false},
        {200, "bytesx 1-9/10", NULL, NULL, NULL, false},
        {404, "bytes 1-9/10", NULL, NULL, NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_header fields[4];
        size_t count = 0;
        const char *const names[] = {"content-range", "Content-Range", "CONTENT-LENGTH", "Content-Encoding"};
        const char *const values[] = {cases[i].range, cases[i].other, cases[i].length, cases[i].coding};
        for (size_t f = 0; f < 4; f++) {
            if (values[f] != NULL) {
                fields[count++] = (nc_header){nc_slice_of(names[f]), nc_slice_of(values[f])};
            }
        }
        if (nc_content_range_is_part(cases[i].status, fields, count) != cases[i].is_part) {
            fail_msg("row %zu", i);
        }
    }
    assert_false(nc_content_range_is_part(200, NULL, 0));
}

static void digests__are_read_from_both_digest_fields(void **state) {
    (void)state;
    static const char sha[] = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="; // of "abc"
    char text[200];
    nc_download_digests found = {0};
    nc_download_digests same = {0};
    snprintf(text, sizeof text, "sha-512=:AAAA:, sha-256=:%s:;x=1 , md5=:broken:", sha);
    nc_digests_take(&found, nc_slice_of(text), true);
    assert_true(found.has_sha256 && !found.has_md5);
    assert_int_equal(found.sha256[0], 0xba);
    snprintf(text, sizeof text, "SHA-256=%s,MD5=kAFQmDzST7DWlj99KOF/cg==", sha);
    nc_digests_take(&same, nc_slice_of(text), false);
    assert_true(same.has_sha256 && same.has_md5);
    assert_int_equal(same.md5[0], 0x90);
    assert_true(nc_digests_agree(&found, &same));
    same.sha256[31] ^= 1;
    assert_false(nc_digests_agree(&found, &same));
    nc_download_digests none = {0};
    static const char *const broken[] = {"",         ",",         "=",          "sha-256",
                                         "sha-256=", "sha-256=:", "sha-256=::", "sha-256=:AA:"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        nc_digests_take(&none, nc_slice_of(broken[i]), true);
        nc_digests_take(&none, nc_slice_of(broken[i]), false);
    }
    assert_false(none.has_sha256 || none.has_md5);
}

/* --- deciding --- */

static nc_resume_state default_state(void) {
    return (nc_resume_state){
        .has_range = true,
        .first = 34,
        .last = NC_LENGTH_UNKNOWN,
        .stored_bytes = 50,
        .total = 100,
        .validators = {.etag = nc_slice_of("\"a\""), .is_strong = true},
    };
}

static nc_download_facts partial_facts(void) {
    return (nc_download_facts){
        .status = 206,
        .extent = {.has_range = true, .range = {.first = 34, .last = 99, .total = 100}},
        .validators = {.etag = nc_slice_of("\"a\""), .is_strong = true},
    };
}

static void decide__a_206_is_accepted_only_if_range_and_validator_agree(void **state) {
    (void)state;
    nc_resume_state resume = default_state();
    nc_download_facts facts = partial_facts();
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_TAKE_PART);
    facts.extent.has_length = true;
    facts.extent.length = 66;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_TAKE_PART);
    facts.extent.length = 65;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
    facts = partial_facts();
    facts.extent.is_coded = true;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
    facts = partial_facts();
    facts.validators.etag = nc_slice_of("");
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
    resume.trusts_server = true;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_TAKE_PART);
    facts.validators.etag = nc_slice_of("\"b\"");
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
    resume.has_range = false;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_FAIL_RANGE);
    facts.status = 200;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_TAKE_WHOLE);
    facts.status = 416;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_FAIL_STATUS);
}

static void decide__416_completes_only_if_the_total_equals_the_partial_length(void **state) {
    (void)state;
    nc_resume_state resume = default_state();
    nc_download_facts facts = {.status = 416,
                               .extent = {.has_range = true, .range = {.is_unsatisfied = true, .total = 100}}};
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
    resume.stored_bytes = 100;
    resume.first = 100;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_IS_COMPLETE);
    resume.total = NC_LENGTH_UNKNOWN;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_IS_COMPLETE);
    facts.validators.etag = nc_slice_of("\"b\"");
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
    facts.validators.etag = nc_slice_of("");
    facts.extent.range.total = 99;
    assert_int_equal(nc_download_decide(&resume, &facts), NC_DOWNLOAD_REQUEST_WHOLE);
}

static void decide__any_2xx_starts_a_file_but_only_200_replaces_a_partial_file(void **state) {
    (void)state;
    for (uint16_t status = 200; status < 600; status++) {
        const nc_download_facts facts = {.status = status};
        nc_resume_state resume = {.last = NC_LENGTH_UNKNOWN, .total = NC_LENGTH_UNKNOWN};
        if (status != 206) {
            assert_int_equal(nc_download_decide(&resume, &facts),
                             status < 300 ? NC_DOWNLOAD_TAKE_WHOLE : NC_DOWNLOAD_FAIL_STATUS);
            resume.has_stored_bytes = true;
            assert_int_equal(nc_download_decide(&resume, &facts),
                             status == 200 ? NC_DOWNLOAD_TAKE_WHOLE : NC_DOWNLOAD_FAIL_STATUS);
        }
        resume = default_state();
        nc_download_step step = nc_download_decide(&resume, &facts);
        assert_int_equal(step, status == 200                    ? NC_DOWNLOAD_TAKE_WHOLE
                               : status == 206 || status == 416 ? NC_DOWNLOAD_REQUEST_WHOLE
                                                                : NC_DOWNLOAD_FAIL_STATUS);
    }
}

/* --- records --- */

static nc_record sample(void) {
    nc_record record = {.url = nc_slice_of("http://h/f?a=1"),
                        .path = nc_slice_of("/tmp/a\nb%c"),
                        .validators = {nc_slice_of("\"x\""), nc_slice_of("Sun, 06 Nov 1994 08:49:37 GMT"), true},
                        .total = 100,
                        .time_ms = 1700000000123,
                        .piece_count = 2};
    record.digests.has_md5 = true;
    record.pieces[0] = (nc_record_piece){.start = 0, .end = 60, .stored_bytes = 10};
    record.pieces[1] = (nc_record_piece){.start = 60, .end = 100, .stored_bytes = 40};
    return record;
}

static void record__round_trips(void **state) {
    (void)state;
    nc_record record = sample();
    nc_record read;
    nc_buf text = nc_buf_init(10000);
    nc_buf texts = nc_buf_init(10000);
    nc_record_write(&text, &record);
    guarded copy = guarded_copy(nc_buf_slice(&text));
    assert_true(nc_record_read(&read, &texts, copy.slice));
    assert_true(nc_slice_is_equal(read.url, record.url) && nc_slice_is_equal(read.path, record.path));
    assert_true(nc_slice_is_equal(read.validators.etag, record.validators.etag) && read.validators.is_strong);
    assert_true(nc_slice_is_equal(read.validators.modified, record.validators.modified));
    assert_true(read.total == 100 && read.time_ms == 1700000000123 && read.piece_count == 2);
    assert_true(read.digests.has_md5 && !read.digests.has_sha256);
    assert_int_equal(nc_record_stored_bytes(&read), 50);
    guarded_deinit(&copy);
    nc_buf_deinit(&texts);
    nc_buf_deinit(&text);
}

static void record__is_rejected_with_any_changed_bit_or_missing_byte(void **state) {
    (void)state;
    nc_record record = sample();
    nc_record read;
    nc_buf text = nc_buf_init(10000);
    nc_record_write(&text, &record);
    for (size_t i = 0; i < text.length * 8; i++) {
        nc_buf texts = nc_buf_init(10000);
        text.data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(nc_record_read(&read, &texts, nc_buf_slice(&text)));
        text.data[i / 8] ^= (uint8_t)(1 << i % 8);
        nc_buf_deinit(&texts);
    }
    for (size_t length = 0; length < text.length; length++) {
        nc_buf texts = nc_buf_init(10000);
        guarded copy = guarded_copy(nc_slice_make(text.data, length));
        assert_false(nc_record_read(&read, &texts, copy.slice));
        guarded_deinit(&copy);
        nc_buf_deinit(&texts);
    }
    nc_buf_deinit(&text);
}

static bool is_read(const nc_record *record) {
    nc_record read;
    nc_buf text = nc_buf_init(10000);
    nc_buf texts = nc_buf_init(10000);
    nc_record_write(&text, record);
    bool is_good = nc_record_read(&read, &texts, nc_buf_slice(&text));
    nc_buf_deinit(&texts);
    nc_buf_deinit(&text);
    return is_good;
}

static void record__an_inconsistent_record_is_rejected(void **state) {
    (void)state;
    nc_record record = sample();
    assert_true(is_read(&record));
    record.pieces[1].start = 61; // a gap
    assert_false(is_read(&record));
    record = sample();
    record.pieces[0].stored_bytes = 61; // more than the segment's length
    assert_false(is_read(&record));
    record = sample();
    record.total = 101; // the segments end before it
    assert_false(is_read(&record));
    record = sample();
    record.pieces[1].end = NC_LENGTH_UNKNOWN; // although the total is known
    assert_false(is_read(&record));
    record.total = NC_LENGTH_UNKNOWN;
    assert_true(is_read(&record));
    record = sample();
    record.piece_count = 0;
    assert_false(is_read(&record));
    record = sample();
    record.url = nc_slice_of("");
    assert_false(is_read(&record));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(disposition__gives_the_intended_name),
        harness_case(url__gives_its_last_path_component),
        harness_case(name__is_always_sanitized),
        harness_case(name__a_truncated_name_preserves_extension_and_whole_characters),
        harness_case(name__a_truncated_name_has_a_sanitized_end),
        harness_case(name__is_one_path_component_for_any_byte),
        harness_case(range__is_parsed_strictly),
        harness_case(range__a_body_is_a_part_unless_the_range_covers_the_whole),
        harness_case(digests__are_read_from_both_digest_fields),
        harness_case(decide__a_206_is_accepted_only_if_range_and_validator_agree),
        harness_case(decide__any_2xx_starts_a_file_but_only_200_replaces_a_partial_file),
        harness_case(decide__416_completes_only_if_the_total_equals_the_partial_length),
        harness_case(record__round_trips),
        harness_case(record__is_rejected_with_any_changed_bit_or_missing_byte),
        harness_case(record__an_inconsistent_record_is_rejected),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
