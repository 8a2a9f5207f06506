/// Shared by the files of this folder.
#ifndef NETCORE_CJSON_INTERNAL_H
#define NETCORE_CJSON_INTERNAL_H

#include <netcore/cjson.h>

/// The integers up to this absolute value are doubles without gaps.
#define NC_CJSON_MAX_EXACT 9007199254740992.0

/// Fills in an error, if the caller wants one, and returns its status.
nc_status nc_cjson_fail(nc_error *err, nc_status status, int64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// Clears an error.
static inline nc_status nc_cjson_succeed(nc_error *err) {
    if (err != NULL) {
        *err = (nc_error){.offset = -1};
    }
    return NC_OK;
}

/// Reads the digits of a valid JSON number. Returns false if a double cannot represent it: an integer beyond 2^53, or a
/// number beyond the range, or (*status is then NC_ERR_NO_MEMORY) if there is no memory for a copy of the digits.
bool nc_cjson_number(nc_slice digits, double *value, nc_status *status);

/// Appends a finite double, as JSON. Beyond 2^53 its text is not that of an integer, so that it can be read again.
void nc_cjson_append_number(nc_buf *out, double value);

/// Removes duplicate names from an object: the last value takes the position of the first one.
/// Returns NC_OK or NC_ERR_NO_MEMORY.
nc_status nc_cjson_keep_last(cJSON *object);

#endif
