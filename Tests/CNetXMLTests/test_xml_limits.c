/// Limits on the cost of hostile texts: depth, attributes, default attributes, length and memory.
#include "recorded.h"

#include <libxml/xmlerror.h>
#include <libxml/xmlmemory.h>
#include <stdlib.h>
#include <string.h>

static void repeat(nc_buf *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) {
        nc_buf_append(out, nc_slice_of(text));
    }
}

/// Appends numbered copies, all different: `format` has one %zu.
__attribute__((format(printf, 2, 0))) static void number(nc_buf *out, const char *format, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char line[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(line, sizeof line, format, i);
#pragma GCC diagnostic pop
        nc_buf_append(out, nc_slice_of(line));
    }
}

static nc_xml_status status_of(nc_buf *text, const nc_xml_options *options) {
    recorded what = record(nc_buf_slice(text), nc_slice_of(""), 0, options);
    recorded_deinit(&what);
    nc_buf_deinit(text);
    return what.status;
}

static nc_xml_status nested(size_t depth, const nc_xml_options *options) {
    nc_buf text = nc_buf_init(1 << 20);
    repeat(&text, "<a>", depth);
    repeat(&text, "</a>", depth);
    return status_of(&text, options);
}

static void xml__limits_depth(void **state) {
    (void)state;
    assert_int_equal(nested(NC_XML_MAX_DEPTH, NULL), NC_XML_OK);
    assert_int_equal(nested(NC_XML_MAX_DEPTH + 1, NULL), NC_XML_TOO_LARGE);
    assert_int_equal(nested(50000, NULL), NC_XML_TOO_LARGE);
    nc_xml_options three = {.max_depth = 3};
    assert_int_equal(nested(3, &three), NC_XML_OK);
    assert_int_equal(nested(4, &three), NC_XML_TOO_LARGE);
}

static nc_xml_status attributes(const char *format, size_t count) {
    nc_buf text = nc_buf_init(64 << 20);
    repeat(&text, "<a", 1);
    number(&text, format, count);
    repeat(&text, "/>", 1);
    return status_of(&text, NULL);
}

static void xml__limits_attributes_and_namespaces_of_an_element(void **state) {
    (void)state;
    assert_int_equal(attributes(" a%zu='x'", NC_XML_MAX_ATTRIBUTES), NC_XML_OK);
    assert_int_equal(attributes(" a%zu='x'", NC_XML_MAX_ATTRIBUTES + 1), NC_XML_TOO_LARGE);
    // libxml2 compares each attribute with all earlier ones: a million would take minutes.
    assert_int_equal(attributes(" a%zu=''", 1000000), NC_XML_TOO_LARGE);
    assert_int_equal(attributes(" xmlns:a%zu='u'", 1000000), NC_XML_TOO_LARGE);
    nc_buf text = nc_buf_init(1 << 20);
    number(&text, "<a xmlns:x%zu='u' xmlns:y='u' xmlns:z='u'>", 100);
    assert_int_equal(status_of(&text, NULL), NC_XML_TOO_LARGE);
    text = nc_buf_init(1 << 20);
    repeat(&text, "<r>", 1);
    number(&text, "<a xmlns:x%zu='u' xmlns:y='u' xmlns:z='u'/>", 100);
    repeat(&text, "</r>", 1);
    assert_int_equal(status_of(&text, NULL), NC_XML_OK);
}

static void xml__limits_the_defaults_of_a_document_type(void **state) {
    (void)state;
    nc_buf text = nc_buf_init(1 << 20);
    repeat(&text, "<!DOCTYPE a [", 1);
    number(&text, "<!ATTLIST a d%zu (x|y) 'x'>", 33);
    repeat(&text, "]><a/>", 1);
    assert_int_equal(status_of(&text, NULL), NC_XML_TOO_LARGE);
}

