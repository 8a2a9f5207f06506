#include "net/framing.h"

#include "base/ascii.h"
#include "body/coding_list.h"

#include <string.h>

static bool is_named(nc_slice name, const char *other) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(other));
}

static bool is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/// Takes the next member of a comma-separated list without blanks. Returns false at the end.
static bool next_member(nc_slice *rest, nc_slice *member) {
    if (rest->data == NULL) {
        return false;
    }
    const uint8_t *comma = rest->length > 0 ? memchr(rest->data, ',', rest->length) : NULL;
    size_t length = comma != NULL ? (size_t)(comma - rest->data) : rest->length;
    *member = nc_slice_make(rest->data, length);
    *rest = comma != NULL ? nc_slice_make(comma + 1, rest->length - length - 1) : nc_slice_make(NULL, 0);
    while (member->length > 0 && is_blank(member->data[0])) {
        *member = nc_slice_make(member->data + 1, member->length - 1);
    }
    while (member->length > 0 && is_blank(member->data[member->length - 1])) {
        member->length--;
    }
    return true;
}

/// A number of more than 64 bits becomes UINT64_MAX.
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

/// A proxy makes a list of one repeated value from two equal fields. It counts as one value.
static void take_length(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value.data != NULL ? value : nc_slice_of("");
    while (next_member(&rest, &member)) {
        uint64_t length = 0;
        if (!parse_length(member, &length)) {
            framing->fault = "its Content-Length is no number";
        } else if (framing->has_length && framing->length != length) {
            framing->fault = "it names two lengths";
        }
        framing->length = length;
        framing->has_length = true;
    }
}

static void take_transfer_coding(nc_framing *framing, nc_slice value) {
    // In RFC 2616 "identity" meant no coding, and a few servers still send it.
    bool is_identity = is_named(value, "identity");
    if (framing->has_transfer_coding || !(is_identity || is_named(value, "chunked"))) {
        framing->fault = "its Transfer-Encoding is not chunked alone";
    }
    framing->has_transfer_coding = true;
    framing->is_chunked = framing->is_chunked || !is_identity;
}

static void take_content_coding(nc_framing *framing, nc_slice value) {
    nc_slice member = {0};
    nc_slice rest = value.data != NULL ? value : nc_slice_of("");
    while (next_member(&rest, &member)) {
        framing->coding_count += nc_coding_is_none(member) ? 0 : 1;
    }
}

void nc_framing_take(nc_framing *framing, nc_slice name, nc_slice value) {
    // By length first, because most fields are none of these.
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
    if (framing->has_length && framing->is_chunked && framing->fault == NULL) {
        framing->fault = "it holds both Content-Length and Transfer-Encoding";
    }
}

void nc_framing_take_fold(nc_framing *framing, nc_slice name) {
    if (is_named(name, "Content-Length") || is_named(name, "Transfer-Encoding") || is_named(name, "Content-Encoding")) {
        framing->fault = "a field that tells where the body ends is folded";
    }
    framing->has_folded_challenge =
        framing->has_folded_challenge || is_named(name, "WWW-Authenticate") || is_named(name, "Proxy-Authenticate");
}

/* --- disguises --- */

enum { MAX_LETTERS = 64, LEAST_LETTERS = 7 };

/// The letters of a malformed name in lower case, and how many non-ASCII characters it has besides them.
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

/// Returns true if the letters in their order make up the name. Each foreign character may stand for a missing letter.
static bool is_subsequence(const letters *of, const char *name) {
    size_t length = strlen(name);
    size_t at = 0;
    for (size_t i = 0; i < length && at < of->count; i++) {
        at += of->text[at] == name[i] ? 1 : 0;
    }
    return at == of->count && of->count >= LEAST_LETTERS && of->count + of->foreign >= length;
}

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
    while (line.length > 0 && found.count == 0) { // There may be nothing before a first colon.
        const uint8_t *colon = memchr(line.data, ':', line.length);
        size_t length = colon != NULL ? (size_t)(colon - line.data) : line.length;
        found = letters_of(nc_slice_make(line.data, length));
        length += colon != NULL ? 1 : 0;
        line = nc_slice_make(line.data + length, line.length - length);
    }
    return found.is_cut || means(&found, "contentlength") || means(&found, "transferencoding") ||
           means(&found, "contentencoding");
}
