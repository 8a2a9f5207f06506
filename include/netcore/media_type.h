/// Media types: by file name extension, and compared with patterns.
///
/// nc_media_type_of() uses a table that is compiled in, so that an extension has the same type on every machine. Only
/// nc_media_type_of_system() reads the system's list. Extensions are case-insensitive.
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
/// The path of the system's list.
#define NC_MEDIA_TYPE_LIST "/etc/mime.types"

/// Returns the media type for a file name's extension, from the compiled-in table.
///
/// A name whose only dot is the first character, such as ".profile", has no extension.
/// Returns a static text; an empty slice for an unknown or missing extension.
/// Pure; call from any thread.
NC_API nc_slice nc_media_type_of(nc_slice file_name);

/// Looks up the extension of a file name in the system's list. Use it for extensions that the compiled-in table lacks.
///
/// - out:       the type is appended; nothing if the list has no valid type for the extension.
/// - list_path: NUL-terminated; NULL means NC_MEDIA_TYPE_LIST. A missing list is empty.
/// Returns NC_OK, NC_ERR_FILE (the list cannot be read), NC_ERR_TOO_LARGE (over 4 MiB), NC_ERR_NO_MEMORY.
/// Pure; call from any thread; reads a file.
NC_API NC_NODISCARD nc_status nc_media_type_of_system(nc_buf *out, nc_slice file_name,
                                                      const char *NC_NULLABLE list_path, nc_error *NC_NULLABLE err);

/// Returns true if a Content-Type field has a type that the pattern describes. Case and parameters are ignored.
///
/// The type "image/*", which some servers copy from the request's Accept field, matches each pattern for images.
/// - content_type: the field's value.
/// - pattern:      "text/json", "application/*", "*+json" for a suffix (RFC 6839), or a star on both sides for
///                 every type. An empty pattern matches only an empty type.
/// Pure; call from any thread.
NC_API bool nc_media_type_matches(nc_slice content_type, nc_slice pattern);

/// Finds a parameter of a Content-Type field, such as "charset".
///
/// - content_type: the field's value.
/// - name:         compared case-insensitively.
/// - out:          the value, borrowed from `content_type`, without the quotes around it; backslash escapes within the
///                 quotes are not decoded. Written only if there is such a parameter.
/// Returns true if there is one. Of several with the same name it finds the first.
/// Pure; call from any thread.
NC_API bool nc_media_type_parameter(nc_slice content_type, nc_slice name, nc_slice *out);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
