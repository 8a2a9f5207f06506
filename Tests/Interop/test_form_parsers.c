/// Parsers of other projects read our forms: every byte in every position arrives unchanged.
#include "servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 4, BODY_BYTES = 1 << 17, LARGE_BYTES = 20000 };

static FILE *forms;

static void write_hex(nc_slice bytes) {
    (void)fputc('"', forms);
    for (size_t i = 0; i < bytes.length; i++) {
        (void)fprintf(forms, "%02x", bytes.data[i]);
    }
    (void)fputc('"', forms);
}

static void write_member(const char *name, nc_slice bytes) {
    (void)fprintf(forms, "\"%s\": ", name);
    write_hex(bytes);
}

static void write_part(const nc_part *part) {
    (void)fputc('{', forms);
    write_member("name", part->name);
    (void)fputs(", ", forms);
    write_member("value", part->bytes);
    if (part->file_name.data != NULL) {
        (void)fputs(", ", forms);
        write_member("filename", part->file_name);
    }
    if (part->type.length > 0) {
        (void)fputs(", ", forms);
        write_member("type", part->type);
    }
    (void)fputc('}', forms);
}

/// Writes a form and its original values as a line for the parsers.
static void write_form(const char *what, unsigned number, const nc_part *parts, size_t count) {
    static uint8_t body[BODY_BYTES];
    size_t filled = 0;
    nc_multipart *form = NULL;
    nc_multipart_reader *reader = NULL;
    assert_status(nc_multipart_new(&form, NULL, NULL), NC_OK);
    for (size_t i = 0; i < count; i++) {
        assert_status(nc_multipart_add(form, &parts[i], NULL), NC_OK);
    }
    assert_status(nc_multipart_reader_new(&reader, form, NULL), NC_OK);
    assert_int_equal(nc_multipart_read(reader, 0, body, sizeof body, &filled), NC_PULL_END);
    (void)fprintf(forms, "{\"case\": \"%s %u\", ", what, number);
    write_member("type", nc_multipart_content_type(form));
    (void)fputs(", ", forms);
    write_member("body", nc_slice_make(body, filled));
    (void)fputs(", \"parts\": [", forms);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ", " : "", forms);
        write_part(&parts[i]);
    }
    (void)fputs("]}\n", forms);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

/// Writes a field and a file whose names and values contain this byte, and, if it is legal there, the type.
static void write_forms_of_byte(unsigned byte) {
    const uint8_t text[] = {'a', (uint8_t)byte, 'b'};
    const uint8_t type[] = {'t', '/', 'x', (uint8_t)byte, 'y'};
    const nc_slice odd = nc_slice_make(text, sizeof text);
    const nc_slice plain = nc_slice_of("plain");
    const nc_slice octets = nc_slice_of("application/octet-stream");
    const nc_part rows[][2] = {
        {{.name = odd, .bytes = plain}, {.name = odd, .bytes = plain, .file_name = plain, .type = octets}},
        {{.name = plain, .bytes = plain}, {.name = plain, .bytes = plain, .file_name = odd, .type = octets}},
        {{.name = plain, .bytes = odd}, {.name = plain, .bytes = odd, .file_name = plain, .type = octets}},
        {{.name = plain, .bytes = plain},
         {.name = plain, .bytes = plain, .file_name = plain, .type = nc_slice_make(type, sizeof type)}},
    };
    static const char *const what[] = {"a name with byte", "a file name with byte", "a value with byte",
                                       "a type with byte"};
    bool is_legal_in_type = byte != '\r' && byte != '\n' && byte != 0;
    for (size_t i = 0; i < (is_legal_in_type ? 4 : 3); i++) {
        write_form(what[i], byte, rows[i], 2);
    }
}

/// Writes the same with a letter of two bytes in UTF-8, which parsers that decode names to text can treat differently.
static void write_forms_of_letter(unsigned letter) {
    const uint8_t text[] = {'a', (uint8_t)(0xc0 | letter >> 6), (uint8_t)(0x80 | (letter & 0x3f)), 'b'};
    const nc_slice odd = nc_slice_make(text, sizeof text);
    const nc_part parts[] = {
        {.name = odd, .bytes = odd},
        {.name = odd, .bytes = odd, .file_name = odd, .type = nc_slice_of("image/png")},
    };
    write_form("the letter", letter, parts, 2);
}

