/// The meta-schema of JSON Schema 2020-12, so that schemas can refer to it.
#ifndef NETCORE_PRIVATE_SCHEMA_META_SCHEMA_H
#define NETCORE_PRIVATE_SCHEMA_META_SCHEMA_H

#include <netcore/bytes.h>

/// Returns the document with a URI; an empty slice if there is none.
nc_slice nc_meta_schema_find(nc_slice uri);
/// Returns true for the URI of the meta-schema, with or without an empty fragment.
bool nc_meta_schema_is_default(nc_slice uri);

#endif
