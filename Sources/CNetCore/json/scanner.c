#include "json/scanner.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

uint32_t nc_scan_max_depth(const nc_json_options *options) {
    return options == NULL || options->max_depth == 0 ? NC_JSON_DEFAULT_MAX_DEPTH : options->max_depth;
}

void nc_scan_init(nc_scan *scan, const nc_json_options *options, uint8_t *parents) {
    *scan = (nc_scan){.state = NC_SCAN_VALUE, .max_depth = nc_scan_max_depth(options), .found = -1, .parents = parents};
    if (options != NULL) {
        scan->allows_lone_surrogates = options->allows_lone_surrogates;
        scan->max_number_bytes = options->max_number_bytes;
        scan->max_bytes = options->max_bytes;
    }
    if (scan->max_bytes == 0) {
        scan->max_bytes = UINT64_MAX;
    }
    if (scan->max_number_bytes == 0) {
        scan->max_number_bytes = UINT64_MAX;
    }
}

/* --- faults --- */

static const char *literal_of(uint8_t kind) {
    return kind == NC_JSON_TRUE ? "true" : kind == NC_JSON_FALSE ? "false" : "null";
}

/// Describes what the grammar expects between two tokens.
static const char *wanted_of_state(const nc_scan *scan) {
    switch ((nc_scan_state)scan->state) {
    case NC_SCAN_VALUE:
        return "a value";
    case NC_SCAN_FIRST_VALUE:
        return "a value or ']'";
    case NC_SCAN_FIRST_NAME:
        return "a name or '}'";
    case NC_SCAN_NAME:
        return "a name";
    case NC_SCAN_COLON:
        return "':'";
    case NC_SCAN_NEXT:
        return scan->is_object ? "',' or '}'" : "',' or ']'";
    default:
        return "the end of the text";
    }
}

/// Describes what the grammar expects within a number. After a complete number it expects the next token.
static const char *wanted_of_number(const nc_scan *scan) {
    switch ((nc_scan_inside)scan->inside) {
    case NC_INSIDE_MINUS:
    case NC_INSIDE_POINT:
    case NC_INSIDE_E_SIGN:
        return "a digit";
    case NC_INSIDE_E:
        return "a digit or a sign";
    default:
        return wanted_of_state(scan);
    }
}

/// Describes what the grammar expects at the current byte.
static const char *wanted_of(const nc_scan *scan) {
    switch ((nc_scan_inside)scan->inside) {
    case NC_INSIDE_NOTHING:
        return wanted_of_state(scan);
    case NC_INSIDE_STRING:
        return "a character or '\"'";
    case NC_INSIDE_ESCAPE:
        return "one of \"\\/bfnrtu";
    case NC_INSIDE_HEX:
        return scan->expects_low && scan->remaining > 2 ? "the other half of a surrogate pair" : "a hexadecimal digit";
    case NC_INSIDE_PAIR:
    case NC_INSIDE_PAIR_U:
        return "the other half of a surrogate pair";
    case NC_INSIDE_SEQUENCE:
        return "the rest of a UTF-8 sequence";
    case NC_INSIDE_LITERAL:
        return literal_of(scan->literal);
    default:
        return wanted_of_number(scan);
    }
}

void nc_scan_fail(nc_scan *scan, nc_json_fault fault, uint64_t offset, int found, const char *wanted) {
    // Only the first fault is reported.
    if (scan->has_ended) {
        return;
    }
    scan->has_ended = true;
    scan->fault = fault;
    scan->fault_offset = offset;
    scan->found = (int16_t)found;
    scan->wanted = wanted;
}

void nc_scan_reject(nc_scan *scan, nc_json_fault fault, uint64_t offset, uint8_t byte) {
    nc_scan_fail(scan, fault, offset, byte, wanted_of(scan));
}

void nc_scan_fail_at_end(nc_scan *scan, uint64_t offset) {
    nc_scan_fail(scan, NC_JSON_FAULT_ENDED, offset, -1, wanted_of(scan));
}

/* --- strings, literals and the first bytes of scalars --- */

