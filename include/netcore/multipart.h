/// multipart/form-data (RFC 7578): parts in, a stream of bytes with a known length out.
///
/// A form is filled, then read, as often as one likes and by several transfers at once. Fields and bytes lie in memory
/// as they go to the wire; files and sources are read straight into the caller's buffer, whatever their length. Names
/// and file names are escaped as WHATWG's multipart/form-data encoding says (the quote as %22, CR as %0D, LF as %0A,
/// nothing else); line ends in names and values stay what they are. A form without parts is no form: it is an empty
/// body of type application/x-www-form-urlencoded, since RFC 2046 asks for one part at least.
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

/// A boundary's bytes at most (RFC 2046, 5.1.1).
#define NC_MULTIPART_MAX_BOUNDARY_BYTES 70u
/// What a form keeps in memory at most, unless it is told otherwise.
#define NC_MULTIPART_DEFAULT_MAX_BYTES (256u * 1024u * 1024u)

/// A form: its parts, in order.
typedef struct nc_multipart nc_multipart;
/// One reading of a form.
typedef struct nc_multipart_reader nc_multipart_reader;

/// How a form is made; all zero is the default beside each.
typedef struct nc_multipart_options {
    /// The boundary: 1 to 70 of RFC 2046's bchars, not ending in a space. Empty: "Boundary+" and sixteen upper-case
    /// hexadecimal digits from `random`. A value in memory that holds a chosen one is refused (NC_ERR_BAD_PART); files
    /// and sources are not searched, so a chosen one must not be guessable by who makes those.
    nc_slice boundary;
    /// Where the boundary's eight bytes come from, two 32-bit numbers with the high byte first; NULL means the system.
    const nc_random *NC_NULLABLE random;
    /// File operations, copied; NULL means the system's.
    const nc_file_ops *NC_NULLABLE files;
    /// What the form keeps in memory at most, in bytes (NC_MULTIPART_DEFAULT_MAX_BYTES); borrowed bytes do not count.
    size_t max_bytes;
    /// An engine hands the network at most so many bytes, then rests for `delay_ms`; 0 is no limit (16384 and 200 are
    /// AFNetworking's advice for 3G). The transfer pauses, no thread sleeps, and its idleness does not count.
    uint32_t packet_bytes;
    /// The rest after each packet, in milliseconds; 0 is none.
    uint32_t delay_ms;
    /// True asks the system's list for extensions that the compiled-in table does not know: the bytes then depend on
    /// the machine.
    bool asks_system_types;
} nc_multipart_options;

/// One part. At most one of `bytes`, `path` and `source` is its content.
typedef struct nc_part {
    /// Its name, any bytes; escaped.
    nc_slice name;
    /// Its file name, any bytes; escaped. NULL data: none, or of a file the last component of its path.
    nc_slice file_name;
    /// Its Content-Type: any bytes but CR, LF and NUL, without surrounding white space. Empty: none, or with a file
    /// name the one of its extension, else NC_MEDIA_TYPE_UNKNOWN.
    nc_slice type;
    /// More fields, sent in this order behind the others; neither Content-Disposition nor Content-Type.
    const nc_header *NC_NULLABLE headers;
    /// Number of fields.
    size_t header_count;
    /// Content in memory; copied, unless they are borrowed.
    nc_slice bytes;
    /// True borrows `bytes` until the last reader and the form are freed.
    bool borrows_bytes;
    /// Path of a regular file; read as it is sent.
    nc_slice path;
    /// True sends a file's content as a field: without a file name and a type that were not given.
    bool is_field;
    /// Where the content comes from; `ctx` must live until the last reader is freed, and serves one reader at a time.
    nc_body_source source;
    /// Bytes that the source gives; NC_LENGTH_UNKNOWN when nobody knows.
    uint64_t source_length;
    /// True sends `headers` alone, as they are: without Content-Disposition and Content-Type.
    bool is_bare;
} nc_part;

/// Makes an empty form.
///
/// - out:     owned by the caller; give it up with nc_multipart_release().
/// - options: NULL means all zero; copied.
/// Returns NC_OK, NC_ERR_USAGE (the boundary; err->offset is the byte), NC_ERR_BAD_PART (no random bytes),
/// NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_multipart_new(nc_multipart *NC_NULLABLE *NC_NONNULL out,
                                               const nc_multipart_options *NC_NULLABLE options,
                                               nc_error *NC_NULLABLE err);
/// Keeps a form for one more owner, and returns it.
///
/// Thread-safe.
NC_API nc_multipart *nc_multipart_retain(nc_multipart *form);
/// Gives a form up; the last owner frees it. NULL is harmless.
///
/// Thread-safe.
NC_API void nc_multipart_release(nc_multipart *NC_NULLABLE form);

/// Adds a part; on failure the form stays as it was.
///
/// - part: borrowed for the call, but for borrowed bytes and a source's ctx.
/// Returns NC_OK, NC_ERR_BAD_PART (err->offset is the byte at fault in a type, field or path), NC_ERR_FILE (errno as
/// native_code: the file cannot be opened or is no regular one), NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY, NC_ERR_USAGE once
/// the form is being read. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_add(nc_multipart *form, const nc_part *part, nc_error *NC_NULLABLE err);
/// Adds a field: a name and a value of any bytes, copied.
///
/// Returns and thread as nc_multipart_add().
NC_API NC_NODISCARD nc_status nc_multipart_add_field(nc_multipart *form, nc_slice name, nc_slice value,
                                                     nc_error *NC_NULLABLE err);
