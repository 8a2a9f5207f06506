#include "recorded.h"

#include <string.h>

static void xml__reports_elements_text_and_attributes_in_order(void **state) {
    (void)state;
    assert_events("<?xml version=\"1.0\"?>\n<a x=\"1\" y='&lt;&#x41;'>one<b/>two<![CDATA[<three>]]></a>\n",
                  "<a x=1 y=<A>one<b></b>two<three></a>");
    assert_events("<a>\r\n\t</a>", "<a>\n\t</a>");
}

static void xml__decodes_references_in_attribute_values(void **state) {
    (void)state;
    assert_events("<a x='b?c=1&amp;d=2' y='&#38;&#x26;amp;&amp;#38;' z='&gt;&quot;&apos;'/>",
                  "<a x=b?c=1&d=2 y=&&amp;&#38; z=>\"'></a>");
    assert_events("<p:a xmlns:p='u?b&amp;c' p:x='1'/>", "<p:a{u?b&c} xmlns:p=u?b&c p:x{u?b&c}=1></p:a{u?b&c}>");
}

static void compare_with(void *ctx, nc_slice head, nc_slice tail) {
    recorded what = record(head, tail, 0, NULL);
    assert_slice_equals(nc_buf_slice(&what.events), ctx);
    recorded_deinit(&what);
}

static void xml__ends_every_line_with_a_line_feed(void **state) {
    (void)state;
    static const char text[] = "<a\r\nb='1\r\n2\r3'>\r\n\r4\r<![CDATA[5\r\n\r]]><![CDATA[\n6\r\n]]>"
                               "<!--7\r\n\r--><?go 8\r\n9\r?>&#13;\n</a>\r";
    char expected[] = "<a b=1 2 3>\n\n4\n5\n\n\n6\n(!7\n\n)(?go 8\n9\n)\r\n</a>";
    assert_events(text, expected);
    each_split(nc_slice_of(text), compare_with, expected);
    assert_int_equal(assert_refused("<a>\r1\r\n2\r3</b>", NC_XML_MALFORMED).line, 4);
}

static void xml__reports_comments_instructions_and_the_document_type(void **state) {
    (void)state;
    assert_events("<!DOCTYPE p PUBLIC '-//X//Y' 'http://h/p.dtd'><!-- c --><?go now?><p/>",
                  "(doctype p -//X//Y http://h/p.dtd)(! c )(?go now)<p></p>");
}

static void xml__resolves_namespaces(void **state) {
    (void)state;
    assert_events("<a xmlns='u:1' xmlns:p='u:2' k='v' p:k='w'><p:b/></a>",
                  "<a{u:1} xmlns:=u:1 xmlns:p=u:2 k=v p:k{u:2}=w><p:b{u:2}></p:b{u:2}></a{u:1}>");
    // AFNetworking's parser accepts this with namespaces off.
    assert_events("<q:a q:b='1'/>", "<q:a q:b=1></q:a>");
}

static void xml__reports_the_position_of_an_error(void **state) {
    (void)state;
    nc_xml_error error = assert_refused("<a>\n  <b>\n  </c>\n</a>", NC_XML_MALFORMED);
    assert_int_equal(error.line, 3);
    assert_true(error.column >= 3 && error.column <= 7);
    assert_non_null(strstr(error.message, "mismatch"));
    assert_int_equal(assert_refused("<a>\n\n", NC_XML_MALFORMED).line, 3);
    assert_string_equal(assert_refused("<a>\n\xFF</a>", NC_XML_MALFORMED).message,
                        "input is not proper UTF-8, indicate encoding !");
}

static void xml__rejects_malformed_documents(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        " ",
        "text",
        "<a",
        "<a>",
        "</a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>x",
        "<a x=1/>",
        "<a x='1' x=''/>",
        "<a x='<'/>",
        "<a>&</a>",
        "<1/>",
        "<a>]]></a>",
        "<a>\x01</a>",
        "<a>&#0;",
        "<!-- -- -->",
        "<a>\xC3\x28</a>",
        "<a>\xFF</a>",
        "<?xml x?><a/>",
        "<a b/>",
        "<!DOCTYPE a",
        "<a>&#x110000;</a>",
        "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>",
        "{\"json\": true}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        recorded what = record_text(wrong[i]);
        recorded_deinit(&what);
        if (what.status != NC_XML_MALFORMED) {
            fail_msg("\"%s\" ended with %d", wrong[i], (int)what.status);
        }
    }
}