// The first letter identifies a literal. Its other letters are compared one by one later, so that a fault has an exact
// offset.
bool nc_scan_begin_value(nc_json_kind *out, nc_scan *s, size_t at, uint8_t byte) {
    uint64_t offset = s->offset + at;
    nc_json_kind kind = byte == '"'   ? NC_JSON_STRING
                        : byte == 't' ? NC_JSON_TRUE
                        : byte == 'f' ? NC_JSON_FALSE
                        : byte == 'n' ? NC_JSON_NULL
                                      : NC_JSON_NUMBER;
    if (kind == NC_JSON_NUMBER && byte != '-' && (byte < '0' || byte > '9')) {
        nc_scan_reject(s, NC_JSON_FAULT_SYNTAX, offset, byte);
        return false;
    }
    s->state = nc_scan_state_after_value(s->depth);
    if (kind == NC_JSON_STRING) {
        s->is_name = false;
        nc_scan_begin_token(s, NC_INSIDE_STRING, offset, at + 1);
    } else if (kind == NC_JSON_NUMBER) {
        nc_scan_inside part = byte == '-' ? NC_INSIDE_MINUS : byte == '0' ? NC_INSIDE_ZERO : NC_INSIDE_INTEGER;
        nc_scan_begin_token(s, part, offset, at);
        s->number_bytes = 1;
    } else {
        nc_scan_begin_token(s, NC_INSIDE_LITERAL, offset, at);
        s->literal = (uint8_t)kind;
        s->matched = 1;
    }
    *out = kind;
    return true;
}

/// Begins a UTF-8 sequence. Returns false if no sequence begins with `lead`. The lead byte determines the bounds of the
/// second byte (Unicode, table 3-7).
static bool begin_sequence(nc_scan *scan, uint8_t lead) {
    if (lead < 0xC2 || lead > 0xF4) {
        return false;
    }
    scan->remaining = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    scan->next_min = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    scan->next_max = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return true;
}

/// Ends a `\uXXXX` escape after its fourth digit.
static void end_hex(nc_scan *s) {
    s->inside = s->is_high && !s->allows_lone_surrogates ? NC_INSIDE_PAIR : NC_INSIDE_STRING;
    s->expects_low = false;
}

/// Processes a digit of `\uXXXX`. The first two digits show whether it is a surrogate.
static void hex_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    uint8_t lower = byte | 0x20;
    bool is_digit = byte >= '0' && byte <= '9';
    if (!is_digit && (lower < 'a' || lower > 'f')) {
        nc_scan_reject(s, NC_JSON_FAULT_ESCAPE, offset, byte);
        return;
    }
    if (s->remaining == 4) {
        s->is_surrogate_d = lower == 'd';
        s->is_high = false;
        if (s->expects_low && !s->is_surrogate_d) {
            nc_scan_reject(s, NC_JSON_FAULT_SURROGATE, offset, byte);
        }
    } else if (s->remaining == 3 && s->is_surrogate_d) {
        bool is_low = !is_digit && lower >= 'c';
        s->is_high = !is_low && (byte >= '8');
        if (s->expects_low && !is_low) {
            nc_scan_reject(s, NC_JSON_FAULT_SURROGATE, offset, byte);
        } else if (!s->expects_low && is_low && !s->allows_lone_surrogates) {
            nc_scan_fail(s, NC_JSON_FAULT_SURROGATE, offset, byte, "a complete surrogate pair");
        }
    }
    if (--s->remaining == 0) {
        end_hex(s);
    }
}

/// Processes the letter after a '\'.
static void escape_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte == 'u') {
        s->inside = NC_INSIDE_HEX;
        s->remaining = 4;
    } else if (byte == '"' || byte == '\\' || byte == '/' || byte == 'b' || byte == 'f' || byte == 'n' || byte == 'r' ||
               byte == 't') {
        s->inside = NC_INSIDE_STRING;
    } else {
        nc_scan_reject(s, NC_JSON_FAULT_ESCAPE, offset, byte);
    }
}

/// Processes the bytes between a high surrogate and the digits of its low surrogate.
static void pair_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte != (s->inside == NC_INSIDE_PAIR ? '\\' : 'u')) {
        nc_scan_reject(s, NC_JSON_FAULT_SURROGATE, offset, byte);
    } else if (s->inside == NC_INSIDE_PAIR) {
        s->inside = NC_INSIDE_PAIR_U;
    } else {
        s->inside = NC_INSIDE_HEX;
        s->remaining = 4;
        s->expects_low = true;
    }
}

