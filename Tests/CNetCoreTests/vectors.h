/// Reads files of Tests/Vectors that are an array of objects with string values.
///
///     vectors rows = vectors_read("url_join.json");
///     nc_slice base = vectors_text(&rows.rows[0], "base");
///     vectors_free(&rows);
#ifndef NETCORE_TEST_VECTORS_H
#define NETCORE_TEST_VECTORS_H

#include <netcore.h>

enum { VECTORS_MAX_FIELDS = 8 };

/// One object.
typedef struct vector_row {
    nc_slice names[VECTORS_MAX_FIELDS];
    nc_slice values[VECTORS_MAX_FIELDS];
    size_t count;
} vector_row;

/// A file of rows.
typedef struct vectors {
    vector_row *rows;
    size_t count;
    /// Storage of the texts.
    char *memory;
} vectors;

/// Reads a file of Tests/Vectors. Fails the test on an error or on other contents.
vectors vectors_read(const char *name);
/// Frees the rows and their texts.
void vectors_free(vectors *all);
/// Returns the value of this name; `data` is NULL if there is none.
nc_slice vectors_text(const vector_row *row, const char *name);

#endif