static void xml__expands_no_entity(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "<!DOCTYPE a [<!ENTITY e 'text'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e 'text'>]><a x='&e;'/>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a>&e;</a>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a x='&e;'/>",
        "<!DOCTYPE a [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;'><!ENTITY c '&b;&b;&b;'>]><a>&c;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1:1/x'>%p;]><a>&e;</a>",
        "<a>&nbsp;</a>",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        recorded what = record_text(wrong[i]);
        if (what.status != NC_XML_ENTITY || memchr(what.events.data, ':', what.events.length) == NULL) {
            if (what.status != NC_XML_ENTITY) {
                fail_msg("\"%s\" ended with %d: %s", wrong[i], (int)what.status, what.error.message);
            }
        }
        assert_null(what.events.length == 0 ? NULL : memmem(what.events.data, what.events.length, "root:", 5));
        recorded_deinit(&what);
    }
    assert_string_equal(assert_refused(wrong[0], NC_XML_ENTITY).message, "entity \"e\" is not expanded");
}

static void xml__ignores_declarations_of_a_document_type(void **state) {
    (void)state;
    assert_events("<!DOCTYPE a [<!ENTITY e 'x'><!ATTLIST a d CDATA 'default'><!ELEMENT a ANY>]><a x='1'/>",
                  "(doctype a  )<a x=1></a>");
}

static void xml__a_subset_after_a_document_type_is_rejected_at_every_split(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "<!DOCTYPE a>[]><a/>",
        "<!DOCTYPE a >[<!ELEMENT a ANY>]><a/>",
        "<!DOCTYPE a SYSTEM 'x'>[]><a/>",
        "<!DOCTYPE a PUBLIC 'x' 'y' >[ ]><a/>",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        nc_slice text = nc_slice_of(wrong[i]);
        for (size_t cut = 0; cut <= text.length; cut++) {
            nc_slice tail = nc_slice_make(text.data + cut, text.length - cut);
            recorded what = record(nc_slice_make(text.data, cut), tail, cut % 3, NULL);
            if (what.status != NC_XML_MALFORMED) {
                fail_msg("\"%s\" cut at %zu ended with %d", wrong[i], cut, (int)what.status);
            }
            recorded_deinit(&what);
        }
    }
}

static void xml__document_type_declarations_are_parsed_at_every_split(void **state) {
    (void)state;
    static const char *const texts[] = {
        "<!DOCTYPE a [<!ELEMENT a ANY> <!-- > ' --> <!ATTLIST a b CDATA '>'> ]><a k='&lt;\xC3\xA9>'>x</a>",
        "<!DOCTYPE a [<!-- ]> \" --><!ENTITY e '<!-- ]>'> ]><a/>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nc_slice text = nc_slice_of(texts[i]);
        recorded whole = record_text(texts[i]);
        assert_string_equal(whole.error.message, "");
        for (size_t cut = 1; cut < text.length; cut++) {
            for (size_t step = 0; step < 4; step++) {
                nc_slice tail = nc_slice_make(text.data + cut, text.length - cut);
                recorded what = record(nc_slice_make(text.data, cut), tail, step, NULL);
                if (what.status != NC_XML_OK) {
                    fail_msg("\"%s\" cut at %zu: %s", texts[i], cut, what.error.message);
                }
                assert_true(nc_slice_is_equal(nc_buf_slice(&whole.events), nc_buf_slice(&what.events)));
                recorded_deinit(&what);
            }
        }
        recorded_deinit(&whole);
    }
}

/// Longer than the text that each piece rescans.
static void xml__reads_a_long_document_type_byte_by_byte(void **state) {
    (void)state;
    nc_buf text = nc_buf_init(1 << 20);
    nc_buf_append(&text, nc_slice_of("<!DOCTYPE a [<!-- ' "));
    while (text.length < 100 << 10) {
        nc_buf_append(&text, nc_slice_of("]> \" <a> "));
    }
    nc_buf_append(&text, nc_slice_of("--> <!ELEMENT a ANY>]><a>x</a>"));
    recorded what = record(nc_buf_slice(&text), nc_slice_of(""), 1, NULL);
    assert_string_equal(what.error.message, "");
    recorded whole = record(nc_buf_slice(&text), nc_slice_of(""), 0, NULL);
    assert_string_equal(whole.error.message, "");
    assert_true(nc_slice_is_equal(nc_buf_slice(&whole.events), nc_buf_slice(&what.events)));
    recorded_deinit(&whole);
    recorded_deinit(&what);
    nc_buf_deinit(&text);
}

