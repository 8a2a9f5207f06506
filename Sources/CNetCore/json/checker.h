/// A check that a validator makes besides that of the grammar. A folder above this one implements it.
#ifndef NETCORE_PRIVATE_JSON_CHECKER_H
#define NETCORE_PRIVATE_JSON_CHECKER_H

#include "json/names.h"

#include <netcore/shape.h>

typedef struct nc_json_checker {
    /// Scans the next piece, with the names of the open objects if duplicates are refused. A fault is recorded in the
    /// scan. Returns NC_OK, also after a mismatch, or the status that ends the validation.
    nc_status (*scan)(void *state, nc_names *names, nc_scan *scan, nc_slice piece, bool is_last);
    /// Starts a new text.
    void (*reset)(void *state);
    void (*free)(void *state);
    /// Returns true if there is a mismatch, and describes it, without line and column.
    bool (*find_mismatch)(const void *state, nc_shape_mismatch *out);
    /// Fills `err` for a mismatch, or for the status that ended the validation. Returns that status.
    nc_status (*report)(const void *state, nc_error *err);
} nc_json_checker;

/// Creates a validator with a checker, whose state it takes over if the result is NC_OK. Returns the statuses of
/// nc_json_new().
NC_NODISCARD nc_status nc_json_new_with_checker(nc_json **out, const nc_json_checker *checker, void *state,
                                                const nc_json_options *options, nc_error *err);
/// Returns the state of a validator with this checker; NULL if it has another one, or none.
const void *nc_json_checker_state(const nc_json *json, const nc_json_checker *checker);

#endif
