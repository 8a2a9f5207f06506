/// Dates of cookies (RFC 6265bis, 5.1.1), with the lenient parser for servers' many formats.
#ifndef NETCORE_PRIVATE_COOKIE_DATE_H
#define NETCORE_PRIVATE_COOKIE_DATE_H

#include <netcore/bytes.h>

/// Parses the value of an Expires attribute.
///
/// Years of two digits are 1970 to 2069. Returns false for an invalid date, including a day that does not exist.
/// Otherwise `out` has the seconds since 1970, negative before. Pure; call from any thread.
bool nc_cookie_date_read(nc_slice text, int64_t *out);

#endif
