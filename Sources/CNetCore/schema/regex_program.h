/// The compiled form of a regular expression.
#ifndef NETCORE_PRIVATE_SCHEMA_REGEX_PROGRAM_H
#define NETCORE_PRIVATE_SCHEMA_REGEX_PROGRAM_H

#include "schema/regex.h"

typedef enum nc_regex_op {
    NC_REGEX_CHAR,        // the character `x`
    NC_REGEX_CLASS,       // a character of the class `x`
    NC_REGEX_SPLIT,       // continues at the relative offsets `x` and `y`
    NC_REGEX_JUMP,        // continues at the relative offset `x`
    NC_REGEX_BEGIN,       // ^
    NC_REGEX_END,         // $
    NC_REGEX_BOUNDARY,    // \b
    NC_REGEX_NO_BOUNDARY, // \B
    NC_REGEX_MATCH,
} nc_regex_op;

/// An instruction. Its jumps are relative, so that a fragment can be copied.
typedef struct nc_regex_step {
    uint32_t op;
    int32_t x;
    int32_t y;
} nc_regex_step;

/// A character class: a part of nc_regex.ranges, and a bit for each ASCII character.
typedef struct nc_regex_class {
    uint32_t at;
    uint32_t count;
    uint64_t ascii[2];
    bool is_negated;
} nc_regex_class;

typedef struct nc_regex_range {
    uint32_t first;
    uint32_t last;
} nc_regex_range;

struct nc_regex {
    nc_buf steps;     // nc_regex_step
    nc_buf classes;   // nc_regex_class
    nc_buf ranges;    // nc_regex_range
    uint32_t count;   // number of steps
    bool is_anchored; // every match begins at the start of the text
};

static inline nc_regex_step *nc_regex_steps(const nc_regex *regex) {
    return (nc_regex_step *)(void *)regex->steps.data;
}

/// Parses a pattern into the empty buffers of `regex`. With `only_checks`, constructs that cannot be compiled are
/// accepted, and `regex` must not be used for a match. Returns the statuses of nc_regex_compile().
NC_NODISCARD nc_status nc_regex_parse(nc_regex *regex, nc_slice pattern, bool only_checks, char *reason);

/// Reads the code point at text[*at], and advances `*at`. The text is UTF-8, in which surrogates may occur.
static inline uint32_t nc_regex_code_point(nc_slice text, size_t *at) {
    uint8_t lead = text.data[(*at)++];
    unsigned more = lead < 0xC0 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    uint32_t point = more == 0 ? lead : lead & (0x3Fu >> more);
    for (; more > 0 && *at < text.length; more--) {
        point = point << 6 | (text.data[(*at)++] & 0x3F);
    }
    return point;
}

#endif
