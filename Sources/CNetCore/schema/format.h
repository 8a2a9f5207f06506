/// The formats of JSON Schema 2020-12 (validation, 7.3).
#ifndef NETCORE_PRIVATE_SCHEMA_FORMAT_H
#define NETCORE_PRIVATE_SCHEMA_FORMAT_H

#include <netcore/bytes.h>

typedef enum nc_schema_format {
    NC_FORMAT_NONE,
    NC_FORMAT_DATE_TIME,
    NC_FORMAT_DATE,
    NC_FORMAT_TIME,
    NC_FORMAT_DURATION,
    NC_FORMAT_EMAIL,
    NC_FORMAT_IDN_EMAIL,
    NC_FORMAT_HOSTNAME,
    NC_FORMAT_IDN_HOSTNAME,
    NC_FORMAT_IPV4,
    NC_FORMAT_IPV6,
    NC_FORMAT_URI,
    NC_FORMAT_URI_REFERENCE,
    NC_FORMAT_IRI,
    NC_FORMAT_IRI_REFERENCE,
    NC_FORMAT_URI_TEMPLATE,
    NC_FORMAT_UUID,
    NC_FORMAT_JSON_POINTER,
    NC_FORMAT_RELATIVE_JSON_POINTER,
    NC_FORMAT_REGEX,
    NC_FORMAT_COUNT,
} nc_schema_format;

/// Returns the format with a name, or NC_FORMAT_NONE.
nc_schema_format nc_format_find(nc_slice name);
/// Returns the name of a format.
const char *nc_format_name(nc_schema_format format);
/// Returns true if a text has the format. The text must be UTF-8.
bool nc_format_matches(nc_schema_format format, nc_slice text);

#endif
