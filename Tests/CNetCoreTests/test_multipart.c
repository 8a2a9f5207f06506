/// Forms on the wire: boundaries, frames, escapes, rejected parts.
#include "harness.h"

#include <stdio.h>
#include <string.h>

static bool fill_in_order(void *ctx, uint8_t *bytes, size_t length) {
    static const uint8_t order[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    (void)ctx;
    memcpy(bytes, order, length < sizeof order ? length : sizeof order);
    return length == sizeof order;
}

static bool fill_nothing(void *ctx, uint8_t *bytes, size_t length) {
    (void)ctx;
    (void)bytes;
    (void)length;
    return false;
}

static const nc_random in_order = {NULL, fill_in_order};
static const nc_random broken = {NULL, fill_nothing};

#define B "Boundary+0123456789ABCDEF"
#define HEAD "Content-Disposition: form-data; name="

static nc_multipart *form_with(const char *boundary, size_t max_bytes) {
    nc_multipart *form = NULL;
    const nc_multipart_options options = {
        .boundary = nc_slice_of(boundary), .random = &in_order, .max_bytes = max_bytes};
    assert_status(nc_multipart_new(&form, &options, NULL), NC_OK);
    return form;
}

static nc_multipart *new_form(void) {
    return form_with(NULL, 0);
}

/// Reads the whole body in pieces of that size.
static nc_buf read_in(nc_multipart *form, size_t piece_bytes) {
    uint8_t piece[4096];
    nc_buf out = nc_buf_init(1 << 20);
    nc_multipart_reader *reader = NULL;
    nc_pull pulled = NC_PULL_MORE;
    assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_OK);
    while (pulled == NC_PULL_MORE) {
        size_t filled = 99;
        pulled = nc_multipart_read(reader, 1, piece, piece_bytes, &filled);
        assert_true(filled <= piece_bytes && (pulled != NC_PULL_MORE || filled > 0));
        nc_buf_append(&out, nc_slice_make(piece, filled));
    }
    assert_int_equal(pulled, NC_PULL_END);
    assert_int_equal(nc_multipart_reader_length(reader), out.length);
    nc_multipart_reader_free(reader);
    return out;
}

static void expect_body(nc_multipart *form, const char *expected) {
    size_t length = strlen(expected);
    for (size_t piece_bytes = 1; piece_bytes <= length + 1; piece_bytes++) {
        nc_buf out = read_in(form, piece_bytes);
        assert_slice_equals(nc_buf_slice(&out), expected);
        nc_buf_deinit(&out);
    }
}

static void add_field(nc_multipart *form, const char *name, const char *value) {
    assert_status(nc_multipart_add_field(form, nc_slice_of(name), nc_slice_of(value), NULL), NC_OK);
}

/* --- boundary and type --- */

static void multipart__the_boundary_is_two_random_numbers_in_hex(void **state) {
    (void)state;
    nc_multipart *form = new_form();
    assert_slice_equals(nc_multipart_boundary(form), B);
    add_field(form, "a", "1");
    assert_slice_equals(nc_multipart_content_type(form), "multipart/form-data; boundary=" B);
    nc_multipart_release(form);
}

static void multipart__two_forms_have_two_boundaries(void **state) {
    nc_multipart *a = NULL;
    nc_multipart *b = NULL;
    (void)state;
    assert_status(nc_multipart_new(&a, NULL, NULL), NC_OK);
    assert_status(nc_multipart_new(&b, NULL, NULL), NC_OK);
    assert_int_equal(nc_multipart_boundary(a).length, 25);
    assert_false(nc_slice_is_equal(nc_multipart_boundary(a), nc_multipart_boundary(b)));
    nc_multipart_release(a);
    nc_multipart_release(b);
}

static void multipart__a_form_without_random_bytes_is_an_error(void **state) {
    nc_multipart *form = NULL;
    nc_error err;
    const nc_multipart_options options = {.random = &broken};
    (void)state;
    assert_status(nc_multipart_new(&form, &options, &err), NC_ERR_BAD_PART);
    assert_null(form);
}

static void multipart__a_boundary_that_is_no_token_is_quoted(void **state) {
    (void)state;
    nc_multipart *form = form_with("a b:c", 0);
    add_field(form, "a", "1");
    assert_slice_equals(nc_multipart_content_type(form), "multipart/form-data; boundary=\"a b:c\"");
    expect_body(form, "--a b:c\r\n" HEAD "\"a\"\r\n\r\n1\r\n--a b:c--\r\n");
    nc_multipart_release(form);
}

