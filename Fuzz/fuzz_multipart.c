/// Covers: body/multipart.c body/multipart_reader.c body/multipart_file.c
/// Covers: body/form_part_head.c body/media_type.c
///
/// Forms of arbitrary parts, read in pieces of any size, read again, and written to a file that accepts few bytes per
/// call. A parser of RFC 2046 and RFC 7578 that shares nothing with the library must find exactly the parts of the
/// form. The fuzzer simulates files: they may change their length, be read in small pieces, or fail. Input: options, a
/// boundary, then for each part its kind and its pieces.
#include "form_model.h"

#include "body/multipart.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- sources --- */

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    model *part = ctx;
    size_t step = (size_t)(part->behaviour >> 4) + 1;
    size_t left = part->content.length - part->at;
    CHECK(id == 9 || id == 0);
    CHECK(capacity > 0);
    part->pulls++;
    switch (part->behaviour % 8) {
    case 1:
        if (part->pulls % 3 != 0) {
            return NC_PULL_LATER;
        }
        break;
    case 2:
        if (part->at > 0) {
            return NC_PULL_FAIL;
        }
        break;
    case 3:
        *filled = part->pulls % 2 == 0 ? capacity + 1 : 0;
        return NC_PULL_MORE;
    default:
        break;
    }
    size_t count = left < step ? left : step;
    count = count < capacity ? count : capacity;
    if (count > 0) {
        memcpy(bytes, part->content.data + part->at, count);
    }
    part->at += count;
    *filled = count;
    return part->at < part->content.length || (part->behaviour % 8 == 4 && count > 0) ? NC_PULL_MORE : NC_PULL_END;
}

static bool rewind_source(void *ctx, nc_transfer_id id, uint64_t offset) {
    (void)id;
    ((model *)ctx)->at = offset;
    return true;
}

/* --- description of the form --- */

static bool holds_boundary(const form_case *at, nc_slice content) {
    char text[NC_MULTIPART_MAX_BOUNDARY_BYTES + 3];
    int length = snprintf(text, sizeof text, "--%.*s", (int)at->boundary.length, (const char *)at->boundary.data);
    return content.length > 0 && memmem(content.data, content.length, text, (size_t)length) != NULL;
}

static bool is_clean(nc_slice value) {
    bool is_blank = value.length > 0 && (value.data[0] == ' ' || value.data[0] == '\t' ||
                                         value.data[value.length - 1] == ' ' || value.data[value.length - 1] == '\t');
    return !is_blank && !holds_any(value, "\r\n");
}

static bool is_sound(const form_case *at, const model *part) {
    bool is_ok = is_clean(part->type);
    for (size_t i = 0; i < part->header_count; i++) {
        nc_slice name = part->headers[i].name;
        is_ok = is_ok && is_clean(part->headers[i].value) && name.length > 0;
        for (size_t k = 0; k < name.length; k++) {
            is_ok = is_ok && name.data[k] > ' ' && name.data[k] < 127 &&
                    strchr("\"(),/:;<=>?@[\\]{}", name.data[k]) == NULL;
        }
        bool is_reserved = nc_slice_is_equal_ignoring_case(name, nc_slice_of("content-type")) ||
                           nc_slice_is_equal_ignoring_case(name, nc_slice_of("content-disposition"));
        is_ok = is_ok && (part->kind == BARE || !is_reserved);
    }
    bool is_searched = part->kind != FILE_PART && part->kind != SOURCE;
    return is_ok && (!is_searched || !holds_boundary(at, part->content));
}

static void read_model(input *in, model *part) {
    uint8_t head = input_byte(in);
    *part = (model){.kind = head % 6u, .behaviour = input_byte(in), .name = input_piece(in), .content = {NULL, 0}};
    if (part->kind != FIELD && part->kind != BARE) {
        part->file_name = (head & 8) != 0 ? input_piece(in) : (nc_slice){NULL, 0};
        part->type = (head & 16) != 0 ? input_piece(in) : (nc_slice){NULL, 0};
    }
    part->header_count = part->kind == FIELD ? 0 : head >> 6;
    part->header_count = part->header_count > MAX_HEADERS ? MAX_HEADERS : part->header_count;
    for (size_t i = 0; i < part->header_count; i++) {
        part->headers[i].name = input_piece(in);
        part->headers[i].value = input_piece(in);
    }
    part->content = input_piece(in);
}

