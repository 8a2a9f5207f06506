/// Reads files of Tests/Vectors that are an array of flat objects, one for each case.
///
///     json_vectors file;
///     json_vectors_open(&file, "json_shape.json");
///     while (json_vectors_next(&file)) … json_vectors_raw(&file, "shape") …
///     json_vectors_close(&file);
#ifndef NETCORE_TEST_JSON_VECTORS_H
#define NETCORE_TEST_JSON_VECTORS_H

#include "harness.h"

enum { JSON_VECTOR_MEMBERS = 16 };

/// A file of cases and the current case.
typedef struct json_vectors {
    nc_buf text;
    nc_buf cases; // size_t pairs: start and end of each
    size_t next;
    size_t count;
    nc_slice names[JSON_VECTOR_MEMBERS];
    nc_slice values[JSON_VECTOR_MEMBERS]; // as written in the file
} json_vectors;

/// Opens a file of Tests/Vectors. Fails the test on an error.
void json_vectors_open(json_vectors *file, const char *name);
/// Moves to the next case. Returns false after the last one.
bool json_vectors_next(json_vectors *file);
/// Returns a member's value as written, with quotes; empty if the case has no such member.
nc_slice json_vectors_raw(const json_vectors *file, const char *name);
/// Appends a string's characters. Returns false if the member is missing or null.
bool json_vectors_string(const json_vectors *file, const char *name, nc_buf *out);
/// Returns an integer member, or `otherwise` if it is missing.
int64_t json_vectors_number(const json_vectors *file, const char *name, int64_t otherwise);
/// Returns true if a member is true.
bool json_vectors_flag(const json_vectors *file, const char *name);
void json_vectors_close(json_vectors *file);

#endif
