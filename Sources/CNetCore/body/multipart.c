#include "body/multipart.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"

#include <string.h>

enum { FIRST_TEXT_BYTES = 4096, FIRST_PARTS = 16, RANDOM_BYTES = 8, MAX_PATH_BYTES = 4095 };

static const char empty_type_field[] = "Content-Type: application/x-www-form-urlencoded";
#define TYPE_FIELD "Content-Type: multipart/form-data; boundary="
enum { TYPE_NAME_BYTES = 14 }; // "Content-Type: "

/* --- the boundary --- */

/// Returns true for a bchar (RFC 2046, 5.1.1).
static bool is_boundary_byte(uint8_t byte) {
    return nc_ascii_is_digit(byte) || nc_ascii_is_alpha(byte) || (byte != 0 && strchr("'()+_,-./:=? ", byte) != NULL);
}

static nc_status check_boundary(nc_slice boundary, nc_error *err) {
    if (boundary.length > NC_MULTIPART_MAX_BOUNDARY_BYTES) {
        return nc_error_set(err, NC_ERR_USAGE, 0, NC_MULTIPART_MAX_BOUNDARY_BYTES,
                            "the boundary is longer than %u bytes", NC_MULTIPART_MAX_BOUNDARY_BYTES);
    }
    for (size_t i = 0; i < boundary.length; i++) {
        bool is_last_space = i + 1 == boundary.length && boundary.data[i] == ' ';
        if (!is_boundary_byte(boundary.data[i]) || is_last_space) {
            return nc_error_set(err, NC_ERR_USAGE, 0, (int64_t)i, "forbidden byte 0x%02x in the boundary at byte %zu",
                                boundary.data[i], i);
        }
    }
    return NC_OK;
}

/// Writes three texts one after another and a NUL. Returns the length without the NUL.
static size_t join(char *out, const char *before, nc_slice text, const char *after) {
    uint8_t *end = nc_part_put((uint8_t *)out, before, strlen(before));
    end = nc_part_put(nc_part_put(end, text.data, text.length), after, strlen(after));
    *end = '\0';
    return (size_t)(end - (uint8_t *)out);
}

static void write_boundary(nc_multipart *form, nc_slice boundary) {
    bool is_token = true;
    for (size_t i = 0; i < boundary.length; i++) {
        is_token = is_token && nc_ascii_is_token(boundary.data[i]);
    }
    form->opening_length = join(form->opening, "\r\n--", boundary, "\r\n");
    form->closing_length = join(form->closing, "\r\n--", boundary, "--\r\n");
    form->field_opening_length =
        join(form->field_opening, "", nc_slice_make(form->opening, form->opening_length), NC_FIELD_HEAD);
    (void)join(form->type_field, is_token ? TYPE_FIELD : TYPE_FIELD "\"", boundary, is_token ? "" : "\"");
}

static nc_status set_boundary(nc_multipart *form, nc_slice chosen, const nc_random *random, nc_error *err) {
    static const char digits[] = "0123456789ABCDEF";
    uint8_t random_bytes[RANDOM_BYTES];
    if (chosen.length > 0) {
        nc_status status = check_boundary(chosen, err);
        if (status != NC_OK) {
            return status;
        }
        form->has_chosen_boundary = true;
        write_boundary(form, chosen);
        return NC_OK;
    }
    nc_random source = random != NULL ? *random : nc_random_system();
    if (!source.fill(source.ctx, random_bytes, sizeof random_bytes)) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1,
                            "the system's random generator failed: cannot choose a multipart boundary");
    }
    char text[] = "Boundary+0123456789ABCDEF";
    for (size_t i = 0; i < RANDOM_BYTES; i++) {
        text[sizeof text - 1 - 2 * RANDOM_BYTES + 2 * i] = digits[random_bytes[i] >> 4];
        text[sizeof text - 2 * RANDOM_BYTES + 2 * i] = digits[random_bytes[i] & 15];
    }
    write_boundary(form, nc_slice_make(text, sizeof text - 1));
    return NC_OK;
}

/* --- creating and freeing --- */

nc_status nc_multipart_new(nc_multipart **out, const nc_multipart_options *options, nc_error *err) {
    static const nc_multipart_options none;
    const nc_multipart_options *chosen = options != NULL ? options : &none;
    nc_multipart *form = nc_alloc_zeroed(1, sizeof *form);
    if (form == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a form");
    }
    atomic_init(&form->owners, 1);
    atomic_init(&form->is_sealed, false);
    form->files = chosen->files != NULL ? *chosen->files : nc_file_ops_system();
    form->packet_bytes = chosen->packet_bytes;
    form->delay_ms = chosen->delay_ms;
    form->uses_system_types = chosen->uses_system_types;
    form->text = nc_buf_init(chosen->max_bytes != 0 ? chosen->max_bytes : NC_MULTIPART_DEFAULT_MAX_BYTES);
    nc_status status = set_boundary(form, chosen->boundary, chosen->random, err);
    if (status != NC_OK) {
        nc_multipart_release(form);
        return status;
    }
    *out = form;
    return nc_error_clear(err);
}

