/// Parses a multipart body while it arrives (RFC 2046, 5.1.1): multipart/mixed, multipart/x-mixed-replace and other
/// multipart types. <netcore/multipart.h> encodes such bodies.
///
/// The events are the fields, the content and the end of each part. They do not depend on how the body was split,
/// except for the sizes of content pieces. The parser is strict where two readers could see different parts:
///
/// - lines end with CR LF
/// - a line with a boundary contains nothing else
/// - the last boundary is required
/// - only the boundary ends a part; a Content-Length in it is ignored
///
/// Content codings of parts are not decoded. If the declared boundary itself begins with hyphens ("boundary=--b"), a
/// boundary line may omit the two hyphens before it. The first boundary line determines the form of all others.
///
/// multipart/x-mixed-replace, which cameras send, is parsed as in browsers. The first part may come without a boundary
/// before it, lines may end with LF, and both forms of a boundary may occur in one stream.
///
///     nc_parts_new(&parts, content_type, NULL, &err);
///     while ((status = nc_parts_next(parts, &bytes, &event, &err)) == NC_OK && event.kind != NC_PARTS_NEEDS_MORE) ...
///     status = nc_parts_finish(parts, &err);              // once the body has ended
///     nc_parts_free(parts);
#ifndef NETCORE_PARTS_H
#define NETCORE_PARTS_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/header.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The default of nc_parts_options.max_parts.
#define NC_PARTS_DEFAULT_MAX_PARTS 10000u
/// The default of nc_parts_options.max_head_bytes.
#define NC_PARTS_DEFAULT_MAX_HEAD_BYTES 16384u
/// The default of nc_parts_options.max_part_bytes.
#define NC_PARTS_DEFAULT_MAX_PART_BYTES (64u * 1024u * 1024u)
/// The largest number of fields of a part.
#define NC_PARTS_MAX_FIELDS 64u
/// The largest preamble before the first boundary, in bytes.
#define NC_PARTS_MAX_PREAMBLE_BYTES 65536u
/// The largest number of blanks behind a boundary.
#define NC_PARTS_MAX_PADDING_BYTES 256u

/// A parser of one multipart body.
typedef struct nc_parts nc_parts;

/// Limits of a body. 0 selects the default in parentheses.
typedef struct nc_parts_options {
    /// Parts (NC_PARTS_DEFAULT_MAX_PARTS). UINT64_MAX is no limit, for example for a camera's endless stream.
    uint64_t max_parts;
    /// Content of one part, in bytes (NC_PARTS_DEFAULT_MAX_PART_BYTES).
    uint64_t max_part_bytes;
    /// Fields of one part with the empty line after them, in bytes (NC_PARTS_DEFAULT_MAX_HEAD_BYTES).
    size_t max_head_bytes;
} nc_parts_options;

/// The kind of an event.
typedef NC_ENUM(nc_parts_kind){
    /// All input was consumed.
    NC_PARTS_NEEDS_MORE,
    /// The start of a part, with its fields.
    NC_PARTS_HEAD,
    /// A piece of its content, at least one byte. The size depends on how the body was split.
    NC_PARTS_CONTENT,
    /// The end of the part.
    NC_PARTS_PART_END,
    /// The last boundary. Later input is dropped, but other bytes on the line of the boundary are an error.
    NC_PARTS_END,
} nc_parts_kind;

/// One event. Its slices are valid until the next call.
typedef struct nc_parts_event {
    /// Kind of the event.
    nc_parts_kind kind;
    /// With NC_PARTS_HEAD: the fields, in order. Names are tokens. A folded line is joined (RFC 5322, 2.2.3), with two
    /// blanks in place of the line end.
    const nc_header *NC_NULLABLE fields;
    /// Number of fields; a part may have none.
    size_t field_count;
    /// With NC_PARTS_CONTENT: the bytes, borrowed from the input or the parser.
    nc_slice bytes;
} nc_parts_event;

/// Creates a parser.
///
/// - out:          owned by the caller; release it with nc_parts_free().
/// - content_type: the response's Content-Type: a multipart type with a boundary (RFC 2046, 5.1.1: 1 to 70 bchars, not
///   ending with a space; for multipart/x-mixed-replace visible ASCII characters).
/// - options:      NULL means all zero; copied.
/// Returns NC_OK, NC_ERR_BAD_RESPONSE (another type, or no valid boundary), NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_parts_new(nc_parts *NC_NULLABLE *NC_NONNULL out, nc_slice content_type,
                                           const nc_parts_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);
/// Frees a parser. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_parts_free(nc_parts *NC_NULLABLE parts);

/// Returns the next event and advances `in` past the consumed bytes.
///
/// - event: written on success.
/// Returns NC_OK; with err->offset counted from the body's start: NC_ERR_BAD_RESPONSE, NC_ERR_HEAD_TOO_LARGE (fields),
/// NC_ERR_TOO_LARGE (parts, content, preamble); or NC_ERR_NO_MEMORY. After an error it returns the same error again.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_parts_next(nc_parts *parts, nc_slice *in, nc_parts_event *event,
                                            nc_error *NC_NULLABLE err);

/// Reports the end of the body.
///
/// Returns NC_OK, NC_ERR_CUT_SHORT without the last boundary (err->offset is the body's length), or an earlier error.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_parts_finish(const nc_parts *parts, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
