/// Encodes multipart/form-data (RFC 7578) as a stream of bytes, with a known length if possible.
///
/// First add the parts. Then readers encode the form, any number of times and also concurrently. Fields and bytes are
/// in memory in their wire format. Files and sources of any length are read directly into the caller's buffer.
///
/// - Names and file names are escaped as in the WHATWG's multipart/form-data encoding: '"' as %22, CR as %0D, LF as
///   %0A. No other byte is escaped. Line ends in names and values are not normalized.
/// - A form without parts is encoded as an empty body of type application/x-www-form-urlencoded, because RFC 2046
///   requires at least one part.
///
///     nc_multipart *form;
///     if (nc_multipart_new(&form, NULL, &err) == NC_OK &&
///         nc_multipart_add_field(form, nc_slice_of("a"), nc_slice_of("1"), &err) == NC_OK &&
///         nc_multipart_add_file(form, nc_slice_of("photo"), nc_slice_of("/tmp/me.jpg"), &err) == NC_OK)
///         request.multipart = form;
#ifndef NETCORE_MULTIPART_H
#define NETCORE_MULTIPART_H

#include <netcore/base.h>
#include <netcore/body_source.h>
#include <netcore/bytes.h>
#include <netcore/header.h>
#include <netcore/hooks.h>
#include <netcore/params.h>
#include <netcore/query.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The largest boundary, in bytes (RFC 2046, 5.1.1).
#define NC_MULTIPART_MAX_BOUNDARY_BYTES 70u
/// The default of nc_multipart_options.max_bytes.
#define NC_MULTIPART_DEFAULT_MAX_BYTES (256u * 1024u * 1024u)

/// A form: a list of parts.
typedef struct nc_multipart nc_multipart;
/// A reader that encodes a form from its first byte to its last.
typedef struct nc_multipart_reader nc_multipart_reader;

/// Options of a form. All zero selects the defaults.
typedef struct nc_multipart_options {
    /// The boundary: 1 to 70 of RFC 2046's bchars, not ending with a space. If it is empty, the boundary is "Boundary+"
    /// and sixteen upper-case hexadecimal digits from `random`. If a value in memory contains the boundary that you set
    /// here, adding the value fails with NC_ERR_BAD_PART. Files and sources are not searched, so their authors must not
    /// be able to guess the boundary.
    nc_slice boundary;
    /// Source of the boundary's eight random bytes, two big-endian 32-bit numbers; NULL means the system's.
    const nc_random *NC_NULLABLE random;
    /// File operations, copied; NULL means the system's.
    const nc_file_ops *NC_NULLABLE files;
    /// Memory limit of the form, in bytes; 0 means NC_MULTIPART_DEFAULT_MAX_BYTES. Borrowed bytes do not count.
    size_t max_bytes;
    /// Throttles uploads: after each `packet_bytes` bytes the transfer pauses for `delay_ms`. 0 means no pauses.
    /// (AFNetworking suggests 16384 and 200 for 3G.) A pause blocks no thread, and the idle limit does not apply to it.
    uint32_t packet_bytes;
    /// Length of a pause, in milliseconds; 0 means no pauses.
    uint32_t delay_ms;
    /// True uses the system's list of media types for extensions that the compiled-in table lacks. The encoded bytes
    /// then depend on the machine.
    bool uses_system_types;
} nc_multipart_options;

/// One part. Its content is at most one of `bytes`, `path` and `source`.
typedef struct nc_part {
    /// Name, any bytes; escaped.
    nc_slice name;
    /// File name, any bytes; escaped. If its data is NULL, the part has no file name, or for `path` the last component
    /// of the path.
    nc_slice file_name;
    /// Content-Type: any bytes except CR, LF and NUL, without surrounding white space. If it is empty, a part with a
    /// file name gets the type of the name's extension, or NC_MEDIA_TYPE_UNKNOWN; other parts get none.
    nc_slice type;
    /// Additional fields, sent after Content-Disposition and Content-Type, in this order. They must not repeat these
    /// two, unless `is_bare` is set.
    const nc_header *NC_NULLABLE headers;
    /// Number of additional fields.
    size_t header_count;
    /// Content in memory; copied unless `borrows_bytes` is set.
    nc_slice bytes;
    /// True borrows `bytes` until the form and its last reader are freed.
    bool borrows_bytes;
    /// Path of a regular file. It is read while it is sent.
    nc_slice path;
    /// True sends the content of `path` as a field: the part gets no default file name and type.
    bool is_field;
    /// Source of the content. `ctx` must be valid until the last reader is freed. Only one reader at a time may use the
    /// source.
    nc_body_source source;
    /// Length of the source in bytes; NC_LENGTH_UNKNOWN if unknown.
    uint64_t source_length;
    /// True sends only the fields in `headers`, and no generated Content-Disposition and Content-Type.
    bool is_bare;
} nc_part;

/// Creates an empty form.
///
/// - out:     owned by the caller; release it with nc_multipart_release().
/// - options: NULL means all zero; copied.
/// Returns NC_OK, NC_ERR_USAGE (an invalid boundary; err->offset is the wrong byte), NC_ERR_BAD_PART (no random bytes),
/// NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_multipart_new(nc_multipart *NC_NULLABLE *NC_NONNULL out,
                                               const nc_multipart_options *NC_NULLABLE options,
                                               nc_error *NC_NULLABLE err);
/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_multipart *nc_multipart_retain(nc_multipart *form);
/// Drops a reference. The last one frees the form. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_multipart_release(nc_multipart *NC_NULLABLE form);

