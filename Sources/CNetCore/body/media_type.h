/// Parses Content-Type fields (RFC 9110, 8.3.1), and declares the table of file name extensions.
#ifndef NETCORE_PRIVATE_MEDIA_TYPE_H
#define NETCORE_PRIVATE_MEDIA_TYPE_H

#include <netcore/bytes.h>

/// Returns the media type of a field value, without parameters and surrounding white space.
nc_slice nc_content_type_essence(nc_slice value);

enum { NC_MEDIA_EXTENSION_BYTES = 12 };

typedef struct nc_media_row {
    char extension[NC_MEDIA_EXTENSION_BYTES]; // lower case
    const char *type;
} nc_media_row;

/// The table in media_table.c, sorted by the bytes of the extension.
extern const nc_media_row nc_media_table[];
extern const size_t nc_media_count;

#endif