static void multipart__a_custom_boundary_has_only_legal_bytes(void **state) {
    char long_one[72];
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t text[] = {'a', (uint8_t)byte, 'b'};
        bool is_legal =
            byte != 0 && byte < 128 &&
            strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ", (int)byte) != NULL;
        const nc_multipart_options options = {.boundary = nc_slice_make(text, 3)};
        nc_multipart *form = NULL;
        nc_error err;
        assert_status(nc_multipart_new(&form, &options, &err), is_legal ? NC_OK : NC_ERR_USAGE);
        assert_int_equal(err.offset, is_legal ? -1 : 1);
        nc_multipart_release(form);
    }
    memset(long_one, 'x', 71);
    long_one[71] = '\0';
    const char *const bad[] = {long_one, "ends in a space "};
    for (size_t i = 0; i < 2; i++) {
        const nc_multipart_options options = {.boundary = nc_slice_of(bad[i])};
        nc_multipart *form = NULL;
        assert_status(nc_multipart_new(&form, &options, NULL), NC_ERR_USAGE);
    }
    long_one[70] = '\0';
    nc_multipart_release(form_with(long_one, 0));
}

static void multipart__a_value_that_contains_the_custom_boundary_is_rejected(void **state) {
    nc_error err;
    (void)state;
    nc_multipart *form = form_with("xyz", 0);
    nc_slice value = nc_slice_of("abc\r\n--xyz--\r\n");
    const nc_part part = {.name = nc_slice_of("a"), .bytes = value, .borrows_bytes = true};
    assert_status(nc_multipart_add_field(form, nc_slice_of("a"), value, &err), NC_ERR_BAD_PART);
    assert_int_equal(err.offset, 5);
    assert_status(nc_multipart_add(form, &part, &err), NC_ERR_BAD_PART);
    assert_int_equal(nc_multipart_count(form), 0);
    add_field(form, "a", "-xyz and --xy z");
    nc_multipart_release(form);
}

/* --- frames --- */

static void multipart__fields_follow_one_another_in_order(void **state) {
    (void)state;
    nc_multipart *form = new_form();
    add_field(form, "b", "1");
    add_field(form, "a", "");
    add_field(form, "b", "3");
    assert_int_equal(nc_multipart_count(form), 3);
    expect_body(form, "--" B "\r\n" HEAD "\"b\"\r\n\r\n1\r\n--" B "\r\n" HEAD "\"a\"\r\n\r\n\r\n--" B "\r\n" HEAD
                      "\"b\"\r\n\r\n3\r\n--" B "--\r\n");
    nc_multipart_release(form);
}

static void multipart__a_parts_fields_have_a_fixed_order(void **state) {
    static const nc_header more[] = {{{(const uint8_t *)"X-B", 3}, {(const uint8_t *)"2", 1}},
                                     {{(const uint8_t *)"X-A", 3}, {NULL, 0}}};
    const nc_part part = {
        .name = nc_slice_of("f"),
        .file_name = nc_slice_of("t.txt"),
        .type = nc_slice_of("text/plain; charset=utf-8"),
        .headers = more,
        .header_count = 2,
        .bytes = nc_slice_of("hi"),
    };
    (void)state;
    nc_multipart *form = new_form();
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
    expect_body(form, "--" B "\r\n" HEAD "\"f\"; filename=\"t.txt\"\r\nContent-Type: text/plain; charset=utf-8\r\n"
                      "X-B: 2\r\nX-A: \r\n\r\nhi\r\n--" B "--\r\n");
    nc_multipart_release(form);
}

static void multipart__a_file_name_sets_the_type_of_its_extension(void **state) {
    static const char *const rows[][2] = {
        {"a.PNG", "image/png"}, {"a.nobody-knows", "application/octet-stream"}, {"", "application/octet-stream"}};
    char expected[512];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const nc_part part = {.name = nc_slice_of("f"), .file_name = nc_slice_of(rows[i][0])};
        nc_multipart *form = new_form();
        assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
        (void)snprintf(expected, sizeof expected,
                       "--" B "\r\n" HEAD "\"f\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n\r\n--" B "--\r\n",
                       rows[i][0], rows[i][1]);
        expect_body(form, expected);
        nc_multipart_release(form);
    }
}