/// Returns true if the part is invalid for any content.
static bool is_always_invalid(const model *part) {
    return part->kind != FIELD && part->kind != BARE && part->behaviour >= 251;
}

static void spoil(nc_part *asked, model *part) {
    switch (part->behaviour) {
    case 255:
        asked->path = nc_slice_of("/fa");
        asked->source = (nc_body_source){part, pull, rewind_source};
        break;
    case 254:
        asked->headers = NULL;
        asked->header_count = 1;
        break;
    case 253:
        asked->source = (nc_body_source){part, pull, rewind_source};
        asked->source_length = (uint64_t)INT64_MAX + 1;
        asked->path = (nc_slice){NULL, 0};
        asked->bytes = (nc_slice){NULL, 0};
        break;
    case 252:
        asked->path = nc_slice_of("");
        break;
    default:
        asked->path = nc_slice_make("/f\0", 3);
    }
}

static nc_status add(nc_multipart *form, form_case *at, model *part, nc_error *err) {
    char path[] = {'/', 'f', (char)('a' + at->count), '\0'};
    nc_part asked = {
        .name = part->name,
        .file_name = part->file_name,
        .type = part->type,
        .headers = part->headers,
        .header_count = part->header_count,
        .is_bare = part->kind == BARE,
        .borrows_bytes = part->kind == BORROWED,
    };
    switch (part->kind) {
    case FIELD:
        return nc_multipart_add_field(form, part->name, part->content, err);
    case FILE_PART:
        asked.path = nc_slice_of(path);
        asked.is_field = part->behaviour >= 128;
        break;
    case SOURCE:
        asked.source = (nc_body_source){part, pull, part->behaviour % 8 == 5 ? NULL : rewind_source};
        asked.source_length = part->behaviour % 8 == 6   ? NC_LENGTH_UNKNOWN
                              : part->behaviour % 8 == 7 ? part->content.length + part->behaviour / 8 - 5
                                                         : part->content.length;
        break;
    default:
        asked.bytes = part->content;
    }
    if (is_always_invalid(part)) {
        spoil(&asked, part);
    } else if (part->kind == FILE_PART && part->file_name.data == NULL && part->type.length == 0 &&
               part->header_count == 0 && !asked.is_field) {
        return nc_multipart_add_file(form, part->name, asked.path, err);
    }
    return nc_multipart_add(form, &asked, err);
}

/// Records in the model how an accepted part affects the body.
static void evaluate(form_case *at, model *part) {
    if (part->kind == FILE_PART) {
        unsigned variant = part->behaviour % 8;
        at->is_honest = at->is_honest && (variant == 0 || variant == 3 || variant == 7);
        if (part->file_name.data == NULL && part->behaviour < 128) {
            static const char *const names[MAX_PARTS] = {"fa", "fb", "fc", "fd", "fe", "ff", "fg"};
            part->file_name = nc_slice_of(names[at->count]);
        }
    } else if (part->kind == SOURCE) {
        unsigned variant = part->behaviour % 8;
        at->is_honest = at->is_honest && (variant == 0 || variant == 1 || variant == 4 || variant == 6);
    }
    at->is_parseable = at->is_parseable && !holds_boundary(at, part->content);
}

