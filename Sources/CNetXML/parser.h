/// The parser's state, and how it fails.
#ifndef NETXML_PARSER_H
#define NETXML_PARSER_H

#include "charset.h"
#include "netxml.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>

enum {
    /// Attribute defaults of a document type. libxml2 tries each one for every element.
    MAX_DEFAULTS = 32,
    /// Maximum bytes per call of libxml2.
    PIECE_BYTES = 16 << 10,
};

struct nc_xml_parser {
    xmlSAXHandler handler;
    xmlParserCtxtPtr ctxt;
    nc_xml_options options;
    nc_xml_event_fn on_event;
    void *ctx;
    /// The first failure, which is kept.
    nc_xml_error error;
    char charset[CHARSET_BYTES];
    charset_converter converter;
    uint8_t head[HEAD_BYTES];
    size_t head_count;
    bool has_begun;
    bool is_over;
    bool has_root;
    /// The previous byte was a carriage return, which ended its line.
    bool is_behind_return;
    size_t fed_bytes;
    size_t depth;
    size_t default_count;
    size_t namespaces_in_force;
    /// By depth: number of namespaces that the element declared.
    uint16_t declared[NC_XML_MAX_DEPTH];
    nc_xml_attribute attributes[NC_XML_MAX_ATTRIBUTES];
    nc_xml_attribute namespaces[NC_XML_MAX_ATTRIBUTES];
    size_t text_count;
    char text[NC_XML_TEXT_BYTES];
    /// Bytes of a long document type that libxml2 has not received.
    size_t gathered_count;
    uint8_t gathered[PIECE_BYTES];
};

/// Fills in the callbacks.
void handler_init(xmlSAXHandler *handler);

/// Ends the parser. An earlier failure is kept.
void parser_fail(nc_xml_parser *parser, nc_xml_status status, const char *message, const char *subject);

/// Delivers the collected text.
void parser_flush_text(nc_xml_parser *parser);

#endif