static void write_other_forms(void) {
    static uint8_t every[256];
    static uint8_t large[LARGE_BYTES];
    nc_part many[100];
    for (size_t i = 0; i < LARGE_BYTES; i++) {
        large[i] = (uint8_t)(i * 2654435761u >> 13);
        every[i % 256] = (uint8_t)i;
    }
    for (size_t i = 0; i < 100; i++) {
        many[i] = (nc_part){.name = nc_slice_of("the same"), .bytes = nc_slice_make(every, i)};
    }
    const nc_slice octets = nc_slice_of("application/octet-stream");
    const nc_slice f = nc_slice_of("f");
    const nc_part files[] = {
        {.name = f, .bytes = nc_slice_make(every, 256), .file_name = f, .type = octets},
        {.name = f, .bytes = nc_slice_make(large, LARGE_BYTES), .file_name = f, .type = octets},
        {.name = f, .bytes = {NULL, 0}, .file_name = f, .type = octets},
        {.name = f, .bytes = nc_slice_of("\r\n--\r\n----\r\n"), .file_name = f, .type = octets},
    };
    const nc_part line_ends[] = {{.name = nc_slice_of("\r\n\"\r\n"), .bytes = nc_slice_of("\r\n")},
                                 {.name = nc_slice_of("a\rb\nc"), .bytes = nc_slice_of("\n\r\n\n")},
                                 {.name = nc_slice_of("x\"; filename=\"y"), .bytes = nc_slice_of("--")}};
    write_form("files", 0, files, 4);
    write_form("line ends", 0, line_ends, 3);
    write_form("many parts", 0, many, 100);
}

static int write_forms(void **state) {
    (void)state;
    servers_begin();
    forms = fopen(server_path("forms"), "w");
    assert_non_null(forms);
    for (unsigned byte = 0; byte < 256; byte++) {
        write_forms_of_byte(byte);
    }
    for (unsigned letter = 0x80; letter < 0x800; letter += 7) {
        write_forms_of_letter(letter);
    }
    write_other_forms();
    assert_int_equal(fclose(forms), 0);
    return 0;
}

static int remove_forms(void **state) {
    (void)state;
    servers_end();
    return 0;
}

/// Runs a parser on all forms, and shows its errors.
static void ask(const char *program, const char *parser) {
    const char *command = server_text("%s '%s' >'%s' 2>&1", program, server_path("forms"), server_path("said"));
    int code = system(command);
    print_message("%s", server_read_text(server_path("said")));
    if (code != 0) {
        fail_msg("%s reads something else", parser);
    }
}

static void form__python_email_finds_every_byte(void **state) {
    (void)state;
    ask(INTEROP_PYTHON " " INTEROP_FOLDER "/form_parsers.py email", "email");
}

static void form__werkzeug_finds_every_byte(void **state) {
    (void)state;
    ask(INTEROP_PYTHON " " INTEROP_FOLDER "/form_parsers.py werkzeug", "werkzeug");
}

static void form__multipart_finds_every_byte(void **state) {
    (void)state;
    ask(INTEROP_PYTHON " " INTEROP_FOLDER "/form_parsers.py multipart", "multipart");
}

static void form__node_finds_every_byte(void **state) {
    (void)state;
    ask("node " INTEROP_FOLDER "/form_parsers.mjs", "node");
}

int main(void) {
    harness_begin();
    if (!server_is_installed(INTEROP_PYTHON)) {
        return server_missing("Werkzeug (build/venv)");
    }
    if (!server_is_installed("node")) {
        return server_missing("node");
    }
    const struct CMUnitTest cases[] = {
        harness_case(form__python_email_finds_every_byte),
        harness_case(form__werkzeug_finds_every_byte),
        harness_case(form__multipart_finds_every_byte),
        harness_case(form__node_finds_every_byte),
    };
    return cmocka_run_group_tests(cases, write_forms, remove_forms);
}
