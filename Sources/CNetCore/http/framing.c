#include "http/framing.h"

#include "base/ascii.h"
#include "body/coding.h"

#include <string.h>

static bool is_named(nc_slice name, const char *other) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(other));
}

/// Takes the next member of a comma-separated list, and removes blanks around it. Returns false at the end.
static bool next_member(nc_slice *rest, nc_slice *member) {
    if (rest->data == NULL) {
        return false;
    }
    const uint8_t *comma = rest->length > 0 ? memchr(rest->data, ',', rest->length) : NULL;
    size_t length = comma != NULL ? (size_t)(comma - rest->data) : rest->length;
    *member = nc_slice_make(rest->data, length);
    *rest = comma != NULL ? nc_slice_make(comma + 1, rest->length - length - 1) : nc_slice_make(NULL, 0);
    while (member->length > 0 && nc_ascii_is_blank(member->data[0])) {
        *member = nc_slice_make(member->data + 1, member->length - 1);
    }
    while (member->length > 0 && nc_ascii_is_blank(member->data[member->length - 1])) {
        member->length--;
    }
    return true;
}

/// Parses a decimal number. A number of more than 64 bits becomes UINT64_MAX. Returns false for other text.
static bool parse_length(nc_slice text, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        uint64_t digit = (uint64_t)(text.data[i] - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *out = value;
    return text.length > 0;
}

/// Processes Content-Length. A proxy may join two equal fields to a list ("5, 5"). Such a list counts as one value.
static void take_length(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value.data != NULL ? value : nc_slice_of("");
    while (next_member(&rest, &member)) {
        uint64_t length = 0;
        if (!parse_length(member, &length)) {
            framing->fault = "its Content-Length is not a number";
        } else if (framing->has_length && framing->length != length) {
            framing->fault = "it has two different lengths";
        }
        framing->length = length;
        framing->has_length = true;
    }
}

/// Reads a list of compressing transfer codings, of which the last member may be "chunked". Returns false for any other
/// list. RFC 9112, 6.1: "chunked" is never applied twice, and a coding after it would make the end unknown.
static bool read_transfer_codings(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value;
    bool is_chunked = false;
    uint32_t count = 0;
    while (next_member(&rest, &member)) {
        bool is_compression = is_named(member, "gzip") || is_named(member, "x-gzip") || is_named(member, "deflate");
        if (is_chunked || !(is_compression || is_named(member, "chunked"))) {
            return false;
        }
        is_chunked = !is_compression;
        count += is_compression ? 1 : 0;
    }
    framing->is_chunked = framing->is_chunked || is_chunked;
    framing->transfer_coding_count += count;
    return is_chunked || count > 0;
}

static void take_transfer_coding(nc_framing *framing, nc_slice value) {
    // In RFC 2616 "identity" meant no coding, and a few servers still send it.
    bool is_valid = is_named(value, "identity") || read_transfer_codings(framing, value);
    if (framing->has_transfer_coding || !is_valid) {
        framing->fault = "its Transfer-Encoding is not just chunked";
        framing->is_chunked = true; // as libcurl and others may read it
    }
    framing->has_transfer_coding = true;
}

nc_slice nc_framing_transfer_codings(nc_slice value) {
    size_t length = value.length;
    while (length > 0 && value.data[length - 1] != ',') {
        length--;
    }
    nc_slice last = nc_head_line_trim(nc_slice_make(value.data + length, value.length - length));
    return is_named(last, "chunked") ? nc_slice_make(value.data, length > 0 ? length - 1 : 0) : value;
}

static void take_content_coding(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value.data != NULL ? value : nc_slice_of("");
    while (next_member(&rest, &member)) {
        framing->coding_count += nc_coding_is_none(member) ? 0 : 1;
    }
}

void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value) {
    // The length of the name is compared first, because most fields are none of these.
    if (name.length == 14 && is_named(name, "Content-Length")) {
        take_length(framing, value);
    } else if (name.length == 17 && is_named(name, "Transfer-Encoding")) {
        take_transfer_coding(framing, value);
    } else if (name.length == 16 && is_named(name, "Content-Encoding")) {
        take_content_coding(framing, value);
    } else if (name.length == 10 && is_named(name, "Set-Cookie")) {
        framing->has_cookies = true;
    } else if (name.length == 8 && is_named(name, "Location")) {
        framing->has_location = true;
    } else {
        return;
    }
    bool is_coded = framing->is_chunked || framing->transfer_coding_count > 0;
    if (framing->has_length && is_coded && framing->fault == NULL) {
        framing->fault = "it has both Content-Length and Transfer-Encoding";
    }
}