/// Processes a UTF-8 continuation byte. Only the second byte of a sequence can have narrower bounds than 80 to BF.
static void sequence_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte < s->next_min || byte > s->next_max) {
        nc_scan_reject(s, NC_JSON_FAULT_UTF8, offset, byte);
        return;
    }
    s->next_min = 0x80;
    s->next_max = 0xBF;
    if (--s->remaining == 0) {
        s->inside = NC_INSIDE_STRING;
    }
}

/// Compares the next letter of true, false or null.
static void literal_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    const char *spelling = literal_of(s->literal);
    if (byte != (uint8_t)spelling[s->matched]) {
        nc_scan_reject(s, NC_JSON_FAULT_SYNTAX, offset, byte);
    } else if (spelling[++s->matched] == '\0') {
        s->inside = NC_INSIDE_NOTHING;
    }
}

/// Processes a byte of a string that is not within an escape or a UTF-8 sequence.
static void string_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    if (byte == '\\') {
        s->inside = NC_INSIDE_ESCAPE;
    } else if (byte < 0x20) {
        nc_scan_reject(s, NC_JSON_FAULT_CONTROL, offset, byte);
    } else if (byte < 0x80) {
        return;
    } else if (begin_sequence(s, byte)) {
        s->inside = NC_INSIDE_SEQUENCE;
    } else {
        nc_scan_reject(s, NC_JSON_FAULT_UTF8, offset, byte);
    }
}

void nc_scan_text_byte(nc_scan *s, uint64_t offset, uint8_t byte) {
    switch ((nc_scan_inside)s->inside) {
    case NC_INSIDE_STRING:
        string_byte(s, offset, byte);
        break;
    case NC_INSIDE_ESCAPE:
        escape_byte(s, offset, byte);
        break;
    case NC_INSIDE_HEX:
        hex_byte(s, offset, byte);
        break;
    case NC_INSIDE_PAIR:
    case NC_INSIDE_PAIR_U:
        pair_byte(s, offset, byte);
        break;
    case NC_INSIDE_SEQUENCE:
        sequence_byte(s, offset, byte);
        break;
    default:
        literal_byte(s, offset, byte);
    }
}

size_t nc_scan_leave_string(nc_scan *s, const nc_block_state *blocks, const uint8_t *text, size_t end) {
    if (blocks->escapes_end > end) {
        return blocks->escapes_end;
    }
    if (blocks->is_escaped != 0) {
        s->inside = NC_INSIDE_ESCAPE;
        return end;
    }
    for (size_t back = 1; back <= 3; back++) {
        uint8_t byte = text[end - back];
        size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        if (byte < 0x80 || byte >= 0xC0) {
            return bytes > back ? end - back : end;
        }
    }
    return end;
}

/// Returns the end of the characters at text[at] that need no check: printable ASCII except '"' and '\'.
size_t nc_scan_plain_end(const uint8_t *text, size_t at, size_t length) {
    while (at < length && text[at] >= 0x20 && text[at] < 0x80 && text[at] != '"' && text[at] != '\\') {
        at++;
    }
    return at;
}

/* --- numbers --- */

/// Returns the part of a number that `byte` belongs to if it follows the part `inside`; NC_INSIDE_NOTHING if it does
/// not continue the number.
static nc_scan_inside next_number_part(uint8_t inside, uint8_t byte) {
    bool is_digit = byte >= '0' && byte <= '9';
    bool is_e = byte == 'e' || byte == 'E';
    switch ((nc_scan_inside)inside) {
    case NC_INSIDE_MINUS:
        return byte == '0' ? NC_INSIDE_ZERO : is_digit ? NC_INSIDE_INTEGER : NC_INSIDE_NOTHING;
    case NC_INSIDE_INTEGER:
        if (is_digit) {
            return NC_INSIDE_INTEGER;
        }
        return byte == '.' ? NC_INSIDE_POINT : is_e ? NC_INSIDE_E : NC_INSIDE_NOTHING;
    case NC_INSIDE_ZERO:
        return byte == '.' ? NC_INSIDE_POINT : is_e ? NC_INSIDE_E : NC_INSIDE_NOTHING;
    case NC_INSIDE_POINT:
        return is_digit ? NC_INSIDE_FRACTION : NC_INSIDE_NOTHING;
    case NC_INSIDE_FRACTION:
        return is_digit ? NC_INSIDE_FRACTION : is_e ? NC_INSIDE_E : NC_INSIDE_NOTHING;
    case NC_INSIDE_E:
        return is_digit ? NC_INSIDE_EXPONENT : byte == '+' || byte == '-' ? NC_INSIDE_E_SIGN : NC_INSIDE_NOTHING;
    default:
        return is_digit ? NC_INSIDE_EXPONENT : NC_INSIDE_NOTHING;
    }
}

