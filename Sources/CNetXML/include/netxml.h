/// Reads XML 1.0 as it arrives, over the system's libxml2, and tells what it meets one event after the other.
///
/// It refuses to fetch anything and to expand anything: no external subset, no external entity, and none of the
/// document's own; a reference to one is an error. Depth, attributes, the length of one tag and of the whole are
/// limited.
///
///     nc_xml_parser *parser;
///     if (nc_xml_parser_new(&parser, NULL, on_event, ctx, &err) == NC_XML_OK &&
///         nc_xml_parser_feed(parser, bytes, count, &err) == NC_XML_OK)
///         status = nc_xml_parser_finish(parser, &err);
#ifndef NETXML_H
#define NETXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#define NC_XML_ENUM(name) enum __attribute__((enum_extensibility(open))) name
#define NC_XML_NULLABLE _Nullable
#define NC_XML_BEGIN                                                                                                   \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                   \
        _Pragma("clang assume_nonnull begin")
#define NC_XML_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
#define NC_XML_ENUM(name) enum name
#define NC_XML_NULLABLE
#define NC_XML_BEGIN
#define NC_XML_END
#endif
NC_XML_BEGIN

/// What became of a call.
typedef NC_XML_ENUM(nc_xml_status){
    /// It worked.
    NC_XML_OK = 0,
    /// An argument is missing or out of range, or the parser was finished.
    NC_XML_USAGE = 1,
    /// Memory ran out.
    NC_XML_NO_MEMORY = 2,
    /// The text is no well-formed XML.
    NC_XML_MALFORMED = 3,
    /// A limit was reached.
    NC_XML_TOO_LARGE = 4,
    /// The text refers to an entity other than the five that XML itself has.
    NC_XML_ENTITY = 5,
    /// The charset is unknown.
    NC_XML_BAD_CHARSET = 6,
    /// on_event returned false.
    NC_XML_STOPPED = 7,
} nc_xml_status;

/// What went wrong, in the caller's own storage.
typedef struct nc_xml_error {
    /// The same value that the call returned.
    nc_xml_status status;
    /// libxml2's number of the error; 0 where it is not libxml2's.
    int32_t native_code;
    /// The line, from 1; 0 where no place applies.
    uint32_t line;
    /// The column in bytes of UTF-8, from 1; 0 where no place applies.
    uint32_t column;
    /// One line, lower-case start, no trailing period; may quote the text.
    char message[200];
} nc_xml_error;

/// What was met.
typedef NC_XML_ENUM(nc_xml_kind){
    /// A start tag: names, attributes and namespaces.
    NC_XML_START = 1,
    /// An end tag, or the end of an empty element: names.
    NC_XML_END_TAG = 2,
    /// Text, with that of CDATA sections; in pieces of at most NC_XML_TEXT_BYTES.
    NC_XML_TEXT = 3,
    /// A comment.
    NC_XML_COMMENT = 4,
    /// A processing instruction: its target is `local`, its data `text`.
    NC_XML_INSTRUCTION = 5,
    /// A document type declaration: the root's name is `local`, the public identifier `prefix`, the system's `uri`.
    NC_XML_DOCTYPE = 6,
} nc_xml_kind;

enum {
    /// The longest text of one event, in bytes.
    NC_XML_TEXT_BYTES = 64 << 10,
    /// The deepest that elements may stand.
    NC_XML_MAX_DEPTH = 256,
    /// The most attributes and namespace declarations of one element, and the most namespaces in force at once.
    NC_XML_MAX_ATTRIBUTES = 256,
    /// The longest CDATA section, in bytes of UTF-8: libxml2 may keep one until it has ended.
    NC_XML_MAX_CDATA_BYTES = 4 << 20,
};

/// UTF-8 text that is not terminated; `bytes` is NULL where there is none.
typedef struct nc_xml_text {
    /// The first byte, borrowed for the call.
    const char *NC_XML_NULLABLE bytes;
    /// How many there are.
    size_t count;
} nc_xml_text;

