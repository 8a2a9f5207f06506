/// Covers: http/framing.c
///
/// The end of a body, determined by a second reader. It collects all fields first and then applies RFC 9112, 6.3, while
/// the library evaluates field by field. Both reject the same inputs.
/// Input: pieces, alternately a name and a value; a name that begins with a blank folds the field before.
#include "input.h"

#include "http/framing.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FIELDS = 30, MAX_DIGITS = 18 };

typedef struct second_reader {
    bool is_refused;
    bool has_length;
    uint64_t length;
    unsigned field_count;  // of Transfer-Encoding
    unsigned coding_count; // that compress
    bool is_chunked;
} second_reader;

static bool is_one_of(nc_slice name, const char *a, const char *b, const char *c) {
    return nc_slice_is_equal_ignoring_case(name, nc_slice_of(a)) ||
           nc_slice_is_equal_ignoring_case(name, nc_slice_of(b)) ||
           nc_slice_is_equal_ignoring_case(name, nc_slice_of(c));
}

/// Reads one length: digits with blanks around them, below 10^18 (the library's limit is a little higher, see
/// check_length).
static bool read_number(const char *text, uint64_t *out) {
    const char *begin = text + strspn(text, " \t");
    size_t digits = strspn(begin, "0123456789");
    const char *end = begin + digits;
    *out = 0;
    for (size_t i = 0; i < digits && i < MAX_DIGITS; i++) {
        *out = *out * 10 + (uint64_t)(begin[i] - '0');
    }
    return digits > 0 && end[strspn(end, " \t")] == '\0';
}

static void read_lengths(second_reader *reader, nc_slice value) {
    char text[4096];
    CHECK(value.length < sizeof text);
    for (size_t at = 0; at <= value.length;) {
        size_t length = 0;
        uint64_t number = 0;
        while (at + length < value.length && value.data[at + length] != ',') {
            length++;
        }
        memcpy(text, value.data + at, length);
        text[length] = '\0';
        bool is_number = memchr(text, 0, length) == NULL && read_number(text, &number);
        reader->is_refused = reader->is_refused || !is_number || (reader->has_length && reader->length != number);
        reader->has_length = true;
        reader->length = number;
        at += length + 1;
    }
}

static bool is_compression(nc_slice name) {
    return is_one_of(name, "gzip", "x-gzip", "deflate");
}

/// Reads a list of transfer codings from its end: only the last one may be "chunked", all others must compress.
static bool read_codings(second_reader *reader, nc_slice value) {
    bool is_last = true;
    for (size_t end = value.length;; is_last = false) {
        size_t begin = end;
        while (begin > 0 && value.data[begin - 1] != ',') {
            begin--;
        }
        nc_slice member = nc_slice_make(value.data + begin, end - begin);
        while (member.length > 0 && (member.data[0] == ' ' || member.data[0] == '\t')) {
            member = nc_slice_make(member.data + 1, member.length - 1);
        }
        while (member.length > 0 && strchr(" \t", member.data[member.length - 1]) != NULL &&
               member.data[member.length - 1] != 0) {
            member.length--;
        }
        if (is_last && nc_slice_is_equal_ignoring_case(member, nc_slice_of("chunked"))) {
            reader->is_chunked = true;
        } else if (is_compression(member)) {
            reader->coding_count++;
        } else {
            return false;
        }
        if (begin == 0) {
            return true;
        }
        end = begin - 1;
    }
}

static void read_field(second_reader *reader, nc_slice name, nc_slice value) {
    if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("content-length"))) {
        read_lengths(reader, value);
    } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("transfer-encoding"))) {
        bool is_identity = nc_slice_is_equal_ignoring_case(value, nc_slice_of("identity"));
        bool is_valid = is_identity || read_codings(reader, value);
        reader->field_count++;
        if (!is_valid || reader->field_count > 1) {
            reader->is_refused = true;
            reader->is_chunked = true;
        }
    }
}

/// Excludes numbers with more digits than occur in practice: their last value is not specified.
static bool is_moderate(nc_slice value) {
    size_t run = 0;
    for (size_t i = 0; i < value.length; i++) {
        run = value.data[i] >= '0' && value.data[i] <= '9' ? run + 1 : 0;
        if (run > MAX_DIGITS) {
            return false;
        }
    }
    return value.length < 4000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_framing framing = {0};
    second_reader reader = {0};
    nc_slice last = {0};
    bool is_comparable = true;
    for (size_t i = 0; i < MAX_FIELDS && in.left.length > 0; i++) {
        nc_slice name = input_piece(&in);
        nc_slice value = input_piece(&in);
        is_comparable = is_comparable && is_moderate(value);
        if (name.length > 0 && (name.data[0] == ' ' || name.data[0] == '\t')) {
            nc_framing_take_fold(&framing, last);
            reader.is_refused =
                reader.is_refused || is_one_of(last, "content-length", "transfer-encoding", "content-encoding");
            continue;
        }
        last = name;
        nc_framing_take(&framing, name, value);
        if (is_comparable) {
            read_field(&reader, name, value);
        }
    }
    bool is_coded = reader.is_chunked || reader.coding_count > 0;
    reader.is_refused = reader.is_refused || (reader.has_length && is_coded);
    if (is_comparable) {
        CHECK((framing.fault != NULL) == reader.is_refused);
        CHECK(framing.has_length == reader.has_length && framing.is_chunked == reader.is_chunked);
        CHECK(framing.fault != NULL || !framing.has_length || framing.length == reader.length);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
