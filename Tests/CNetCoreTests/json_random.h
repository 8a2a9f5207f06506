/// Random JSON documents, valid and mutated. The same seed gives the same sequence.
#ifndef NETCORE_TEST_JSON_CHANCE_H
#define NETCORE_TEST_JSON_CHANCE_H

#include "harness.h"

enum { JSON_RANDOM_MAX_BYTES = 4096 };

/// Replaces `out` by the next document. About two in five are mutated.
void json_random(nc_buf *out, uint64_t *state);

#endif
