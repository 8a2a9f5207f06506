/// Validation of parameter values, shared by all encoders.
#ifndef NETCORE_PRIVATE_PARAMS_H
#define NETCORE_PRIVATE_PARAMS_H

#include <netcore/bytes.h>
#include <netcore/params.h>

/// A path in a message is truncated to this number of bytes.
enum { NC_PATH_SHOWN_BYTES = 150 };

/// Checks that a name is UTF-8. The message contains `path`, which may end with the name itself.
NC_NODISCARD nc_status nc_value_check_name(nc_slice path, nc_slice name, nc_error *err);

/// Checks a value: a string must be UTF-8, a number valid, a double finite. The message contains `path`.
/// Returns NC_OK or NC_ERR_BAD_PARAMETER with the offset of the wrong byte in the value.
NC_NODISCARD nc_status nc_value_check(nc_slice path, const nc_params_item *item, nc_error *err);

/// Fills `err` with "'PATH': WHAT" and returns NC_ERR_BAD_PARAMETER.
nc_status nc_value_refuse(nc_slice path, const char *what, int64_t offset, nc_error *err);

/* --- number.c: writes and checks numbers as text, independent of the locale --- */

/// The largest output of the two functions below, in bytes.
#define NC_NUMBER_BYTES 32u

/// Writes an integer in decimal and returns the length.
size_t nc_number_format_integer(uint8_t *out, int64_t value);

/// Writes the text with the fewest digits that reads back as `value`; of several such texts, the one closest to
/// `value`. From 1e-6 to below 1e21 it has no exponent, otherwise an exponent without '+'. Returns the length; 0 if the
/// value is not finite.
size_t nc_number_format_double(uint8_t *out, double value);

/// Returns true if the text is a number according to RFC 8259, 6.
bool nc_number_is_valid(nc_slice text);

#endif
