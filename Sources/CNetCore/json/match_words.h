/// Descriptions of mismatches between a text and its shape.
#ifndef NETCORE_PRIVATE_JSON_MATCH_WORDS_H
#define NETCORE_PRIVATE_JSON_MATCH_WORDS_H

#include "json/match.h"

enum {
    NC_MATCH_MAX_POINTER = 4096,
    NC_MATCH_MAX_WORDS = 5120, // of one mismatch: pointer, expectation and value found
};

/// Each function records one mismatch and returns true if the scan continues. This one: a required member is missing.
bool nc_match_refuse_absence(nc_match *match, const nc_shape_member *member, uint64_t offset);
/// Records a member that a closed object does not list.
bool nc_match_refuse_member(nc_match *match, nc_slice name, uint64_t offset);
/// Records a length in characters, or a number of elements, that violates a limit.
bool nc_match_refuse_length(nc_match *match, uint64_t length, uint64_t limit, uint64_t offset);
bool nc_match_refuse_count(nc_match *match, uint64_t count, uint64_t limit, uint64_t offset);
/// Records a number outside $min or $max, whose value is at `bound`.
bool nc_match_refuse_bound(nc_match *match, const char *wanted, uint32_t bound, uint64_t offset);
/// Records a value that $enum does not list.
bool nc_match_refuse_value(nc_match *match, const nc_shape_node *node, const char *found, uint64_t offset);

#endif