/// Adds a part. After an error the form is unchanged.
///
/// - part: borrowed for the call, except borrowed bytes and a source's ctx.
/// Returns NC_OK, NC_ERR_BAD_PART (err->offset is the wrong byte of a type, field or path), NC_ERR_FILE (the file
/// cannot be opened or is not a regular file; native_code is the errno), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY,
/// NC_ERR_USAGE (a reader was already created).
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_add(nc_multipart *form, const nc_part *part, nc_error *NC_NULLABLE err);
/// Adds a field: a name and a value of any bytes, copied.
///
/// Returns the statuses of nc_multipart_add().
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_add_field(nc_multipart *form, nc_slice name, nc_slice value,
                                                     nc_error *NC_NULLABLE err);
/// Adds a file. The part has the file's name and the media type of its extension.
///
/// Returns the statuses of nc_multipart_add().
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_add_file(nc_multipart *form, nc_slice name, nc_slice path,
                                                    nc_error *NC_NULLABLE err);
/// Adds a field for each value of a parameter tree. After an error the form is unchanged.
///
/// Names are those that nc_params_flatten() produces. Null becomes an empty value; bytes are sent unchanged.
/// - options: only `names` and `booleans` are used. NULL means the default: brackets, sorted, 1 and 0.
/// Returns the statuses of nc_multipart_add() and nc_params_flatten() (NC_ERR_BAD_PARAMETER with the key).
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_add_params(nc_multipart *form, const nc_params *params,
                                                      const nc_query_options *NC_NULLABLE options,
                                                      nc_error *NC_NULLABLE err);

/// Returns the number of parts.
///
/// Confined: one thread at a time.
NC_API size_t nc_multipart_count(const nc_multipart *form);
/// Returns the boundary without leading hyphens, borrowed from the form.
///
/// Pure; call from any thread.
NC_API nc_slice nc_multipart_boundary(const nc_multipart *form);
/// Returns the Content-Type of the body, borrowed from the form. A boundary that is not a token is quoted.
///
/// Confined: one thread at a time.
NC_API nc_slice nc_multipart_content_type(const nc_multipart *form);

/// Creates a reader. After that, parts can no longer be added to the form. Each of its files is opened and measured.
///
/// - out: owned by the caller; release it with nc_multipart_reader_free(). It retains the form.
/// Returns NC_OK, NC_ERR_FILE (native_code is the errno), NC_ERR_TOO_LARGE (2^63 bytes and more), NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_multipart_reader_new(nc_multipart_reader *NC_NULLABLE *NC_NONNULL out,
                                                      nc_multipart *form, nc_error *NC_NULLABLE err);
/// Frees a reader and closes its file. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_multipart_reader_free(nc_multipart_reader *NC_NULLABLE reader);
/// Returns the length of the body in bytes; NC_LENGTH_UNKNOWN if a source has no known length.
///
/// Confined: one thread at a time.
NC_API uint64_t nc_multipart_reader_length(const nc_multipart_reader *reader);
/// Reads the next bytes. Up to a page at the end of `bytes` may stay unused although more bytes follow. Blocks only on
/// files.
///
/// - id:     passed to the sources.
/// - filled: always written; 0 with NC_PULL_LATER and NC_PULL_FAIL.
/// Returns an nc_pull. NC_PULL_LATER means that a source has no bytes yet. After NC_PULL_FAIL
/// nc_multipart_reader_error() returns NC_ERR_FILE, NC_ERR_BODY_LENGTH (a file or a source does not have the announced
/// length) or NC_ERR_BODY_SOURCE.
/// Confined: one thread at a time.
NC_API nc_pull nc_multipart_read(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                                 size_t *filled);
/// Rewinds to the first byte. If a source that was already read cannot be rewound, returns false; the reader then fails
/// with NC_ERR_NOT_REWINDABLE.
///
/// Confined: one thread at a time.
NC_API bool nc_multipart_rewind(nc_multipart_reader *reader, nc_transfer_id id);
/// Returns the error of a reader, or NC_OK.
///
/// Confined: one thread at a time.
NC_API nc_status nc_multipart_reader_error(const nc_multipart_reader *reader, nc_error *NC_NULLABLE err);

/// Progress within the current part of a form. All parts before it have been read.
typedef struct nc_part_progress {
    /// Index of the current part, from 0. At the end of the form, the index of the last part.
    size_t index;
    /// Number of parts in the form; 0 without a form.
    size_t count;
    /// Bytes of the part's content that were read.
    uint64_t sent_bytes;
    /// Bytes of the part's content in total; NC_LENGTH_UNKNOWN if unknown.
    uint64_t total_bytes;
} nc_part_progress;

/// Returns the progress of a reader.
///
/// Confined: one thread at a time.
NC_API nc_part_progress nc_multipart_reader_progress(const nc_multipart_reader *reader);

/// Writes the whole body to a file. It writes and syncs a temporary file and then renames it.
///
/// - path: a file in a writable directory; an existing file is replaced. Mode 0666, less the umask.
/// Returns NC_OK, NC_ERR_USAGE (an invalid path), NC_ERR_FILE (native_code is the errno; ESPIPE for a device, a pipe or
/// a socket), the errors of nc_multipart_reader_new() and nc_multipart_read(), or NC_ERR_BAD_PART if a source returns
/// NC_PULL_LATER, because this function cannot wait for it.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_write_file(nc_multipart *form, nc_slice path, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
