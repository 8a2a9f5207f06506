/// How the core fills an nc_error.
#ifndef NETCORE_PRIVATE_ERROR_H
#define NETCORE_PRIVATE_ERROR_H

#include <assert.h>
#include <netcore/status.h>

/// For invariants of our own, never for what comes from outside.
#define NC_ASSERT(condition) assert(condition)

/// What is called when something is wrong, and seldom else: compilers lay out the way to it behind all others, so that
/// a request that fares well runs straight on. After each sleep a processor has forgotten where code jumps to.
#define NC_COLD __attribute__((cold))

/// Clears `err` (which may be NULL) and returns NC_OK.
nc_status nc_error_clear(nc_error *err);

/// What it means that a file could not be opened, read or written, by errno: NC_ERR_DESCRIPTORS and NC_ERR_NO_MEMORY
/// where the process has run out of them, for which the file is not to blame; else NC_ERR_FILE.
nc_status nc_error_of_file(int code);

/// "WHAT: REASON", by errno, of a thing that the system did not give: NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY, or
/// NC_ERR_UNSUPPORTED where it gives none at all (a sandbox, for one).
nc_status nc_error_of_system(nc_error *err, const char *what) NC_COLD;

/// Fills `err` (which may be NULL) and returns `status`; of a message that is too long the middle is left out, never a
/// part of a character. What nc_printable() replaces is '?' in the message, so that a hostile name cannot move a
/// terminal's cursor.
nc_status nc_error_set(nc_error *err, nc_status status, int32_t native_code, int64_t offset, const char *format, ...)
    NC_PRINTF(5, 6) NC_COLD;

#endif
