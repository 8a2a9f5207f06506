#include <netcore/media_type.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "body/media_type.h"

#include <errno.h>
#include <string.h>

enum { MAX_LIST_BYTES = 4 * 1024 * 1024 };

/// Returns the text behind the last dot of the last path component. Empty if there is no dot, or if the dot is the
/// component's first character.
static nc_slice extension_of(nc_slice file_name) {
    size_t at = file_name.length;
    while (at > 0 && file_name.data[at - 1] != '.' && file_name.data[at - 1] != '/') {
        at--;
    }
    bool has_dot = at > 1 && file_name.data[at - 1] == '.' && file_name.data[at - 2] != '/';
    return has_dot ? nc_slice_make(file_name.data + at, file_name.length - at) : (nc_slice){NULL, 0};
}

/// Compares an extension, in lower case, with that of a table row. The result has the sign of strcmp().
static int compare(nc_slice extension, const char *row) {
    for (size_t i = 0; i < extension.length; i++) {
        int difference = (int)nc_ascii_lower(extension.data[i]) - (int)(uint8_t)row[i];
        if (difference != 0) {
            return difference;
        }
        if (row[i] == '\0') {
            return 1; // a NUL in the name
        }
    }
    return row[extension.length] == '\0' ? 0 : -1;
}

nc_slice nc_media_type_of(nc_slice file_name) {
    nc_slice extension = extension_of(file_name);
    size_t low = 0;
    size_t high = nc_media_count;
    if (extension.length == 0 || extension.length >= NC_MEDIA_EXTENSION_BYTES) {
        return (nc_slice){NULL, 0};
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(extension, nc_media_table[middle].extension);
        if (order == 0) {
            return nc_slice_of(nc_media_table[middle].type);
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle : high;
    }
    return (nc_slice){NULL, 0};
}

/* --- the system's list --- */

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static nc_slice take_word(nc_slice *line) {
    size_t begin = 0;
    while (begin < line->length && is_blank(line->data[begin])) {
        begin++;
    }
    size_t end = begin;
    while (end < line->length && !is_blank(line->data[end])) {
        end++;
    }
    nc_slice word = nc_slice_make(line->data + begin, end - begin);
    *line = nc_slice_make(line->data + end, line->length - end);
    return word;
}

/// Returns true if the word has the form token "/" token (RFC 9110, 8.3.1). Any other text must not be sent in a field.
static bool is_type(nc_slice word) {
    size_t slashes = 0;
    for (size_t i = 0; i < word.length; i++) {
        bool is_slash = word.data[i] == '/';
        slashes += is_slash ? 1 : 0;
        if (!is_slash && !nc_ascii_is_token(word.data[i])) {
            return false;
        }
    }
    return slashes == 1 && word.data[0] != '/' && word.data[word.length - 1] != '/';
}

static nc_slice find_in_line(nc_slice line, nc_slice extension) {
    nc_slice type = take_word(&line);
    for (nc_slice word = take_word(&line); word.length > 0; word = take_word(&line)) {
        if (nc_slice_is_equal_ignoring_case(word, extension)) {
            return is_type(type) ? type : (nc_slice){NULL, 0};
        }
    }
    return (nc_slice){NULL, 0};
}

static nc_slice find(nc_slice list, nc_slice extension) {
    for (size_t at = 0; at < list.length;) {
        const uint8_t *end = memchr(list.data + at, '\n', list.length - at);
        size_t length = end != NULL ? (size_t)(end - list.data) - at : list.length - at;
        nc_slice line = nc_slice_make(list.data + at, length);
        nc_slice type = line.length > 0 && line.data[0] != '#' ? find_in_line(line, extension) : (nc_slice){NULL, 0};
        if (type.length > 0) {
            return type;
        }
        at += length + 1;
    }
    return (nc_slice){NULL, 0};
}

nc_status nc_media_type_of_system(nc_buf *out, nc_slice file_name, const char *list_path, nc_error *err) {
    nc_slice extension = extension_of(file_name);
    nc_file_ops ops = nc_file_ops_system();
    nc_buf list = nc_buf_init(MAX_LIST_BYTES);
    nc_error own;
    if (extension.length == 0) {
        return nc_error_clear(err);
    }
    nc_status status = nc_file_read_all(&list, &ops, list_path != NULL ? list_path : NC_MEDIA_TYPE_LIST, &own);
    if (status == NC_OK) {
        nc_buf_append(out, find(nc_buf_slice(&list), extension));
        status = nc_buf_status(out);
    } else if (status == NC_ERR_FILE && own.native_code == ENOENT) {
        status = NC_OK;
    }
    nc_buf_deinit(&list);
    if (status == NC_OK) {
        return nc_error_clear(err);
    }
    return nc_error_set(err, status, own.native_code, -1, "%s",
                        own.status != NC_OK ? own.message : nc_status_text(status));
}

/* --- a Content-Type field --- */

/// Removes the part of `*rest` before the next unquoted ';', and returns it trimmed.
static nc_slice take_part(nc_slice *rest) {
    bool is_quoted = false;
    size_t end = 0;
    for (; end < rest->length && (is_quoted || rest->data[end] != ';'); end++) {
        if (rest->data[end] == '"') {
            is_quoted = !is_quoted;
        } else if (is_quoted && rest->data[end] == '\\' && end + 1 < rest->length) {
            end++;
        }
    }
    nc_slice part = nc_slice_make(rest->data, end);
    size_t next = end < rest->length ? end + 1 : end;
    *rest = nc_slice_make(rest->length == 0 ? NULL : rest->data + next, rest->length - next);
    return nc_ascii_trim(part);
}

nc_slice nc_content_type_essence(nc_slice value) {
    return take_part(&value);
}

bool nc_media_type_parameter(nc_slice content_type, nc_slice name, nc_slice *out) {
    (void)take_part(&content_type);
    while (content_type.length > 0) {
        nc_slice part = take_part(&content_type);
        size_t at = 0;
        while (at < part.length && part.data[at] != '=') {
            at++;
        }
        if (at == part.length || !nc_slice_is_equal_ignoring_case(nc_ascii_trim(nc_slice_make(part.data, at)), name)) {
            continue;
        }
        nc_slice found = nc_ascii_trim(nc_slice_make(part.data + at + 1, part.length - at - 1));
        if (found.length >= 2 && found.data[0] == '"' && found.data[found.length - 1] == '"') {
            found = nc_slice_make(found.data + 1, found.length - 2);
        }
        *out = found;
        return true;
    }
    return false;
}

/* --- patterns --- */

static bool begins_with(nc_slice text, nc_slice with) {
    return text.length > with.length && nc_slice_is_equal_ignoring_case(nc_slice_make(text.data, with.length), with);
}

static bool ends_with(nc_slice text, nc_slice with) {
    return text.length > with.length &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(text.data + text.length - with.length, with.length), with);
}

bool nc_media_type_matches(nc_slice content_type, nc_slice pattern) {
    nc_slice type = nc_content_type_essence(content_type);
    pattern = nc_content_type_essence(pattern);
    if (pattern.length == 0 || nc_slice_is_equal(pattern, nc_slice_of("*/*"))) {
        return pattern.length > 0 || type.length == 0;
    }
    if (nc_slice_is_equal_ignoring_case(type, nc_slice_of("image/*"))) {
        return begins_with(pattern, nc_slice_of("image/"));
    }
    if (begins_with(pattern, nc_slice_of("*+"))) {
        return type.length > 0 && memchr(type.data, '/', type.length) != NULL &&
               ends_with(type, nc_slice_make(pattern.data + 1, pattern.length - 1));
    }
    if (ends_with(pattern, nc_slice_of("/*"))) {
        return begins_with(type, nc_slice_make(pattern.data, pattern.length - 1));
    }
    return nc_slice_is_equal_ignoring_case(type, pattern);
}