static void fill(nc_multipart *form, form_case *at, input *in) {
    for (size_t i = 0; i < MAX_PARTS && in->left.length > 0; i++) {
        nc_error err;
        model *part = &at->parts[at->count];
        read_model(in, part);
        bool may_fail = part->kind == FILE_PART; // opening a file may fail, which is_sound() does not check
        bool is_expected = is_sound(at, part) && !is_always_invalid(part);
        nc_status status = add(form, at, part, &err);
        check_error(&err, status, 1 << 20);
        may_fail = may_fail || (part->kind == SOURCE && part->behaviour % 8 == 7) ||
                   (status == NC_ERR_TOO_LARGE && at->is_limited);
        CHECK(status == NC_OK ? is_expected : !is_expected || may_fail);
        if (status == NC_OK) {
            evaluate(at, part);
            at->count++;
        }
        CHECK(nc_multipart_count(form) == at->count);
    }
}

/// Reads until the end or a failure, or until the sources have returned NC_PULL_LATER five times in a row.
static nc_pull read_on(nc_multipart_reader *reader, nc_buf *out, uint32_t steps) {
    uint8_t piece[300];
    nc_pull pulled = NC_PULL_MORE;
    nc_part_progress before = nc_multipart_reader_progress(reader);
    for (size_t late = 0; pulled == NC_PULL_MORE || (pulled == NC_PULL_LATER && late < 5);) {
        size_t room = steps % sizeof piece + 1;
        size_t filled = 999;
        steps = steps * 1664525u + 1013904223u;
        pulled = nc_multipart_read(reader, 9, piece, room, &filled);
        CHECK(filled <= room && (pulled != NC_PULL_MORE || filled > 0));
        CHECK((pulled != NC_PULL_LATER && pulled != NC_PULL_FAIL) || filled == 0);
        nc_part_open_task opening;
        if (pulled == NC_PULL_LATER && nc_multipart_reader_needs_file(reader, &opening)) {
            nc_part_open_task_run(&opening); // like the engine's worker
            nc_multipart_reader_set_file(reader, &opening);
        }
        late = pulled == NC_PULL_LATER ? late + 1 : 0;
        nc_buf_append(out, nc_slice_make(piece, filled));
        nc_part_progress after = nc_multipart_reader_progress(reader);
        CHECK(after.count == before.count && after.index >= before.index);
        CHECK(after.index > before.index || after.sent_bytes >= before.sent_bytes);
        CHECK(after.sent_bytes <= after.total_bytes);
        before = after;
    }
    return pulled;
}

static void read_all(nc_multipart *form, const form_case *at, uint32_t steps) {
    nc_multipart_reader *reader = NULL;
    nc_error err;
    nc_status status = nc_multipart_reader_new(&reader, form, &err);
    check_error(&err, status, 0);
    CHECK(status == NC_OK || !at->is_honest);
    if (status != NC_OK) {
        return;
    }
    for (int round = 0; round < 2; round++) {
        reader->opens_files_async = (steps >> round & 1) != 0;
        nc_buf body = nc_buf_init(1 << 24);
        nc_pull pulled = read_on(reader, &body, steps + (uint32_t)round);
        CHECK(nc_buf_status(&body) == NC_OK);
        status = nc_multipart_reader_error(reader, &err);
        CHECK((pulled == NC_PULL_FAIL) == (status != NC_OK));
        CHECK(pulled != NC_PULL_FAIL || !at->is_honest);
        if (pulled == NC_PULL_END) {
            uint64_t length = nc_multipart_reader_length(reader);
            CHECK(length == body.length || length == NC_LENGTH_UNKNOWN);
            if (at->is_parseable) {
                form_check_body(at, nc_buf_slice(&body));
            }
        }
        nc_buf_deinit(&body);
        if (!nc_multipart_rewind(reader, 9)) {
            CHECK(nc_multipart_reader_error(reader, NULL) == NC_ERR_NOT_REWINDABLE && !at->is_honest);
            break;
        }
    }
    nc_multipart_reader_free(reader);
}

static void write_all(nc_multipart *form, form_case *at) {
    nc_error err;
    nc_status status = nc_multipart_write_file(form, nc_slice_of("/w"), &err);
    check_error(&err, status, 0);
    CHECK(status != NC_OK || (at->slowness != PLACE_LEADS_TO_DEVICE && at->slowness != PLACE_IS_PIPE));
    if (status == NC_OK) {
        if (at->is_parseable) {
            form_check_body(at, nc_buf_slice(&at->written));
        }
    } else {
        CHECK(at->written.length == 0);
    }
}

