#if defined(NETKIT_XML) || !defined(SWIFT_PACKAGE)
#include "parser.h"

#include <ctype.h>
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <string.h>

static nc_xml_text text_of(const xmlChar *text) {
    return (nc_xml_text){.bytes = (const char *)text, .count = text == NULL ? 0 : strlen((const char *)text)};
}

/// Returns true if events are still delivered. After a failure libxml2 may report more.
static bool is_live(const nc_xml_parser *parser) {
    return parser->error.status == NC_XML_OK;
}

static void tell(nc_xml_parser *parser, const nc_xml_event *event) {
    if (is_live(parser) && !parser->on_event(parser->ctx, event)) {
        parser_fail(parser, NC_XML_STOPPED, "the event callback stopped the parser", NULL);
    }
}

void parser_fail(nc_xml_parser *parser, nc_xml_status status, const char *message, const char *subject) {
    if (!is_live(parser)) {
        return;
    }
    nc_xml_error *error = &parser->error;
    error->status = status;
    // Memory may be exhausted while libxml2 creates its context.
    xmlParserInputPtr input = parser->ctxt == NULL ? NULL : parser->ctxt->input;
    error->line = input == NULL || input->line < 0 ? 0 : (uint32_t)input->line;
    error->column = input == NULL || input->col < 0 ? 0 : (uint32_t)input->col;
    if (subject == NULL) {
        snprintf(error->message, sizeof error->message, "%s", message);
    } else {
        snprintf(error->message, sizeof error->message, message, subject);
    }
    if (parser->ctxt != NULL) {
        xmlStopParser(parser->ctxt);
    }
}

void parser_flush_text(nc_xml_parser *parser) {
    if (parser->text_count > 0) {
        nc_xml_event event = {.kind = NC_XML_TEXT, .text = {parser->text, parser->text_count}};
        parser->text_count = 0;
        tell(parser, &event);
    }
}

/* --- callbacks of libxml2 --- */

static void on_text(void *ctx, const xmlChar *text, int length) {
    nc_xml_parser *parser = ctx;
    size_t left = length < 0 ? 0 : (size_t)length;
    while (left > 0 && is_live(parser)) {
        size_t room = sizeof parser->text - parser->text_count;
        size_t count = left < room ? left : room;
        // A character is never split, so the cuts do not depend on how the text arrived.
        while (count < left && count > 0 && (text[count] & 0xC0) == 0x80) {
            count--;
        }
        memcpy(parser->text + parser->text_count, text, count);
        parser->text_count += count;
        text += count;
        left -= count;
        if (left > 0) {
            parser_flush_text(parser);
        }
    }
}

static void fill_namespaces(nc_xml_parser *parser, int count, const xmlChar **namespaces) {
    for (int i = 0; i < count; i++) {
        parser->namespaces[i] =
            (nc_xml_attribute){.local = text_of(namespaces[2 * i]), .value = text_of(namespaces[2 * i + 1])};
    }
}

static void fill_attributes(nc_xml_parser *parser, int count, const xmlChar **attributes) {
    for (int i = 0; i < count; i++) {
        // Name, prefix, namespace, value, end of value.
        const xmlChar **parts = attributes + 5 * i;
        parser->attributes[i] = (nc_xml_attribute){
            .local = text_of(parts[0]),
            .prefix = text_of(parts[1]),
            .uri = text_of(parts[2]),
            .value = {(const char *)parts[3], (size_t)(parts[4] - parts[3])},
        };
    }
}

static void on_start(void *ctx, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
                     const xmlChar **namespaces, int attribute_count, int default_count, const xmlChar **attributes) {
    nc_xml_parser *parser = ctx;
    parser_flush_text(parser);
    if (!is_live(parser)) {
        return;
    }
    if (parser->depth >= parser->options.max_depth) {
        parser_fail(parser, NC_XML_TOO_LARGE, "the elements are nested too deeply", NULL);
        return;
    }
    if (attribute_count > NC_XML_MAX_ATTRIBUTES || namespace_count > NC_XML_MAX_ATTRIBUTES ||
        parser->namespaces_in_force + (size_t)namespace_count > NC_XML_MAX_ATTRIBUTES) {
        parser_fail(parser, NC_XML_TOO_LARGE, "element \"%s\" has too many attributes or namespaces",
                    (const char *)local);
        return;
    }
    parser->has_root = true;
    parser->declared[parser->depth++] = (uint16_t)namespace_count;
    parser->namespaces_in_force += (size_t)namespace_count;
    fill_namespaces(parser, namespace_count, namespaces);
    // Attributes that the document type adds come last.
    fill_attributes(parser, attribute_count - default_count, attributes);
    nc_xml_event event = {
        .kind = NC_XML_START,
        .local = text_of(local),
        .prefix = text_of(prefix),
        .uri = text_of(uri),
        .attributes = parser->attributes,
        .attribute_count = (size_t)(attribute_count - default_count),
        .namespaces = parser->namespaces,
        .namespace_count = (size_t)namespace_count,
    };
    tell(parser, &event);
}

