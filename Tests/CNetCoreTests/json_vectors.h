/// Reads Tests/Vectors: files that hold an array of flat objects, one a case.
///
///     json_vectors file;
///     json_vectors_open(&file, "json_shape.json");
///     while (json_vectors_next(&file)) … json_vectors_raw(&file, "shape") …
///     json_vectors_close(&file);
#ifndef NETCORE_TEST_JSON_VECTORS_H
#define NETCORE_TEST_JSON_VECTORS_H

#include "harness.h"

enum { JSON_VECTOR_MEMBERS = 16 };

/// A file of cases and the case under way.
typedef struct json_vectors {
    nc_buf text;
    nc_buf cases; // size_t pairs: where each begins and ends
    size_t next;
    size_t count;
    nc_slice names[JSON_VECTOR_MEMBERS];
    nc_slice values[JSON_VECTOR_MEMBERS]; // as they are written
} json_vectors;

/// Opens a file of Tests/Vectors; fails the case when it cannot.
void json_vectors_open(json_vectors *file, const char *name);
/// Goes to the next case.
bool json_vectors_next(json_vectors *file);
/// A member's value as it is written, quotes included; empty when the case has none of the name.
nc_slice json_vectors_raw(const json_vectors *file, const char *name);
/// A string's characters; false when the case has none of the name, or null.
bool json_vectors_string(const json_vectors *file, const char *name, nc_buf *out);
/// A count, or `otherwise`.
int64_t json_vectors_number(const json_vectors *file, const char *name, int64_t otherwise);
/// Whether a member is true.
bool json_vectors_flag(const json_vectors *file, const char *name);
void json_vectors_close(json_vectors *file);

#endif
