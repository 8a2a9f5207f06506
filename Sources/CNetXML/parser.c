#if defined(NETKIT_XML) || !defined(SWIFT_PACKAGE)
#include "parser.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BYTES = 64 << 20, DEFAULT_TOKEN_BYTES = 1 << 20 };

static pthread_once_t begun = PTHREAD_ONCE_INIT;

// Never XML_PARSE_NOENT, DTDLOAD, DTDATTR, DTDVALID or HUGE. libxml2's own limits stay in force.
static const int parse_options = XML_PARSE_NONET | XML_PARSE_IGNORE_ENC;

/* --- creation --- */

static nc_xml_status refuse(nc_xml_error *err, nc_xml_status status, const char *message) {
    if (err != NULL) {
        *err = (nc_xml_error){.status = status};
        snprintf(err->message, sizeof err->message, "%s", message);
    }
    return status;
}

nc_xml_status nc_xml_parser_new(nc_xml_parser **out, const nc_xml_options *options, nc_xml_event_fn on_event, void *ctx,
                                nc_xml_error *err) {
    nc_xml_options chosen = options == NULL ? (nc_xml_options){0} : *options;
    if (out == NULL || on_event == NULL || chosen.max_depth > NC_XML_MAX_DEPTH) {
        return refuse(err, NC_XML_USAGE, "an argument is missing or out of range");
    }
    pthread_once(&begun, xmlInitParser);
    if (chosen.charset != NULL && !charset_is_known(chosen.charset)) {
        nc_xml_status status = refuse(err, NC_XML_BAD_CHARSET, "");
        if (err != NULL) {
            snprintf(err->message, sizeof err->message, "the charset '%.63s' is unknown", chosen.charset);
        }
        return status;
    }
    nc_xml_parser *parser = calloc(1, sizeof *parser);
    if (parser == NULL) {
        return refuse(err, NC_XML_NO_MEMORY, "memory ran out");
    }
    handler_init(&parser->handler);
    parser->on_event = on_event;
    parser->ctx = ctx;
    parser->options = chosen;
    parser->options.charset = NULL;
    parser->options.max_bytes = chosen.max_bytes == 0 ? DEFAULT_BYTES : chosen.max_bytes;
    parser->options.max_token_bytes = chosen.max_token_bytes == 0 ? DEFAULT_TOKEN_BYTES : chosen.max_token_bytes;
    parser->options.max_depth = chosen.max_depth == 0 ? NC_XML_MAX_DEPTH : chosen.max_depth;
    if (chosen.charset != NULL) {
        snprintf(parser->charset, sizeof parser->charset, "%s", chosen.charset);
    }
    // The callbacks' context is not libxml2's own, which would look up entities by itself.
    parser->ctxt = xmlCreatePushParserCtxt(&parser->handler, parser, NULL, 0, NULL);
    if (parser->ctxt == NULL) {
        free(parser);
        return refuse(err, NC_XML_NO_MEMORY, "memory ran out");
    }
    xmlCtxtUseOptions(parser->ctxt, parse_options);
    // Otherwise an "&" in an attribute stays "&#38;", which a libxml2 tree would parse again. No entity can be
    // replaced, because none is ever found.
    parser->ctxt->replaceEntities = 1;
    xmlSwitchEncoding(parser->ctxt, XML_CHAR_ENCODING_UTF8);
    *out = parser;
    return NC_XML_OK;
}

void nc_xml_parser_free(nc_xml_parser *parser) {
    if (parser != NULL) {
        // libxml2 stores a document type's entities in a document that it creates.
        xmlDocPtr kept = parser->ctxt->myDoc;
        parser->ctxt->myDoc = NULL;
        xmlFreeParserCtxt(parser->ctxt);
        xmlFreeDoc(kept);
        converter_deinit(&parser->converter);
        free(parser);
    }
}

/* --- reading --- */

