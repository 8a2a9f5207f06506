/// Splits field values (RFC 9110, 5.6): separators outside quotes, and the white space around them. Pure.
#ifndef NETCORE_PRIVATE_FIELD_TEXT_H
#define NETCORE_PRIVATE_FIELD_TEXT_H

#include <netcore/bytes.h>

/// Returns the text without spaces and tabs at both ends.
nc_slice nc_field_trim(nc_slice text);
/// Takes the text before the next separator outside quotes from the front, and the separator.
nc_slice nc_field_take(nc_slice *left, uint8_t separator);
/// Returns the text without quotes around it, if there are any. A backslash within is kept.
nc_slice nc_field_unquote(nc_slice text);
/// Parses a number of seconds, quoted or not. A larger one becomes `max_s`. Returns false for anything else.
bool nc_field_seconds(int64_t *out_s, nc_slice text, int64_t max_s);

#endif