/// Adds a file under its own name, with the type of its extension.
///
/// Returns and thread as nc_multipart_add().
NC_API NC_NODISCARD nc_status nc_multipart_add_file(nc_multipart *form, nc_slice name, nc_slice path,
                                                    nc_error *NC_NULLABLE err);
/// Adds a field for each value of a tree, named as in a query but not escaped: null is empty, bytes are raw. On
/// failure the form stays as it was.
///
/// - options: names and booleans count, the rest does not; NULL means the default: brackets, sorted, 1 and 0.
/// Returns as nc_multipart_add() and nc_params_flatten() (NC_ERR_BAD_PARAMETER naming the key). Confined: one thread at
/// a time.
NC_API NC_NODISCARD nc_status nc_multipart_add_params(nc_multipart *form, const nc_params *params,
                                                      const nc_query_options *NC_NULLABLE options,
                                                      nc_error *NC_NULLABLE err);

/// The number of parts.
///
/// Confined: one thread at a time.
NC_API size_t nc_multipart_count(const nc_multipart *form);
/// The boundary, without the hyphens before it; borrowed from the form.
///
/// Pure; call from any thread.
NC_API nc_slice nc_multipart_boundary(const nc_multipart *form);
/// The Content-Type that goes with the body; borrowed from the form. A boundary that is no token stands in quotes.
///
/// Confined: one thread at a time.
NC_API nc_slice nc_multipart_content_type(const nc_multipart *form);

/// Begins to read a form, which from now on takes no more parts; opens each of its files once, to measure it.
///
/// - out: owned by the caller; give it up with nc_multipart_reader_free(). It retains the form.
/// Returns NC_OK, NC_ERR_FILE (errno as native_code), NC_ERR_TOO_LARGE (2^63 bytes and more), NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_multipart_reader_new(nc_multipart_reader *NC_NULLABLE *NC_NONNULL out,
                                                      nc_multipart *form, nc_error *NC_NULLABLE err);
/// Ends a reading, and closes its file. NULL is harmless.
///
/// Confined: one thread at a time.
NC_API void nc_multipart_reader_free(nc_multipart_reader *NC_NULLABLE reader);
/// The length of the whole body, in bytes; NC_LENGTH_UNKNOWN when a source does not know its own.
///
/// Confined: one thread at a time.
NC_API uint64_t nc_multipart_reader_length(const nc_multipart_reader *reader);
/// Reads on: fills the memory, but for a page at its end at most, and blocks on nothing but files.
///
/// - id:     handed to the sources.
/// - filled: written always; with NC_PULL_LATER and NC_PULL_FAIL 0.
/// Returns as nc_pull says: NC_PULL_LATER when a source says so, NC_PULL_FAIL for what nc_multipart_reader_error()
/// tells: NC_ERR_FILE, NC_ERR_BODY_LENGTH (a file or a source of another length than announced), NC_ERR_BODY_SOURCE.
/// Confined: one thread at a time.
NC_API nc_pull nc_multipart_read(nc_multipart_reader *reader, nc_transfer_id id, uint8_t *bytes, size_t capacity,
                                 size_t *filled);
/// Goes back to the first byte; false when a source that has begun cannot, and the reader has then failed with
/// NC_ERR_NOT_REWINDABLE.
///
/// Confined: one thread at a time.
NC_API bool nc_multipart_rewind(nc_multipart_reader *reader, nc_transfer_id id);
/// Tells what went wrong, NC_OK when nothing has.
///
/// Confined: one thread at a time.
NC_API nc_status nc_multipart_reader_error(const nc_multipart_reader *reader, nc_error *NC_NULLABLE err);

/// How far a reading is within the part under way; the parts before it are whole.
typedef struct nc_part_progress {
    /// The part's place in the form, from 0; the last one's at the end.
    size_t index;
    /// Parts in the form; 0 when there is no form.
    size_t count;
    /// Bytes of its content that were read.
    uint64_t sent_bytes;
    /// Bytes of its content; NC_LENGTH_UNKNOWN when nobody knows.
    uint64_t total_bytes;
} nc_part_progress;

/// Tells how far the reading is.
///
/// Confined: one thread at a time.
NC_API nc_part_progress nc_multipart_reader_progress(const nc_multipart_reader *reader);

/// Writes the whole body to a file, which appears whole and synced or not at all: under another name until then.
///
/// - path: of a file in a folder that can be written to; one that is there is replaced. Mode 0666, less the umask.
/// Returns NC_OK, NC_ERR_USAGE (the path), NC_ERR_FILE (errno as native_code; ESPIPE for a device, a pipe or a socket),
/// or what nc_multipart_reader_new() and nc_multipart_read() tell; NC_ERR_BAD_PART when a source has nothing to give
/// now, for which a file cannot wait. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_multipart_write_file(nc_multipart *form, nc_slice path, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
