/// Regular expressions of ECMA-262 in Unicode mode, matched in linear time.
///
/// A pattern is compiled to a nondeterministic automaton over code points, which is simulated without backtracking. The
/// time of a match is proportional to the length of the text times the size of the automaton. The automaton cannot
/// express backreferences and look-around, so they are refused.
///
/// A compiled pattern is immutable. Pure; call from any thread.
#ifndef NETCORE_PRIVATE_SCHEMA_REGEX_H
#define NETCORE_PRIVATE_SCHEMA_REGEX_H

#include <netcore/bytes.h>
#include <netcore/status.h>

enum {
    NC_REGEX_MAX_STEPS = 20000, // instructions of one pattern
    NC_REGEX_MAX_NESTING = 200, // nested groups
    NC_REGEX_REASON_BYTES = 120,
};

typedef struct nc_regex nc_regex;

/// Compiles a pattern in UTF-8.
///
/// Returns NC_OK; NC_ERR_BAD_SHAPE with a `reason` if it is malformed or has a construct that is not supported;
/// NC_ERR_TOO_LARGE if it has more than NC_REGEX_MAX_STEPS; NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_regex_compile(nc_regex **out, nc_slice pattern, char reason[NC_REGEX_REASON_BYTES]);
/// Frees a pattern. NULL is allowed.
void nc_regex_free(nc_regex *regex);

/// Returns true if a text is a regular expression of ECMA-262, with or without backreferences and look-around. A
/// pattern that is too large counts as valid.
bool nc_regex_is_valid(nc_slice pattern);

/// Returns the number of uint32_t that a match needs.
size_t nc_regex_scratch(const nc_regex *regex);
/// Returns 1 if a part of the text matches, 0 if none does, -1 if `*budget` steps were not enough. The text is UTF-8.
/// Subtracts the steps taken from `*budget`.
int nc_regex_match(const nc_regex *regex, nc_slice text, uint32_t *scratch, uint64_t *budget);

#endif
