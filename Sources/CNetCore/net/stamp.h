/// Dates as libcurl writes them into the files of what hosts asked for: "YYYYMMDD HH:MM:SS", in universal time. Pure.
#ifndef NETCORE_PRIVATE_STAMP_H
#define NETCORE_PRIVATE_STAMP_H

#include <netcore/bytes.h>

/// Room for a date and a NUL.
enum { NC_STAMP_BYTES = 32 };

/// Seconds since 1970; false for anything but a date.
bool nc_stamp_read(int64_t *at_s, nc_slice text);
/// NUL-terminated; seconds that no date has become 9999-12-31.
void nc_stamp_write(char out[NC_STAMP_BYTES], int64_t at_s);

#endif