static void multipart__a_bare_part_has_only_its_own_fields(void **state) {
    static const nc_header own[] = {
        {{(const uint8_t *)"Content-Disposition", 19}, {(const uint8_t *)"attachment", 10}}};
    const nc_part part = {
        .name = nc_slice_of("x"), .headers = own, .header_count = 1, .bytes = nc_slice_of("v"), .is_bare = true};
    (void)state;
    nc_multipart *form = new_form();
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
    expect_body(form, "--" B "\r\nContent-Disposition: attachment\r\n\r\nv\r\n--" B "--\r\n");
    nc_multipart_release(form);
}

static void multipart__a_form_without_parts_is_an_empty_urlencoded_body(void **state) {
    (void)state;
    nc_multipart *form = new_form();
    assert_slice_equals(nc_multipart_content_type(form), "application/x-www-form-urlencoded");
    expect_body(form, "");
    nc_multipart_release(form);
}

static void multipart__only_quotes_and_line_ends_are_escaped_in_names(void **state) {
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t text[] = {'a', (uint8_t)byte, 'b'};
        const char *escape = byte == '"' ? "%22" : byte == '\r' ? "%0D" : byte == '\n' ? "%0A" : NULL;
        char expected[400];
        int length = snprintf(expected, sizeof expected, "--" B "\r\n" HEAD "\"a");
        nc_multipart *form = new_form();
        const nc_part part = {.name = nc_slice_make(text, 3),
                              .file_name = nc_slice_make(text, 3),
                              .type = nc_slice_of("t/t"),
                              .bytes = nc_slice_make(text, 3)};
        const char *const between[] = {"b\"; filename=\"a", "b\"\r\nContent-Type: t/t\r\n\r\na", "b\r\n--" B "--\r\n"};
        assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
        nc_buf out = read_in(form, 4096);
        for (size_t i = 0; i < 3; i++) {
            if (escape != NULL && i < 2) {
                length += snprintf(expected + length, sizeof expected - (size_t)length, "%s", escape);
            } else {
                expected[length++] = (char)byte;
            }
            length += snprintf(expected + length, sizeof expected - (size_t)length, "%s", between[i]);
        }
        assert_int_equal(out.length, length);
        assert_memory_equal(out.data, expected, out.length);
        nc_buf_deinit(&out);
        nc_multipart_release(form);
    }
}

/* --- rejected forms --- */

static void multipart__types_and_fields_reject_line_ends(void **state) {
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t text[] = {'a', (uint8_t)byte, 'b'};
        bool ends = byte == '\r' || byte == '\n' || byte == 0;
        const nc_header header = {nc_slice_of("X-A"), nc_slice_make(text, 3)};
        const nc_part parts[] = {{.type = nc_slice_make(text, 3)}, {.headers = &header, .header_count = 1}};
        for (size_t i = 0; i < 2; i++) {
            nc_error err;
            nc_multipart *form = new_form();
            assert_status(nc_multipart_add(form, &parts[i], &err), ends ? NC_ERR_BAD_PART : NC_OK);
            assert_int_equal(err.offset, ends ? 1 : -1);
            assert_int_equal(nc_multipart_count(form), ends ? 0 : 1);
            nc_multipart_release(form);
        }
    }
}

static void multipart__an_invalid_part_leaves_the_form_unchanged(void **state) {
    static const nc_header bad[] = {
        {{NULL, 0}, {(const uint8_t *)"v", 1}},
        {{(const uint8_t *)"a b", 3}, {(const uint8_t *)"v", 1}},
        {{(const uint8_t *)"content-TYPE", 12}, {(const uint8_t *)"v", 1}},
        {{(const uint8_t *)"Content-Disposition", 19}, {(const uint8_t *)"v", 1}},
        {{(const uint8_t *)"A", 1}, {(const uint8_t *)" v", 2}},
        {{(const uint8_t *)"A", 1}, {(const uint8_t *)"v\t", 2}},
    };
    (void)state;
    nc_multipart *form = new_form();
    nc_error err;
    add_field(form, "a", "1");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const nc_part part = {.headers = &bad[i], .header_count = 1};
        assert_status(nc_multipart_add(form, &part, &err), NC_ERR_BAD_PART);
    }
    const nc_part others[] = {
        {.bytes = nc_slice_of("x"), .path = nc_slice_of("/etc/hostname")},
        {.header_count = 1},
        {.bytes = {NULL, 1}},
        {.path = {(const uint8_t *)"", 0}},
        {.path = {(const uint8_t *)"a\0b", 3}},
        {.type = nc_slice_of(" t/t")},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_status(nc_multipart_add(form, &others[i], &err), NC_ERR_BAD_PART);
    }
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), (nc_slice){NULL, 0}, &err), NC_ERR_BAD_PART);
    expect_body(form, "--" B "\r\n" HEAD "\"a\"\r\n\r\n1\r\n--" B "--\r\n");
    nc_multipart_release(form);
}

