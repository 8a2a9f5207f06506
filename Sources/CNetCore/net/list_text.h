/// The files of what hosts asked for, in libcurl's forms: lines, comments, and dates as "YYYYMMDD HH:MM:SS" in
/// universal time. Pure.
#ifndef NETCORE_PRIVATE_LIST_TEXT_H
#define NETCORE_PRIVATE_LIST_TEXT_H

#include <netcore/bytes.h>

/// Room for a date and a NUL.
enum { NC_LIST_DATE_BYTES = 32 };

/// Takes the next line that says something off the front, without the white space around it; `number` counts all lines,
/// from 0 before the first. False at the end.
bool nc_list_text_take(nc_slice *line, nc_slice *text, size_t *number);

/// Seconds since 1970; false for anything but a date.
bool nc_list_date_read(int64_t *at_s, nc_slice text);
/// NUL-terminated; seconds that no date has become 9999-12-31.
void nc_list_date_write(char out[NC_LIST_DATE_BYTES], int64_t at_s);

#endif