void nc_framing_take_fold(nc_framing *framing, nc_slice name) {
    if (is_named(name, "Content-Length") || is_named(name, "Transfer-Encoding") || is_named(name, "Content-Encoding")) {
        framing->fault = "a Content-Length or Transfer-Encoding field is folded";
    }
    framing->has_folded_challenge =
        framing->has_folded_challenge || is_named(name, "WWW-Authenticate") || is_named(name, "Proxy-Authenticate");
}

/* --- disguises --- */

enum { MAX_LETTERS = 64, LEAST_LETTERS = 7 };

/// The letters of a malformed name in lower case. `foreign` is the number of its non-ASCII characters that do not map
/// to a letter. `is_cut` means that the name has more than MAX_LETTERS letters.
typedef struct letters {
    char text[MAX_LETTERS];
    size_t count;
    size_t foreign;
    bool is_cut;
} letters;

static void add_letter(letters *out, uint8_t letter) {
    out->is_cut = out->is_cut || out->count == MAX_LETTERS;
    if (!out->is_cut) {
        out->text[out->count++] = (char)nc_ascii_lower(letter);
    }
}

/// Takes a non-ASCII character that normalization or case folding maps to an ASCII letter: full-width letters, the
/// Kelvin sign and the long s. Returns its length; 0 for any other.
static size_t take_folded(letters *out, nc_slice rest) {
    const uint8_t *at = rest.data;
    if (rest.length >= 2 && at[0] == 0xc5 && at[1] == 0xbf) {
        add_letter(out, 's');
        return 2;
    }
    if (rest.length < 3) {
        return 0;
    }
    if (at[0] == 0xe2 && at[1] == 0x84 && at[2] == 0xaa) {
        add_letter(out, 'k');
        return 3;
    }
    if (at[0] == 0xef && (at[1] == 0xbc || at[1] == 0xbd)) { // U+FF21 to U+FF3A, U+FF41 to U+FF5A
        uint8_t letter = (uint8_t)(at[1] == 0xbc ? at[2] - 0xa1 + 'A' : at[2] - 0x81 + 'a');
        if (nc_ascii_is_alpha(letter)) {
            add_letter(out, letter);
            return 3;
        }
    }
    return 0;
}

static letters letters_of(nc_slice name) {
    letters out = {.count = 0};
    for (size_t i = 0; i < name.length;) {
        uint8_t byte = name.data[i];
        size_t folded = byte >= 0x80 ? take_folded(&out, nc_slice_make(name.data + i, name.length - i)) : 0;
        if (nc_ascii_is_alpha(byte)) {
            add_letter(&out, byte);
        }
        out.foreign += folded == 0 && byte >= 0xc0 ? 1 : 0; // the first byte of a UTF-8 character
        i += folded > 0 ? folded : 1;
    }
    return out;
}

/// Returns true if the letters occur in `name` in the same order, and if there is a foreign character for each letter
/// that is missing. At least LEAST_LETTERS letters must be present.
static bool is_subsequence(const letters *of, const char *name) {
    size_t length = strlen(name);
    size_t at = 0;
    for (size_t i = 0; i < length && at < of->count; i++) {
        at += of->text[at] == name[i] ? 1 : 0;
    }
    return at == of->count && of->count >= LEAST_LETTERS && of->count + of->foreign >= length;
}