nc_multipart *nc_multipart_retain(nc_multipart *form) {
    (void)atomic_fetch_add_explicit(&form->owners, 1, memory_order_relaxed);
    return form;
}

void nc_multipart_release(nc_multipart *form) {
    if (form == NULL || atomic_fetch_sub_explicit(&form->owners, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < form->insert_count; i++) {
        nc_free(form->inserts[i].path);
    }
    nc_free(form->inserts);
    nc_free(form->part_ranges);
    nc_buf_deinit(&form->text);
    nc_free(form);
}

/* --- adding parts --- */

/// Makes room for one more element: doubles the array if it is full. On failure returns false and leaves the array
/// unchanged.
static bool make_room(void **array, size_t *room, size_t count, size_t bytes) {
    size_t total = 0;
    if (count < *room) {
        return true;
    }
    size_t wanted = *room == 0 ? FIRST_PARTS : *room;
    if (!nc_size_add(&wanted, wanted, *room) || !nc_size_mul(&total, wanted, bytes)) {
        return false;
    }
    void *grown = nc_realloc(*array, total);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *room = wanted;
    return true;
}

static nc_status fail_memory(nc_error *err) {
    return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a part");
}

/// Reserves room for one more nc_part_range and for `text_bytes` of text.
static nc_status reserve(nc_multipart *form, size_t text_bytes, nc_error *err) {
    if (form->count == form->part_range_capacity) {
        void *part_ranges = form->part_ranges;
        bool fits = make_room(&part_ranges, &form->part_range_capacity, form->count, sizeof *form->part_ranges);
        form->part_ranges = part_ranges;
        if (!fits) {
            return fail_memory(err);
        }
    }
    if (form->text.capacity - form->text.length >= text_bytes) {
        return NC_OK;
    }
    size_t wanted = form->text.capacity == 0 && text_bytes < FIRST_TEXT_BYTES ? FIRST_TEXT_BYTES : text_bytes;
    wanted = wanted <= form->text.max_bytes ? wanted : text_bytes;
    nc_status status = nc_buf_reserve(&form->text, wanted);
    form->text.status = NC_OK; // an error must not be sticky: the form stays usable
    if (status == NC_ERR_TOO_LARGE) {
        return nc_error_set(err, status, 0, -1, "the form exceeds its memory limit of %zu bytes", form->text.max_bytes);
    }
    return status == NC_OK ? NC_OK : fail_memory(err);
}

static nc_status check_use(const nc_multipart *form, nc_error *err) {
    return atomic_load_explicit(&form->is_sealed, memory_order_acquire)
               ? nc_error_set(err, NC_ERR_USAGE, 0, -1, "parts cannot be added to a form that is being read")
               : NC_OK;
}

static nc_status check_for_boundary(const nc_multipart *form, nc_slice content, nc_error *err) {
    if (!form->has_chosen_boundary || content.length == 0) {
        return NC_OK; // the content cannot contain a random boundary, except with a negligible probability
    }
    nc_slice boundary = nc_multipart_boundary(form);
    const uint8_t *found = memmem(content.data, content.length, boundary.data - 2, boundary.length + 2);
    return found == NULL
               ? NC_OK
               : nc_error_set(err, NC_ERR_BAD_PART, 0, found - content.data,
                              "the content of part %zu contains the boundary at byte %zu: choose another boundary",
                              form->count + 1, (size_t)(found - content.data));
}

/// Completes a part whose content is from `begin` to `end`.
static void close_part(nc_multipart *form, const uint8_t *begin, const uint8_t *end) {
    form->part_ranges[form->count++] =
        (nc_part_range){(size_t)(begin - form->text.data), (size_t)(end - form->text.data)};
    form->text.length = (size_t)(end - form->text.data);
}

/// Writes the line with the boundary. It begins with the CRLF that ends the previous part, so the first boundary has
/// none.
static uint8_t *put_opening(const nc_multipart *form, uint8_t *at) {
    size_t skipped = form->count == 0 ? 2 : 0;
    return nc_part_put(at, form->opening + skipped, form->opening_length - skipped);
}

nc_status nc_multipart_add_field(nc_multipart *form, nc_slice name, nc_slice value, nc_error *err) {
    size_t bytes = 0;
    nc_status status = check_use(form, err);
    if (status == NC_OK) {
        status = check_for_boundary(form, value, err);
    }
    if (status != NC_OK) {
        return status;
    }
    if (!nc_size_mul(&bytes, name.length, NC_ESCAPED_BYTES) || !nc_size_add(&bytes, bytes, value.length) ||
        !nc_size_add(&bytes, bytes, form->opening_length + NC_FIELD_HEAD_BYTES)) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the size of a part overflows");
    }
    status = reserve(form, bytes, err);
    if (status != NC_OK) {
        return status;
    }
    size_t skipped = form->count == 0 ? 2 : 0;
    uint8_t *begin = nc_part_put(form->text.data + form->text.length, form->field_opening + skipped,
                                 form->field_opening_length - skipped);
    begin = nc_form_part_head_put_name(begin, name);
    close_part(form, begin, nc_part_put(begin, value.data, value.length));
    return nc_error_clear(err);
}

