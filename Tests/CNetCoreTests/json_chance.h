/// Documents by chance: right ones, and what mutation makes of them. The same seed gives the same row.
#ifndef NETCORE_TEST_JSON_CHANCE_H
#define NETCORE_TEST_JSON_CHANCE_H

#include "harness.h"

enum { JSON_CHANCE_MAX_BYTES = 4096 };

/// Replaces `out` by the next document; about two in five are mutated.
void json_chance(nc_buf *out, uint64_t *state);

#endif