static void multipart__a_form_stays_within_its_memory_limit(void **state) {
    char value[300];
    (void)state;
    memset(value, 'v', sizeof value);
    nc_multipart *form = form_with(NULL, 400);
    nc_error err;
    add_field(form, "a", "1");
    assert_status(nc_multipart_add_field(form, nc_slice_of("b"), nc_slice_make(value, 300), &err), NC_ERR_TOO_LARGE);
    const nc_part part = {.name = nc_slice_of("b"), .bytes = nc_slice_make(value, 300), .borrows_bytes = true};
    assert_status(nc_multipart_add(form, &part, &err), NC_OK);
    assert_status(nc_multipart_add_field(form, nc_slice_make(value, SIZE_MAX / 2), nc_slice_of(""), &err),
                  NC_ERR_TOO_LARGE);
    nc_buf out = read_in(form, 7);
    assert_int_equal(nc_multipart_count(form), 2);
    assert_non_null(memmem(out.data, out.length, value, sizeof value));
    nc_buf_deinit(&out);
    nc_multipart_release(form);
}

static void multipart__a_form_being_read_accepts_no_more_parts(void **state) {
    nc_multipart_reader *reader = NULL;
    const nc_part part = {.name = nc_slice_of("a")};
    (void)state;
    nc_multipart *form = new_form();
    assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_OK);
    assert_status(nc_multipart_add_field(form, nc_slice_of("a"), nc_slice_of("1"), NULL), NC_ERR_USAGE);
    assert_status(nc_multipart_add(form, &part, NULL), NC_ERR_USAGE);
    nc_multipart_release(form);
    nc_multipart_reader_free(reader); // the last owner
    nc_multipart_reader_free(NULL);
    nc_multipart_release(NULL);
}

/* --- parameters --- */

static void fill_params(nc_params *params) {
    nc_params_add_string(params, nc_slice_of("name"), nc_slice_of("b&n \"g\""));
    nc_params_begin(params, nc_slice_of("phone"), NC_PARAMS_OBJECT);
    nc_params_add_null(params, nc_slice_of("home"));
    nc_params_add_boolean(params, nc_slice_of("is\"x"), true);
    nc_params_end(params);
    nc_params_begin(params, nc_slice_of("f"), NC_PARAMS_ARRAY);
    nc_params_add_bytes(params, nc_slice_of(""), nc_slice_make("\0\xff", 2));
    nc_params_add_double(params, nc_slice_of(""), 1.5);
    nc_params_end(params);
    nc_params_begin(params, nc_slice_of("empty"), NC_PARAMS_ARRAY);
    nc_params_end(params);
}

static void multipart__parameters_become_fields_without_double_escaping(void **state) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    (void)state;
    fill_params(&params);
    nc_multipart *form = new_form();
    assert_status(nc_multipart_add_params(form, &params, NULL, NULL), NC_OK);
    add_field(form, "last", "1");
    static const char expected[] =
        "--" B "\r\n" HEAD "\"f[]\"\r\n\r\n\0\xff\r\n--" B "\r\n" HEAD "\"f[]\"\r\n\r\n1.5\r\n--" B "\r\n" HEAD
        "\"name\"\r\n\r\nb&n \"g\"\r\n--" B "\r\n" HEAD "\"phone[home]\"\r\n\r\n\r\n--" B "\r\n" HEAD
        "\"phone[is%22x]\"\r\n\r\n1\r\n--" B "\r\n" HEAD "\"last\"\r\n\r\n1\r\n--" B "--\r\n";
    nc_buf out = read_in(form, 4096);
    assert_int_equal(out.length, sizeof expected - 1);
    assert_memory_equal(out.data, expected, out.length);
    nc_buf_deinit(&out);
    nc_multipart_release(form);
    nc_params_deinit(&params);
}

