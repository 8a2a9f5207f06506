/// The text format of HSTS and Alt-Svc files, as libcurl writes it: lines, comments, and dates as "YYYYMMDD HH:MM:SS"
/// in UTC. Pure.
#ifndef NETCORE_PRIVATE_LIST_TEXT_H
#define NETCORE_PRIVATE_LIST_TEXT_H

#include <netcore/bytes.h>

/// Room for a date and a NUL.
enum { NC_LIST_DATE_BYTES = 32 };

/// Takes the next line with content from the front, without white space around it. `number` counts all lines and is 0
/// before the first. Returns false at the end.
bool nc_list_text_take(nc_slice *line, nc_slice *text, size_t *number);

/// Parses a date to seconds since 1970. Returns false if it is invalid.
bool nc_list_date_read(int64_t *at_s, nc_slice text);
/// Writes a NUL-terminated date. Seconds outside the range become 9999-12-31.
void nc_list_date_write(char out[NC_LIST_DATE_BYTES], int64_t at_s);

#endif