/* --- charsets --- */

static void assert_text_of(nc_slice bytes, const char *charset, const char *expected) {
    nc_xml_options options = {.charset = charset};
    recorded what = record(bytes, nc_slice_of(""), 0, &options);
    assert_string_equal(what.error.message, "");
    assert_slice_equals(nc_buf_slice(&what.events), expected);
    recorded_deinit(&what);
}

static void xml__the_charsets_precedence_is_mark_transfer_declaration(void **state) {
    (void)state;
    nc_slice latin = nc_slice_of("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>");
    assert_text_of(latin, NULL, "<a>\xC3\xA9</a>");
    // The transfer's charset takes precedence over the declaration, and a byte order mark over both.
    nc_slice wrong = nc_slice_of("<?xml version='1.0' encoding='UTF-16'?><a>\xE9</a>");
    assert_text_of(wrong, "iso-8859-1", "<a>\xC3\xA9</a>");
    assert_text_of(nc_slice_of("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xC3\xA9</a>"), "utf-8",
                   "<a>\xC3\xA9</a>");
    assert_text_of(nc_slice_of("\xEF\xBB\xBF<a>\xC3\xA9</a>"), "iso-8859-1", "<a>\xC3\xA9</a>");
    assert_text_of(nc_slice_make((const uint8_t *)"\xFE\xFF\0<\0a\0/\0>", 10), "utf-8", "<a></a>");
    assert_text_of(nc_slice_make((const uint8_t *)"\xFF\xFE<\0a\0/\0>\0", 10), NULL, "<a></a>");
    assert_text_of(nc_slice_of("<a>\xC4\xE3</a>"), "gb18030", "<a>\xE4\xBD\xA0</a>");
}

#define SLICE(text) nc_slice_make((const uint8_t *)(text), sizeof(text) - 1)