/// Returns true if another reader could understand a malformed name with these letters as `name`.
static bool means(const letters *of, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i + length <= of->count; i++) {
        if (memcmp(of->text + i, name, length) == 0) {
            return true;
        }
    }
    return of->foreign > 0 && is_subsequence(of, name);
}

bool nc_framing_hides_in(nc_slice line) {
    letters found = {.count = 0};
    while (line.length > 0 && found.count == 0) { // A line may begin with colons. Empty names are skipped.
        const uint8_t *colon = memchr(line.data, ':', line.length);
        size_t length = colon != NULL ? (size_t)(colon - line.data) : line.length;
        found = letters_of(nc_slice_make(line.data, length));
        length += colon != NULL ? 1 : 0;
        line = nc_slice_make(line.data + length, line.length - length);
    }
    return found.is_cut || means(&found, "contentlength") || means(&found, "transferencoding") ||
           means(&found, "contentencoding");
}

/* --- lines --- */

static bool is_white(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

nc_slice nc_head_line_trim(nc_slice text) {
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && is_white(text.data[text.length - 1])) {
        text.length--;
    }
    return text;
}

/// Accepts only lines like "HTTP/1.1 200 OK" and "HTTP/2 200". libcurl also accepts lines like "HTTP/HTTP/1.1 100", and
/// reads a different status code from them.
bool nc_head_line_parse_status(nc_slice line, uint16_t *status, nc_http_version *version) {
    const uint8_t *space = memchr(line.data, ' ', line.length);
    size_t at = space != NULL ? (size_t)(space - line.data) : 0;
    bool is_short = at == 6;
    bool is_long = at == 8 && line.data[6] == '.' && nc_ascii_is_digit(line.data[7]);
    // RFC 9112, 2.3: the protocol's name is case-sensitive.
    if (!(is_short || is_long) || memcmp(line.data, "HTTP/", 5) != 0 || !nc_ascii_is_digit(line.data[5]) ||
        line.length < at + 4) {
        return false;
    }
    const uint8_t *digits = line.data + at + 1;
    if (line.length > at + 4 && (!is_white(digits[3]) || digits[3] == '\t')) {
        return false; // "200OK", or a tab after the code. RFC 9112, 4, allows only a space there.
    }
    uint8_t major = line.data[5];
    uint8_t minor = at >= 8 ? line.data[7] : '0';
    *version = major == '2'   ? NC_HTTP_VERSION_2
               : major == '3' ? NC_HTTP_VERSION_3
               : minor == '0' ? NC_HTTP_VERSION_1_0
                              : NC_HTTP_VERSION_1_1;
    if (!nc_ascii_is_digit(digits[0]) || !nc_ascii_is_digit(digits[1]) || !nc_ascii_is_digit(digits[2])) {
        return false;
    }
    *status = (uint16_t)((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0'));
    return *status >= 100;
}

/// RFC 9112, 2.2: a CR that does not end a line is invalid. libcurl treats it as any other byte.
bool nc_head_line_has_stray_cr(nc_slice line) {
    size_t length = line.length;
    while (length > 0 && (line.data[length - 1] == '\n' || line.data[length - 1] == '\r')) {
        length--;
    }
    return length > 0 && memchr(line.data, '\r', length) != NULL;
}

/// RFC 9112, 5.1: a field name is a token, immediately followed by the colon. libcurl accepts any text before a colon.
/// If only one of two readers recognizes a malformed name as Content-Length, they disagree where the body ends.
bool nc_head_line_is_name(nc_slice name) {
    const uint8_t *at = name.data;
    const uint8_t *end = name.data + name.length;
    while (at < end && nc_ascii_is_token(*at)) {
        at++;
    }
    return at == end && name.length > 0;
}
