#include "schema/regex_classes.h"

#include "base/alloc.h"
#include "base/ascii.h"

#include <stdio.h>

#define NO_LIMIT UINT32_MAX
#define MAX_REPEAT 100000u

/// A pattern that is being compiled. If `only_checks` is set, constructs that cannot be compiled are accepted.
typedef struct parser {
    nc_slice text;
    size_t at;
    nc_regex *regex;
    uint32_t depth;
    bool only_checks;
    nc_status status;
    char *reason;
} parser;

static bool fail(parser *p, const char *reason) {
    if (p->status == NC_OK) {
        p->status = NC_ERR_BAD_SHAPE;
        snprintf(p->reason, NC_REGEX_REASON_BYTES, "%s at character %zu", reason, p->at + 1);
    }
    return false;
}

static bool has_more(const parser *p) {
    return p->at < p->text.length && p->status == NC_OK;
}

static bool accept(parser *p, char c) {
    if (p->at < p->text.length && p->text.data[p->at] == (uint8_t)c) {
        p->at++;
        return true;
    }
    return false;
}

/// Skips a text if it comes next.
static bool accept_text(parser *p, const char *text) {
    size_t length = strlen(text);
    if (p->text.length - p->at >= length && memcmp(p->text.data + p->at, text, length) == 0) {
        p->at += length;
        return true;
    }
    return false;
}

/* --- code --- */

static uint32_t step_count(const parser *p) {
    return (uint32_t)(p->regex->steps.length / sizeof(nc_regex_step));
}

static uint32_t range_count(const parser *p) {
    return (uint32_t)(p->regex->ranges.length / sizeof(nc_regex_range));
}

static void emit(parser *p, nc_regex_op op, int32_t x, int32_t y) {
    nc_regex_step step = {op, x, y};
    if (step_count(p) >= NC_REGEX_MAX_STEPS && p->status == NC_OK) {
        p->status = NC_ERR_TOO_LARGE;
        snprintf(p->reason, NC_REGEX_REASON_BYTES, "the pattern is too large: its repetitions are more than %d steps",
                 NC_REGEX_MAX_STEPS);
    }
    if (p->status == NC_OK) {
        nc_buf_append(&p->regex->steps, nc_slice_make(&step, sizeof step));
        p->status = p->regex->steps.status;
    }
}

/// Inserts a split before the fragment that begins at `at`. It continues there, or `other` steps further.
static void insert_split(parser *p, uint32_t at, int32_t other) {
    emit(p, NC_REGEX_SPLIT, 1, other);
    if (p->status == NC_OK) {
        nc_regex_step *steps = nc_regex_steps(p->regex);
        uint32_t last = step_count(p) - 1;
        nc_regex_step split = steps[last];
        memmove(steps + at + 1, steps + at, (last - at) * sizeof *steps);
        steps[at] = split;
    }
}

/// Appends a copy of a fragment.
static void emit_copy(parser *p, const nc_regex_step *steps, uint32_t count) {
    for (uint32_t i = 0; i < count && p->status == NC_OK; i++) {
        emit(p, (nc_regex_op)steps[i].op, steps[i].x, steps[i].y);
    }
}

static void emit_class(parser *p, uint32_t ranges_at, bool is_negated) {
    emit(p, NC_REGEX_CLASS, (int32_t)nc_regex_add_class(p->regex, ranges_at, is_negated), 0);
    if (p->status == NC_OK && (p->regex->ranges.status != NC_OK || p->regex->classes.status != NC_OK)) {
        p->status = p->regex->ranges.status != NC_OK ? p->regex->ranges.status : p->regex->classes.status;
    }
}

/* --- escapes --- */

/// Reads `count` hexadecimal digits. Returns false, and reads nothing, if there are fewer.
static bool read_hex(parser *p, size_t count, uint32_t *out) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = p->at + i < p->text.length ? nc_ascii_hex(p->text.data[p->at + i]) : -1;
        if (digit < 0) {
            return false;
        }
        value = value << 4 | (uint32_t)digit;
    }
    p->at += count;
    *out = value;
    return true;
}

