/// Extensions and their media types, sorted by bytes.
#ifndef NETCORE_PRIVATE_MEDIA_TABLE_H
#define NETCORE_PRIVATE_MEDIA_TABLE_H

#include <stddef.h>

enum { NC_MEDIA_EXTENSION_BYTES = 12 };

typedef struct nc_media_row {
    char extension[NC_MEDIA_EXTENSION_BYTES]; // lower case
    const char *type;
} nc_media_row;

extern const nc_media_row nc_media_table[];
extern const size_t nc_media_count;

#endif