/// Counts possible attributes in an incomplete start tag. libxml2 compares each attribute with all others.
static bool has_too_many_attributes(const xmlChar *tag, const xmlChar *end) {
    if (end - tag < 2 || tag[0] != '<' || tag[1] == '!' || tag[1] == '?' || tag[1] == '/') {
        return false;
    }
    size_t count = 0;
    xmlChar quote = 0;
    for (; tag < end; tag++) {
        if (quote != 0) {
            quote = *tag == quote ? 0 : quote;
        } else if (*tag == '"' || *tag == '\'') {
            quote = *tag;
        } else {
            count += *tag == '=';
        }
    }
    return count > NC_XML_MAX_ATTRIBUTES;
}

/// Limits what libxml2 buffers until a token is complete.
static void check_backlog(nc_xml_parser *parser) {
    xmlParserInputPtr input = parser->ctxt->input;
    if (parser->error.status != NC_XML_OK || input == NULL || input->end <= input->cur) {
        return;
    }
    size_t waiting = (size_t)(input->end - input->cur);
    bool is_cdata = parser->ctxt->instate == XML_PARSER_CDATA_SECTION;
    if (waiting > (is_cdata ? NC_XML_MAX_CDATA_BYTES : parser->options.max_token_bytes)) {
        parser_fail(parser, NC_XML_TOO_LARGE, "a tag, comment or other markup is too long", NULL);
    } else if (!is_cdata && waiting >= PIECE_BYTES / 2 && has_too_many_attributes(input->cur, input->end)) {
        parser_fail(parser, NC_XML_TOO_LARGE, "an element has too many attributes or namespaces", NULL);
    }
}

static void say_nothing(void *ctx, const char *format, ...) {
    (void)ctx;
    (void)format;
}

/// libxml2 reports invalid UTF-8 to standard error. The hook is thread-local, and is restored.
static int parse_quietly(xmlParserCtxtPtr ctxt, const uint8_t *bytes, size_t count, bool is_last) {
    xmlGenericErrorFunc before = xmlGenericError;
    void *context = xmlGenericErrorContext;
    xmlSetGenericErrorFunc(NULL, say_nothing);
    int result = xmlParseChunk(ctxt, (const char *)bytes, (int)count, is_last);
    xmlSetGenericErrorFunc(context, before);
    return result;
}

static void parse(nc_xml_parser *parser, const uint8_t *bytes, size_t count, bool is_last) {
    if (parser->error.status != NC_XML_OK) {
        return;
    }
    if (parser->ctxt->instate == XML_PARSER_DTD) {
        // If libxml2 continued its search for the end here, it would forget that it is in a comment.
        parser->ctxt->checkIndex = 0;
    }
    int result = parse_quietly(parser->ctxt, bytes, count, is_last);
    // After libxml2 errors that did not stop the parser, the text counts as well-formed.
    bool is_undone = is_last && (parser->depth > 0 || !parser->has_root);
    if (parser->error.status == NC_XML_OK &&
        (!parser->ctxt->wellFormed || result == XML_ERR_INVALID_ENCODING || is_undone)) {
        bool is_memory = result == XML_ERR_NO_MEMORY;
        parser_fail(parser, is_memory ? NC_XML_NO_MEMORY : NC_XML_MALFORMED, "the text is not well-formed", NULL);
        parser->error.native_code = result;
    }
    check_backlog(parser);
}

static void parse_gathered(nc_xml_parser *parser) {
    size_t count = parser->gathered_count;
    parser->gathered_count = 0;
    if (count > 0) {
        parse(parser, parser->gathered, count, false);
    }
}

/// libxml2 scans a document type from its beginning with each piece, so a long one is collected into large pieces.
static bool gathers(const nc_xml_parser *parser) {
    xmlParserInputPtr input = parser->ctxt->input;
    bool is_long = input != NULL && input->end - input->cur > (ptrdiff_t)sizeof parser->gathered;
    return parser->gathered_count > 0 || (parser->ctxt->instate == XML_PARSER_DTD && is_long);
}

static bool parse_more(void *ctx, const uint8_t *bytes, size_t count) {
    nc_xml_parser *parser = ctx;
    while (count > 0 && parser->error.status == NC_XML_OK) {
        bool waits = gathers(parser);
        size_t room = waits ? sizeof parser->gathered - parser->gathered_count : PIECE_BYTES;
        size_t piece = count < room ? count : room;
        if (waits) {
            memcpy(parser->gathered + parser->gathered_count, bytes, piece);
            parser->gathered_count += piece;
        } else {
            parse(parser, bytes, piece, false);
        }
        if (parser->gathered_count == sizeof parser->gathered) {
            parse_gathered(parser);
        }
        bytes += piece;
        count -= piece;
    }
    return parser->error.status == NC_XML_OK;
}