static void multipart__arrays_may_be_joined_by_commas(void **state) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    const nc_query_options options = {.names.arrays = NC_ARRAYS_COMMA, .booleans = NC_BOOLEANS_WORDS};
    (void)state;
    nc_params_begin(&params, nc_slice_of("f"), NC_PARAMS_ARRAY);
    nc_params_add_integer(&params, nc_slice_of(""), 1);
    nc_params_add_boolean(&params, nc_slice_of(""), false);
    nc_params_end(&params);
    nc_multipart *form = new_form();
    assert_status(nc_multipart_add_params(form, &params, &options, NULL), NC_OK);
    expect_body(form, "--" B "\r\n" HEAD "\"f\"\r\n\r\n1,false\r\n--" B "--\r\n");
    nc_multipart_release(form);
    nc_params_deinit(&params);
}

static void multipart__invalid_parameters_leave_the_form_unchanged(void **state) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_error err;
    (void)state;
    fill_params(&params);
    nc_params_add_string(&params, nc_slice_of("zzz"), nc_slice_of("\xc3"));
    nc_multipart *form = new_form();
    add_field(form, "a", "1");
    assert_status(nc_multipart_add_params(form, &params, NULL, &err), NC_ERR_BAD_PARAMETER);
    assert_non_null(strstr(err.message, "zzz"));
    expect_body(form, "--" B "\r\n" HEAD "\"a\"\r\n\r\n1\r\n--" B "--\r\n");
    nc_multipart_release(form);
    nc_params_deinit(&params);
}

/* --- failing allocations --- */

static void build_and_read(void *ctx) {
    nc_multipart *form = NULL;
    nc_multipart_reader *reader = NULL;
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    uint8_t piece[4096];
    size_t filled = 0;
    const nc_query_options options = {.names.arrays = NC_ARRAYS_COMMA, .booleans = NC_BOOLEANS_WORDS};
    const nc_part part = {.name = nc_slice_of("f"), .path = nc_slice_of("/etc/mime.types-not-there")};
    const nc_part borrowed = {.name = nc_slice_of("f"), .bytes = nc_slice_of("x"), .borrows_bytes = true};
    (void)ctx;
    if (nc_multipart_new(&form, NULL, NULL) != NC_OK) {
        return;
    }
    fill_params(&params);
    nc_status status = nc_multipart_add_params(form, &params, &options, NULL);
    size_t count = nc_multipart_count(form);
    assert_int_equal(count, status == NC_OK ? 4 : 0);
    for (size_t i = 0; i < 40 && status == NC_OK; i++) {
        status = nc_multipart_add(form, &borrowed, NULL);
    }
    assert_true(nc_multipart_add(form, &part, NULL) != NC_OK);
    if (nc_multipart_reader_new(&reader, form, NULL) == NC_OK) {
        while (nc_multipart_read(reader, 0, piece, sizeof piece, &filled) == NC_PULL_MORE) {
        }
    }
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
    nc_params_deinit(&params);
}

static void multipart__an_allocation_failure_is_an_error(void **state) {
    (void)state;
    assert_true(each_allocation_failure(build_and_read, NULL) > 5);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(multipart__the_boundary_is_two_random_numbers_in_hex),
        harness_case(multipart__two_forms_have_two_boundaries),
        harness_case(multipart__a_form_without_random_bytes_is_an_error),
        harness_case(multipart__a_boundary_that_is_no_token_is_quoted),
        harness_case(multipart__a_custom_boundary_has_only_legal_bytes),
        harness_case(multipart__a_value_that_contains_the_custom_boundary_is_rejected),
        harness_case(multipart__fields_follow_one_another_in_order),
        harness_case(multipart__a_parts_fields_have_a_fixed_order),
        harness_case(multipart__a_file_name_sets_the_type_of_its_extension),
        harness_case(multipart__a_bare_part_has_only_its_own_fields),
        harness_case(multipart__a_form_without_parts_is_an_empty_urlencoded_body),
        harness_case(multipart__only_quotes_and_line_ends_are_escaped_in_names),
        harness_case(multipart__types_and_fields_reject_line_ends),
        harness_case(multipart__an_invalid_part_leaves_the_form_unchanged),
        harness_case(multipart__a_form_stays_within_its_memory_limit),
        harness_case(multipart__a_form_being_read_accepts_no_more_parts),
        harness_case(multipart__parameters_become_fields_without_double_escaping),
        harness_case(multipart__arrays_may_be_joined_by_commas),
        harness_case(multipart__invalid_parameters_leave_the_form_unchanged),
        harness_case(multipart__an_allocation_failure_is_an_error),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
