/// Taking the value of a field apart (RFC 9110, 5.6): separators outside quotes, and the white space around them. Pure.
#ifndef NETCORE_PRIVATE_FIELD_TEXT_H
#define NETCORE_PRIVATE_FIELD_TEXT_H

#include <netcore/bytes.h>

/// Without the spaces and tabs at both ends.
nc_slice nc_field_trim(nc_slice text);
/// Takes the text up to a separator outside quotes off the front, and the separator.
nc_slice nc_field_take(nc_slice *left, uint8_t separator);
/// Without the quotes around it, if there are any; a backslash within stays.
nc_slice nc_field_unquote(nc_slice text);
/// A number of seconds, quoted or not; a larger one than `max_s` is that. False for anything else.
bool nc_field_seconds(int64_t *out_s, nc_slice text, int64_t max_s);

#endif
