/// The character classes of regular expressions: \d, \w, \s, \p{...} and classes in brackets.
#ifndef NETCORE_PRIVATE_SCHEMA_REGEX_CLASSES_H
#define NETCORE_PRIVATE_SCHEMA_REGEX_CLASSES_H

#include "schema/regex_program.h"

/// Appends a range to the class that is being built. An error stays in `ranges`.
void nc_regex_add_range(nc_buf *ranges, uint32_t first, uint32_t last);
/// Appends the ranges of \d, \w or \s, or of everything else for \D, \W or \S.
void nc_regex_add_escape(nc_buf *ranges, uint8_t letter);
/// Appends the ranges of a Unicode property, such as "L", "Letter" or "gc=Lu". Returns false if it is unknown.
bool nc_regex_add_property(nc_buf *ranges, nc_slice name, bool is_negated);
/// Appends a class of the ranges from index `at` on, after sorting and merging them. Returns the index of the class.
uint32_t nc_regex_add_class(nc_regex *regex, uint32_t at, bool is_negated);

#endif
