/// Media types by file name extension.
///
/// The table is compiled in, so that a name has the same type on every machine. Only nc_media_type_of_system() reads
/// the system's list. Extensions are case-insensitive.
///
///     nc_media_type_of(nc_slice_of("photo.JPG")); // "image/jpeg"
#ifndef NETCORE_MEDIA_TYPE_H
#define NETCORE_MEDIA_TYPE_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The media type of unknown files (RFC 2046, 4.5.1).
#define NC_MEDIA_TYPE_UNKNOWN "application/octet-stream"
/// The system's list.
#define NC_MEDIA_TYPE_LIST "/etc/mime.types"

/// Returns the media type for a file name's extension, from the compiled-in table.
///
/// A name whose only dot is the first character, such as ".profile", has no extension.
/// Returns a static text; an empty slice for an unknown or missing extension.
/// Pure; call from any thread.
NC_API nc_slice nc_media_type_of(nc_slice file_name);

/// Looks an extension up in the system's list, for extensions that the compiled-in table lacks.
///
/// - out:       the type is appended; nothing if the list has no valid type for it.
/// - list_path: NUL-terminated; NULL means NC_MEDIA_TYPE_LIST. A missing list is empty.
/// Returns NC_OK, NC_ERR_FILE (the list cannot be read), NC_ERR_TOO_LARGE (over 4 MiB), NC_ERR_NO_MEMORY.
/// Pure; call from any thread; reads a file.
NC_API NC_NODISCARD nc_status nc_media_type_of_system(nc_buf *out, nc_slice file_name,
                                                      const char *NC_NULLABLE list_path, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
