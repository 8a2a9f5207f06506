/// Covers: ../CNetXML/parser.c ../CNetXML/charset.c ../CNetXML/handler.c
///
/// Whether a text is well-formed does not depend on its pieces, nor do the events of a well-formed one. Elements close
/// in the reverse order of opening.
/// Input: the charset's number, the size of the pieces (two bytes), the text.
#include "input.h"

#include <netxml.h>
#include <string.h>

static const char *const charsets[] = {NULL, "utf-8", "iso-8859-1", "utf-16le", "gb18030", "Shift_JIS", "us-ascii"};

typedef struct witness {
    uint64_t sum;
    size_t depth;
    size_t events;
} witness;

static void mix(witness *seen, nc_xml_text text) {
    CHECK(text.bytes != NULL || text.count == 0);
    seen->sum = seen->sum * 31 + text.count;
    for (size_t i = 0; i < text.count; i++) {
        seen->sum = (seen->sum ^ (uint8_t)text.bytes[i]) * 1099511628211u;
    }
}

static bool on_event(void *ctx, const nc_xml_event *event) {
    witness *seen = ctx;
    seen->events++;
    seen->sum = seen->sum * 7 + (uint64_t)event->kind;
    if (event->kind == NC_XML_START) {
        CHECK(seen->depth++ < NC_XML_MAX_DEPTH);
    } else if (event->kind == NC_XML_END_TAG) {
        CHECK(seen->depth-- > 0);
    }
    CHECK(event->attribute_count <= NC_XML_MAX_ATTRIBUTES && event->namespace_count <= NC_XML_MAX_ATTRIBUTES);
    mix(seen, event->local);
    mix(seen, event->prefix);
    mix(seen, event->uri);
    mix(seen, event->text);
    for (size_t i = 0; i < event->attribute_count; i++) {
        mix(seen, event->attributes[i].local);
        mix(seen, event->attributes[i].value);
    }
    return true;
}

static nc_xml_status read_text(witness *seen, nc_slice text, size_t step, const char *charset) {
    nc_xml_options options = {.charset = charset, .max_bytes = 1 << 20, .max_token_bytes = 64 << 10};
    nc_xml_parser *parser = NULL;
    nc_xml_error error = {0};
    nc_xml_status status = nc_xml_parser_new(&parser, &options, on_event, seen, &error);
    for (size_t at = 0; at < text.length && status == NC_XML_OK; at += step) {
        size_t count = text.length - at < step ? text.length - at : step;
        status = nc_xml_parser_feed(parser, text.data + at, count, &error);
    }
    if (status == NC_XML_OK) {
        status = nc_xml_parser_finish(parser, &error);
    }
    CHECK(status == error.status && (status == NC_XML_OK || strlen(error.message) > 0));
    CHECK(status != NC_XML_OK || (seen->depth == 0 && seen->events >= 2));
    nc_xml_parser_free(parser);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    const char *charset = charsets[input_byte(&in) % (sizeof charsets / sizeof *charsets)];
    size_t step = input_number(&in) + 1;
    nc_slice text = input_rest(&in);
    witness whole = {0};
    witness cut = {0};
    nc_xml_status status = read_text(&whole, text, text.length + 1, charset);
    nc_xml_status cut_status = read_text(&cut, text, step, charset);
    // If an incomplete tag has several faults, libxml2 may report a different one first.
    CHECK((status == NC_XML_OK) == (cut_status == NC_XML_OK));
    CHECK(status != NC_XML_OK || (whole.sum == cut.sum && whole.events == cut.events));
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