/// Reads the rest of \u: four digits, a pair of surrogates, or digits in braces.
static bool read_unicode_escape(parser *p, uint32_t *out) {
    if (accept(p, '{')) {
        uint32_t value = 0;
        bool has_digits = false;
        while (has_more(p) && nc_ascii_hex(p->text.data[p->at]) >= 0 && value <= 0x10FFFF) {
            value = value << 4 | (uint32_t)nc_ascii_hex(p->text.data[p->at++]);
            has_digits = true;
        }
        *out = value;
        return (has_digits && value <= 0x10FFFF && accept(p, '}')) || fail(p, "malformed \\u{...}");
    }
    if (!read_hex(p, 4, out)) {
        return fail(p, "\\u without four hexadecimal digits");
    }
    size_t mark = p->at;
    uint32_t low;
    if (*out >= 0xD800 && *out < 0xDC00 && accept_text(p, "\\u") && read_hex(p, 4, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        *out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
    } else {
        p->at = mark;
    }
    return true;
}

/// Reads an escape that stands for one character; `letter` was read.
static bool read_character_escape(parser *p, uint8_t letter, uint32_t *out) {
    static const char letters[] = "tnvfr";
    static const uint8_t values[] = {'\t', '\n', '\v', '\f', '\r'};
    const char *simple = letter != 0 ? strchr(letters, letter) : NULL;
    if (simple != NULL) {
        *out = values[simple - letters];
        return true;
    }
    switch (letter) {
    case '0':
        *out = 0;
        return !has_more(p) || !nc_ascii_is_digit(p->text.data[p->at]) || fail(p, "octal escapes are not supported,");
    case 'c':
        if (!has_more(p) || !nc_ascii_is_alpha(p->text.data[p->at])) {
            return fail(p, "\\c without a letter");
        }
        *out = p->text.data[p->at++] & 0x1F;
        return true;
    case 'x':
        return read_hex(p, 2, out) || fail(p, "\\x without two hexadecimal digits");
    case 'u':
        return read_unicode_escape(p, out);
    default:
        if (nc_ascii_is_alpha(letter) || nc_ascii_is_digit(letter)) {
            return fail(p, "unknown escape");
        }
        p->at--;
        *out = nc_regex_code_point(p->text, &p->at);
        return true;
    }
}

/// Adds the ranges of \d, \D, \w, \W, \s, \S, \p{...} or \P{...}, if `letter` begins one. Returns false if not.
static bool read_class_escape(parser *p, uint8_t letter) {
    uint8_t lower = nc_ascii_lower(letter);
    if (lower == 'd' || lower == 'w' || lower == 's') {
        nc_regex_add_escape(&p->regex->ranges, letter);
        return true;
    }
    if (lower != 'p') {
        return false;
    }
    size_t start = p->at + 1;
    if (!accept(p, '{')) {
        (void)fail(p, "\\p without braces");
        return true;
    }
    while (has_more(p) && p->text.data[p->at] != '}') {
        p->at++;
    }
    nc_slice name = nc_slice_make(p->text.data + start, p->at - start);
    if (!accept(p, '}')) {
        (void)fail(p, "\\p without a closing brace");
    } else if (!nc_regex_add_property(&p->regex->ranges, name, letter == 'P') && !p->only_checks) {
        (void)fail(p, "unsupported property in \\p{...}");
    }
    return true;
}

/* --- classes in brackets --- */

/// Reads one member of a class. Returns true if it is a single character, and false if it is a class or an error.
static bool read_class_member(parser *p, uint32_t *out) {
    if (!accept(p, '\\')) {
        *out = nc_regex_code_point(p->text, &p->at);
        return true;
    }
    if (!has_more(p)) {
        return fail(p, "\\ at the end");
    }
    uint8_t letter = p->text.data[p->at++];
    if (letter == 'b') {
        *out = '\b';
        return true;
    }
    return !read_class_escape(p, letter) && read_character_escape(p, letter, out);
}

static void parse_class(parser *p) {
    uint32_t ranges_at = range_count(p);
    bool is_negated = accept(p, '^');
    while (has_more(p) && p->text.data[p->at] != ']') {
        uint32_t first;
        uint32_t last;
        if (!read_class_member(p, &first)) {
            continue;
        }
        last = first;
        size_t mark = p->at;
        if (accept(p, '-') && has_more(p) && p->text.data[p->at] != ']') {
            if (!read_class_member(p, &last)) {
                nc_regex_add_range(&p->regex->ranges, '-', '-'); // "a-\d" has three members
                last = first;
            }
        } else {
            p->at = mark;
        }
        if (last < first) {
            (void)fail(p, "a range in a class is in the wrong order");
        }
        nc_regex_add_range(&p->regex->ranges, first, last);
    }
    if (!accept(p, ']')) {
        (void)fail(p, "a class has no ']'");
    }
    emit_class(p, ranges_at, is_negated);
}

/* --- atoms --- */

static void parse_alternatives(parser *p);

/// Skips the name of a group, up to '>'.
static void skip_group_name(parser *p) {
    size_t start = p->at;
    while (has_more(p) && p->text.data[p->at] != '>') {
        p->at++;
    }
    if (p->at == start || !accept(p, '>')) {
        (void)fail(p, "malformed name of a group");
    }
}

static void parse_group(parser *p) {
    static const char *const around[] = {"?=", "?!", "?<=", "?<!"};
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
        if (accept_text(p, around[i]) && !p->only_checks) {
            (void)fail(p, i < 2 ? "lookahead is not supported," : "lookbehind is not supported,");
        }
    }
    if (p->depth == NC_REGEX_MAX_NESTING) {
        (void)fail(p, "groups are nested too deeply");
    }
    if (!accept_text(p, "?:") && accept_text(p, "?<")) {
        skip_group_name(p);
    }
    if (p->status != NC_OK) {
        return;
    }
    p->depth++;
    parse_alternatives(p);
    p->depth--;
    if (!accept(p, ')')) {
        (void)fail(p, "a group has no ')'");
    }
}

