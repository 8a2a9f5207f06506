#include "schema/regex_classes.h"

#include "schema/unicode_ranges.inc"

#include <stdlib.h>

static const uint32_t digit_escape[] = {'0', '9'};
static const uint32_t word_escape[] = {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'};
static const uint32_t space_escape[] = {0x09,   0x0D,   0x20,   0x20,   0xA0,   0xA0,   0x1680, 0x1680, 0x2000, 0x200A,
                                        0x2028, 0x2029, 0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF};

#define LAST_POINT 0x10FFFFu
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/// A general category: its names, and its ranges.
typedef struct category {
    const char *names[4];
    const uint32_t *ranges;
    size_t count;
} category;

static const uint32_t any_ranges[] = {0, LAST_POINT};
static const uint32_t ascii_ranges[] = {0, 0x7F};

static const category categories[] = {
    {{"L", "Letter", "Alphabetic", "Alpha"}, letter_ranges, COUNT(letter_ranges)},
    {{"Lu", "Uppercase_Letter", "Uppercase", "Upper"}, upper_ranges, COUNT(upper_ranges)},
    {{"Ll", "Lowercase_Letter", "Lowercase", "Lower"}, lower_ranges, COUNT(lower_ranges)},
    {{"M", "Mark", "Combining_Mark", NULL}, mark_ranges, COUNT(mark_ranges)},
    {{"N", "Number", NULL, NULL}, number_ranges, COUNT(number_ranges)},
    {{"Nd", "Decimal_Number", "digit", NULL}, digit_ranges, COUNT(digit_ranges)},
    {{"P", "Punctuation", "punct", NULL}, punctuation_ranges, COUNT(punctuation_ranges)},
    {{"S", "Symbol", NULL, NULL}, symbol_ranges, COUNT(symbol_ranges)},
    {{"Z", "Separator", NULL, NULL}, separator_ranges, COUNT(separator_ranges)},
    {{"Any", NULL, NULL, NULL}, any_ranges, COUNT(any_ranges)},
    {{"ASCII", NULL, NULL, NULL}, ascii_ranges, COUNT(ascii_ranges)},
};

void nc_regex_add_range(nc_buf *ranges, uint32_t first, uint32_t last) {
    nc_regex_range range = {first, last};
    nc_buf_append(ranges, nc_slice_make(&range, sizeof range));
}

/// Appends sorted ranges, or what is between them.
static void add_ranges(nc_buf *ranges, const uint32_t *table, size_t count, bool is_negated) {
    uint32_t next = 0;
    for (size_t i = 0; i < count; i += 2) {
        if (!is_negated) {
            nc_regex_add_range(ranges, table[i], table[i + 1]);
        } else if (table[i] > next) {
            nc_regex_add_range(ranges, next, table[i] - 1);
        }
        next = table[i + 1] + 1;
    }
    if (is_negated && next <= LAST_POINT) {
        nc_regex_add_range(ranges, next, LAST_POINT);
    }
}

void nc_regex_add_escape(nc_buf *ranges, uint8_t letter) {
    bool is_negated = letter < 'a';
    switch (letter | 0x20) {
    case 'd':
        add_ranges(ranges, digit_escape, COUNT(digit_escape), is_negated);
        break;
    case 'w':
        add_ranges(ranges, word_escape, COUNT(word_escape), is_negated);
        break;
    default:
        add_ranges(ranges, space_escape, COUNT(space_escape), is_negated);
    }
}

/// Removes the prefix "gc=" or "General_Category=".
static nc_slice category_name(nc_slice name) {
    static const char *const prefixes[] = {"gc=", "General_Category="};
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t length = strlen(prefixes[i]);
        if (name.length > length && memcmp(name.data, prefixes[i], length) == 0) {
            return nc_slice_make(name.data + length, name.length - length);
        }
    }
    return name;
}

bool nc_regex_add_property(nc_buf *ranges, nc_slice name, bool is_negated) {
    nc_slice wanted = category_name(name);
    for (size_t i = 0; i < COUNT(categories); i++) {
        for (size_t k = 0; k < COUNT(categories[i].names) && categories[i].names[k] != NULL; k++) {
            if (nc_slice_is_equal(nc_slice_of(categories[i].names[k]), wanted)) {
                add_ranges(ranges, categories[i].ranges, categories[i].count, is_negated);
                return true;
            }
        }
    }
    return false;
}

static int compare_ranges(const void *a, const void *b) {
    const nc_regex_range *left = a;
    const nc_regex_range *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

/// Sorts ranges and merges those that overlap. Returns their new number.
static uint32_t merge(nc_regex_range *ranges, uint32_t count) {
    uint32_t merged = 0;
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    for (uint32_t i = 0; i < count; i++) {
        if (merged > 0 && ranges[i].first <= ranges[merged - 1].last + 1) {
            bool is_longer = ranges[i].last > ranges[merged - 1].last;
            ranges[merged - 1].last = is_longer ? ranges[i].last : ranges[merged - 1].last;
        } else {
            ranges[merged++] = ranges[i];
        }
    }
    return merged;
}

uint32_t nc_regex_add_class(nc_regex *regex, uint32_t at, bool is_negated) {
    uint32_t count = (uint32_t)(regex->ranges.length / sizeof(nc_regex_range)) - at;
    nc_regex_class class = {.at = at, .is_negated = is_negated};
    if (regex->ranges.status == NC_OK && count > 0) {
        nc_regex_range *ranges = (nc_regex_range *)(void *)regex->ranges.data + at;
        class.count = merge(ranges, count);
        regex->ranges.length = (at + class.count) * sizeof *ranges;
        for (uint32_t i = 0; i < class.count; i++) {
            for (uint32_t point = ranges[i].first; point <= ranges[i].last && point < 128; point++) {
                class.ascii[point / 64] |= UINT64_C(1) << (point % 64);
            }
        }
    }
    nc_buf_append(&regex->classes, nc_slice_make(&class, sizeof class));
    return (uint32_t)(regex->classes.length / sizeof class) - 1;
}
