/// The rows of Tests/Vectors that are flat: an array of objects whose values are strings.
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

/// A file of them.
typedef struct vectors {
    vector_row *rows;
    size_t count;
    /// Where the texts lie.
    char *memory;
} vectors;

/// Reads a file of Tests/Vectors; fails the case when it cannot, or when it holds anything else.
vectors vectors_read(const char *name);
/// Frees the rows and their texts.
void vectors_free(vectors *all);
/// The value of this name, `data` NULL when there is none.
nc_slice vectors_text(const vector_row *row, const char *name);

#endif