static void parse_escape(parser *p) {
    uint32_t ranges_at = range_count(p);
    uint32_t point;
    if (!has_more(p)) {
        (void)fail(p, "\\ at the end");
        return;
    }
    uint8_t letter = p->text.data[p->at++];
    bool is_reference = (letter >= '1' && letter <= '9') || letter == 'k';
    if (letter == 'b' || letter == 'B') {
        emit(p, letter == 'b' ? NC_REGEX_BOUNDARY : NC_REGEX_NO_BOUNDARY, 0, 0);
    } else if (is_reference && !p->only_checks) {
        (void)fail(p, "backreferences are not supported,");
    } else if (letter == 'k') {
        if (!accept(p, '<')) {
            (void)fail(p, "\\k without a name");
        }
        skip_group_name(p);
    } else if (is_reference) {
        return;
    } else if (read_class_escape(p, letter)) {
        emit_class(p, ranges_at, false);
    } else if (read_character_escape(p, letter, &point)) {
        emit(p, NC_REGEX_CHAR, (int32_t)point, 0);
    }
}

/// Parses an atom or an assertion. Returns false for an assertion, which cannot be repeated.
static bool parse_atom(parser *p) {
    uint32_t ranges_at = range_count(p);
    uint8_t byte = p->text.data[p->at];
    switch (byte) {
    case '^':
    case '$':
        p->at++;
        emit(p, byte == '^' ? NC_REGEX_BEGIN : NC_REGEX_END, 0, 0);
        return false;
    case '.':
        p->at++;
        nc_regex_add_range(&p->regex->ranges, '\n', '\n');
        nc_regex_add_range(&p->regex->ranges, '\r', '\r');
        nc_regex_add_range(&p->regex->ranges, 0x2028, 0x2029);
        emit_class(p, ranges_at, true);
        return true;
    case '[':
        p->at++;
        parse_class(p);
        return true;
    case '(':
        p->at++;
        parse_group(p);
        return true;
    case '\\':
        p->at++;
        parse_escape(p);
        return true;
    case '*':
    case '+':
    case '?':
        return fail(p, "nothing to repeat");
    default:
        emit(p, NC_REGEX_CHAR, (int32_t)nc_regex_code_point(p->text, &p->at), 0);
        return true;
    }
}

/* --- repetitions --- */

static uint32_t read_count(parser *p) {
    uint32_t value = 0;
    while (has_more(p) && nc_ascii_is_digit(p->text.data[p->at])) {
        value = value < MAX_REPEAT ? value * 10 + (uint32_t)(p->text.data[p->at] - '0') : MAX_REPEAT;
        p->at++;
    }
    return value;
}

