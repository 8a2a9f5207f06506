/// The multipart vectors of Tests/Vectors: parts and the expected body.
#include "parameter_vectors.h"

#include <stdio.h>
#include <string.h>

static nc_slice text_of(const nc_params_item *object, const char *name) {
    nc_params_item item = {0};
    return parameter_field(object, name, &item) ? item.content : (nc_slice){NULL, 0};
}

static unsigned digit_of(uint8_t byte) {
    const char *const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(digits, byte);
    assert_non_null(found);
    return (unsigned)(found - digits);
}

/// RFC 4648, 4.
static nc_buf decode(nc_slice text) {
    nc_buf out = nc_buf_init(1 << 20);
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < text.length && text.data[i] != '='; i++) {
        bits = bits << 6 | digit_of(text.data[i]);
        count += 6;
        if (count >= 8) {
            count -= 8;
            nc_buf_append_byte(&out, (uint8_t)(bits >> count));
        }
    }
    return out;
}

/// Returns a text, or the decoded bytes of its "…_base64" member.
static nc_buf bytes_of(const nc_params_item *part, const char *name, const char *coded) {
    nc_params_item item;
    if (parameter_field(part, coded, &item)) {
        return decode(item.content);
    }
    nc_buf out = nc_buf_init(1 << 20);
    nc_buf_append(&out, text_of(part, name));
    return out;
}

static size_t fill_headers(const nc_params_item *part, nc_header *headers, size_t room) {
    nc_params_item list = {0};
    nc_params_item pair;
    size_t count = 0;
    if (!parameter_field(part, "headers", &list)) {
        return 0;
    }
    nc_params_cursor cursor = nc_params_children(&list);
    while (nc_params_next(&cursor, &pair)) {
        nc_params_item name;
        nc_params_item value;
        nc_params_cursor both = nc_params_children(&pair);
        assert_true(count < room && nc_params_next(&both, &name) && nc_params_next(&both, &value));
        headers[count++] = (nc_header){name.content, value.content};
    }
    return count;
}

static void add_part(nc_multipart *form, const nc_params_item *vector) {
    nc_header headers[8];
    nc_params_item file_name = {0};
    nc_buf name = bytes_of(vector, "name", "name_base64");
    nc_buf value = bytes_of(vector, "value", "value_base64");
    nc_part part = {
        .name = nc_buf_slice(&name),
        .type = text_of(vector, "type"),
        .headers = headers,
        .header_count = fill_headers(vector, headers, 8),
        .bytes = nc_buf_slice(&value),
    };
    if (parameter_field(vector, "filename", &file_name)) {
        part.file_name = file_name.content.length > 0 ? file_name.content : nc_slice_of("");
    }
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
    nc_buf_deinit(&name);
    nc_buf_deinit(&value);
}

static void expect_vector(const nc_params_item *vector) {
    uint8_t bytes[8192];
    size_t filled = 0;
    nc_params_item parts;
    nc_params_item length;
    nc_params_item part;
    nc_multipart *form = NULL;
    nc_multipart_reader *reader = NULL;
    const nc_multipart_options options = {.boundary = text_of(vector, "boundary")};
    assert_true(parameter_field(vector, "parts", &parts) && parameter_field(vector, "length", &length));
    assert_status(nc_multipart_new(&form, &options, NULL), NC_OK);
    nc_params_cursor cursor = nc_params_children(&parts);
    while (nc_params_next(&cursor, &part)) {
        add_part(form, &part);
    }
    assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_OK);
    nc_params_digits digits;
    assert_int_equal(nc_multipart_read(reader, 0, bytes, sizeof bytes, &filled), NC_PULL_END);
    nc_buf expected = decode(text_of(vector, "body_base64"));
    bool is_equal = nc_slice_is_equal(nc_slice_make(bytes, filled), nc_buf_slice(&expected));
    char known[32];
    (void)snprintf(known, sizeof known, "%llu", (unsigned long long)nc_multipart_reader_length(reader));
    nc_slice announced = nc_params_text(&length, &digits);
    if (!is_equal || !nc_slice_is_equal(announced, nc_slice_of(known))) {
        nc_slice name = text_of(vector, "case");
        fail_msg("%.*s:\n%.*s\ninstead of\n%.*s", (int)name.length, (const char *)name.data, (int)filled,
                 (const char *)bytes, (int)expected.length, (const char *)expected.data);
    }
    nc_buf_deinit(&expected);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void expect_vectors(const char *name) {
    nc_params file = parameter_vectors(name);
    nc_params_item root = nc_params_root(&file);
    nc_params_item vector;
    nc_params_cursor cursor = nc_params_children(&root);
    size_t count = 0;
    for (; nc_params_next(&cursor, &vector); count++) {
        expect_vector(&vector);
    }
    print_message("%s: %zu vectors\n", name, count);
    assert_true(count >= 3);
    nc_params_deinit(&file);
}

static void multipart__agrees_with_the_vectors(void **state) {
    (void)state;
    expect_vectors("multipart.json");
    expect_vectors("multipart_own.json");
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {harness_case(multipart__agrees_with_the_vectors)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
