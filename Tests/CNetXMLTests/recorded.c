#include "recorded.h"

#include <string.h>

static void append(nc_buf *out, nc_xml_text text) {
    if (text.bytes != NULL) {
        nc_buf_append(out, nc_slice_make((const uint8_t *)text.bytes, text.count));
    }
}

static void append_word(nc_buf *out, const char *word) {
    nc_buf_append(out, nc_slice_of(word));
}

static void append_name(nc_buf *out, const nc_xml_attribute *name) {
    if (name->prefix.bytes != NULL) {
        append(out, name->prefix);
        append_word(out, ":");
    }
    append(out, name->local);
    if (name->uri.bytes != NULL) {
        append_word(out, "{");
        append(out, name->uri);
        append_word(out, "}");
    }
}

static void append_tag(nc_buf *out, const nc_xml_event *event) {
    nc_xml_attribute name = {.local = event->local, .prefix = event->prefix, .uri = event->uri};
    append_word(out, event->kind == NC_XML_START ? "<" : "</");
    append_name(out, &name);
    for (size_t i = 0; i < event->namespace_count; i++) {
        append_word(out, " xmlns:");
        append(out, event->namespaces[i].local);
        append_word(out, "=");
        append(out, event->namespaces[i].value);
    }
    for (size_t i = 0; i < event->attribute_count; i++) {
        append_word(out, " ");
        append_name(out, &event->attributes[i]);
        append_word(out, "=");
        append(out, event->attributes[i].value);
    }
    append_word(out, ">");
}

static bool on_event(void *ctx, const nc_xml_event *event) {
    nc_buf *out = ctx;
    switch (event->kind) {
    case NC_XML_START:
    case NC_XML_END_TAG:
        append_tag(out, event);
        break;
    case NC_XML_TEXT:
        assert_true(event->text.count > 0 && event->text.count <= NC_XML_TEXT_BYTES);
        append(out, event->text);
        break;
    case NC_XML_COMMENT:
        append_word(out, "(!");
        append(out, event->text);
        append_word(out, ")");
        break;
    case NC_XML_INSTRUCTION:
        append_word(out, "(?");
        append(out, event->local);
        append_word(out, " ");
        append(out, event->text);
        append_word(out, ")");
        break;
    case NC_XML_DOCTYPE:
        append_word(out, "(doctype ");
        append(out, event->local);
        append_word(out, " ");
        append(out, event->prefix);
        append_word(out, " ");
        append(out, event->uri);
        append_word(out, ")");
        break;
    }
    return true;
}

recorded record(nc_slice head, nc_slice tail, size_t step, const nc_xml_options *options) {
    recorded what = {.events = nc_buf_init(64 << 20)};
    nc_xml_parser *parser = NULL;
    what.status = nc_xml_parser_new(&parser, options, on_event, &what.events, &what.error);
    nc_slice pieces[] = {head, tail};
    for (size_t i = 0; i < 2 && what.status == NC_XML_OK; i++) {
        size_t size = step == 0 ? pieces[i].length : step;
        for (size_t at = 0; at < pieces[i].length && what.status == NC_XML_OK; at += size) {
            size_t count = pieces[i].length - at < size ? pieces[i].length - at : size;
            what.status = nc_xml_parser_feed(parser, pieces[i].data + at, count, &what.error);
        }
    }
    if (what.status == NC_XML_OK) {
        what.status = nc_xml_parser_finish(parser, &what.error);
    }
    nc_xml_parser_free(parser);
    return what;
}

recorded record_text(const char *text) {
    return record(nc_slice_of(text), nc_slice_of(""), 0, NULL);
}

void recorded_deinit(recorded *what) {
    nc_buf_deinit(&what->events);
}

void assert_events(const char *text, const char *expected) {
    recorded what = record_text(text);
    assert_string_equal(what.error.message, "");
    assert_int_equal(what.status, NC_XML_OK);
    assert_slice_equals(nc_buf_slice(&what.events), expected);
    recorded_deinit(&what);
}

nc_xml_error assert_refused(const char *text, nc_xml_status status) {
    recorded what = record_text(text);
    recorded_deinit(&what);
    assert_int_equal(what.status, status);
    assert_int_equal(what.error.status, status);
    assert_true(strlen(what.error.message) > 0);
    return what.error;
}