bool nc_scan_number_byte(nc_scan *scan, uint64_t offset, uint8_t byte) {
    nc_scan_inside part = next_number_part(scan->inside, byte);
    if (part == NC_INSIDE_NOTHING) {
        return false;
    }
    scan->inside = (uint8_t)part;
    if (scan->number_bytes++ == scan->max_number_bytes) {
        nc_scan_fail(scan, NC_JSON_FAULT_NUMBER_LENGTH, offset, byte, "a shorter number");
    }
    return true;
}

bool nc_scan_is_number_complete(const nc_scan *scan) {
    return scan->inside == NC_INSIDE_ZERO || scan->inside == NC_INSIDE_INTEGER || scan->inside == NC_INSIDE_FRACTION ||
           scan->inside == NC_INSIDE_EXPONENT;
}

/* --- positions and descriptions --- */

// Columns count characters, so the UTF-8 continuation bytes of the last line are subtracted.
void nc_position_advance(nc_position *position, nc_slice bytes) {
    if (bytes.length == 0) {
        return;
    }
    const nc_block_count_fn count = nc_block_scanner_best()->count;
    uint64_t line_feeds = count(bytes.data, bytes.length, false);
    size_t line_start = 0; // offset after the last line feed
    if (line_feeds > 0) {
        position->line_feeds += line_feeds;
        position->characters = 0;
        for (line_start = bytes.length; bytes.data[line_start - 1] != '\n'; line_start--) {
        }
    }
    size_t length = bytes.length - line_start;
    position->characters += length - (length == 0 ? 0 : count(bytes.data + line_start, length, true));
}

/// Describes the byte at which the fault was found.
static void describe_found(char *out, size_t capacity, const nc_scan *scan) {
    int found = scan->found;
    if (found < 0) {
        snprintf(out, capacity, "the end of the text");
    } else if (scan->fault == NC_JSON_FAULT_SIZE) {
        snprintf(out, capacity, "more");
    } else if (scan->fault == NC_JSON_FAULT_DUPLICATE) {
        snprintf(out, capacity, "a duplicate name");
    } else if (scan->fault_offset == 0 && found == 0xEF) {
        snprintf(out, capacity, "byte 0xef, as a byte order mark begins");
    } else if (scan->fault_offset == 0 && (found == 0xFE || found == 0xFF)) {
        snprintf(out, capacity, "byte 0x%02x, as UTF-16 begins", (unsigned)found);
    } else if (found == 0) {
        snprintf(out, capacity, "byte 0x00, as in UTF-16 or UTF-32");
    } else if (found > 0x20 && found < 0x7F) {
        snprintf(out, capacity, "'%c'", found);
    } else if (found < 0x80) {
        snprintf(out, capacity, "the character U+%04X", (unsigned)found);
    } else {
        snprintf(out, capacity, "byte 0x%02x", (unsigned)found);
    }
}

void nc_scan_describe_fault(nc_json_failure *failure, const nc_scan *scan, nc_position position) {
    *failure = (nc_json_failure){.fault = scan->fault};
    failure->offset = scan->fault_offset;
    failure->line = position.line_feeds + 1;
    failure->column = position.characters + 1;
    snprintf(failure->wanted, sizeof failure->wanted, "%s", scan->wanted);
    describe_found(failure->found, sizeof failure->found, scan);
}

nc_status nc_scan_report_failure(const nc_json_failure *failure, nc_error *err) {
    if (failure->fault == NC_JSON_FAULT_NONE) {
        return nc_error_clear(err);
    }
    return nc_error_set(err, NC_ERR_BAD_JSON, 0, (int64_t)failure->offset,
                        "line %" PRIu64 ", column %" PRIu64 ": expected %s, found %s", failure->line, failure->column,
                        failure->wanted, failure->found);
}