/// Invalid bytes are rejected for every split, also after the root's end, and valid text is accepted.
static void xml__bytes_that_are_invalid_in_their_charset_are_rejected_at_every_split(void **state) {
    (void)state;
    const struct {
        const char *charset;
        nc_slice bytes;
        const char *expected; // NULL: rejected
    } cases[] = {
        {"gb18030", SLICE("<?x?><b/>\xFF"), NULL},
        {"gb18030", SLICE("<a>\x81\x30\x81\x30\xC4\xE3</a>"), "<a>\xC2\x80\xE4\xBD\xA0</a>"},
        {"gb18030", SLICE("<a>\x81\x30\x81</a>"), NULL},
        {"gb18030", SLICE("<a/> \x81"), NULL},
        {"Shift_JIS", SLICE("<a>\x82\xA0</a>"), "<a>\xE3\x81\x82</a>"},
        {"Shift_JIS", SLICE("<a>\x82</a>"), NULL},
        {"x-sjis", SLICE("<a>/~bang\\</a>"), "<a>/~bang\\</a>"},
        {"us-ascii", SLICE("<a>\xE9</a>"), "<a>\xC3\xA9</a>"},
        {" EUC-KR\n", SLICE("<a>\x8C\x63</a>"), "<a>\xEB\x98\xA0</a>"},
        {"gb2312", SLICE("<a>\xE9\x46</a>"), "<a>\xE9\x95\x95</a>"},
        {"x-mac-roman", SLICE("<a>\x8E</a>"), "<a>\xC3\xA9</a>"},
        {"unicode", SLICE("\0<\0a\0/\0>"), "<a></a>"},
        {"unicode11utf8", SLICE("<a>\xE9</a>"), NULL},
        {"big5", SLICE("<a>\x88\x62\x88</a>"), NULL},
        {"iso-2022-kr", SLICE("<a/>"), NULL},
        {"utf-16", SLICE("<\0a\0/\0>\0"), "<a></a>"},
        {"utf-16", SLICE("\0<\0a\0/\0>"), "<a></a>"},
        {"utf-16le", SLICE("<\0a\0/\0>\0\0"), NULL},
        {"utf-16le", SLICE("<\0a\0>\0\0\xD8<\0/\0a\0>\0"), NULL},
        {"utf-8", SLICE("<a>\xED\xA0\x80</a>"), NULL},
        {NULL, SLICE("<a/>\xFF"), NULL},
        {NULL, SLICE("<a>\xC3</a>"), NULL},
        {NULL, SLICE("\0<\0a\0/\0>"), "<a></a>"},
        {NULL, SLICE("<\0\0\0a\0\0\0/\0\0\0>\0\0\0"), "<a></a>"},
        {NULL, SLICE("<?xml version='1.0'  encoding = \"Shift_JIS\" ?><a>\x82\xA0</a>"), "<a>\xE3\x81\x82</a>"},
        {NULL, SLICE("<?xml version='1.0' encoding='ISO-2022-JP'?><a>\x1B$B$\"\x1B(B</a>"), "<a>\xE3\x81\x82</a>"},
        {NULL, SLICE("<?xml version='1.0' encoding='us-ascii'?><a>\xE9</a>"), "<a>\xC3\xA9</a>"},
        {NULL, SLICE("<?xml version='1.0' encoding='ks_c_5601-1987'?><a>\x81\x41</a>"), "<a>\xEA\xB0\x82</a>"},
        {NULL, SLICE("<?xml version='1.0' encoding='klingon'?><a>\xE9</a>"), NULL},
        {NULL, SLICE("<?xml version='1.0' encoding='UTF-16'?><a/>"), NULL},
        {NULL, SLICE("<?xml version='1.0' encoding='char'?><a/>"), NULL},
        {NULL, SLICE("<?xml version='1.0' standalone='yes' encoding='iso-8859-1'?><a>\xE9</a>"), NULL},
        {NULL, SLICE("<?xml encoding='iso-8859-1'"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_xml_options options = {.charset = cases[i].charset};
        for (size_t step = 0; step <= cases[i].bytes.length; step++) {
            recorded what = record(cases[i].bytes, nc_slice_of(""), step, &options);
            if (cases[i].expected == NULL) {
                assert_int_equal(what.status, NC_XML_MALFORMED);
            } else {
                assert_string_equal(what.error.message, "");
                assert_slice_equals(nc_buf_slice(&what.events), cases[i].expected);
            }
            recorded_deinit(&what);
        }
    }
}

/// A declaration longer than its buffer sets no charset.
static void xml__a_declaration_of_any_length_is_parsed(void **state) {
    (void)state;
    static const size_t lengths[] = {900, 1024, 5000};
    for (size_t i = 0; i < 3; i++) {
        for (size_t step = 0; step < 2; step++) {
            nc_buf text = nc_buf_init(1 << 20);
            nc_buf_append(&text, nc_slice_of("<?xml version='1.0'"));
            while (text.length < lengths[i]) {
                nc_buf_append_byte(&text, ' ');
            }
            nc_buf_append(&text, nc_slice_of("encoding='iso-8859-1'?><a>\xE9</a>"));
            recorded what = record(nc_buf_slice(&text), nc_slice_of(""), step, NULL);
            assert_int_equal(what.status, lengths[i] < 1000 ? NC_XML_OK : NC_XML_MALFORMED);
            recorded_deinit(&what);
            nc_buf_deinit(&text);
        }
    }
}

static void xml__rejects_unknown_charsets(void **state) {
    (void)state;
    static const char *const wrong[] = {"", "no-such", "utf-8//TRANSLIT", "utf 8", "\xFF"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        nc_xml_options options = {.charset = wrong[i]};
        recorded what = record(nc_slice_of("<a/>"), nc_slice_of(""), 0, &options);
        assert_int_equal(what.status, NC_XML_BAD_CHARSET);
        assert_non_null(strstr(what.error.message, wrong[i]));
        recorded_deinit(&what);
    }
    assert_refused("<?xml version='1.0' encoding='no-such'?><a/>", NC_XML_MALFORMED);
    // libxml2 ends such a text without an error.
    assert_refused("\xFE\xFF"
                   "ersion=\"DATA '><!-- c --><?go b CDATA '><!-- c --><?go on?></a>",
                   NC_XML_MALFORMED);
}

/* --- pieces --- */

static const char *split_text =
    "<?xml version='1.0' encoding='utf-8'?>\r\n<!DOCTYPE a [<!ENTITY e 'x'>]><!-- \xE2\x82\xAC -->"
    "<a xmlns:p='u' p:k='&amp;\xC3\xA9'>t\xE2\x82\xAC&lt;\r\n<![CDATA[ ]] > ]]><b c=\"d\"/><?go on?></a>\n<!--e-->";

static void xml__every_split_gives_the_same_events(void **state) {
    (void)state;
    char expected[512] = {0};
    recorded whole = record_text(split_text);
    assert_int_equal(whole.status, NC_XML_OK);
    memcpy(expected, whole.events.data, whole.events.length);
    recorded_deinit(&whole);
    each_split(nc_slice_of(split_text), compare_with, expected);
    for (size_t step = 1; step < 8; step++) {
        recorded what = record(nc_slice_of(split_text), nc_slice_of(""), step, NULL);
        assert_slice_equals(nc_buf_slice(&what.events), expected);
        recorded_deinit(&what);
    }
}

static void xml__is_never_well_formed_before_its_end(void **state) {
    (void)state;
    // The root ends before the last comment. Every earlier cut is an error, never a crash.
    size_t length = strlen(split_text) - strlen("\n<!--e-->");
    for (size_t count = 0; count < length; count++) {
        guarded copy = guarded_copy(nc_slice_make((const uint8_t *)split_text, count));
        recorded what = record(copy.slice, nc_slice_of(""), 0, NULL);
        assert_int_equal(what.status, NC_XML_MALFORMED);
        recorded_deinit(&what);
        guarded_deinit(&copy);
    }
}

static bool stop_at_second(void *ctx, const nc_xml_event *event) {
    (void)event;
    int *count = ctx;
    return ++*count < 2;
}

static void xml__stops_when_the_reader_stops(void **state) {
    (void)state;
    int count = 0;
    nc_xml_parser *parser = NULL;
    nc_xml_error error;
    assert_int_equal(nc_xml_parser_new(&parser, NULL, stop_at_second, &count, &error), NC_XML_OK);
    nc_slice text = nc_slice_of("<a><b/><c/></a>");
    assert_int_equal(nc_xml_parser_feed(parser, text.data, text.length, &error), NC_XML_STOPPED);
    assert_int_equal(nc_xml_parser_feed(parser, text.data, text.length, &error), NC_XML_STOPPED);
    assert_int_equal(nc_xml_parser_finish(parser, NULL), NC_XML_STOPPED);
    assert_int_equal(count, 2);
    nc_xml_parser_free(parser);
    nc_xml_parser_free(NULL);
}

static void xml__rejects_invalid_arguments(void **state) {
    (void)state;
    nc_xml_error error;
    nc_xml_parser *parser = NULL;
    nc_xml_options deep = {.max_depth = NC_XML_MAX_DEPTH + 1};
    int count = -1000;
    assert_int_equal(nc_xml_parser_new(&parser, &deep, stop_at_second, &count, &error), NC_XML_USAGE);
    assert_int_equal(nc_xml_parser_new(&parser, NULL, stop_at_second, &count, NULL), NC_XML_OK);
    assert_int_equal(nc_xml_parser_feed(parser, NULL, 1, &error), NC_XML_USAGE);
    assert_int_equal(nc_xml_parser_feed(parser, (const uint8_t *)"<a/>", 4, &error), NC_XML_OK);
    assert_int_equal(nc_xml_parser_finish(parser, &error), NC_XML_OK);
    assert_int_equal(nc_xml_parser_finish(parser, &error), NC_XML_OK);
    assert_int_equal(nc_xml_parser_feed(parser, (const uint8_t *)"<", 1, &error), NC_XML_USAGE);
    nc_xml_parser_free(parser);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(xml__reports_elements_text_and_attributes_in_order),
        harness_case(xml__decodes_references_in_attribute_values),
        harness_case(xml__ends_every_line_with_a_line_feed),
        harness_case(xml__reports_comments_instructions_and_the_document_type),
        harness_case(xml__resolves_namespaces),
        harness_case(xml__reports_the_position_of_an_error),
        harness_case(xml__rejects_malformed_documents),
        harness_case(xml__expands_no_entity),
        harness_case(xml__a_subset_after_a_document_type_is_rejected_at_every_split),
        harness_case(xml__document_type_declarations_are_parsed_at_every_split),
        harness_case(xml__reads_a_long_document_type_byte_by_byte),
        harness_case(xml__ignores_declarations_of_a_document_type),
        harness_case(xml__the_charsets_precedence_is_mark_transfer_declaration),
        harness_case(xml__bytes_that_are_invalid_in_their_charset_are_rejected_at_every_split),
        harness_case(xml__a_declaration_of_any_length_is_parsed),
        harness_case(xml__rejects_unknown_charsets),
        harness_case(xml__every_split_gives_the_same_events),
        harness_case(xml__is_never_well_formed_before_its_end),
        harness_case(xml__stops_when_the_reader_stops),
        harness_case(xml__rejects_invalid_arguments),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