static nc_status check_contents(const nc_part *part, nc_error *err) {
    int contents =
        (part->bytes.length > 0 ? 1 : 0) + (part->path.data != NULL ? 1 : 0) + (part->source.pull != NULL ? 1 : 0);
    if (contents > 1) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1, "a part has more than one content");
    }
    if ((part->header_count > 0 && part->headers == NULL) || (part->bytes.length > 0 && part->bytes.data == NULL)) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1, "a count is not 0, but its array is NULL");
    }
    if (part->source.pull != NULL && part->source_length > INT64_MAX && part->source_length != NC_LENGTH_UNKNOWN) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1, "the part's length is out of range");
    }
    if (part->path.data != NULL && (part->path.length == 0 || part->path.length > MAX_PATH_BYTES ||
                                    memchr(part->path.data, 0, part->path.length) != NULL)) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1,
                            "the file path of a part is empty, contains a NUL byte or is longer than %d bytes",
                            MAX_PATH_BYTES);
    }
    return NC_OK;
}

/// Creates an insert for content that is not copied into the text. It has its own copy of the path.
static nc_status make_insert(nc_multipart *form, const nc_part *part, nc_insert *out, nc_error *err) {
    void *inserts = form->inserts;
    bool fits = make_room(&inserts, &form->insert_room, form->insert_count, sizeof *form->inserts);
    form->inserts = inserts;
    *out = (nc_insert){.kind = NC_INSERT_BYTES, .part = form->count};
    if (!fits) {
        return fail_memory(err);
    }
    if (part->source.pull != NULL) {
        out->kind = NC_INSERT_SOURCE;
        out->source = part->source;
        out->length = part->source_length;
    } else if (part->path.data != NULL) {
        out->kind = NC_INSERT_FILE;
        out->path = nc_alloc(part->path.length + 1);
        if (out->path == NULL) {
            return fail_memory(err);
        }
        memcpy(out->path, part->path.data, part->path.length);
        out->path[part->path.length] = '\0';
        return nc_file_check(&form->files, out->path, err);
    } else {
        out->bytes = part->bytes.data;
        out->length = part->bytes.length;
    }
    return NC_OK;
}

static void keep_insert(nc_multipart *form, nc_insert *insert) {
    insert->at = form->text.length;
    form->inserts[form->insert_count++] = *insert;
    form->has_files = form->has_files || insert->kind == NC_INSERT_FILE;
    form->has_endless_source =
        form->has_endless_source || (insert->kind == NC_INSERT_SOURCE && insert->length == NC_LENGTH_UNKNOWN);
}

/// Writes the head of a checked part, and its content or its insert.
static nc_status write_part(nc_multipart *form, const nc_part *part, const nc_form_part_head *head, nc_insert *insert,
                            nc_error *err) {
    size_t bytes = nc_form_part_head_max_bytes(head);
    size_t copied = insert == NULL ? part->bytes.length : 0;
    if (bytes == 0 || !nc_size_add(&bytes, bytes, copied) || !nc_size_add(&bytes, bytes, form->opening_length)) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the size of a part overflows");
    }
    nc_status status = reserve(form, bytes, err);
    if (status != NC_OK) {
        return status;
    }
    uint8_t *begin = nc_form_part_head_put(put_opening(form, form->text.data + form->text.length), head);
    close_part(form, begin, nc_part_put(begin, part->bytes.data, copied));
    if (insert != NULL) {
        keep_insert(form, insert);
    }
    return nc_error_clear(err);
}

