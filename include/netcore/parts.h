/// A multipart body taken apart as it arrives (RFC 2046, 5.1.1): multipart/mixed, multipart/x-mixed-replace and any
/// other multipart type. What makes such a body is <netcore/multipart.h>.
///
/// Fed with whatever a connection brings, cut anywhere, it gives each part's fields, its content and its end, and the
/// same for every way of cutting. It is strict where two readers could come to see two sets of parts: lines end with CR
/// LF, a line that begins with the boundary holds nothing else, and the last boundary has to come. Nothing but the
/// boundary tells where a part ends, a Content-Length in it neither; content codings of parts are the caller's.
///
/// A boundary that is declared with its hyphens ("boundary=--b") is found without further ones too; the first line
/// decides. multipart/x-mixed-replace, which cameras send, is read as browsers read it: the first part may come without
/// a boundary before it, lines may end with LF, and both forms of a boundary may come in one stream.
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

/// Parts of a body, unless it is told otherwise.
#define NC_PARTS_DEFAULT_MAX_PARTS 10000u
/// A part's fields, in bytes with the empty line behind them, unless it is told otherwise.
#define NC_PARTS_DEFAULT_MAX_HEAD_BYTES 16384u
/// A part's content, in bytes, unless it is told otherwise.
#define NC_PARTS_DEFAULT_MAX_PART_BYTES (64u * 1024u * 1024u)
/// Fields of a part at most.
#define NC_PARTS_MAX_FIELDS 64u
/// What may stand before the first boundary, in bytes.
#define NC_PARTS_MAX_PREAMBLE_BYTES 65536u
/// Blanks behind a boundary at most, in bytes.
#define NC_PARTS_MAX_PADDING_BYTES 256u

/// A multipart body that is being read.
typedef struct nc_parts nc_parts;

/// How much a body may be; all zero is the default beside each.
typedef struct nc_parts_options {
    /// Parts (NC_PARTS_DEFAULT_MAX_PARTS); UINT64_MAX is no limit, as for pictures that replace each other for days.
    uint64_t max_parts;
    /// Bytes of one part's content (NC_PARTS_DEFAULT_MAX_PART_BYTES).
    uint64_t max_part_bytes;
    /// Bytes of one part's fields (NC_PARTS_DEFAULT_MAX_HEAD_BYTES).
    size_t max_head_bytes;
} nc_parts_options;

/// What an event tells.
typedef NC_ENUM(nc_parts_kind){
    /// All that was fed is taken.
    NC_PARTS_NEEDS_MORE,
    /// A part begins: its fields.
    NC_PARTS_HEAD,
    /// A piece of its content, of one byte at least; pieces depend on how the body was cut.
    NC_PARTS_CONTENT,
    /// It is whole.
    NC_PARTS_PART_END,
    /// The last boundary was met. What is fed behind it is dropped, but for what may not stand in its line.
    NC_PARTS_END,
} nc_parts_kind;

/// One event; what it views lives until the next call.
typedef struct nc_parts_event {
    /// What it tells.
    nc_parts_kind kind;
    /// With NC_PARTS_HEAD: the fields, in order, folded lines as one (RFC 5322, 2.2.3), with two blanks where the line
    /// ended; names are tokens.
    const nc_header *NC_NULLABLE fields;
    /// Number of fields; a part may have none.
    size_t field_count;
    /// With NC_PARTS_CONTENT: the bytes, of what was fed or of the reader.
    nc_slice bytes;
} nc_parts_event;

/// Begins a body.
///
/// - out:          owned by the caller; release with nc_parts_free().
/// - content_type: the Content-Type field of the response: a multipart type with a boundary (RFC 2046, 5.1.1: 1 to 70
///                 of bchars, not ending in a space; for multipart/x-mixed-replace of visible ASCII characters).
/// - options:      NULL means all zero; copied.
/// Returns NC_OK, NC_ERR_BAD_RESPONSE (another type, or no boundary that may be one), NC_ERR_NO_MEMORY. Pure; call from
/// any thread.
NC_API NC_NODISCARD nc_status nc_parts_new(nc_parts *NC_NULLABLE *NC_NONNULL out, nc_slice content_type,
                                           const nc_parts_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);
/// Frees a reader; NULL is harmless.
///
/// Confined: one thread at a time.
NC_API void nc_parts_free(nc_parts *NC_NULLABLE parts);

/// Gives what comes next of `in`, which is moved on by what was taken.
///
/// - event: written on success.
/// Returns NC_OK; with err->offset the byte at fault, counted from the body's start: NC_ERR_BAD_RESPONSE,
/// NC_ERR_HEAD_TOO_LARGE (fields), NC_ERR_TOO_LARGE (parts, content, what stands before the first boundary); or
/// NC_ERR_NO_MEMORY. After a failure it fails in the same way again. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_parts_next(nc_parts *parts, nc_slice *in, nc_parts_event *event,
                                            nc_error *NC_NULLABLE err);

/// Tells that the body has ended.
///
/// Returns NC_OK, NC_ERR_CUT_SHORT without the last boundary (err->offset is the body's length), or the failure that
/// there was. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_parts_finish(const nc_parts *parts, nc_error *NC_NULLABLE err);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
