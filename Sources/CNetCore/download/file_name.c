/// File names from a response: Content-Disposition, or the URL, made safe.
#include "base/ascii.h"
#include "base/utf8.h"
#include "download/internal.h"

#include <string.h>

/// A longer Content-Disposition field is ignored. A longer extension is cut like the rest of the name.
enum { MAX_FIELD_BYTES = 4096, MAX_EXTENSION_BYTES = 16 };

/* --- Content-Disposition --- */

static void skip_blanks(nc_slice *text) {
    while (text->length > 0 && nc_ascii_is_blank(text->data[0])) {
        *text = nc_slice_make(text->data + 1, text->length - 1);
    }
}

/// Takes the bytes before the first of the characters in `ends`, without trailing blanks.
static nc_slice take_until(nc_slice *text, const char *ends) {
    size_t length = 0;
    while (length < text->length && (text->data[length] == 0 || strchr(ends, text->data[length]) == NULL)) {
        length++;
    }
    nc_slice taken = nc_slice_make(text->data, length);
    *text = nc_slice_make(text->data + length, text->length - length);
    while (taken.length > 0 && nc_ascii_is_blank(taken.data[taken.length - 1])) {
        taken.length--;
    }
    return taken;
}

/// Takes a quoted string (RFC 9110, 5.6.4) whose opening quote was already taken. Returns false if the closing quote is
/// missing.
static bool take_quoted(nc_buf *out, nc_slice *text) {
    for (size_t i = 0; i < text->length; i++) {
        uint8_t c = text->data[i];
        if (c == '"') {
            *text = nc_slice_make(text->data + i + 1, text->length - i - 1);
            return true;
        }
        if (c == '\\' && i + 1 < text->length) {
            c = text->data[++i];
        }
        nc_buf_append_byte(out, c);
    }
    text->length = 0;
    return false;
}

/// Takes `name=value` or `name="value"`. Returns false for other text.
static bool take_parameter(nc_slice *name, nc_buf *value, nc_slice *text) {
    skip_blanks(text);
    *name = take_until(text, "=;\"");
    nc_buf_reset(value);
    if (text->length == 0 || text->data[0] != '=') {
        return false;
    }
    *text = nc_slice_make(text->data + 1, text->length - 1);
    skip_blanks(text);
    if (text->length > 0 && text->data[0] == '"') {
        *text = nc_slice_make(text->data + 1, text->length - 1);
        return take_quoted(value, text);
    }
    nc_buf_append(value, take_until(text, ";"));
    return value->length > 0;
}

/// Decodes percent escapes. Returns false for an invalid escape if `is_strict` is true; otherwise copies the escape.
static bool unescape(nc_buf *out, nc_slice text, bool is_strict) {
    for (size_t i = 0; i < text.length; i++) {
        int high = text.data[i] == '%' && i + 2 < text.length ? nc_ascii_hex(text.data[i + 1]) : -1;
        int low = high >= 0 ? nc_ascii_hex(text.data[i + 2]) : -1;
        if (low >= 0) {
            nc_buf_append_byte(out, (uint8_t)(high * 16 + low));
            i += 2;
        } else if (text.data[i] == '%' && is_strict) {
            return false;
        } else {
            nc_buf_append_byte(out, text.data[i]);
        }
    }
    return true;
}

static void append_latin(nc_buf *out, nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (c < 0x80) {
            nc_buf_append_byte(out, c);
        } else {
            nc_buf_append_byte(out, (uint8_t)(0xC0 | c >> 6));
            nc_buf_append_byte(out, (uint8_t)(0x80 | (c & 0x3F)));
        }
    }
}

/// Decodes an extended value (RFC 8187, 3.2), which has the form charset'language'percent-encoded.
static bool append_extended(nc_buf *out, nc_slice value) {
    const uint8_t *first = value.length > 0 ? memchr(value.data, '\'', value.length) : NULL;
    size_t at = first != NULL ? (size_t)(first - value.data) + 1 : value.length;
    const uint8_t *second = at < value.length ? memchr(value.data + at, '\'', value.length - at) : NULL;
    if (second == NULL) {
        return false;
    }
    nc_slice charset = nc_slice_make(value.data, at - 1);
    size_t text_at = (size_t)(second - value.data) + 1;
    nc_buf bytes = nc_buf_init(MAX_FIELD_BYTES);
    bool is_good = unescape(&bytes, nc_slice_make(value.data + text_at, value.length - text_at), true) &&
                   nc_buf_status(&bytes) == NC_OK && bytes.length > 0;
    if (is_good && nc_slice_is_equal_ignoring_case(charset, nc_slice_of("utf-8"))) {
        is_good = nc_utf8_span(bytes.data, bytes.length) == bytes.length;
        nc_buf_append(out, is_good ? nc_buf_slice(&bytes) : nc_slice_of(""));
    } else if (is_good && nc_slice_is_equal_ignoring_case(charset, nc_slice_of("iso-8859-1"))) {
        append_latin(out, nc_buf_slice(&bytes));
    } else {
        is_good = false;
    }
    nc_buf_deinit(&bytes);
    return is_good;
}

