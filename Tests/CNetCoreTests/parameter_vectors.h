/// Reads files of Tests/Vectors as parameter trees. The C and the Swift tests share these files.
///
///     nc_params file = parameter_vectors("query.json");
///     nc_params_item root = nc_params_root(&file);
#ifndef NETCORE_TEST_PARAMETER_VECTORS_H
#define NETCORE_TEST_PARAMETER_VECTORS_H

#include "harness.h"

#include <netcore/query.h>

/// Reads a file of Tests/Vectors. Fails the test on an error. Free the result with nc_params_deinit().
nc_params parameter_vectors(const char *name);

/// Finds a field of an object. Returns false if there is none of this name.
bool parameter_field(const nc_params_item *object, const char *name, nc_params_item *out);

/// Copies a value to a new tree. `sets` is an array of names, or NULL: the containers at the root with these names
/// become sets.
nc_params parameter_copy(const nc_params_item *item, const nc_params_item *sets);

/// Returns the options of a vector, with the defaults for NULL. Fails the test on an unknown option.
nc_query_options parameter_options(const nc_params_item *options);

#endif