static void on_end(void *ctx, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri) {
    nc_xml_parser *parser = ctx;
    parser_flush_text(parser);
    if (is_live(parser) && parser->depth > 0) {
        parser->namespaces_in_force -= parser->declared[--parser->depth];
        nc_xml_event event = {
            .kind = NC_XML_END_TAG, .local = text_of(local), .prefix = text_of(prefix), .uri = text_of(uri)};
        tell(parser, &event);
    }
}

static void on_comment(void *ctx, const xmlChar *text) {
    nc_xml_parser *parser = ctx;
    parser_flush_text(parser);
    nc_xml_event event = {.kind = NC_XML_COMMENT, .text = text_of(text)};
    tell(parser, &event);
}

static void on_instruction(void *ctx, const xmlChar *target, const xmlChar *data) {
    nc_xml_parser *parser = ctx;
    parser_flush_text(parser);
    nc_xml_event event = {.kind = NC_XML_INSTRUCTION, .local = text_of(target), .text = text_of(data)};
    tell(parser, &event);
}

static void on_doctype(void *ctx, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id) {
    nc_xml_parser *parser = ctx;
    nc_xml_event event = {
        .kind = NC_XML_DOCTYPE, .local = text_of(name), .prefix = text_of(public_id), .uri = text_of(system_id)};
    tell(parser, &event);
    // If the '[' arrives together with the end, libxml2 treats it as the beginning of the declarations.
    xmlParserInputPtr input = parser->ctxt->input;
    if (input != NULL && input->end - input->cur >= 2 && input->cur[0] == '>' && input->cur[1] == '[') {
        parser_fail(parser, NC_XML_MALFORMED, "declarations appear after their document type", NULL);
    }
}

static void on_attribute_rule(void *ctx, const xmlChar *element, const xmlChar *name, int type, int default_kind,
                              const xmlChar *default_value, xmlEnumerationPtr choices) {
    nc_xml_parser *parser = ctx;
    (void)name;
    (void)type;
    (void)default_kind;
    xmlFreeEnumeration(choices);
    if (default_value != NULL && ++parser->default_count > MAX_DEFAULTS) {
        parser_fail(parser, NC_XML_TOO_LARGE,
                    "the document type has too many default attributes, for example of element \"%s\"",
                    (const char *)element);
    }
}

static void on_reference(void *ctx, const xmlChar *name) {
    parser_fail(ctx, NC_XML_ENTITY, "entity \"%s\" is not expanded", (const char *)name);
}

/// libxml2's messages begin in upper case and end with a line feed. Some are followed by bytes on their own line.
static void take_message(nc_xml_error *error, const char *message) {
    snprintf(error->message, sizeof error->message, "%s", message == NULL ? "the text is malformed" : message);
    size_t length = strcspn(error->message, "\n");
    error->message[length] = '\0';
    while (length > 0 && error->message[length - 1] == '.') {
        error->message[--length] = '\0';
    }
    // An abbreviation keeps its case.
    if (length > 1 && islower((unsigned char)error->message[1])) {
        error->message[0] = (char)tolower((unsigned char)error->message[0]);
    }
}

static void on_error(void *ctx, xmlErrorPtr found) {
    nc_xml_parser *parser = ctx;
    bool is_entity = found->code == XML_WAR_UNDECLARED_ENTITY || found->code == XML_ERR_UNDECLARED_ENTITY;
    bool is_twice = found->code == XML_NS_ERR_ATTRIBUTE_REDEFINED;
    if (!is_live(parser) || (found->level != XML_ERR_FATAL && !is_entity && !is_twice)) {
        return;
    }
    parser_fail(parser, found->code == XML_ERR_NO_MEMORY ? NC_XML_NO_MEMORY : NC_XML_MALFORMED, "", NULL);
    nc_xml_error *error = &parser->error;
    error->native_code = found->code;
    error->line = found->line < 0 ? 0 : (uint32_t)found->line;
    error->column = found->int2 < 0 ? 0 : (uint32_t)found->int2;
    take_message(error, found->message);
    if (is_entity) {
        error->status = NC_XML_ENTITY;
        snprintf(error->message, sizeof error->message, "entity \"%s\" is not expanded",
                 found->str1 == NULL ? "" : found->str1);
    }
}

void handler_init(xmlSAXHandler *handler) {
    // Callbacks that are not set do nothing: no entity is stored or looked up, and nothing external is resolved.
    *handler = (xmlSAXHandler){
        .initialized = XML_SAX2_MAGIC,
        .internalSubset = on_doctype,
        .attributeDecl = on_attribute_rule,
        .reference = on_reference,
        .startElementNs = on_start,
        .endElementNs = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_text,
        .comment = on_comment,
        .processingInstruction = on_instruction,
        .serror = on_error,
    };
}
#endif
