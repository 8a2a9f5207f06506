#include "schema/format.h"

#include "base/ascii.h"
#include "schema/format_rules.h"
#include "schema/regex.h"

typedef struct format_info {
    const char *name;
    bool (*matches)(nc_slice text);
} format_info;

/* --- identifiers and pointers --- */

static bool is_uuid(nc_slice text) {
    if (text.length != 36) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text.data[i] != '-' : nc_ascii_hex(text.data[i]) < 0) {
            return false;
        }
    }
    return true;
}

static bool is_json_pointer(nc_slice text) {
    if (text.length > 0 && text.data[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        bool is_escape = i + 1 < text.length && (text.data[i + 1] == '0' || text.data[i + 1] == '1');
        if (text.data[i] == '~' && !is_escape) {
            return false;
        }
    }
    return true;
}

/// Returns the end of an integer without leading zeros at text[at]; `at` if there is none.
static size_t integer_end(nc_slice text, size_t at) {
    size_t end = at;
    while (end < text.length && nc_ascii_is_digit(text.data[end])) {
        end++;
    }
    return end > at + 1 && text.data[at] == '0' ? at : end;
}

static bool is_relative_json_pointer(nc_slice text) {
    size_t end = integer_end(text, 0);
    if (end == 0) {
        return false;
    }
    if (end < text.length && (text.data[end] == '+' || text.data[end] == '-')) {
        size_t from = end + 1;
        end = integer_end(text, from);
        if (end == from || text.data[from] == '0') {
            return false;
        }
    }
    nc_slice rest = nc_slice_make(text.data + end, text.length - end);
    return (rest.length == 1 && rest.data[0] == '#') || is_json_pointer(rest);
}

/* --- table --- */

static const format_info formats[NC_FORMAT_COUNT] = {
    [NC_FORMAT_DATE_TIME] = {"date-time", nc_format_is_date_time},
    [NC_FORMAT_DATE] = {"date", nc_format_is_date},
    [NC_FORMAT_TIME] = {"time", nc_format_is_time},
    [NC_FORMAT_DURATION] = {"duration", nc_format_is_duration},
    [NC_FORMAT_EMAIL] = {"email", nc_format_is_email},
    [NC_FORMAT_IDN_EMAIL] = {"idn-email", nc_format_is_idn_email},
    [NC_FORMAT_HOSTNAME] = {"hostname", nc_format_is_hostname},
    [NC_FORMAT_IDN_HOSTNAME] = {"idn-hostname", nc_format_is_idn_hostname},
    [NC_FORMAT_IPV4] = {"ipv4", nc_format_is_ipv4},
    [NC_FORMAT_IPV6] = {"ipv6", nc_format_is_ipv6},
    [NC_FORMAT_URI] = {"uri", nc_format_is_uri},
    [NC_FORMAT_URI_REFERENCE] = {"uri-reference", nc_format_is_uri_reference},
    [NC_FORMAT_IRI] = {"iri", nc_format_is_iri},
    [NC_FORMAT_IRI_REFERENCE] = {"iri-reference", nc_format_is_iri_reference},
    [NC_FORMAT_URI_TEMPLATE] = {"uri-template", nc_format_is_uri_template},
    [NC_FORMAT_UUID] = {"uuid", is_uuid},
    [NC_FORMAT_JSON_POINTER] = {"json-pointer", is_json_pointer},
    [NC_FORMAT_RELATIVE_JSON_POINTER] = {"relative-json-pointer", is_relative_json_pointer},
    [NC_FORMAT_REGEX] = {"regex", nc_regex_is_valid},
};

nc_schema_format nc_format_find(nc_slice name) {
    for (unsigned i = 1; i < NC_FORMAT_COUNT; i++) {
        if (nc_slice_is_equal(nc_slice_of(formats[i].name), name)) {
            return (nc_schema_format)i;
        }
    }
    return NC_FORMAT_NONE;
}

const char *nc_format_name(nc_schema_format format) {
    return format == NC_FORMAT_NONE ? "" : formats[format].name;
}

bool nc_format_matches(nc_schema_format format, nc_slice text) {
    return format == NC_FORMAT_NONE || formats[format].matches(text);
}
