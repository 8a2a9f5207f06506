/// Basic authentication (RFC 7617): the credentials that a client sends for a user and password.
#ifndef NCT_BASIC_H
#define NCT_BASIC_H

#include "bytes.h"

/// Appends `Basic <base64 of user:password>`; `password` may be NULL for none. Returns false if memory is exhausted.
bool nct_basic_append(nct_bytes *out, const char *user, const char *password);

/// Returns true if a field's value equals these credentials. The case of the scheme is ignored.
bool nct_basic_is_equal(const nct_bytes *credentials, const void *value, size_t length);

#endif