/// Line ends become line feeds (XML 1.0, 2.11). libxml2 does not convert them in CDATA sections.
static bool parse_lines(void *ctx, const uint8_t *bytes, size_t count) {
    nc_xml_parser *parser = ctx;
    uint8_t lines[PIECE_BYTES];
    size_t kept = 0;
    if (!parser->is_behind_return && memchr(bytes, '\r', count) == NULL) {
        return parse_more(parser, bytes, count);
    }
    for (size_t i = 0; i < count; i++) {
        bool is_told = bytes[i] == '\n' && parser->is_behind_return;
        parser->is_behind_return = bytes[i] == '\r';
        if (!is_told) {
            lines[kept++] = parser->is_behind_return ? '\n' : bytes[i];
        }
        if (kept == sizeof lines && !parse_more(parser, lines, kept)) {
            return false;
        }
        kept %= sizeof lines;
    }
    return kept == 0 || parse_more(parser, lines, kept);
}

static void convert(nc_xml_parser *parser, const uint8_t *bytes, size_t count) {
    if (parser->error.status == NC_XML_OK && !converter_feed(&parser->converter, bytes, count, parse_lines, parser)) {
        parser_fail(parser, NC_XML_MALFORMED, "a byte is not valid in the charset of the text", NULL);
    }
}

static void begin(nc_xml_parser *parser) {
    char charset[CHARSET_BYTES];
    parser->has_begun = true;
    size_t mark_bytes = charset_find(charset, parser->charset, parser->head, parser->head_count);
    if (!converter_init(&parser->converter, charset)) {
        parser_fail(parser, NC_XML_MALFORMED, "the charset '%s' is unknown", charset);
        return;
    }
    convert(parser, parser->head + mark_bytes, parser->head_count - mark_bytes);
}

static nc_xml_status outcome(const nc_xml_parser *parser, nc_xml_error *err) {
    if (err != NULL && parser->error.status != NC_XML_OK) {
        *err = parser->error;
    }
    return parser->error.status;
}

nc_xml_status nc_xml_parser_feed(nc_xml_parser *parser, const uint8_t *bytes, size_t count, nc_xml_error *err) {
    if (parser == NULL || (bytes == NULL && count > 0) || (parser->is_over && parser->error.status == NC_XML_OK)) {
        return refuse(err, NC_XML_USAGE, "an argument is missing, or the parser was already finished");
    }
    if (parser->error.status == NC_XML_OK && count > parser->options.max_bytes - parser->fed_bytes) {
        parser_fail(parser, NC_XML_TOO_LARGE, "the text is too long", NULL);
    }
    parser->fed_bytes += parser->error.status == NC_XML_OK ? count : 0;
    while (count > 0 && !parser->has_begun) {
        parser->head[parser->head_count++] = *bytes++;
        count--;
        if (!charset_needs_more(parser->head, parser->head_count, parser->charset[0] != '\0')) {
            begin(parser);
        }
    }
    convert(parser, bytes, count);
    return outcome(parser, err);
}

nc_xml_status nc_xml_parser_finish(nc_xml_parser *parser, nc_xml_error *err) {
    if (parser == NULL) {
        return refuse(err, NC_XML_USAGE, "an argument is missing");
    }
    if (!parser->is_over && parser->error.status == NC_XML_OK) {
        if (!parser->has_begun) {
            begin(parser);
        }
        if (parser->error.status == NC_XML_OK && !converter_end(&parser->converter, parse_lines, parser)) {
            parser_fail(parser, NC_XML_MALFORMED, "the text is incomplete: it ends within a character", NULL);
        }
        parse_gathered(parser);
        parse(parser, NULL, 0, true);
        parser_flush_text(parser);
    }
    parser->is_over = true;
    return outcome(parser, err);
}
#endif