/// Appends a name that is not extended as UTF-8. If the text is not valid UTF-8, it is read as ISO-8859-1.
static void append_plain(nc_buf *out, nc_slice text) {
    if (nc_utf8_span(text.data, text.length) == text.length) {
        nc_buf_append(out, text);
    } else {
        append_latin(out, text);
    }
}

bool nc_disposition_name(nc_buf *out, nc_slice field) {
    nc_buf value = nc_buf_init(MAX_FIELD_BYTES);
    nc_buf plain = nc_buf_init(2 * MAX_FIELD_BYTES);
    nc_buf extended = nc_buf_init(2 * MAX_FIELD_BYTES);
    nc_slice text = field.length <= MAX_FIELD_BYTES ? field : nc_slice_make(field.data, 0);
    nc_slice probe = text;
    nc_slice name;
    skip_blanks(&probe);
    nc_slice type = take_until(&probe, ";=\"");
    if (probe.length > 0 && probe.data[0] == ';') {
        text = nc_slice_make(probe.data + 1, probe.length - 1);
    } else if (probe.length == 0 || type.length == 0 || memchr(type.data, ' ', type.length) != NULL) {
        text.length = 0; // The field has only a type, or cannot be parsed.
    }
    while (text.length > 0) {
        if (take_parameter(&name, &value, &text)) {
            if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("filename")) && plain.length == 0) {
                append_plain(&plain, nc_buf_slice(&value));
            } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("filename*")) && extended.length == 0 &&
                       !append_extended(&extended, nc_buf_slice(&value))) {
                nc_buf_reset(&extended);
            }
        }
        (void)take_until(&text, ";");
        text = text.length > 0 ? nc_slice_make(text.data + 1, text.length - 1) : text;
    }
    const nc_buf *best = extended.length > 0 ? &extended : &plain;
    bool is_found = best->length > 0 && nc_buf_status(best) == NC_OK;
    if (is_found) {
        nc_buf_append(out, nc_buf_slice(best));
    }
    nc_buf_deinit(&value);
    nc_buf_deinit(&plain);
    nc_buf_deinit(&extended);
    return is_found;
}

bool nc_url_last_component(nc_buf *out, nc_slice url) {
    size_t end = 0;
    while (end < url.length && url.data[end] != '?' && url.data[end] != '#') {
        end++;
    }
    size_t path = 0;
    for (size_t i = 0; i + 2 < end && path == 0; i++) {
        path = memcmp(url.data + i, "://", 3) == 0 ? i + 3 : 0;
    }
    size_t at = end;
    while (at > path && url.data[at - 1] != '/') {
        at--;
    }
    if (at == path || at == end) {
        return false; // "http://host", or a path that ends with a slash
    }
    (void)unescape(out, nc_slice_make(url.data + at, end - at), false);
    return true;
}

/* --- safe names --- */

/// Returns true for formatting characters, which reorder or hide text, for C1 controls and for noncharacters.
static bool is_unseen(const uint8_t *bytes, size_t length) {
    uint32_t code = length == 2 ? (uint32_t)(bytes[0] & 0x1F) << 6 | (bytes[1] & 0x3Fu)
                    : length == 3
                        ? (uint32_t)(bytes[0] & 0x0F) << 12 | (uint32_t)(bytes[1] & 0x3F) << 6 | (bytes[2] & 0x3Fu)
                        : 0;
    return (code >= 0x80 && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0x180E ||
           (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF0 && code <= 0xFFFF);
}

/// Copies harmless characters, replaces others by '_', and drops invisible ones.
static void append_harmless(nc_buf *out, nc_slice name) {
    for (size_t i = 0; i < name.length;) {
        size_t length = nc_utf8_sequence(name.data + i, name.length - i);
        uint8_t c = name.data[i];
        if (length == 0) {
            nc_buf_append_byte(out, '_');
            length = 1;
        } else if (length == 1) {
            bool is_harmful = c < 0x20 || c == 0x7F || strchr("<>:\"|?*", c) != NULL;
            nc_buf_append_byte(out, is_harmful ? '_' : c);
        } else if (!is_unseen(name.data + i, length)) {
            nc_buf_append(out, nc_slice_make(name.data + i, length));
        }
        i += length;
    }
}

static bool is_reserved(nc_slice name) {
    static const char *const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
    size_t length = 0;
    while (length < name.length && name.data[length] != '.') {
        length++;
    }
    while (length > 0 && name.data[length - 1] == ' ') {
        length--;
    }
    nc_slice stem = nc_slice_make(name.data, length);
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        if (nc_slice_is_equal_ignoring_case(stem, nc_slice_of(devices[i]))) {
            return true;
        }
    }
    nc_slice kind = nc_slice_make(stem.data, stem.length < 3 ? stem.length : 3);
    return stem.length == 4 && nc_ascii_is_digit(stem.data[3]) &&
           (nc_slice_is_equal_ignoring_case(kind, nc_slice_of("com")) ||
            nc_slice_is_equal_ignoring_case(kind, nc_slice_of("lpt")));
}

