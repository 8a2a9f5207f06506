/// Foreign text, made safe to print.
#include "harness.h"

#include <netcore/printable.h>
#include <stdio.h>
#include <string.h>

static void assert_printed(const char *text, const char *wanted) {
    char line[200];
    (void)snprintf(line, sizeof line, "%s", text);
    line[nc_printable(line, strlen(line), '?')] = '\0';
    assert_string_equal(line, wanted);
}

static void printable__other_text_is_unchanged(void **state) {
    (void)state;
    assert_printed("", "");
    assert_printed("plain ~ text", "plain ~ text");
    assert_printed("h\xc3\xa9llo \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xf0\x9f\x98\x80",
                   "h\xc3\xa9llo \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xf0\x9f\x98\x80");
    // Neighbours of the replaced characters: U+061B, U+061D, U+200D, U+2010, U+2027, U+202F, U+2065, U+206A, U+00A0.
    static const char *const unchanged[] = {"\xd8\x9b",     "\xd8\x9d",     "\xe2\x80\x8d",
                                            "\xe2\x80\x90", "\xe2\x80\xa7", "\xe2\x80\xaf",
                                            "\xe2\x81\xa5", "\xe2\x81\xaa", "\xc2\xa0"};
    for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++) {
        assert_printed(unchanged[i], unchanged[i]);
    }
}

static void printable__control_characters_are_replaced(void **state) {
    (void)state;
    assert_printed("a\r\nb\tc\x1b[31m\x7f", "a?b?c?[31m?");
    assert_printed("\xc2\x80\xc2\x9b\xc2\x9f", "???");
    char line[] = {'a', 0, 'b'};
    assert_int_equal(nc_printable(line, sizeof line, '?'), 3);
    assert_memory_equal(line, "a?b", 3);
}

static void printable__bidirectional_marks_are_replaced(void **state) {
    (void)state;
    static const char *const marks[] = {"\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                        "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",
                                        "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char text[20];
        (void)snprintf(text, sizeof text, "a%sb", marks[i]);
        assert_printed(text, "a?b");
    }
}

static void printable__each_byte_of_invalid_utf8_is_replaced(void **state) {
    (void)state;
    assert_printed("\xff\xfe", "??");
    assert_printed("\xe2\x80", "??");
    assert_printed("\xed\xa0\x80", "???");
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(printable__other_text_is_unchanged),
        harness_case(printable__control_characters_are_replaced),
        harness_case(printable__bidirectional_marks_are_replaced),
        harness_case(printable__each_byte_of_invalid_utf8_is_replaced),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