nc_status nc_multipart_add(nc_multipart *form, const nc_part *part, nc_error *err) {
    nc_form_part_head head;
    nc_insert insert = {0};
    nc_buf system_type = nc_buf_init(256);
    bool is_inserted = part->path.data != NULL || part->source.pull != NULL || part->borrows_bytes;
    nc_status status = check_use(form, err);
    if (status == NC_OK) {
        status = check_contents(part, err);
    }
    if (status == NC_OK) {
        status = check_for_boundary(form, part->bytes, err);
    }
    if (status == NC_OK) {
        status = nc_form_part_head_describe(&head, part, form->uses_system_types ? &system_type : NULL, err);
    }
    if (status == NC_OK && is_inserted) {
        status = make_insert(form, part, &insert, err);
    }
    if (status == NC_OK) {
        status = write_part(form, part, &head, is_inserted ? &insert : NULL, err);
    }
    if (status != NC_OK) {
        nc_free(insert.path);
    }
    nc_buf_deinit(&system_type);
    return status;
}

nc_status nc_multipart_add_file(nc_multipart *form, nc_slice name, nc_slice path, nc_error *err) {
    const nc_part part = {.name = name, .path = path};
    if (path.data == NULL) {
        return nc_error_set(err, NC_ERR_BAD_PART, 0, -1, "the file path of a part is empty");
    }
    return nc_multipart_add(form, &part, err);
}

/* --- properties --- */

size_t nc_multipart_count(const nc_multipart *form) {
    return form->count;
}

nc_slice nc_multipart_boundary(const nc_multipart *form) {
    return nc_slice_make(form->opening + 4, form->opening_length - 6); // between CRLF "--" and CRLF
}

const char *nc_multipart_type_field(const nc_multipart *form) {
    return form->count > 0 ? form->type_field : empty_type_field;
}

nc_slice nc_multipart_content_type(const nc_multipart *form) {
    return nc_slice_of(nc_multipart_type_field(form) + TYPE_NAME_BYTES);
}

/* --- parameters --- */

typedef struct params_filling {
    nc_multipart *form;
    bool writes_words; // booleans as true and false instead of 1 and 0
} params_filling;

static nc_slice text_of(const params_filling *at, const nc_params_item *value, nc_params_digits *digits) {
    bool is_digit = value->kind == NC_PARAMS_BOOLEAN && !at->writes_words;
    return is_digit ? nc_slice_of(value->boolean ? "1" : "0") : nc_params_text(value, digits);
}

/// Adds one field with all values of an array, joined by commas. The values are not containers.
static nc_status add_joined(const params_filling *at, nc_slice name, const nc_params_item *array, nc_error *err) {
    nc_buf joined = nc_buf_init(at->form->text.max_bytes);
    nc_params_cursor cursor = nc_params_children(array);
    nc_params_item item;
    nc_params_digits digits;
    bool is_first = true;
    while (nc_params_next(&cursor, &item)) {
        nc_buf_append(&joined, nc_slice_of(is_first ? "" : ","));
        nc_buf_append(&joined, text_of(at, &item, &digits));
        is_first = false;
    }
    nc_status status = nc_buf_status(&joined);
    status = status == NC_OK ? nc_multipart_add_field(at->form, name, nc_buf_slice(&joined), err)
                             : nc_error_set(err, status, 0, -1, "cannot store a list: %s", nc_status_text(status));
    nc_buf_deinit(&joined);
    return status;
}

static nc_status add_one(void *ctx, nc_slice name, const nc_params_item *value, nc_error *err) {
    const params_filling *at = ctx;
    nc_params_digits digits;
    return value->kind == NC_PARAMS_ARRAY ? add_joined(at, name, value, err)
                                          : nc_multipart_add_field(at->form, name, text_of(at, value, &digits), err);
}

nc_status nc_multipart_add_params(nc_multipart *form, const nc_params *params, const nc_query_options *options,
                                  nc_error *err) {
    size_t length = form->text.length;
    size_t count = form->count;
    params_filling at = {form, options != NULL && options->booleans == NC_BOOLEANS_WORDS};
    nc_status status = nc_params_flatten(params, options != NULL ? &options->names : NULL, add_one, &at, err);
    if (status != NC_OK) {
        form->text.length = length; // removes the added fields, which consist of text only
        form->count = count;
        return status;
    }
    return nc_error_clear(err);
}

bool nc_multipart_is_repeatable(const nc_multipart *form) {
    for (size_t i = 0; i < form->insert_count; i++) {
        if (form->inserts[i].kind == NC_INSERT_SOURCE && form->inserts[i].source.seek == NULL) {
            return false;
        }
    }
    return true;
}
