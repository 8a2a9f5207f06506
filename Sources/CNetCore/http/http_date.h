/// Reads and writes dates in the formats of HTTP (RFC 9110, 5.6.7). Pure.
#ifndef NETCORE_PRIVATE_HTTP_DATE_H
#define NETCORE_PRIVATE_HTTP_DATE_H

#include <netcore/bytes.h>

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994` to seconds
/// since 1970. Returns false, with `out` unchanged, for other text and for a day that does not exist.
bool nc_http_date_read(int64_t *out, nc_slice text);
/// Parses like nc_http_date_read(), in any letter case. A cache should ignore the case (RFC 9111, 4.2).
bool nc_http_date_read_any_case(int64_t *out, nc_slice text);

/// Room for a written date, without a NUL.
enum { NC_HTTP_DATE_BYTES = 29 };
/// Writes `Sun, 06 Nov 1994 08:49:37 GMT`. Seconds outside of the years 1 to 9999 are limited to this range.
void nc_http_date_write(char out[NC_HTTP_DATE_BYTES], int64_t seconds);

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar. `month` is from 1.
int64_t nc_epoch_day(int64_t year, int64_t month, int64_t day);

#endif
