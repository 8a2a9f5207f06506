/// Media types from the built-in table, and optionally from the system's list.
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void media_type__follows_the_last_extension_in_any_case(void **state) {
    static const char *const rows[][2] = {
        {"photo.jpg", "image/jpeg"},
        {"photo.JPEG", "image/jpeg"},
        {"archive.tar.gz", "application/gzip"},
        {"/a/b.c/page.html", "text/html"},
        {"data.json", "application/json"},
        {"key.cer", "application/pkix-cert"},
        {"7.7z", "application/x-7z-compressed"},
        {"last.zst", "application/zstd"},
        {"sheet.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
        {"a.b.", ""},
        {"noextension", ""},
        {"/a.txt/b", ""},
        {".txt", ""},
        {"/a/.txt", ""},
        {"", ""},
        {"a.nobody-knows-this-one", ""},
        {"a.txtx", ""},
        {"a.tx", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        guarded name = guarded_copy(nc_slice_of(rows[i][0]));
        assert_slice_equals(nc_media_type_of(name.slice), rows[i][1]);
        guarded_deinit(&name);
    }
    assert_int_equal(nc_media_type_of(nc_slice_make("a.txt\0", 6)).length, 0);
    assert_int_equal(nc_media_type_of(nc_slice_make("a.\xff", 3)).length, 0);
}

typedef struct list {
    char path[64];
} list;

static list write_list(const char *text) {
    list made = {"/tmp/netcore-types.XXXXXX"};
    int fd = mkstemp(made.path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return made;
}

static void media_type__the_systems_list_supplies_other_types(void **state) {
    static const char text[] =
        "# comment x-none\n\ntext/x-one\t\tone ONE1\r\nbroken two\ntext/ two\n/x two\na/b/c two\n"
        "text/x-two two three";
    static const char *const rows[][2] = {{"a.one", "text/x-one"},   {"a.one1", "text/x-one"}, {"a.two", "text/x-two"},
                                          {"a.THREE", "text/x-two"}, {"a.x-none", ""},         {"a.", ""},
                                          {"a.text/x-one", ""}};
    (void)state;
    list made = write_list(text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_buf out = nc_buf_init(64);
        assert_status(nc_media_type_of_system(&out, nc_slice_of(rows[i][0]), made.path, NULL), NC_OK);
        assert_slice_equals(nc_buf_slice(&out), rows[i][1]);
        nc_buf_deinit(&out);
    }
    unlink(made.path);
}

static void media_type__a_missing_list_has_no_types(void **state) {
    nc_buf out = nc_buf_init(64);
    nc_error err;
    (void)state;
    assert_status(nc_media_type_of_system(&out, nc_slice_of("a.b"), "/not/there", &err), NC_OK);
    assert_int_equal(out.length, 0);
    assert_status(nc_media_type_of_system(&out, nc_slice_of("a.b"), "/tmp", &err), NC_ERR_FILE);
    assert_status(nc_media_type_of_system(&out, nc_slice_of("a.b"), NULL, &err),
                  NC_OK); // Debian has it, others may not
    nc_buf_deinit(&out);
}

static void media_type__a_type_that_does_not_fit_is_an_error(void **state) {
    nc_buf out = nc_buf_init(3);
    nc_error err;
    (void)state;
    list made = write_list("text/x-one one\n");
    assert_status(nc_media_type_of_system(&out, nc_slice_of("a.one"), made.path, &err), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&out);
    unlink(made.path);
}

static void look_up(void *ctx) {
    nc_buf out = nc_buf_init(64);
    nc_status status = nc_media_type_of_system(&out, nc_slice_of("a.one"), ctx, NULL);
    assert_int_equal(out.length, status == NC_OK ? strlen("text/x-one") : 0);
    nc_buf_deinit(&out);
}

static void media_type__an_allocation_failure_is_an_error(void **state) {
    (void)state;
    list made = write_list("text/x-one one\n");
    assert_true(each_allocation_failure(look_up, made.path) >= 2);
    unlink(made.path);
}

static void media_type__a_form_uses_the_systems_list_only_on_request(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        nc_multipart *form = NULL;
        const nc_multipart_options options = {.uses_system_types = i == 1};
        const nc_part part = {.name = nc_slice_of("f"), .file_name = nc_slice_of("a.nobody-knows")};
        assert_status(nc_multipart_new(&form, &options, NULL), NC_OK);
        assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
        uint8_t bytes[512];
        size_t filled = 0;
        nc_multipart_reader *reader = NULL;
        assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_OK);
        assert_int_equal(nc_multipart_read(reader, 0, bytes, sizeof bytes, &filled), NC_PULL_END);
        assert_non_null(memmem(bytes, filled, "application/octet-stream", 24));
        nc_multipart_reader_free(reader);
        nc_multipart_release(form);
    }
}

static void media_type__matches_its_patterns(void **state) {
    static const struct {
        const char *type;
        const char *pattern;
        bool matches;
    } cases[] = {
        {"application/json", "application/json", true},
        {" Application/JSON ; charset=utf-8", "application/json", true},
        {"application/json", "Application/Json; q=1", true},
        {"application/jsonx", "application/json", false},
        {"application/json", "application/*", true},
        {"application/", "application/*", false},
        {"applications/json", "application/*", false},
        {"application/problem+json", "*+json", true},
        {"application/problem+JSON; a=b", "*+Json", true},
        {"application/json", "*+json", false},
        {"+json", "*+json", false},
        {"problem+json", "*+json", false}, // no media type
        {"text/html", "*/*", true},
        {"", "*/*", true},
        {"", "text/html", false},
        {"", "", true},
        {";charset=utf-8", "", true},
        {"text/html", "", false},
        {"image/*", "image/png", true},
        {"Image/*", "image/*", true},
        {"image/*", "text/*", false},
        {"image/png", "image/*", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        guarded type = guarded_copy(nc_slice_of(cases[i].type));
        guarded pattern = guarded_copy(nc_slice_of(cases[i].pattern));
        if (nc_media_type_matches(type.slice, pattern.slice) != cases[i].matches) {
            fail_msg("%s and %s", cases[i].type, cases[i].pattern);
        }
        guarded_deinit(&type);
        guarded_deinit(&pattern);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(media_type__follows_the_last_extension_in_any_case),
        harness_case(media_type__the_systems_list_supplies_other_types),
        harness_case(media_type__a_missing_list_has_no_types),
        harness_case(media_type__a_type_that_does_not_fit_is_an_error),
        harness_case(media_type__an_allocation_failure_is_an_error),
        harness_case(media_type__a_form_uses_the_systems_list_only_on_request),
        harness_case(media_type__matches_its_patterns),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