/// An attribute, or a namespace declaration.
typedef struct nc_xml_attribute {
    /// The name behind the colon; the declared prefix of a namespace.
    nc_xml_text local;
    /// The prefix; none where there is no colon.
    nc_xml_text prefix;
    /// The namespace of the prefix; none where it has none.
    nc_xml_text uri;
    /// The value, its references undone; a namespace's name.
    nc_xml_text value;
} nc_xml_attribute;

/// One thing that was met. Everything in it is borrowed for the call.
typedef struct nc_xml_event {
    /// What it is.
    nc_xml_kind kind;
    /// The name behind the colon.
    nc_xml_text local;
    /// The prefix.
    nc_xml_text prefix;
    /// The namespace.
    nc_xml_text uri;
    /// The text.
    nc_xml_text text;
    /// The attributes in their order, without those that only a document type brings.
    const nc_xml_attribute *NC_XML_NULLABLE attributes;
    /// How many there are.
    size_t attribute_count;
    /// The namespaces that the element declares.
    const nc_xml_attribute *NC_XML_NULLABLE namespaces;
    /// How many there are.
    size_t namespace_count;
} nc_xml_event;

/// Hears what was met; false ends the parser with NC_XML_STOPPED.
typedef bool (*nc_xml_event_fn)(void *NC_XML_NULLABLE ctx, const nc_xml_event *event);

/// How a text is read; all zero is the default.
typedef struct nc_xml_options {
    /// The whole text, in bytes; 0 is 64 MiB.
    size_t max_bytes;
    /// One tag, comment, instruction or document type, in bytes of UTF-8; 0 is 1 MiB.
    size_t max_token_bytes;
    /// How deep elements may stand, up to NC_XML_MAX_DEPTH; 0 is that.
    size_t max_depth;
    /// The charset that is known from elsewhere (RFC 7303, 3); a byte order mark counts more, and without it the text's
    /// own declaration counts. NULL is none; borrowed for the call.
    const char *NC_XML_NULLABLE charset;
} nc_xml_options;

/// A text that is being read. Confined: one thread at a time.
typedef struct nc_xml_parser nc_xml_parser;

/// Makes a parser.
///
/// - out:      owned by the caller; release with nc_xml_parser_free().
/// - options:  NULL is the default.
/// - on_event: called during nc_xml_parser_feed() and nc_xml_parser_finish(), with `ctx`.
/// Returns NC_XML_OK, NC_XML_USAGE for a limit out of range, NC_XML_BAD_CHARSET, NC_XML_NO_MEMORY. Thread-safe.
nc_xml_status nc_xml_parser_new(nc_xml_parser *NC_XML_NULLABLE *NC_XML_NULLABLE out,
                                const nc_xml_options *NC_XML_NULLABLE options, nc_xml_event_fn on_event,
                                void *NC_XML_NULLABLE ctx, nc_xml_error *NC_XML_NULLABLE err);

/// Reads on. Whether a text is well-formed does not depend on how it is cut into pieces, nor do the events of one that
/// is; which of several faults ends another one may.
///
/// Returns NC_XML_OK, or what ended the parser: every later call returns the same. Confined: one thread at a time.
nc_xml_status nc_xml_parser_feed(nc_xml_parser *parser, const uint8_t *NC_XML_NULLABLE bytes, size_t count,
                                 nc_xml_error *NC_XML_NULLABLE err);

/// Tells that the text is over.
///
/// Returns NC_XML_OK when it was well-formed, or what ended the parser. Confined: one thread at a time.
nc_xml_status nc_xml_parser_finish(nc_xml_parser *parser, nc_xml_error *NC_XML_NULLABLE err);

/// Frees the parser; NULL is ignored. Not from within on_event.
void nc_xml_parser_free(nc_xml_parser *NC_XML_NULLABLE parser);

NC_XML_END
#ifdef __cplusplus
}
#endif

#endif
