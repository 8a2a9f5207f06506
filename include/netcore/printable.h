/// Makes untrusted text safe to print on a terminal, in a log or in an error message.
///
/// A hostile name or field could move the cursor, forge a line of a log, or reverse the rest of a line. Each such
/// character, and each byte that is not UTF-8, is replaced by a mark:
/// - control characters (C0, DEL, C1), line and paragraph separators (U+2028, U+2029);
/// - characters that set a direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
///
/// CR LF becomes one mark.
///
///     length = nc_printable(line, strlen(line), '?');
#ifndef NETCORE_PRINTABLE_H
#define NETCORE_PRINTABLE_H

#include <netcore/base.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Replaces each unsafe character by `mark`, in place.
///
/// Returns the new length, which is at most `length`.
/// Pure; call from any thread.
NC_API size_t nc_printable(char *text, size_t length, char mark);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
