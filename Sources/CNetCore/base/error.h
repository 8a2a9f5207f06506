/// Functions that fill in an nc_error.
#ifndef NETCORE_PRIVATE_ERROR_H
#define NETCORE_PRIVATE_ERROR_H

#include <assert.h>
#include <netcore/status.h>

/// For internal invariants, never for input.
#define NC_ASSERT(condition) assert(condition)

/// Marks a function that is called on errors only. Compilers then move its call sites out of the hot path, so that a
/// successful request runs straight on. Branch prediction is cold after each sleep of the loop.
#define NC_COLD __attribute__((cold))

/// Clears `err` (which may be NULL) and returns NC_OK.
nc_status nc_error_clear(nc_error *err);

/// Returns the status for an errno of a file operation. NC_ERR_DESCRIPTORS and NC_ERR_NO_MEMORY mean that the process,
/// not the file, is the cause; others are NC_ERR_FILE.
nc_status nc_error_of_file(int code);

/// Fills `err` with "WHAT: REASON" by errno, for a resource of the system. Returns NC_ERR_DESCRIPTORS,
/// NC_ERR_NO_MEMORY, or NC_ERR_UNSUPPORTED if the system refuses it (for example in a sandbox).
nc_status nc_error_of_system(nc_error *err, const char *what) NC_COLD;

/// Fills `err` (which may be NULL) and returns `status`. The middle of a long message is cut out at character
/// boundaries. Characters that nc_printable() replaces become '?', so that a hostile name cannot move a terminal's
/// cursor.
nc_status nc_error_set(nc_error *err, nc_status status, int32_t native_code, int64_t offset, const char *format, ...)
    NC_PRINTF(5, 6) NC_COLD;

#endif
