#include <netcore/printable.h>

#include "base/utf8.h"

#include <string.h>

/// Returns true for C0 and DEL (one byte) and C1 (two bytes). Terminals may interpret them as commands.
static bool is_control(const uint8_t *bytes, size_t length) {
    return length == 1 ? bytes[0] < 0x20 || bytes[0] == 0x7F
                       : length == 2 && bytes[0] == 0xC2 && bytes[1] >= 0x80 && bytes[1] <= 0x9F;
}

/// Returns true for UTF-8 characters that set a direction or end a line.
static bool sets_direction(const uint8_t *bytes, size_t length) {
    if (length == 2) {
        return bytes[0] == 0xD8 && bytes[1] == 0x9C; // U+061C
    }
    if (length != 3 || bytes[0] != 0xE2) {
        return false;
    }
    bool is_mark = bytes[1] == 0x80 && (bytes[2] == 0x8E || bytes[2] == 0x8F);    // U+200E, U+200F
    bool is_embedding = bytes[1] == 0x80 && bytes[2] >= 0xA8 && bytes[2] <= 0xAE; // U+2028 to U+202E
    bool is_isolate = bytes[1] == 0x81 && bytes[2] >= 0xA6 && bytes[2] <= 0xA9;   // U+2066 to U+2069
    return is_mark || is_embedding || is_isolate;
}

size_t nc_printable(char *text, size_t length, char mark) {
    const uint8_t *bytes = (const uint8_t *)text;
    size_t used = 0;
    size_t at = 0;
    while (at < length) {
        size_t sequence_length = nc_utf8_sequence(bytes + at, length - at);
        if (sequence_length != 0 && !is_control(bytes + at, sequence_length) &&
            !sets_direction(bytes + at, sequence_length)) {
            memmove(text + used, text + at, sequence_length);
            used += sequence_length;
        } else {
            bool is_line_end = bytes[at] == '\r' && at + 1 < length && bytes[at + 1] == '\n';
            text[used++] = mark;
            at += is_line_end ? 1 : 0;
        }
        at += sequence_length == 0 ? 1 : sequence_length;
    }
    return used;
}
