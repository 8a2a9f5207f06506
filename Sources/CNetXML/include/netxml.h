/// Parses XML 1.0 incrementally with the system's libxml2, and reports one event after the other.
///
/// It never fetches or expands anything: no external subset, no external entity, no entity of the document. A reference
/// to one is an error. Depth, attributes, the length of a tag and the length of the text are limited.
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

/// The result of a call.
typedef NC_XML_ENUM(nc_xml_status){
    /// Success.
    NC_XML_OK = 0,
    /// An argument is missing or out of range, or the parser was finished.
    NC_XML_USAGE = 1,
    /// Memory is exhausted.
    NC_XML_NO_MEMORY = 2,
    /// The text is not well-formed XML.
    NC_XML_MALFORMED = 3,
    /// A limit was exceeded.
    NC_XML_TOO_LARGE = 4,
    /// The text refers to an entity other than XML's five predefined ones.
    NC_XML_ENTITY = 5,
    /// The charset is unknown.
    NC_XML_BAD_CHARSET = 6,
    /// on_event returned false.
    NC_XML_STOPPED = 7,
} nc_xml_status;

/// Details of a failure, in the caller's storage.
typedef struct nc_xml_error {
    /// The value that the call returned.
    nc_xml_status status;
    /// libxml2's error number; 0 if the error is not from libxml2.
    int32_t native_code;
    /// The line, from 1; 0 if there is none.
    uint32_t line;
    /// The column in bytes of UTF-8, from 1; 0 if there is none.
    uint32_t column;
    /// One line, lower-case start, no trailing period; may quote the text.
    char message[200];
} nc_xml_error;

/// The kind of an event.
typedef NC_XML_ENUM(nc_xml_kind){
    /// A start tag: names, attributes and namespaces.
    NC_XML_START = 1,
    /// An end tag, or the end of an empty element: names.
    NC_XML_END_TAG = 2,
    /// Text, including CDATA sections, in pieces of at most NC_XML_TEXT_BYTES.
    NC_XML_TEXT = 3,
    /// A comment.
    NC_XML_COMMENT = 4,
    /// A processing instruction: `local` is its target, `text` its data.
    NC_XML_INSTRUCTION = 5,
    /// A document type declaration: `local` is the root's name, `prefix` the public identifier, `uri` the system
    /// identifier.
    NC_XML_DOCTYPE = 6,
} nc_xml_kind;

enum {
    /// The longest text of one event, in bytes.
    NC_XML_TEXT_BYTES = 64 << 10,
    /// The maximum depth of elements.
    NC_XML_MAX_DEPTH = 256,
    /// The maximum number of attributes and namespace declarations of one element, and of namespaces in scope.
    NC_XML_MAX_ATTRIBUTES = 256,
    /// The longest CDATA section, in bytes of UTF-8. libxml2 may buffer a section until its end.
    NC_XML_MAX_CDATA_BYTES = 4 << 20,
};

/// UTF-8 text without a NUL; `bytes` is NULL if it is absent.
typedef struct nc_xml_text {
    /// The first byte, borrowed for the call.
    const char *NC_XML_NULLABLE bytes;
    /// The number of bytes.
    size_t count;
} nc_xml_text;

/// An attribute, or a namespace declaration.
typedef struct nc_xml_attribute {
    /// The name after the colon; for a namespace, the declared prefix.
    nc_xml_text local;
    /// The prefix; absent without a colon.
    nc_xml_text prefix;
    /// The namespace of the prefix; absent if it has none.
    nc_xml_text uri;
    /// The value with references replaced; for a namespace, its name.
    nc_xml_text value;
} nc_xml_attribute;

/// One event. Everything in it is borrowed for the call.
typedef struct nc_xml_event {
    /// The kind.
    nc_xml_kind kind;
    /// The name after the colon.
    nc_xml_text local;
    /// The prefix.
    nc_xml_text prefix;
    /// The namespace.
    nc_xml_text uri;
    /// The text.
    nc_xml_text text;
    /// The attributes in document order, without those that only the document type adds.
    const nc_xml_attribute *NC_XML_NULLABLE attributes;
    /// Their number.
    size_t attribute_count;
    /// The namespaces that the element declares.
    const nc_xml_attribute *NC_XML_NULLABLE namespaces;
    /// Their number.
    size_t namespace_count;
} nc_xml_event;

/// Receives an event. Returning false ends the parser with NC_XML_STOPPED.
typedef bool (*nc_xml_event_fn)(void *NC_XML_NULLABLE ctx, const nc_xml_event *event);

/// Options of a parser. A zeroed struct means the defaults.
typedef struct nc_xml_options {
    /// Limit of the whole text, in bytes; 0 means 64 MiB.
    size_t max_bytes;
    /// Limit of one tag, comment, instruction or document type, in bytes of UTF-8; 0 means 1 MiB.
    size_t max_token_bytes;
    /// Limit of the depth, at most NC_XML_MAX_DEPTH; 0 means that.
    size_t max_depth;
    /// The charset from the transport (RFC 7303, 3); NULL for none. A byte order mark takes precedence. Without either,
    /// the text's declaration applies. Borrowed for the call.
    const char *NC_XML_NULLABLE charset;
} nc_xml_options;

/// A parser of one text. Confined: one thread at a time.
typedef struct nc_xml_parser nc_xml_parser;

/// Creates a parser.
///
/// - out:      owned by the caller; release with nc_xml_parser_free().
/// - options:  NULL means the defaults.
/// - on_event: called during nc_xml_parser_feed() and nc_xml_parser_finish(), with `ctx`.
/// Returns NC_XML_OK, NC_XML_USAGE for a limit out of range, NC_XML_BAD_CHARSET, NC_XML_NO_MEMORY. Thread-safe.
nc_xml_status nc_xml_parser_new(nc_xml_parser *NC_XML_NULLABLE *NC_XML_NULLABLE out,
                                const nc_xml_options *NC_XML_NULLABLE options, nc_xml_event_fn on_event,
                                void *NC_XML_NULLABLE ctx, nc_xml_error *NC_XML_NULLABLE err);

/// Parses the next piece. How a text is cut into pieces affects neither its well-formedness nor the events of a
/// well-formed text. If a text has several errors, it may affect which one is reported.
///
/// Returns NC_XML_OK, or the failure that ended the parser; every later call returns the same. Confined: one thread at
/// a time.
nc_xml_status nc_xml_parser_feed(nc_xml_parser *parser, const uint8_t *NC_XML_NULLABLE bytes, size_t count,
                                 nc_xml_error *NC_XML_NULLABLE err);

/// Ends the text.
///
/// Returns NC_XML_OK if it was well-formed, or the failure that ended the parser. Confined: one thread at a time.
nc_xml_status nc_xml_parser_finish(nc_xml_parser *parser, nc_xml_error *NC_XML_NULLABLE err);

/// Frees the parser; NULL is ignored. Must not be called from on_event.
void nc_xml_parser_free(nc_xml_parser *NC_XML_NULLABLE parser);

NC_XML_END
#ifdef __cplusplus
}
#endif

#endif
