#include "http/cache_parts.h"

#include "base/ascii.h"

#include <netcore/cache_functions.h>
#include <string.h>

/// The longest field name that `no-cache="…"` can name.
enum { MAX_NAME_BYTES = 256 };

bool nc_delta_seconds_read(int64_t *out, nc_slice text) {
    int64_t value = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (!nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        value = value >= NC_CACHE_LONGEST_S ? value : value * 10 + (text.data[i] - '0');
    }
    *out = value < NC_CACHE_LONGEST_S ? value : NC_CACHE_LONGEST_S;
    return text.length > 0;
}

bool nc_cache_status_is_heuristic(uint16_t status) {
    static const uint16_t statuses[] = {200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (statuses[i] == status) {
            return true;
        }
    }
    return false;
}

/* --- directives --- */

typedef struct directive {
    nc_slice name;
    nc_slice argument;
    bool has_argument;
    bool is_quoted; // the argument was in quotes, and may contain escapes
} directive;

static directive split(nc_slice member) {
    directive out = {.name = member};
    const uint8_t *at = memchr(member.data, '=', member.length);
    if (at == NULL) {
        return out;
    }
    out.name.length = (size_t)(at - member.data);
    nc_slice argument = nc_slice_make(at + 1, member.length - out.name.length - 1);
    out.has_argument = true;
    out.is_quoted = argument.length >= 2 && argument.data[0] == '"' && argument.data[argument.length - 1] == '"';
    out.argument = out.is_quoted ? nc_slice_make(argument.data + 1, argument.length - 2) : argument;
    return out;
}

/// Reads the bytes of an argument without the escapes of a quoted string.
typedef struct argument_reader {
    const directive *from;
    size_t next;
} argument_reader;

static bool read_byte(uint8_t *out, argument_reader *reader) {
    nc_slice text = reader->from->argument;
    bool is_escape = reader->from->is_quoted && reader->next < text.length && text.data[reader->next] == '\\';
    reader->next += is_escape ? 1 : 0;
    if (reader->next >= text.length) {
        return false;
    }
    *out = text.data[reader->next++];
    return true;
}

/// Returns the seconds of an argument; 0 if it is missing or invalid.
static int64_t seconds_of(const directive *from) {
    // A number with more digits is too large, except for zeros at its start, which the loop skips.
    uint8_t digits[24];
    size_t count = 0;
    int64_t seconds = 0;
    argument_reader reader = {.from = from};
    for (uint8_t byte; read_byte(&byte, &reader);) {
        if (!nc_ascii_is_digit(byte)) {
            return 0;
        }
        if (count < sizeof digits && (count > 0 || byte != '0')) {
            digits[count++] = byte;
        }
    }
    return nc_delta_seconds_read(&seconds, nc_slice_make(digits, count)) ? seconds : 0;
}

/* --- the field names of no-cache --- */

/// Takes the next member of an argument. A name that is too long is cut; it is longer than `max_bytes` then.
static bool next_name(uint8_t *name, size_t *length, argument_reader *reader) {
    bool is_quoted = false;
    bool is_escaped = false;
    bool has_bytes = false;
    *length = 0;
    for (uint8_t byte; read_byte(&byte, reader);) {
        if (byte == ',' && !is_quoted) {
            if (has_bytes) {
                return true;
            }
            continue;
        }
        if (byte == '"' && !is_escaped) {
            is_quoted = !is_quoted;
        }
        is_escaped = is_quoted && byte == '\\' && !is_escaped;
        has_bytes = has_bytes || !nc_ascii_is_blank(byte);
        if (has_bytes && *length < MAX_NAME_BYTES) {
            name[(*length)++] = byte;
        }
    }
    return has_bytes;
}

static bool has_names(const directive *from) {
    uint8_t name[MAX_NAME_BYTES];
    size_t length;
    argument_reader reader = {.from = from};
    return next_name(name, &length, &reader);
}

static bool names(const directive *from, nc_slice field_name) {
    uint8_t name[MAX_NAME_BYTES];
    size_t length;
    argument_reader reader = {.from = from};
    while (next_name(name, &length, &reader)) {
        bool is_whole = length < MAX_NAME_BYTES;
        if (is_whole && nc_slice_is_equal_ignoring_case(nc_ascii_trim(nc_slice_make(name, length)), field_name)) {
            return true;
        }
    }
    return false;
}

static bool is_named(const directive *one, const char *name) {
    return nc_slice_is_equal_ignoring_case(one->name, nc_slice_of(name));
}

bool nc_cache_control_names(nc_fields fields, nc_slice field_name) {
    nc_members members = nc_members_of(fields, "Cache-Control");
    for (nc_slice member; nc_members_next(&member, &members);) {
        directive one = split(member);
        if (one.has_argument && is_named(&one, "no-cache") && names(&one, field_name)) {
            return true;
        }
    }
    return false;
}

/* --- parsing --- */

static void take_flag(nc_cache_control *out, const directive *one) {
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"no-store", &out->no_store},
        {"must-revalidate", &out->must_revalidate},
        {"must-understand", &out->must_understand},
        {"public", &out->is_public},
        {"immutable", &out->immutable},
        {"only-if-cached", &out->only_if_cached},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (is_named(one, flags[i].name)) {
            *flags[i].flag = true;
        }
    }
    // With field names, no-cache applies to those fields only.
    if (is_named(one, "no-cache") && !has_names(one)) {
        out->no_cache = true;
    }
}

static void take_time(nc_cache_control *out, const directive *one) {
    const struct {
        const char *name;
        int64_t *seconds;
        bool may_be_bare;
    } times[] = {
        {"max-age", &out->max_age_s, false},
        {"min-fresh", &out->min_fresh_s, false},
        {"max-stale", &out->max_stale_s, true},
        {"stale-while-revalidate", &out->stale_while_revalidate_s, false},
        {"stale-if-error", &out->stale_if_error_s, false},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (*times[i].seconds == NC_CACHE_NONE && is_named(one, times[i].name)) {
            *times[i].seconds = times[i].may_be_bare && !one->has_argument ? INT64_MAX : seconds_of(one);
        }
    }
}

nc_cache_control nc_cache_control_parse(const nc_header *headers, size_t header_count) {
    nc_cache_control out = {
        .max_age_s = NC_CACHE_NONE,
        .min_fresh_s = NC_CACHE_NONE,
        .max_stale_s = NC_CACHE_NONE,
        .stale_while_revalidate_s = NC_CACHE_NONE,
        .stale_if_error_s = NC_CACHE_NONE,
    };
    nc_members members = nc_members_of((nc_fields){headers, header_count}, "Cache-Control");
    for (nc_slice member; nc_members_next(&member, &members);) {
        directive one = split(member);
        take_flag(&out, &one);
        take_time(&out, &one);
    }
    return out;
}
