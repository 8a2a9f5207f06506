/// Media types by the extension of a file's name.
///
/// The table is compiled in, so that the same name gives the same bytes on every machine; the system's own list is
/// read only by the call that says so. Extensions are compared without case.
///
///     nc_media_type_of(nc_slice_of("photo.JPG")); // "image/jpeg"
#ifndef NETCORE_MEDIA_TYPE_H
#define NETCORE_MEDIA_TYPE_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// What is said of a file whose kind nobody knows (RFC 2046, 4.5.1).
#define NC_MEDIA_TYPE_UNKNOWN "application/octet-stream"
/// Where the system keeps its list.
#define NC_MEDIA_TYPE_LIST "/etc/mime.types"

/// Gives the media type of a file by its name's extension, from the compiled-in table.
///
/// A name that only begins with a dot, as ".profile" does, has no extension.
/// Returns a static text; an empty slice when the extension is unknown or there is none. Pure; call from any thread.
NC_API nc_slice nc_media_type_of(nc_slice file_name);

/// Looks an extension up in the system's list, after the compiled-in table has not known it.
///
/// - out:       the type is appended; nothing when the list does not know it either, or holds no sound type for it.
/// - list_path: NUL-terminated; NULL means NC_MEDIA_TYPE_LIST. A list that is not there knows nothing.
/// Returns NC_OK, NC_ERR_FILE (it cannot be read), NC_ERR_TOO_LARGE (over 4 MiB), NC_ERR_NO_MEMORY.
/// Pure; call from any thread; reads a file.
NC_API NC_NODISCARD nc_status nc_media_type_of_system(nc_buf *out, nc_slice file_name,
                                                      const char *NC_NULLABLE list_path, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
