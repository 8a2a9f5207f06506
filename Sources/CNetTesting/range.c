#include "range.h"

#include <stdbool.h>
#include <string.h>

#define UNIT "bytes="

/// Parses the text up to `end` as digits. Returns false if it is empty, has other bytes, or is too long.
static bool parse_digits(uint64_t *out, const char *text, const char *end) {
    uint64_t value = 0;
    if (text == end || end - text > 18)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *out = value;
    return true;
}

nct_range nct_range_parse(const void *value, size_t length, uint64_t body_length) {
    const nct_range whole = {.kind = NCT_RANGE_WHOLE, .length = body_length};
    const char *text = value;
    const char *end = text + length;
    if (length <= strlen(UNIT) || memcmp(text, UNIT, strlen(UNIT)) != 0)
        return whole;
    text += strlen(UNIT);
    const char *dash = memchr(text, '-', (size_t)(end - text));
    if (dash == NULL)
        return whole;
    uint64_t first = 0;
    uint64_t last = body_length - 1;
    if (dash == text) {
        uint64_t count;
        if (!parse_digits(&count, dash + 1, end))
            return whole;
        first = count < body_length ? body_length - count : 0;
        if (count == 0)
            return (nct_range){.kind = NCT_RANGE_UNSATISFIABLE};
    } else if (!parse_digits(&first, text, dash) || (dash + 1 < end && !parse_digits(&last, dash + 1, end)) ||
               (dash + 1 < end && last < first)) {
        return whole;
    }
    if (first >= body_length)
        return (nct_range){.kind = NCT_RANGE_UNSATISFIABLE};
    if (last >= body_length)
        last = body_length - 1;
    return (nct_range){.kind = NCT_RANGE_PART, .first = first, .length = last - first + 1};
}
