#include "json/failure.h"

#include "base/error.h"
#include "json/blocks.h"

#include <inttypes.h>
#include <stdio.h>

void nc_place_pass(nc_place *place, nc_slice bytes) {
    if (bytes.length == 0) {
        return;
    }
    const nc_blocks_count_fn count = nc_blocks_best()->count;
    uint64_t line_feeds = count(bytes.data, bytes.length, false);
    size_t behind = 0; // offset after the last line feed
    if (line_feeds > 0) {
        place->line_feeds += line_feeds;
        place->characters = 0;
        for (behind = bytes.length; bytes.data[behind - 1] != '\n'; behind--) {
        }
    }
    size_t length = bytes.length - behind;
    place->characters += length - (length == 0 ? 0 : count(bytes.data + behind, length, true));
}

/// Describes the byte at the fault.
static void name_found(char *out, size_t capacity, const nc_scan *scan) {
    int found = scan->found;
    if (found < 0) {
        snprintf(out, capacity, "the end of the text");
    } else if (scan->fault == NC_JSON_FAULT_SIZE) {
        snprintf(out, capacity, "more");
    } else if (scan->fault == NC_JSON_FAULT_DUPLICATE) {
        snprintf(out, capacity, "a name for the second time");
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

void nc_failure_fill(nc_json_failure *failure, const nc_scan *scan, nc_place place) {
    *failure = (nc_json_failure){.fault = scan->fault};
    failure->offset = scan->fault_offset;
    failure->line = place.line_feeds + 1;
    failure->column = place.characters + 1;
    snprintf(failure->wanted, sizeof failure->wanted, "%s", scan->wanted);
    name_found(failure->found, sizeof failure->found, scan);
}

nc_status nc_failure_report(const nc_json_failure *failure, nc_error *err) {
    if (failure->fault == NC_JSON_FAULT_NONE) {
        return nc_error_clear(err);
    }
    return nc_error_set(err, NC_ERR_BAD_JSON, 0, (int64_t)failure->offset,
                        "line %" PRIu64 ", column %" PRIu64 ": wanted %s, found %s", failure->line, failure->column,
                        failure->wanted, failure->found);
}