static bool ends_with(nc_slice name, const char *end) {
    nc_slice tail = nc_slice_of(end);
    return name.length >= tail.length &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(name.data + name.length - tail.length, tail.length), tail);
}

/// Shortens a name to its limit: keeps its beginning and its extension, in whole characters.
static void append_short(nc_buf *out, nc_slice name) {
    if (name.length <= NC_SAFE_NAME_BYTES - 2) { // Two bytes are reserved for a prefix and a suffix ("_").
        nc_buf_append(out, name);
        return;
    }
    size_t dot = name.length;
    while (dot > 0 && name.data[dot - 1] != '.') {
        dot--;
    }
    size_t extension = dot > 1 && name.length - dot < MAX_EXTENSION_BYTES ? name.length - dot + 1 : 0;
    size_t room = NC_SAFE_NAME_BYTES - 2 - extension;
    while (room > 0 && (name.data[room] & 0xC0) == 0x80) {
        room--;
    }
    nc_buf_append(out, nc_slice_make(name.data, room));
    nc_buf_append(out, nc_slice_make(name.data + name.length - extension, extension));
}

/// Returns the name without trailing dots and blanks.
static nc_slice without_tail(nc_slice name) {
    while (name.length > 0 && (name.data[name.length - 1] == '.' || name.data[name.length - 1] == ' ')) {
        name.length--;
    }
    return name;
}

/// Shortens and appends a name, and makes its end harmless. The end is checked after the shortening, which may change
/// it.
static void append_ended(nc_buf *out, nc_slice name) {
    size_t from = out->length;
    append_short(out, name);
    if (nc_buf_status(out) != NC_OK) {
        return;
    }
    nc_slice kept = without_tail(nc_slice_make(out->data + from, out->length - from));
    out->length = from + kept.length;
    // These names are reserved for partial files.
    bool is_ours = ends_with(kept, ".part") || ends_with(kept, ".part.nk") || ends_with(kept, ".part.nk~") ||
                   ends_with(kept, ".part.new");
    nc_buf_append(out, nc_slice_of(is_ours ? "_" : ""));
}

void nc_safe_name(nc_buf *out, nc_slice name) {
    nc_buf clean = nc_buf_init(SIZE_MAX / 2);
    size_t at = name.length;
    while (at > 0 && name.data[at - 1] != '/' && name.data[at - 1] != '\\') {
        at--;
    }
    append_harmless(&clean, nc_slice_make(name.data + at, name.length - at));
    nc_slice rest = nc_buf_slice(&clean);
    while (rest.length > 0 && (rest.data[0] == '.' || rest.data[0] == ' ')) {
        rest = nc_slice_make(rest.data + 1, rest.length - 1);
    }
    rest = without_tail(rest);
    if (rest.length == 0) {
        nc_buf_append(out, nc_slice_of("download"));
    } else {
        // "-rf" is an option and "~" a home directory to a shell; "con.txt" is a device in Windows.
        bool is_odd = rest.data[0] == '-' || rest.data[0] == '~' || is_reserved(rest);
        nc_buf_append(out, nc_slice_of(is_odd ? "_" : ""));
        append_ended(out, rest);
    }
    if (clean.status != NC_OK && out->status == NC_OK) {
        out->status = clean.status;
    }
    nc_buf_deinit(&clean);
}

/* --- name of a response --- */

bool nc_response_file_name(nc_buf *out, const nc_response *response, nc_slice url, bool ignores_disposition) {
    nc_buf name = nc_buf_init(NC_RECORD_MAX_BYTES);
    nc_slice field;
    bool has_name = !ignores_disposition &&
                    nc_response_find_header(response, nc_slice_of("Content-Disposition"), &field) &&
                    nc_disposition_name(&name, field);
    has_name = has_name || nc_url_last_component(&name, url) || nc_url_last_component(&name, nc_response_url(response));
    nc_safe_name(out, has_name ? nc_buf_slice(&name) : nc_slice_of(""));
    bool is_named = nc_buf_status(&name) == NC_OK && nc_buf_status(out) == NC_OK;
    nc_buf_deinit(&name);
    return is_named;
}