static void xml__limits_the_document_and_each_buffered_token(void **state) {
    (void)state;
    nc_xml_options small = {.max_bytes = 8};
    nc_buf text = nc_buf_init(64);
    repeat(&text, "<a>1</a>", 1);
    assert_int_equal(status_of(&text, &small), NC_XML_OK);
    text = nc_buf_init(64);
    repeat(&text, "<a>12</a>", 1);
    assert_int_equal(status_of(&text, &small), NC_XML_TOO_LARGE);
    nc_xml_options tight = {.max_token_bytes = 100000};
    static const char *const heads[] = {"<a x='", "<!--", "<?go ", "<!DOCTYPE a [<!-- "};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        text = nc_buf_init(1 << 20);
        repeat(&text, heads[i], 1);
        repeat(&text, "0123456789", 20000);
        assert_int_equal(status_of(&text, &tight), NC_XML_TOO_LARGE);
    }
    // Text has no such limit, because it is delivered in pieces.
    text = nc_buf_init(1 << 20);
    repeat(&text, "<a>", 1);
    repeat(&text, "0123456789\xE2\x82\xAC", 20000);
    repeat(&text, "<![CDATA[", 1);
    repeat(&text, "0123456789", 20000);
    repeat(&text, "]]></a>", 1);
    assert_int_equal(status_of(&text, &tight), NC_XML_OK);
}

static void xml__rejects_an_entity_bomb(void **state) {
    (void)state;
    nc_buf text = nc_buf_init(1 << 20);
    repeat(&text, "<!DOCTYPE a [<!ENTITY e0 'ha'>", 1);
    for (size_t i = 1; i < 30; i++) {
        char line[128];
        snprintf(line, sizeof line, "<!ENTITY e%zu '&e%zu;&e%zu;&e%zu;'>", i, i - 1, i - 1, i - 1);
        nc_buf_append(&text, nc_slice_of(line));
    }
    repeat(&text, "]><a>&e29;</a>", 1);
    assert_int_equal(status_of(&text, NULL), NC_XML_ENTITY);
}

/* --- failing allocations --- */

static size_t allocations_until_failure;
static size_t live_blocks;

static bool is_failing(void) {
    return allocations_until_failure > 0 && --allocations_until_failure == 0;
}

static void *failing_malloc(size_t count) {
    void *block = is_failing() ? NULL : malloc(count);
    live_blocks += block != NULL;
    return block;
}

static void *failing_realloc(void *block, size_t count) {
    if (is_failing()) {
        return NULL;
    }
    live_blocks += block == NULL;
    return realloc(block, count);
}

static void failing_free(void *block) {
    live_blocks -= block != NULL;
    free(block);
}

static char *failing_strdup(const char *text) {
    char *copy = failing_malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

static void say_nothing(void *ctx, const char *format, ...) {
    (void)ctx;
    (void)format;
}

static void xml__survives_each_allocation_failure(void **state) {
    (void)state;
    // Without an entity, because libxml2 2.9 leaks its text when an allocation fails in the declaration.
    static const char *const text = "<!DOCTYPE a [<!ELEMENT a ANY>]><a xmlns:p='u' p:k='v'>t<!--c--><b/></a>";
    recorded first = record_text(text);
    recorded_deinit(&first);
    xmlResetLastError();
    size_t before = live_blocks;
    bool is_enough = false;
    xmlSetGenericErrorFunc(NULL, say_nothing);
    for (size_t nth = 1; !is_enough && nth < 2000; nth++) {
        allocations_until_failure = nth;
        recorded what = record_text(text);
        is_enough = allocations_until_failure > 0;
        allocations_until_failure = 0;
        assert_true(what.status == NC_XML_OK || what.error.status == what.status);
        recorded_deinit(&what);
        // libxml2 keeps the thread's last error.
        xmlResetLastError();
        assert_int_equal(live_blocks, before);
    }
    assert_true(is_enough);
}

int main(void) {
    harness_begin();
    xmlMemSetup(failing_free, failing_malloc, failing_realloc, failing_strdup);
    const struct CMUnitTest cases[] = {
        harness_case(xml__limits_depth),
        harness_case(xml__limits_attributes_and_namespaces_of_an_element),
        harness_case(xml__limits_the_defaults_of_a_document_type),
        harness_case(xml__limits_the_document_and_each_buffered_token),
        harness_case(xml__rejects_an_entity_bomb),
        harness_case(xml__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
