/// Checks output with parsers of other projects: a program reads a file of cases, and reports the ones that it parses
/// differently.
///
/// The file is the program's last argument. The program exits with 0 if it agrees on every case; otherwise its output
/// is shown. Hexadecimal digits keep a case on one line.
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

/// Returns an empty file of cases.
parser_cases parser_begin(void);
/// Adds a word to the line.
void parser_add(parser_cases *cases, const char *word);
/// Adds bytes as a word of hexadecimal digits; "-" for none.
void parser_add_hex(parser_cases *cases, nc_slice bytes);
/// Ends the line.
void parser_end_line(parser_cases *cases);
/// Frees the cases.
void parser_deinit(parser_cases *cases);

/// Returns the path of a script of Tests/Interop; valid until the test ends.
const char *parser_script(const char *name);
/// Runs a program (its words, then NULL) on the cases. Shows its output if it disagrees. Call between servers_begin()
/// and servers_end().
bool parser_agrees(const char *const *program, const parser_cases *cases);

#endif
