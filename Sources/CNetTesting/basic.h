/// Basic authentication (RFC 7617): what a client with this user and password
/// says.
#ifndef NCT_BASIC_H
#define NCT_BASIC_H

#include "bytes.h"

/// Appends `Basic <base64 of user:password>`; `password` may be NULL for none.
/// False when memory ran out.
bool nct_basic_append(nct_bytes *out, const char *user, const char *password);

/// Tells whether a field's value is these credentials; the scheme's case does
/// not matter.
bool nct_basic_is_equal(const nct_bytes *credentials, const void *value, size_t length);

#endif
