/// Functions that fill in an nc_error.
#ifndef NETCORE_PRIVATE_ERROR_H
#define NETCORE_PRIVATE_ERROR_H

#include <assert.h>
#include <netcore/status.h>

/// Checks an internal invariant. Never use it to check input.
#define NC_ASSERT(condition) assert(condition)

/// Marks a function that is called on errors only. Compilers move its calls out of the hot path, so that a successful
/// request executes fewer branches. Branches are slow just after the event loop wakes up, because branch prediction is
/// still cold.
#define NC_COLD __attribute__((cold))

/// Clears `err` (which may be NULL) and returns NC_OK.
nc_status nc_error_clear(nc_error *err);

/// Returns the status for an errno of a file operation: NC_ERR_DESCRIPTORS or NC_ERR_NO_MEMORY if the process lacks a
/// resource, otherwise NC_ERR_FILE.
nc_status nc_error_of_file(int code);

/// Reports that the system does not provide a resource: fills `err` with "WHAT: REASON", the reason being errno.
/// Returns NC_ERR_DESCRIPTORS or NC_ERR_NO_MEMORY, or NC_ERR_UNSUPPORTED for any other reason (for example in a
/// sandbox).
nc_status nc_error_of_system(nc_error *err, const char *what) NC_COLD;

/// Fills `err` (which may be NULL) and returns `status`. The middle of a long message is cut out at character
/// boundaries. Characters that nc_printable() replaces become '?', so that a hostile name cannot move a terminal's
/// cursor.
nc_status nc_error_set(nc_error *err, nc_status status, int32_t native_code, int64_t offset, const char *format, ...)
    NC_PRINTF(5, 6) NC_COLD;

#endif