/// Reads a quantifier. Returns false if none follows. A '{' that does not begin one stands for itself.
static bool read_quantifier(parser *p, uint32_t *min, uint32_t *max) {
    size_t mark = p->at;
    *min = 0;
    *max = NO_LIMIT;
    if (accept(p, '*')) {
        return true;
    }
    if (accept(p, '+')) {
        *min = 1;
        return true;
    }
    if (accept(p, '?')) {
        *max = 1;
        return true;
    }
    if (accept(p, '{') && has_more(p) && nc_ascii_is_digit(p->text.data[p->at])) {
        *min = read_count(p);
        *max = !accept(p, ',') ? *min : has_more(p) && p->text.data[p->at] == '}' ? NO_LIMIT : read_count(p);
        if (accept(p, '}')) {
            return *min <= *max || fail(p, "a quantifier is in the wrong order");
        }
    }
    p->at = mark;
    return false;
}

/// Replaces the fragment from `start` on by its repetition.
static void repeat(parser *p, uint32_t start, uint32_t min, uint32_t max) {
    uint32_t length = step_count(p) - start;
    nc_regex_step *fragment = length == 0 ? NULL : nc_alloc(length * sizeof *fragment);
    if (fragment == NULL) {
        p->status = length == 0 ? p->status : NC_ERR_NO_MEMORY;
        return; // A repetition of nothing is nothing.
    }
    memcpy(fragment, nc_regex_steps(p->regex) + start, length * sizeof *fragment);
    p->regex->steps.length = start * sizeof *fragment;
    for (uint32_t i = 0; i < min && p->status == NC_OK; i++) {
        emit_copy(p, fragment, length);
    }
    if (max == NO_LIMIT) {
        emit(p, NC_REGEX_SPLIT, 1, (int32_t)length + 2);
        emit_copy(p, fragment, length);
        emit(p, NC_REGEX_JUMP, -(int32_t)length - 1, 0);
    } else {
        for (uint32_t left = max - min; left > 0 && p->status == NC_OK; left--) {
            // Each split continues behind all remaining copies, so that a match stays linear.
            int64_t rest = (int64_t)left * (length + 1);
            emit(p, NC_REGEX_SPLIT, 1, (int32_t)(rest < INT32_MAX ? rest : INT32_MAX));
            emit_copy(p, fragment, length);
        }
    }
    nc_free(fragment);
}

static void parse_term(parser *p) {
    uint32_t start = step_count(p);
    uint32_t min;
    uint32_t max;
    if (!parse_atom(p) || p->status != NC_OK || !read_quantifier(p, &min, &max) || p->status != NC_OK) {
        return;
    }
    (void)accept(p, '?'); // A lazy quantifier matches the same texts.
    repeat(p, start, min, max);
}

/// Parses alternatives up to ')' or the end.
static void parse_alternatives(parser *p) {
    uint32_t start = step_count(p); // of the current alternative
    uint32_t jumps = 0;             // the last jump to the end; each one's `y` is the offset to the one before it
    bool has_jumps = false;
    for (;;) {
        while (has_more(p) && p->text.data[p->at] != '|' && p->text.data[p->at] != ')') {
            parse_term(p);
        }
        if (!has_more(p) || !accept(p, '|')) {
            break;
        }
        insert_split(p, start, (int32_t)(step_count(p) - start) + 2);
        uint32_t at = step_count(p);
        emit(p, NC_REGEX_JUMP, 0, has_jumps ? (int32_t)(at - jumps) : 0);
        jumps = at;
        has_jumps = true;
        start = step_count(p);
    }
    while (has_jumps && p->status == NC_OK) {
        nc_regex_step *jump = nc_regex_steps(p->regex) + jumps;
        jump->x = (int32_t)(step_count(p) - jumps);
        has_jumps = jump->y != 0;
        jumps -= (uint32_t)jump->y;
        jump->y = 0;
    }
}

/* --- patterns --- */

nc_status nc_regex_parse(nc_regex *regex, nc_slice pattern, bool only_checks, char *reason) {
    parser p = {.text = pattern, .regex = regex, .only_checks = only_checks, .reason = reason};
    parse_alternatives(&p);
    if (p.at < pattern.length) {
        (void)fail(&p, "a ')' without a '('");
    }
    emit(&p, NC_REGEX_MATCH, 0, 0);
    if (p.status == NC_OK) {
        regex->count = step_count(&p);
        regex->is_anchored = nc_regex_steps(regex)[0].op == NC_REGEX_BEGIN;
    }
    return p.status;
}