/// A tree of parameters adds all of its fields or none.
static void add_params(nc_multipart *form, nc_slice text, uint8_t styles) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 1 << 20);
    nc_error err;
    const nc_query_options options = {.names = {.arrays = (nc_array_style)(styles % 4), .order = NC_ORDER_AS_GIVEN},
                                      .booleans = (nc_boolean_style)(styles / 4 % 2)};
    if (nc_params_parse_json(&params, text, &err) == NC_OK) {
        size_t count = nc_multipart_count(form);
        nc_status status = nc_multipart_add_params(form, &params, &options, &err);
        check_error(&err, status, 1 << 20);
        CHECK(status == NC_OK || nc_multipart_count(form) == count);
    }
    nc_params_deinit(&params);
}

/// The system's list of types gives a valid type or none.
static void look_up(nc_slice name, nc_slice list) {
    char path[32];
    nc_buf out = nc_buf_init(1 << 16);
    nc_error err;
    int fd = memfd_create("list", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, list.data, list.length) == (ssize_t)list.length);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    nc_status status = nc_media_type_of_system(&out, name, path, &err);
    check_error(&err, status, 0);
    CHECK(status == NC_OK && !holds_any(nc_buf_slice(&out), " \t\r\n"));
    CHECK(out.length == 0 || memchr(out.data, '/', out.length) != NULL);
    CHECK(nc_media_type_of(name).length == 0 || memchr(name.data, '.', name.length) != NULL);
    nc_buf_deinit(&out);
    close(fd);
}

static bool fill_nothing(void *ctx, uint8_t *bytes, size_t length) {
    (void)ctx;
    (void)bytes;
    return length == 0;
}

static void check_form(input *in, uint8_t choice, form_case *at) {
    nc_file_ops files = form_files(at);
    nc_multipart *form = NULL;
    nc_error err;
    at->slowness = input_byte(in);
    uint32_t steps = input_number(in);
    nc_slice boundary = input_piece(in);
    const nc_random broken = {NULL, fill_nothing};
    const nc_multipart_options options = {.random = (choice & 8) != 0 ? &broken : NULL,
                                          .boundary = boundary,
                                          .files = &files,
                                          .max_bytes = (choice & 4) != 0 ? 1 << 12 : 0};
    at->is_limited = options.max_bytes != 0;
    nc_status status = nc_multipart_new(&form, &options, &err);
    check_error(&err, status, NC_MULTIPART_MAX_BOUNDARY_BYTES);
    if (status != NC_OK) {
        return;
    }
    at->boundary = nc_multipart_boundary(form);
    CHECK(boundary.length == 0 || nc_slice_is_equal(boundary, at->boundary));
    if ((choice & 1) != 0) {
        add_params(form, input_rest(in), at->slowness);
        nc_multipart_reader *reader = NULL;
        nc_buf body = nc_buf_init(1 << 24);
        CHECK(nc_multipart_reader_new(&reader, form, NULL) == NC_OK);
        CHECK(read_on(reader, &body, steps) == NC_PULL_END && body.length == nc_multipart_reader_length(reader));
        nc_buf_deinit(&body);
        nc_multipart_reader_free(reader);
    } else {
        fill(form, at, in);
        CHECK(nc_multipart_content_type(form).length > 20);
        read_all(form, at, steps);
        write_all(form, at);
    }
    nc_multipart_release(form);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static form_case at;
    input in = input_init(data, size);
    uint8_t choice = input_byte(&in);
    at = (form_case){.is_honest = true, .is_parseable = true, .written = nc_buf_init(1 << 24)};
    if ((choice & 2) != 0) {
        nc_slice name = input_piece(&in);
        look_up(name, input_rest(&in));
    } else {
        check_form(&in, choice, &at);
    }
    nc_buf_deinit(&at.written);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
