/// Other people's parsers: a file of cases goes in, and the program says which ones it reads otherwise.
///
/// A program reads the file that its last argument names, and ends with 0 when it agrees on every case; what it prints
/// otherwise is shown. Hexadecimal digits keep a case on one line.
///
///     parser_cases cases = parser_begin();
///     parser_add(&cases, "text");
///     parser_add_hex(&cases, query);
///     parser_end_line(&cases);
///     assert_true(parser_agrees((const char *[]){"node", parser_script("queries.mjs"), NULL}, &cases));
///     parser_deinit(&cases);
#ifndef NETCORE_TEST_PARSERS_H
#define NETCORE_TEST_PARSERS_H

#include "servers.h"

/// Lines of words with spaces between.
typedef struct parser_cases {
    nc_buf text;
    bool has_word;
} parser_cases;

/// No case yet.
parser_cases parser_begin(void);
/// Adds a word to the line.
void parser_add(parser_cases *cases, const char *word);
/// Adds bytes as a word of hexadecimal digits; "-" for none.
void parser_add_hex(parser_cases *cases, nc_slice bytes);
/// Ends the line.
void parser_end_line(parser_cases *cases);
/// Frees the cases.
void parser_deinit(parser_cases *cases);

/// The path of a script of Tests/Interop; lives until the test ends.
const char *parser_script(const char *name);
/// Runs a program (its words, then NULL) on the cases; shows what it prints when it does not agree. Between
/// servers_begin() and servers_end().
bool parser_agrees(const char *const *program, const parser_cases *cases);

#endif
