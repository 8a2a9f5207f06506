/// Validation of values, shared by all encoders.
#ifndef NETCORE_PRIVATE_VALUE_CHECK_H
#define NETCORE_PRIVATE_VALUE_CHECK_H

#include <netcore/params.h>

/// The longest part of a path in a message, in bytes.
enum { NC_PATH_SHOWN_BYTES = 150 };

/// Checks that a name is UTF-8. `path` is its position for the message, and may end with the name itself.
NC_NODISCARD nc_status nc_value_check_name(nc_slice path, nc_slice name, nc_error *err);

/// Checks a value: a string must be UTF-8, a number valid, a double finite. `path` is its position.
/// Returns NC_OK or NC_ERR_BAD_PARAMETER with the offset of the wrong byte in the value.
NC_NODISCARD nc_status nc_value_check(nc_slice path, const nc_params_item *item, nc_error *err);

/// Fills `err` with "the <what>" at `path`, and returns NC_ERR_BAD_PARAMETER.
nc_status nc_value_refuse(nc_slice path, const char *what, int64_t offset, nc_error *err);

#endif
