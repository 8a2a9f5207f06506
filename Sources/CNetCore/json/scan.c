#include "json/scan.h"

#include <string.h>

uint32_t nc_scan_max_depth(const nc_json_options *options) {
    return options == NULL || options->max_depth == 0 ? NC_JSON_DEFAULT_MAX_DEPTH : options->max_depth;
}

void nc_scan_init(nc_scan *scan, const nc_json_options *options, uint8_t *kinds) {
    *scan = (nc_scan){.state = NC_SCAN_VALUE, .max_depth = nc_scan_max_depth(options), .found = -1, .kinds = kinds};
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

void nc_scan_fail(nc_scan *scan, nc_json_fault fault, uint64_t offset, int found, const char *wanted) {
    if (scan->is_over) {
        return;
    }
    scan->is_over = true;
    scan->fault = fault;
    scan->fault_offset = offset;
    scan->found = (int16_t)found;
    scan->wanted = wanted;
}

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

const char *nc_scan_wanted(const nc_scan *scan) {
    switch ((nc_scan_inside)scan->inside) {
    case NC_INSIDE_NOTHING:
        return wanted_of_state(scan);
    case NC_INSIDE_STRING:
        return "a character or '\"'";
    case NC_INSIDE_ESCAPE:
        return "one of \"\\/bfnrtu";
    case NC_INSIDE_HEX:
        return scan->wants_low && scan->left > 2 ? "the other half of a surrogate pair" : "a hexadecimal digit";
    case NC_INSIDE_PAIR:
    case NC_INSIDE_PAIR_U:
        return "the other half of a surrogate pair";
    case NC_INSIDE_SEQUENCE:
        return "the rest of a UTF-8 sequence";
    case NC_INSIDE_LITERAL:
        return nc_scan_literal(scan->literal);
    default:
        return wanted_of_number(scan);
    }
}

bool nc_scan_is_number_whole(const nc_scan *scan) {
    return scan->inside == NC_INSIDE_ZERO || scan->inside == NC_INSIDE_INTEGER || scan->inside == NC_INSIDE_FRACTION ||
           scan->inside == NC_INSIDE_EXPONENT;
}

const char *nc_scan_literal(uint8_t kind) {
    return kind == NC_JSON_TRUE ? "true" : kind == NC_JSON_FALSE ? "false" : "null";
}

// The bounds of the second byte are sufficient to enforce Unicode table 3-7.
bool nc_scan_begin_sequence(nc_scan *scan, uint8_t lead) {
    if (lead < 0xC2 || lead > 0xF4) {
        return false;
    }
    scan->left = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    scan->low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    scan->high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return true;
}
