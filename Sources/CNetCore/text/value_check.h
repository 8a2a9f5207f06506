/// What may be written of a value: the rules that every writer shares.
#ifndef NETCORE_PRIVATE_VALUE_CHECK_H
#define NETCORE_PRIVATE_VALUE_CHECK_H

#include <netcore/params.h>

/// How many bytes of a path a message shows.
enum { NC_PATH_SHOWN_BYTES = 150 };

/// Checks a name: UTF-8. `path` is where it stands, for the message; it may end in the name itself.
NC_NODISCARD nc_status nc_value_check_name(nc_slice path, nc_slice name, nc_error *err);

/// Checks a value: a string is UTF-8, a number a number, a double finite. `path` is where it stands.
/// Returns NC_OK or NC_ERR_BAD_PARAMETER, whose offset is that of the bad byte within the value.
NC_NODISCARD nc_status nc_value_check(nc_slice path, const nc_params_item *item, nc_error *err);

/// Refuses what stands at `path`: "the <what>".
nc_status nc_value_refuse(nc_slice path, const char *what, int64_t offset, nc_error *err);

#endif
